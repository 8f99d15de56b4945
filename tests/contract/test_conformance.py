"""What every built-in adapter keeps to, whoever wrote it. A new one is tested by adding its fixture files."""

from contextlib import suppress
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.contract.fixtures import FOLDER, RecordedTransport, all_settings_for, answer_names, answers_for, settings_for
from tests.contract.onwards import ONWARDS, EndlessTransport, turns_pages
from tests.contract.validity import assert_valid
from tests.fakes.instances import instance, request, scope
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.adapters import BUILTIN
from zarniwoop.contract.failure import (
    AccessRefused,
    Cause,
    CredentialsRejected,
    MalformedAnswer,
    ProviderError,
    ProviderUnavailable,
    QueryRejected,
    QuotaExhausted,
    RateLimited,
)
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.quota import ProviderAvailability
from zarniwoop.contract.request import Locale
from zarniwoop.contract.result import FilterHandling
from zarniwoop.contract.transport import HttpAnswer, Secret
from zarniwoop.wire.driver import WireInstance, WireProtocol

KEY = "sekrit-0123456789"
PAGE = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body><p>Are you a robot?</p></body></html>"

CASES = [(protocol, modality) for protocol in BUILTIN for modality in sorted(protocol.modalities_supported())]
every_builtin = pytest.mark.parametrize("protocol", BUILTIN, ids=lambda protocol: protocol.id())
every_modality = pytest.mark.parametrize(
    ("protocol", "modality"), CASES, ids=[f"{protocol.id()}-{modality}" for protocol, modality in CASES]
)


def made(protocol: WireProtocol, transport: Any, extras: dict[str, str] | None = None) -> WireInstance:
    """An instance with a key, on the provider's own address or a made-up one."""
    needed = {field.name: field.default or "x" for field in protocol.format.setting_fields if field.required}
    base_url = None if protocol.format.default_base_url or protocol.format.by_role else "https://provider.test"
    extras = needed | (settings_for(protocol.id()) if extras is None else extras)
    return instance(protocol, transport, key=KEY, base_url=base_url, extras=extras)


def failure_of(protocol: WireProtocol, modality: SearchModality, *script: HttpAnswer) -> ProviderError:
    """The failure that a search ends with; anything but a ProviderError passes through."""
    with pytest.raises(ProviderError) as caught:
        made(protocol, ScriptedTransport(*script)).search(request(modality=modality, max_results=2), scope())
    return caught.value


def calls_up_to(protocol: WireProtocol, modality: SearchModality, bad: HttpAnswer) -> list[list[HttpAnswer]]:
    """Scripts in which each call of the exchange in turn gets the bad answer, the ones before it good ones."""
    good = [answer(body) for body in answers_for(protocol.id(), modality)]
    return [[*good[:position], bad] for position in range(len(good))]


def test_every_built_in_has_an_id_of_its_own() -> None:
    """Settings name protocols by it."""
    ids = [protocol.id() for protocol in BUILTIN]
    assert ids
    assert sorted(set(ids)) == sorted(ids)


@every_builtin
def test_a_built_in_declares_what_planners_and_forms_need(protocol: WireProtocol) -> None:
    """A hint, a documentation page, a family of indexes, and modalities out of the closed list."""
    declared = protocol.format
    assert declared.protocol_id == declared.protocol_id.lower()
    assert declared.display_name.strip()
    assert 80 <= len(declared.prompt_hint.strip()) <= 1000
    assert declared.documentation.startswith("https://")
    assert declared.index_family.strip()
    assert declared.modalities
    assert declared.domains
    assert declared.tiers
    assert declared.default_base_url is None or declared.default_base_url.startswith("https://")
    assert declared.key_variable is None or declared.authentication is not None
    assert not declared.key_required or declared.authentication is not None


@every_builtin
def test_an_instance_is_made_without_asking_anybody(protocol: WireProtocol) -> None:
    """Neither making it nor asking what it is costs a request."""
    transport = ScriptedTransport()
    made_one = made(protocol, transport)
    assert made_one.modalities() == protocol.modalities_supported()
    assert made_one.tiers() == protocol.tiers_supported()
    assert made_one.domains()
    assert made_one.availability(scope()) is ProviderAvailability.READY
    assert made_one.prompt_hint().strip()
    made_one.pacing(request(modality=min(protocol.modalities_supported())))
    assert made_one.status_text(scope()) is None
    assert transport.sent == []


