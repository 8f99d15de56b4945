"""The product's own composition on stores in memory: for tests of the entry where AWS itself is not the point."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from tests.fakes.audit_store import InMemoryAuditStore
from tests.fakes.clock import FakeClock
from tests.fakes.content_store import InMemoryContentStore
from tests.fakes.continuations import InMemoryContinuations
from tests.fakes.document_store import InMemoryDocumentStore
from tests.fakes.evidence_store import InMemoryEvidenceStore
from tests.fakes.executions import STATE_MACHINE, FakeExecutions
from tests.fakes.insights_store import InMemoryInsightsStore
from tests.fakes.parameter_store import InMemoryParameterStore
from tests.fakes.providers import FakeProtocol, Step
from tests.fakes.run_files import InMemoryRunFiles
from tests.fakes.run_store import InMemoryRunStore
from tests.fakes.settings_edits import InMemorySettingsEdits
from tests.fakes.state_store import InMemoryStateStore
from tests.fakes.token_store import InMemoryTokenStore
from tests.fakes.transport import ScriptedTransport
from zarniwoop.contract.modality import SearchModality
from zarniwoop.dispatch.candidates.protocols import Protocols
from zarniwoop.settings.levels import Place
from zarniwoop.settings.parameter_store import ParameterStore
from zarniwoop.settings.writer import SettingsWriter
from zarniwoop.stores.audit import AuditStore
from zarniwoop.stores.content import ContentStore
from zarniwoop.stores.continuations import Continuations
from zarniwoop.stores.documents import DocumentStore
from zarniwoop.stores.editing import SettingsEdits
from zarniwoop.stores.evidence import EvidenceStore
from zarniwoop.stores.executions import Executions
from zarniwoop.stores.insights import InsightsStore
from zarniwoop.stores.run_files import RunFiles
from zarniwoop.stores.runs import RunStore
from zarniwoop.stores.state import StateStore
from zarniwoop.stores.tokens import TokenGrant, TokenStore
from zarniwoop.wiring import Environment

ROOT = "/zarniwoop/test"


class FakeBus:
    """The one method of EventBridge's client that is used; `published` holds the entries, unless it refuses them."""

    def __init__(self) -> None:
        self.published: list[Mapping[str, Any]] = []
        self.refuses = False

    def put_events(self, *, Entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:  # noqa: N803 - boto3's name
        if self.refuses:
            return {"FailedEntryCount": len(Entries), "Entries": [{"ErrorCode": "InternalFailure"}]}
        self.published += Entries
        return {"FailedEntryCount": 0, "Entries": [{"EventId": "1"}]}


class FakeEnvironment(Environment):
    """Scripted instances of tenant `acme`, asked in the order in which they are named."""

    def __init__(
        self,
        scripts: Mapping[str, Sequence[Step]] | None = None,
        settings: Mapping[str, str] | None = None,
        *,
        grants: Sequence[TokenGrant] = (),
        modalities: frozenset[SearchModality] = frozenset(SearchModality),
        request_id: str = "request-1",
    ) -> None:
        clock = FakeClock()
        variables = {"SETTINGS_ROOT": ROOT, "EVENT_BUS": "bus", "INVESTIGATE_STATE_MACHINE": STATE_MACHINE}
        super().__init__(variables, clock=clock, transport=ScriptedTransport())
        self.hands = clock
        self.fake_state = InMemoryStateStore(clock)
        self.fake_calls = InMemoryAuditStore()
        self.fake_parameters = InMemoryParameterStore(ROOT)
        self.fake_edits = InMemorySettingsEdits()
        self.fake_tokens = InMemoryTokenStore(*grants)
        self.fake_content = InMemoryContentStore(clock)
        self.fake_continuations = InMemoryContinuations(clock)
        self.fake_documents = InMemoryDocumentStore(clock)
        self.fake_insights = InMemoryInsightsStore()
        self.fake_evidence = InMemoryEvidenceStore(clock, begun_at=lambda: self.begun_at)
        self.fake_runs = InMemoryRunStore(clock)
        self.fake_files = InMemoryRunFiles()
        self.fake_executions = FakeExecutions()
        self.bus = FakeBus()
        self.protocol = FakeProtocol(
            clock, {name: list(steps) for name, steps in (scripts or {}).items()}, modalities=modalities
        )
        self.save(
            {
                f"research.endpoint.{instance_id}.{suffix}": value
                for priority, instance_id in enumerate(self.protocol.scripts)
                for suffix, value in (("protocol", "fake"), ("priority", str(priority)))
            }
            | dict(settings or {})
        )
        self.begin(request_id)

    def save(self, settings: Mapping[str, str], place: Place | None = None) -> None:
        for key, value in settings.items():
            self.fake_parameters.put(place or Place(tenant_id="acme"), key, value)

    @cached_property
    def state(self) -> StateStore:
        return self.fake_state

    @cached_property
    def tokens(self) -> TokenStore:
        return self.fake_tokens

    @cached_property
    def content(self) -> ContentStore:
        return self.fake_content

    @cached_property
    def continuations(self) -> Continuations:
        return self.fake_continuations

    @cached_property
    def documents(self) -> DocumentStore:
        return self.fake_documents

    @cached_property
    def insights(self) -> InsightsStore:
        return self.fake_insights

    @cached_property
    def evidence(self) -> EvidenceStore:
        return self.fake_evidence

    @cached_property
    def runs(self) -> RunStore:
        return self.fake_runs

    @cached_property
    def run_files(self) -> RunFiles:
        return self.fake_files

    @cached_property
    def executions(self) -> Executions:
        return self.fake_executions

    @cached_property
    def events(self) -> Any:
        return self.bus

    @cached_property
    def _calls(self) -> AuditStore:
        return self.fake_calls

    @cached_property
    def _parameters(self) -> ParameterStore:
        return self.fake_parameters

    @cached_property
    def _settings_writer(self) -> SettingsWriter:
        return self.fake_parameters

    @cached_property
    def _settings_edits(self) -> SettingsEdits:
        return self.fake_edits

    @cached_property
    def _protocols(self) -> Protocols:
        return Protocols(by_id={"fake": self.protocol})
