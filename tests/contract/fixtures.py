"""Our own fixtures: one answer per call and modality, in the real wire format, invented."""

import re
from pathlib import Path

import pytest

from tests.contract.payloads import recorded
from tests.fakes.transport import Sent, answer
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.transport import Authentication, HttpAnswer, HttpRequest, Secret

FOLDER = Path(__file__).resolve().parents[1] / "fixtures"

_MISSING = """{protocol} has no fixture for {modality}. Make one: put what the provider answers to such a search, \
invented but in its real wire format and with at least two hits, into tests/fixtures/{protocol}/{name}.json (or .xml). \
An exchange of several calls takes {name}.1.json, {name}.2.json, … in the order of its calls."""

_CALLS = {("pubmed", SearchModality.ACADEMIC): ("esearch.json", "esummary.json", "efetch.xml")}
"""Exchanges whose answers are better named after what they answer."""

_SETTINGS = {
    "pubmed": {"abstracts": "true"},
    "unpaywall": {"contactEmail": "ops@library.test"},
    "bedrock-kb": {"knowledgeBaseId": "ABCDEFGHIJ"},
}
"""Settings under which an exchange makes all of its calls, or without which there is no instance."""


_OTHER_SETTINGS: dict[str, tuple[dict[str, str], ...]] = {
    "github": ({"kind": "repositories"},),
    "gitlab": ({"project": "ringers/belfry"},),
    "elasticsearch": ({"dateField": "published", "languageField": "language"},),
    "solr": ({"dateField": "published", "languageField": "language"},),
}
"""Settings under which an adapter hands on other filters than with its fixtures."""


def fixture(protocol: str, name: str) -> bytes:
    """The body `tests/fixtures/<protocol>/<name>`."""
    return (FOLDER / protocol / name).read_bytes()


def answers_for(protocol: str, modality: SearchModality) -> tuple[bytes, ...]:
    """The bodies of one search of this modality, in the order of its calls. Fails the test where there are none."""
    names = answer_names(protocol, modality)
    if not names:
        pytest.fail(_MISSING.format(protocol=protocol, modality=modality, name=modality.lower()))
    return tuple(fixture(protocol, name) for name in names)


def answer_names(protocol: str, modality: SearchModality) -> tuple[str, ...]:
    """The file names of these answers."""
    pattern = re.compile(rf"{modality.lower()}(\.\d)?\.(json|xml)")
    found = sorted(path.name for path in (FOLDER / protocol).glob("*") if pattern.fullmatch(path.name))
    return _CALLS.get((protocol, modality)) or tuple(found)


def recordings_without_a_test(provider: str, test_file: str) -> list[str]:
    """The recorded answers of a provider that its test file never names."""
    told = Path(test_file).read_text(encoding="utf-8")
    return [name for name in recorded(provider) if f'"{name}"' not in told]


def settings_for(protocol: str) -> dict[str, str]:
    """The settings under which a search makes all the calls that its fixtures answer."""
    return dict(_SETTINGS.get(protocol, {}))


def all_settings_for(protocol: str) -> tuple[dict[str, str], ...]:
    """Those, and every set of others that brings more filters into play."""
    return (settings_for(protocol), *(settings_for(protocol) | more for more in _OTHER_SETTINGS.get(protocol, ())))


class RecordedTransport:
    """A transport for exchanges of any length: it hands out its bodies in order and then repeats the last one."""

    def __init__(self, *bodies: bytes) -> None:
        self._bodies = bodies
        self.sent: list[Sent] = []

    def send(
        self,
        request: HttpRequest,
        *,
        deadline: Deadline,
        authentication: Authentication | None = None,
        secret: Secret | None = None,
    ) -> HttpAnswer:
        self.sent.append(Sent(request, authentication, secret))
        if len(self.sent) > 20:
            raise AssertionError("an exchange of more than 20 requests does not end")
        return answer(self._bodies[min(len(self.sent), len(self._bodies)) - 1])