@every_builtin
def test_a_modality_that_is_not_served_is_declined_softly_and_unasked(protocol: WireProtocol) -> None:
    """A soft failure cools nothing down and costs nothing."""
    transport = ScriptedTransport()
    for modality in set(SearchModality) - protocol.modalities_supported():
        result = made(protocol, transport).search(request(modality=modality), scope())
        assert result.error_message
        assert result.hits == ()
    assert transport.sent == []


@every_builtin
def test_every_fixture_is_opened_by_a_test(protocol: WireProtocol) -> None:
    """An answer to a search is opened here, any other by the adapter's own test file."""
    searched = {name for modality in protocol.modalities_supported() for name in answer_names(protocol.id(), modality)}
    told = Path(__file__).with_name(f"test_{protocol.id().replace('-', '_')}.py").read_text(encoding="utf-8")
    names = [path.name for path in (FOLDER / protocol.id()).iterdir() if path.name not in searched]
    assert [name for name in names if f'"{name}"' not in told and f'"{Path(name).stem}"' not in told] == []


@every_modality
def test_a_search_gives_valid_hits_in_order(protocol: WireProtocol, modality: SearchModality) -> None:
    """Addresses of http(s), ranks from 1, titles that are not blank, no more than were asked for."""
    asked = request(modality=modality, max_results=10)
    result = made(protocol, RecordedTransport(*answers_for(protocol.id(), modality))).search(asked, scope())
    assert len(result.hits) >= 2, "a fixture needs two hits to show an order"
    assert result.error_message is None
    assert (result.query, result.provider_instance_id) == (asked.query, f"{protocol.id()}-main")
    assert_valid(result, asked)


@every_modality
def test_no_more_hits_come_than_were_asked_for(protocol: WireProtocol, modality: SearchModality) -> None:
    """Whatever page size the provider has."""
    asked = request(modality=modality, max_results=1)
    result = made(protocol, RecordedTransport(*answers_for(protocol.id(), modality))).search(asked, scope())
    assert result.returned_count == 1


@every_builtin
def test_of_everyone_that_turns_pages_it_is_known_how_its_answers_go_on(protocol: WireProtocol) -> None:
    """Else the next test would see its first page only. A new one: add to `tests/contract/onwards.py`."""
    assert turns_pages(protocol) == (protocol.id() in ONWARDS)


@every_modality
@pytest.mark.parametrize("wanted", [1, 10, 50, 100])
def test_no_search_takes_more_requests_than_it_may_take_at_most(
    protocol: WireProtocol, modality: SearchModality, wanted: int
) -> None:
    """Its provider has another page each time: budgets hold that many calls back, and dry runs tell them."""
    transport = EndlessTransport(protocol, answers_for(protocol.id(), modality))
    one, asked = made(protocol, transport), request(modality=modality, max_results=wanted)
    with suppress(ProviderError):
        assert one.search(asked, scope()).calls == len(transport.sent)
    assert 1 <= len(transport.sent) <= one.most_calls(asked)


def test_whoever_turns_pages_is_seen_to_turn_them() -> None:
    """Up to the most that it tells, but for GitLab, which also looks up where its hits live."""
    told: dict[str, set[bool]] = {name: set() for name in ONWARDS}
    for protocol, modality in CASES:
        if protocol.id() in ONWARDS:
            transport = EndlessTransport(protocol, answers_for(protocol.id(), modality))
            one, asked = made(protocol, transport), request(modality=modality, max_results=100)
            one.search(asked, scope())
            told[protocol.id()].add(1 < len(transport.sent) == one.most_calls(asked))
    assert {name for name, seen in told.items() if True not in seen} == {"gitlab"}


@every_modality
def test_the_key_is_handed_to_the_transport_and_stands_in_no_request(
    protocol: WireProtocol, modality: SearchModality
) -> None:
    """Only the transport reveals it, after everything was logged."""
    transport = RecordedTransport(*answers_for(protocol.id(), modality))
    made(protocol, transport).search(request(modality=modality), scope())
    for sent in transport.sent:
        assert KEY not in repr(sent.request)
        assert sent.authentication == protocol.format.authentication
        assert sent.secret == (Secret(KEY) if protocol.format.authentication else None)
        assert sent.request.max_redirects == 0


STATUSES: list[tuple[int, tuple[type[ProviderError], ...]]] = [
    (302, (ProviderUnavailable,)),
    (400, (QueryRejected,)),
    (401, (CredentialsRejected,)),
    (402, (CredentialsRejected, QuotaExhausted)),
    (403, (AccessRefused, CredentialsRejected, RateLimited)),
    (404, (QueryRejected,)),
    (414, (QueryRejected,)),
    (500, (ProviderUnavailable,)),
    (502, (ProviderUnavailable,)),
    (503, (ProviderUnavailable, RateLimited)),
]


