"""What an operator gets wrong is told by name, with the reason, and nothing that is wrong is ever READY."""

from collections.abc import Iterator

import pytest

from tests.contract.fixtures import settings_for
from tests.fakes.cloud import Cloud, cloud
from tests.fakes.transport import ScriptedTransport
from zarniwoop.adapters import BUILTIN
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.modality import SearchModality, SearchTier
from zarniwoop.contract.provider import ProviderInstanceConfig, SearchProviderInstance
from zarniwoop.contract.request import SearchScope
from zarniwoop.dispatch.candidates.protocols import Protocols
from zarniwoop.documents.protocol import PROTOCOL_ID
from zarniwoop.tools.provider_rows import ProvidersReport
from zarniwoop.tools.research_providers import ProvidersArguments, providers
from zarniwoop.wire.driver import WireProtocol
from zarniwoop.wiring import Environment


@pytest.fixture
def account() -> Iterator[Cloud]:
    with cloud() as made:
        yield made


def _configured(report: ProvidersReport) -> list[str]:
    """The endpoints of the settings: all but the one that stands without any."""
    return [row.id for row in report.providers if row.id != PROTOCOL_ID]


def _report(account: Cloud, settings: dict[str, str], made: Environment | None = None) -> ProvidersReport:
    account.set_all({f"research.endpoint.{suffix}": value for suffix, value in settings.items()})
    made = made or account.environment(transport=ScriptedTransport())
    scope = SearchScope(tenant_id="acme", project_id="demo", deadline=Deadline.after(20.0, made.clock))
    report = providers(ProvidersArguments(detail=True), scope, made.tools).data
    assert isinstance(report, ProvidersReport)
    return report


@pytest.mark.parametrize(
    ("protocol", "setting", "value"),
    [
        ("wikipedia", "language", "../evil"),
        ("wikipedia", "language", "DE"),
        ("pubmed", "abstracts", "maybe"),
        ("pubmed", "contactEmail", "nobody"),
        ("openalex", "contactEmail", "a@b\nX: y"),
        ("hackernews", "tags", "not a tag!!"),
        ("hackernews", "tags", "(story"),
        ("arxiv", "userAgent", "näive"),
    ],
)
def test_a_malformed_setting_is_told_with_its_name_and_reason(
    account: Cloud, protocol: str, setting: str, value: str
) -> None:
    """Its endpoint is not there to be asked, its neighbour is, and the value is not repeated."""
    report = _report(account, {"bad.protocol": protocol, f"bad.{setting}": value, "good.protocol": "arxiv"})
    (fault,) = report.misconfigured
    assert (fault.id, fault.setting) == ("bad", setting)
    assert fault.reason.startswith("must match the pattern ")
    assert value not in fault.reason
    assert _configured(report) == ["good"]


@pytest.mark.parametrize("setting", ["apikey", "enabeld", "langauge", "tags"])
def test_a_suffix_that_the_protocol_does_not_know_is_told(account: Cloud, setting: str) -> None:
    """Misspelt, it would otherwise have no effect and nobody would know."""
    report = _report(account, {"bad.protocol": "wikipedia", f"bad.{setting}": "false"})
    (fault,) = report.misconfigured
    assert (fault.id, fault.setting) == ("bad", setting)
    assert "contactEmail, language, userAgent" in fault.reason
    assert _configured(report) == []


def test_everything_that_is_wrong_with_an_endpoint_is_told_at_once(account: Cloud) -> None:
    """Mending one fault does not bring up the next."""
    report = _report(account, {"bad.protocol": "pubmed", "bad.abstracts": "maybe", "bad.enabeld": "x"})
    assert [fault.setting for fault in report.misconfigured] == ["abstracts", "enabeld"]


def _needed(protocol: WireProtocol) -> dict[str, str]:
    """Settings without which there is no instance."""
    fields = {field.name: field.default or "x" for field in protocol.format.setting_fields if field.required}
    address = protocol.format.default_base_url or protocol.format.by_role
    wanted = {**fields, **settings_for(protocol.id()), **({} if address else {"baseUrl": "https://own.test"})}
    key = {"apiKey": "a-key-0123456789"} if protocol.format.key_required else {}
    return {f"one.{name}": value for name, value in {"protocol": protocol.id(), **wanted, **key}.items()}


@pytest.mark.parametrize("protocol", BUILTIN, ids=lambda protocol: protocol.id())
def test_a_contact_and_a_user_agent_may_be_set_for_every_endpoint(account: Cloud, protocol: WireProtocol) -> None:
    """White space around a value was pasted along."""
    settings = {**_needed(protocol), "one.contactEmail": " ops@example.org\n", "one.userAgent": "Acme/1 (bot)"}
    report = _report(account, settings)
    assert (report.misconfigured, _configured(report)) == ([], ["one"])


@pytest.mark.parametrize("protocol", BUILTIN, ids=lambda protocol: protocol.id())
def test_defaults_are_written_as_their_fields_take_them(account: Cloud, protocol: WireProtocol) -> None:
    """Else a form that is saved as it opens would break the endpoint."""
    defaults = {f"one.{field.name}": field.default for field in protocol.format.setting_fields if field.default}
    assert _report(account, {**_needed(protocol), **defaults}).misconfigured == []


class _ForeignProtocol:
    """An add-on that is no wire format and reads its own settings."""

    seen: dict[str, str]

    def id(self) -> str:
        return "foreign"

    def display_name(self) -> str:
        return "Foreign"

    def modalities_supported(self) -> frozenset[SearchModality]:
        return frozenset({SearchModality.WEB})

    def tiers_supported(self) -> frozenset[SearchTier]:
        return frozenset(SearchTier)

    def instantiate(self, config: ProviderInstanceConfig) -> SearchProviderInstance:
        self.seen = dict(config.extras)
        raise ValueError("shelf must be named")


def test_an_add_on_that_is_no_wire_format_takes_what_it_likes(account: Cloud) -> None:
    """What it refuses is told as its protocol's."""
    made = account.environment(transport=ScriptedTransport())
    foreign = _ForeignProtocol()
    made.__dict__["_protocols"] = Protocols(by_id={"foreign": foreign})
    report = _report(account, {"one.protocol": "foreign", "one.anything": "goes"}, made)
    assert foreign.seen == {"anything": "goes"}
    assert [(each.setting, each.reason) for each in report.misconfigured] == [("protocol", "shelf must be named")]
