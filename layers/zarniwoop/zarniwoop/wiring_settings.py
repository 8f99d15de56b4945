"""The part of the composition root that changing settings needs; a search makes nothing of it."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from zarniwoop.contract.deadline import Clock
    from zarniwoop.contract.transport import AwsCaller, Transport
    from zarniwoop.dispatch.calls.audit import AuditTrail
    from zarniwoop.dispatch.candidates.protocols import Protocols
    from zarniwoop.dispatch.trial.draft import TrialRunner
    from zarniwoop.net.address import AllowedNetworks
    from zarniwoop.observe.metrics import MetricsBuffer
    from zarniwoop.observe.redaction import Redactor
    from zarniwoop.settings.cascade import EffectiveSettings
    from zarniwoop.settings.credentials import KnownProtocol
    from zarniwoop.settings.desk import SettingsDesk
    from zarniwoop.settings.endpoints import EndpointSettings, ResearchSettings
    from zarniwoop.settings.form import SettingsForm
    from zarniwoop.settings.key_ring import SettingsKeyRing
    from zarniwoop.settings.misconfigured import Misconfigured
    from zarniwoop.settings.parameter_store import ParameterStore
    from zarniwoop.settings.view import SettingsViewer
    from zarniwoop.settings.writer import SettingsWriter
    from zarniwoop.stores.editing import SettingsEdits
    from zarniwoop.stores.state import StateStore
    from zarniwoop.tools.tool import ToolServices


class SettingsWiring:
    """What `wiring.Environment` is made of for the settings API; everything is made when it is first needed."""

    _variables: Mapping[str, str]
    clock: "Clock"
    metrics: "MetricsBuffer"
    redactor: "Redactor"

    if TYPE_CHECKING:  # declared for the type checker; the root makes them

        def dynamodb(self) -> DynamoDBClient: ...

        def _with_model_faults(self, settings: ResearchSettings, effective: EffectiveSettings) -> ResearchSettings: ...

        @cached_property
        def state(self) -> StateStore: ...

        @cached_property
        def audit(self) -> AuditTrail: ...

        @cached_property
        def tools(self) -> ToolServices: ...

        @cached_property
        def _parameters(self) -> ParameterStore: ...

        @cached_property
        def _keys(self) -> SettingsKeyRing: ...

        @cached_property
        def _protocols(self) -> Protocols: ...

        @cached_property
        def _known_protocols(self) -> Mapping[str, KnownProtocol]: ...

        @cached_property
        def _document_endpoints(self) -> tuple[EndpointSettings, ...]: ...

        @cached_property
        def _web_search_endpoints(self) -> tuple[EndpointSettings, ...]: ...

        @cached_property
        def _aws(self) -> AwsCaller: ...

        @cached_property
        def _key_marks(self) -> Mapping[str, str]: ...

        @cached_property
        def _transport(self) -> Transport: ...

        @property
        def _has_browser(self) -> bool: ...

        @property
        def _allowed_networks(self) -> AllowedNetworks: ...

    @property
    def reveals_secrets(self) -> bool:
        """Whether the operator lets saved keys be shown whole (stack parameter AllowSecretReveal)."""
        return self._variables.get("ALLOW_SECRET_REVEAL") == "true"

    @property
    def allowed_networks(self) -> "AllowedNetworks":
        """Raises StackMisconfigured."""
        return self._allowed_networks

    @property
    def known_protocols(self) -> "Mapping[str, KnownProtocol]":
        return self._known_protocols

    def settings_form(self) -> "SettingsForm":
        from zarniwoop.settings.form import settings_form

        return settings_form(self._protocols.by_id, reveals=self.reveals_secrets)

    def reveal_setting(self, name: str) -> str | None:
        return self._parameters.reveal(name)

    def judge_settings(self, effective: "EffectiveSettings") -> "ResearchSettings":
        """What a search would make of these settings."""
        from zarniwoop.settings.endpoints import research_settings
        from zarniwoop.settings.fetch_faults import with_fetch_faults
        from zarniwoop.settings.standing import bounded, with_standing

        stated = research_settings(effective, self._known_protocols, self._key_marks)
        configured = bounded(stated, self._web_search_endpoints)
        standing = (*self._document_endpoints, *self._web_search_endpoints)
        settings = with_standing(configured, standing, self._known_protocols)
        settings = with_fetch_faults(settings, has_browser=self._has_browser)
        return self._with_model_faults(settings, effective)

    def inspect_settings(self, effective: "EffectiveSettings") -> "Sequence[Misconfigured]":
        """All that is wrong with them, by making every endpoint once and asking none."""
        from zarniwoop.dispatch.candidates.selection import Candidate

        judged = self.judge_settings(effective)
        faults = list(judged.misconfigured)
        for endpoint in judged.endpoints:
            made = self.tools.dispatcher.factory.make(endpoint)
            if isinstance(made, Candidate):
                made.instance.dispose()
            else:
                faults.extend(made)
        return faults

    @cached_property
    def settings_desk(self) -> "SettingsDesk":
        from zarniwoop.settings.desk import SettingsDesk

        return SettingsDesk(
            parameters=self._parameters,
            writer=self._settings_writer,
            edits=self._settings_edits,
            state=self.state,
            inspect=self.inspect_settings,
            clock=self.clock,
            metrics=self.metrics,
            protocols=self._known_protocols,
        )

    @cached_property
    def settings_viewer(self) -> "SettingsViewer":
        from zarniwoop.settings.view import SettingsViewer

        return SettingsViewer(
            judge=self.judge_settings,
            inspect=self.inspect_settings,
            protocols=self._known_protocols,
            reveal=self.reveal_setting,
            learn=self.redactor.learn,
        )

    @cached_property
    def trials(self) -> "TrialRunner":
        from zarniwoop.dispatch.trial.draft import TrialRunner

        return TrialRunner(
            protocols=self._protocols,
            transport=self._transport,
            keys=self._keys,
            fleet=self.tools.dispatcher.fleet,
            audit=self.audit,
            clock=self.clock,
            metrics=self.metrics,
            redact=self.redactor.redact,
            aws=self._aws,
        )

    @cached_property
    def _settings_writer(self) -> "SettingsWriter":
        from zarniwoop.settings.writer import SsmSettingsWriter
        from zarniwoop.stores.clients import ssm_client

        key_id = self._variables.get("SECRETS_KEY_ARN") or None
        return SsmSettingsWriter(ssm_client(), self._variables["SETTINGS_ROOT"], key_id=key_id)

    @cached_property
    def _settings_edits(self) -> "SettingsEdits":
        from zarniwoop.stores.dynamodb_editing import DynamoDbSettingsEdits

        return DynamoDbSettingsEdits(
            self.dynamodb(), state_table=self._variables["STATE_TABLE"], calls_table=self._variables["CALLS_TABLE"]
        )