@every_modality
@pytest.mark.parametrize(("status", "failures"), STATUSES, ids=[str(status) for status, _ in STATUSES])
def test_a_refused_call_is_a_typed_failure(
    protocol: WireProtocol, modality: SearchModality, status: int, failures: tuple[type[ProviderError], ...]
) -> None:
    """At every call of an exchange; the status is kept, and nothing of the body."""
    refused = answer(b"provider's own words", status=status, headers={"location": "https://elsewhere.test/"})
    for script in calls_up_to(protocol, modality, refused):
        failure = failure_of(protocol, modality, *script)
        keyless = status in (401, 402) and protocol.format.authentication is None
        assert isinstance(failure, (AccessRefused,) if keyless else failures)
        assert failure.status == status
        assert "own words" not in str(failure)
        assert (failure.cause is Cause.REDIRECT) == (status == 302)


@every_modality
@pytest.mark.parametrize(
    "headers",
    [
        {"retry-after": "7"},
        {"retry-after": "Fri, 15 Jan 2027 08:00:07 GMT"},
        {"retry-after": "Fri, 15 Jan 2027 09:00:07 GMT", "date": "Fri, 15 Jan 2027 09:00:00 GMT"},
    ],
    ids=["seconds", "date", "date-of-a-wrong-clock"],
)
def test_a_throttled_call_keeps_the_wait_that_was_stated(
    protocol: WireProtocol, modality: SearchModality, headers: dict[str, str]
) -> None:
    """In seconds or as a date, which counts from the provider's own clock where it shows one."""
    for script in calls_up_to(protocol, modality, answer(b"", status=429, headers=headers)):
        failure = failure_of(protocol, modality, *script)
        assert isinstance(failure, RateLimited)
        assert failure.retry_after == 7.0


@every_modality
@pytest.mark.parametrize("kind", ["page", "cut", "cut-by-one", "empty", "blank", "binary"])
def test_a_broken_body_is_a_malformed_answer(protocol: WireProtocol, modality: SearchModality, kind: str) -> None:
    """A sign-in page with status 200, a body that ends too soon, and none at all: never an empty result."""
    for position, whole in enumerate(answers_for(protocol.id(), modality)):
        broken = {
            "page": PAGE,
            "cut": whole[: len(whole) // 2],
            "cut-by-one": whole.rstrip()[:-1],
            "empty": b"",
            "blank": b" \n",
            "binary": b"\x00\xff\xfe\x80",
        }[kind]
        script = calls_up_to(protocol, modality, answer(broken))[position]
        assert isinstance(failure_of(protocol, modality, *script), MalformedAnswer)


EMPTY_ANSWERS: dict[str, tuple[bytes, ...]] = {"gitlab": (b"[]",), "nominatim": (b"[]",)}
"""What some providers do say when they find nothing."""


@every_modality
@pytest.mark.parametrize("body", [b"null", b"[]", b"{}", b'"text"', b"1", b"<answer/>"])
def test_another_shape_is_a_malformed_answer(protocol: WireProtocol, modality: SearchModality, body: bytes) -> None:
    """Well-formed, but nothing that this provider says when it finds nothing."""
    if body in EMPTY_ANSWERS.get(protocol.id(), ()):
        return
    for script in calls_up_to(protocol, modality, answer(body)):
        assert isinstance(failure_of(protocol, modality, *script), MalformedAnswer)


FILTERS: dict[str, dict[str, Any]] = {
    "site": {"site": "example.org"},
    "domain": {"domain": "example.org"},
    "filetype": {"filetype": "pdf"},
    "date_from": {"date_from": date(2024, 1, 1)},
    "date_to": {"date_to": date(2024, 12, 31)},
    "freshness_days": {"freshness_days": 30, "published": (date(2026, 10, 31), None)},
    "locale": {"locale": Locale(language="en")},
}


@every_builtin
def test_the_filters_that_a_built_in_declares_are_those_that_it_hands_on(protocol: WireProtocol) -> None:
    """For some modality and under some settings; a planner and the documents rely on it."""
    handed_on = set()
    for modality, extras in product(protocol.modalities_supported(), all_settings_for(protocol.id())):
        for name, asked in FILTERS.items():
            searched = made(protocol, RecordedTransport(*answers_for(protocol.id(), modality)), extras)
            result = searched.search(request(modality=modality, max_results=2, **asked), scope())
            (applied,) = result.applied
            assert applied.name == name
            if applied.handling is FilterHandling.PROVIDER:
                handed_on.add(name)
    assert handed_on == protocol.format.filters
