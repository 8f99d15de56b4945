"""The composition root: every collaborator is made here, once per execution environment, when it is first needed.

Environment variables are read here and nowhere else. An authorizer never pays for the dispatcher, nor a search for S3.
"""

import os
from collections.abc import Mapping
from functools import cache, cached_property
from typing import TYPE_CHECKING

from zarniwoop.contract.request import SearchScope
from zarniwoop.contract.transport import Transport
from zarniwoop.observe.clock import SystemClock
from zarniwoop.observe.heap import settle_heap
from zarniwoop.observe.metrics import MetricsBuffer, flush_to_cloudwatch
from zarniwoop.observe.redaction import Redactor
from zarniwoop.observe.trace import Tracing
from zarniwoop.settings.hash_key import StackHashKey
from zarniwoop.wiring_aws import AwsWiring
from zarniwoop.wiring_dispatch import DispatchWiring
from zarniwoop.wiring_documents import DocumentWiring
from zarniwoop.wiring_evidence import EvidenceWiring
from zarniwoop.wiring_mcp import McpWiring
from zarniwoop.wiring_models import ModelWiring
from zarniwoop.wiring_net import NetWiring
from zarniwoop.wiring_pages import PageWiring
from zarniwoop.wiring_runs import RunWiring
from zarniwoop.wiring_settings import SettingsWiring
from zarniwoop.wiring_triggers import TriggerWiring

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_events import EventBridgeClient

    from zarniwoop.contract.deadline import Clock
    from zarniwoop.dispatch.calls.audit import AuditTrail
    from zarniwoop.dispatch.candidates.protocols import Protocols
    from zarniwoop.pipelines.investigate.services import StepServices
    from zarniwoop.settings.cascade import SettingsReader
    from zarniwoop.settings.credentials import KnownProtocol
    from zarniwoop.settings.endpoints import ResearchSettings
    from zarniwoop.settings.key_ring import SettingsKeyRing
    from zarniwoop.settings.parameter_store import ParameterStore
    from zarniwoop.stores.audit import AuditStore
    from zarniwoop.stores.state import StateStore
    from zarniwoop.stores.tokens import TokenStore
    from zarniwoop.tools.research_investigate import Forecasts
    from zarniwoop.tools.tool import ToolServices


