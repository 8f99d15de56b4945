"""The sample add-on, installed as a user would install it: found by its entry point and asked like any other."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.clock import FakeClock
from tests.fakes.instances import scope
from tests.fakes.keys import FakeKeyRing
from tests.fakes.template import ROOT
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.adapters import BUILTIN
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import ProviderInstanceConfig, SearchProtocol, SearchProviderInstance
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.transport import HeaderKey
from zarniwoop.dispatch.candidates.protocols import collect_protocols


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the add-on installed in it, at the front of the path; no registry is asked for anything."""
    folder = tmp_path_factory.mktemp("addon")
    source = tmp_path_factory.mktemp("source") / "addon"
    source.mkdir()
    for path in (ROOT / "tests" / "addon").rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts and "egg-info" not in str(path):
            target = source / path.relative_to(ROOT / "tests" / "addon")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    subprocess.run(  # noqa: S603
        [
            *(
                sys.executable,
                "-m",
                "uv",
                "pip",
                "install",
                "--quiet",
                "--offline",
                "--no-deps",
                "--no-build-isolation",
            ),
            *("--python", sys.executable, "--target", str(folder), str(source)),
        ],
        check=True,
        capture_output=True,
    )
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))


@pytest.mark.usefixtures("installed")
def test_an_installed_add_on_is_found_beside_the_built_ins() -> None:
    """No change here: its entry point is enough."""
    protocols = collect_protocols(BUILTIN)
    assert protocols.broken == {}
    assert set(protocols.by_id) == {protocol.id() for protocol in BUILTIN} | {"shelf"}


@pytest.mark.usefixtures("installed")
def test_an_add_on_asks_through_the_guarded_transport_and_gets_its_key_there() -> None:
    """Its request carries no key; the driver hands key and place to the transport."""
    transport = ScriptedTransport(
        answer(
            {"volumes": [{"name": "On Bells", "place": "Room 4", "link": "https://shelf.example/v/1"}, {"name": ""}]}
        )
    )
    result = made(transport, room="4").search(SearchRequest(query="bells", modality=SearchModality.BOOK), scope())
    assert [(hit.title, hit.url, hit.source, hit.rank) for hit in result.hits] == [
        ("On Bells", "https://shelf.example/v/1", "Room 4", 1)
    ]
    assert result.dropped_count == 1
    (sent,) = transport.sent
    assert sent.request.params == {"words": "bells", "most": "10", "room": "4"}
    assert sent.authentication == HeaderKey(name="X-Shelf-Key")
    assert sent.secret is not None


@pytest.mark.usefixtures("installed")
def test_an_add_on_says_which_setting_it_misses() -> None:
    """The name of the setting is in the refusal, for `research_providers` to show."""
    with pytest.raises(ValueError, match="room is required by protocol shelf"):
        made(ScriptedTransport())


def test_an_add_on_that_cannot_take_a_built_ins_name_is_told_of() -> None:
    """Neither a clash nor a broken import takes anything else along."""
    protocols = collect_protocols(BUILTIN, [_Entry("imposter", BUILTIN[0]), _Entry("wreck", None)])  # type: ignore[list-item]
    assert set(protocols.by_id) == {protocol.id() for protocol in BUILTIN}
    assert protocols.broken == {
        "imposter": "its protocol id 'serper' is taken",
        "wreck": "cannot be loaded (ImportError)",
    }


class _Entry:
    """An entry point whose module gives a protocol, or fails to import."""

    def __init__(self, name: str, protocol: SearchProtocol | None) -> None:
        self.name = name
        self._protocol = protocol

    def load(self) -> SearchProtocol:
        if self._protocol is None:
            raise ImportError("no such thing")
        return self._protocol


def made(transport: ScriptedTransport, **extras: str) -> SearchProviderInstance:
    return (
        collect_protocols(BUILTIN)
        .by_id["shelf"]
        .instantiate(
            ProviderInstanceConfig(
                instance_id="shelf-main",
                protocol_id="shelf",
                base_url="https://shelf.example/api",
                credential_key="key",
                extras=extras,
                transport=transport,
                keys=FakeKeyRing(key="shelf-key-0123456789"),
                clock=FakeClock(),
            )
        )
    )
