"""What every `ParameterStore` promises, put to the one in memory and to the one on SSM alike."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import pytest

from tests.fakes.aws import aws_in_process
from tests.fakes.clock import FakeClock
from tests.fakes.parameter_store import InMemoryParameterStore
from zarniwoop.contract.problem import InvalidArgument
from zarniwoop.settings.levels import Place
from zarniwoop.settings.parameter_store import ParameterStore, SsmParameterStore
from zarniwoop.settings.writer import SsmSettingsWriter
from zarniwoop.stores.clients import ssm_client

ROOT = "/zarniwoop/test"
TENANT = Place(tenant_id="acme")
PROJECT = Place(tenant_id="acme", project_id="demo")
PROCESS = Place(tenant_id="acme", project_id="demo", process_id="night-run")
PROTOCOL = "research.endpoint.serper-main.protocol"
API_KEY = "research.endpoint.serper-main.apiKey"


class Writer(Protocol):
    def put(self, place: Place, key: str, value: str, *, secure: bool = False) -> None: ...

    def delete(self, place: Place, key: str) -> bool: ...


@dataclass
class Pair:
    store: ParameterStore
    writer: Writer


@pytest.fixture(params=["memory", "ssm"])
def pair(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pair]:
    if request.param == "memory":
        memory = InMemoryParameterStore(ROOT)
        yield Pair(memory, memory)
        return
    with aws_in_process(monkeypatch):
        client = ssm_client()
        yield Pair(SsmParameterStore(client, ROOT, FakeClock()), SsmSettingsWriter(client, ROOT))


def test_every_level_holds_its_own(pair: Pair) -> None:
    """What is saved for a tenant, a project or a process is read there and nowhere else."""
    for place, value in ((TENANT, "outer"), (PROJECT, "middle"), (PROCESS, "inner")):
        pair.writer.put(place, PROTOCOL, value)
    assert pair.store.read_level(TENANT)[PROTOCOL].value == "outer"
    assert pair.store.read_level(PROJECT)[PROTOCOL].value == "middle"
    assert pair.store.read_level(PROCESS)[PROTOCOL].value == "inner"
    assert pair.store.read_level(Place(tenant_id="acme", project_id="other")) == {}
    assert pair.store.read_level(Place(tenant_id="acm")) == {}


def test_a_level_of_several_pages_is_read_whole(pair: Pair) -> None:
    """Parameter Store gives ten at a time; a level may have many more."""
    for number in range(23):
        pair.writer.put(PROJECT, f"research.endpoint.e{number}.protocol", "serper")
    assert len(pair.store.read_level(PROJECT)) == 23


@pytest.mark.parametrize("secure", [True, False])
def test_a_key_is_read_without_its_value_and_revealed_by_name(pair: Pair, secure: bool) -> None:
    """Also when its writer forgot to say that it is a secret."""
    pair.writer.put(TENANT, API_KEY, "key-0123456789", secure=secure)
    parameter = pair.store.read_level(TENANT)[API_KEY]
    assert (parameter.value, parameter.secure) == (None, True)
    assert pair.store.reveal(parameter.name) == "key-0123456789"


def test_any_setting_can_be_saved_as_a_secret(pair: Pair) -> None:
    """Its value is not read then, whatever its name."""
    pair.writer.put(TENANT, "research.endpoint.wiki.contactEmail", "someone@example.org", secure=True)
    assert pair.store.read_level(TENANT)["research.endpoint.wiki.contactEmail"].value is None


def test_every_change_makes_another_version(pair: Pair) -> None:
    """Also deleting and saving anew, after which Parameter Store counts from 1 again."""
    versions = []
    for value in ("key-0123456789", "key-9876543210"):
        pair.writer.put(TENANT, API_KEY, value)
        versions.append(pair.store.read_level(TENANT)[API_KEY].version)
    assert pair.writer.delete(TENANT, API_KEY)
    pair.writer.put(TENANT, API_KEY, "key-1111111111")
    versions.append(pair.store.read_level(TENANT)[API_KEY].version)
    assert len(set(versions)) == 3


def test_what_is_not_there_is_neither_revealed_nor_deleted(pair: Pair) -> None:
    """A missing parameter is no failure."""
    assert pair.store.reveal(f"{ROOT}/acme/_tenant/research/endpoint/none/apiKey") is None
    assert pair.store.reveal("/somebody/else") is None
    assert pair.writer.delete(TENANT, API_KEY) is False


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("research.endpoint.a/b.protocol", "serper"),
        ("", "serper"),
        (PROTOCOL, " "),
        (PROTOCOL, "é" * 2049),
        (PROTOCOL, "{{ssm:other}}"),
    ],
)
def test_what_parameter_store_would_not_take_is_refused_first(pair: Pair, key: str, value: str) -> None:
    """A key with a slash, an empty value, more than 4096 bytes, and a reference to another parameter."""
    with pytest.raises(InvalidArgument):
        pair.writer.put(TENANT, key, value)
    assert pair.store.read_level(TENANT) == {}