class Environment(
    NetWiring,
    AwsWiring,
    DispatchWiring,
    RunWiring,
    ModelWiring,
    DocumentWiring,
    PageWiring,
    EvidenceWiring,
    SettingsWiring,
    TriggerWiring,
    McpWiring,
):
    """What one execution environment is made of. Tests hand in variables, a clock and a transport of their own."""

    def __init__(
        self, variables: Mapping[str, str], *, clock: "Clock | None" = None, transport: Transport | None = None
    ) -> None:
        self._variables = variables
        self._given_transport = transport
        self.clock: Clock = clock or SystemClock()
        self.begun_at = self.clock.now()
        self.metrics = MetricsBuffer()
        self.redactor = Redactor()
        self._stack_hash_key = StackHashKey(
            self._reveal_hash_key, self.clock, warn=lambda message: self.log.warning(message)
        )
        self.tracing = Tracing(lambda: "Sampled=1" in os.environ.get("_X_AMZN_TRACE_ID", ""))

    def begin(self, request_id: str) -> None:
        """At the start of an invocation."""
        self.begun_at = self.clock.now()
        self.log.append_keys(request_id=request_id)

    def finish(self) -> None:
        """At the end of an invocation, however it ended: nothing is carried over into the next one."""
        if "audit" in self.__dict__:
            self.audit.flush()
        self.write_metrics()
        settle_heap()

    def write_metrics(self) -> None:
        """What was counted so far; the end of an invocation does it, and whoever may not live to see it, before."""
        flush_to_cloudwatch(self.metrics.drain())

    @cached_property
    def log(self) -> "Logger":
        from zarniwoop.observe.log import make_logger

        return make_logger(self.redactor, self._variables.get("POWERTOOLS_SERVICE_NAME", "zarniwoop"))

    @cached_property
    def state(self) -> "StateStore":
        from zarniwoop.stores.dynamodb_state import DynamoDbStateStore

        return DynamoDbStateStore(self.dynamodb(), self._variables["STATE_TABLE"], self.clock)

    @cached_property
    def tokens(self) -> "TokenStore":
        from zarniwoop.stores.dynamodb_tokens import DynamoDbTokenStore

        return DynamoDbTokenStore(self.dynamodb(), self._variables["TOKENS_TABLE"])

    @property
    def idempotency_table(self) -> str:
        return self._variables["IDEMPOTENCY_TABLE"]

    def dynamodb(self) -> "DynamoDBClient":
        return self._dynamodb

    @cached_property
    def audit(self) -> "AuditTrail":
        from zarniwoop.dispatch.calls.audit import AuditTrail

        return AuditTrail(store=self._calls, hash_key=self._hash_key, clock=self.clock, metrics=self.metrics)

    @cached_property
    def tools(self) -> "ToolServices":
        """What each tool works with."""
        from zarniwoop.tools.tool import ToolServices

        return ToolServices(
            clock=self.clock,
            searches=lambda: self._dispatcher,
            investigations=lambda: self.investigations,
            forecasts=lambda: self.forecasts,
            evidence=lambda: self.evidence,
            pages=lambda: self.pages,
            runs=lambda: self.run_watcher,
            rests=lambda: self.continuations,
        )

    @cached_property
    def forecasts(self) -> "Forecasts":
        from zarniwoop.pipelines.investigate.forecast import InvestigationForecaster

        return InvestigationForecaster(dispatcher=self.tools.dispatcher, models=self.models, clock=self.clock)

    @cached_property
    def steps(self) -> "StepServices":
        """What the steps of an investigation work with."""
        from zarniwoop.pipelines.investigate.services import StepServices

        return StepServices(
            runs=self.runs,
            files=self.run_files,
            content=self.content,
            insights=self.insights,
            dispatcher=self.tools.dispatcher,
            models=self.models,
            ends=self.run_ends,
            ledger=lambda: self.ledger,
            clock=self.clock,
            metrics=self.metrics,
        )

    @property
    def event_bus(self) -> str:
        return self._variables["EVENT_BUS"]

    @cached_property
    def events(self) -> "EventBridgeClient":
        from zarniwoop.stores.clients import events_client

        return events_client()

    def research_settings(self, scope: SearchScope) -> "tuple[ResearchSettings, bool]":
        """The settings in force for a scope, and whether they are a stale copy."""
        effective = self._settings.read(scope.tenant_id, scope.project_id, scope.process_id)
        return self.judge_settings(effective), effective.stale

    def _forget_settings(self, tenant_id: str, project_id: str) -> None:
        self._settings.forget(tenant_id, project_id)
        self._keys.forget(f"{self._variables['SETTINGS_ROOT']}/{tenant_id}/")

    @cached_property
    def _dynamodb(self) -> "DynamoDBClient":
        from zarniwoop.stores.clients import dynamodb_client

        return dynamodb_client()

    @cached_property
    def _calls(self) -> "AuditStore":
        from zarniwoop.stores.clients import side_write_client
        from zarniwoop.stores.dynamodb_audit import DynamoDbAuditStore

        table = self._variables["CALLS_TABLE"]
        return DynamoDbAuditStore(side_write_client(), table, self.clock, reader=self.dynamodb())

    @cached_property
    def _parameters(self) -> "ParameterStore":
        from zarniwoop.settings.parameter_store import SsmParameterStore
        from zarniwoop.stores.clients import ssm_client

        return SsmParameterStore(ssm_client(), self._variables["SETTINGS_ROOT"], self.clock)

    @cached_property
    def _settings(self) -> "SettingsReader":
        from zarniwoop.settings.cascade import SettingsReader
        from zarniwoop.settings.routing import factory_seconds

        return SettingsReader(self._parameters, self.clock, factory_seconds)

    @cached_property
    def _keys(self) -> "SettingsKeyRing":
        from zarniwoop.settings.key_ring import SettingsKeyRing

        return SettingsKeyRing(self._parameters, self.clock, self._key_variables, self.redactor.learn)

    @cached_property
    def _protocols(self) -> "Protocols":
        from zarniwoop.adapters import BUILTIN
        from zarniwoop.dispatch.candidates.protocols import collect_protocols

        return collect_protocols((*BUILTIN, *self._own_protocols))

    @cached_property
    def _known_protocols(self) -> "Mapping[str, KnownProtocol]":
        """What settings must know of each protocol; an add-on that is no wire format has its key saved, or none."""
        from zarniwoop.settings.credentials import KnownProtocol
        from zarniwoop.wire.driver import WireProtocol

        return {
            name: KnownProtocol(
                default_base_url=protocol.format.default_base_url,
                key_required=protocol.format.key_required,
                key_variable=protocol.format.key_variable,
                takes_generic_key=protocol.format.takes_generic_key,
                steering=tuple(field.name for field in protocol.format.setting_fields if field.steers),
                by_role=protocol.format.by_role,
            )
            if isinstance(protocol, WireProtocol)
            else KnownProtocol()
            for name, protocol in self._protocols.by_id.items()
        }

    @cached_property
    def _key_variables(self) -> Mapping[str, str]:
        """The operator's key variables that are set: SERPER_API_KEY, …, WEB_SEARCH_API_KEY, OPENAI_API_KEY, …"""
        from zarniwoop.settings.names import MODEL_KEY_VARIABLES

        names = {name for protocol in self._known_protocols.values() for name in protocol.variables()}
        names.update(MODEL_KEY_VARIABLES)
        return {name: self._variables[name] for name in sorted(names) if self._variables.get(name)}

    @cached_property
    def _key_marks(self) -> Mapping[str, str]:
        from zarniwoop.settings.credentials import marks_of

        return marks_of(self._key_variables, self._variables["SETTINGS_ROOT"])

    def _hash_key(self) -> bytes:
        return self._stack_hash_key.key()

    def _saved_hash_key(self) -> bytes | None:
        return self._stack_hash_key.saved()

    def _reveal_hash_key(self) -> str | None:
        return self._parameters.reveal(f"{self._variables['SETTINGS_ROOT']}/_stack/queryHashKey")

    def _trace_header(self) -> str | None:
        return os.environ.get("_X_AMZN_TRACE_ID")

    def _log_internal_error(self, instance_id: str, error: Exception) -> None:
        self.log.error(
            "provider instance raised what it must not",
            extra={"instance": instance_id, "error": type(error).__name__},
        )


@cache
def environment() -> Environment:
    """The environment of this process, made at its first invocation."""
    return Environment(os.environ)
