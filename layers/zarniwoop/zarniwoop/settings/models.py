"""Settings to models: what answers as `primary` and as `harvest`, or what is wrong with it (seed 3, "Two models").

A harvest model that names neither a protocol nor a base URL is the primary one, and each of its own settings then
replaces the primary's. One that names either stands alone, so that the primary's key never goes to another endpoint.
Quirk: the reasons are written here and never hold a value, as those of endpoints.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from zarniwoop.contract.chat import ModelRole
from zarniwoop.contract.request import SearchScope
from zarniwoop.settings.cascade import EffectiveSettings, Setting, SettingsReader
from zarniwoop.settings.credentials import Credential, KnownProtocol, choose_credential
from zarniwoop.settings.endpoints import plain_base_url
from zarniwoop.settings.misconfigured import Misconfigured
from zarniwoop.settings.model_names import MODEL_SETTINGS
from zarniwoop.settings.names import (
    API_KEY,
    BASE_URL,
    LONGEST_VALUE,
    PREFIX_MODEL,
    PROTOCOL,
    model_setting,
)

BUILTIN = "builtin"
MODEL = "model"
HARVEST_MAX_PARALLEL = 4

_EXPECTS = {suffix.name: suffix.expects for suffix in MODEL_SETTINGS}

Given = Mapping[str, Setting]
"""The settings of one role by suffix."""


class Structured(StrEnum):
    """How an answer in JSON is asked for. AUTO goes down the list, as the endpoint refuses."""

    AUTO = "auto"
    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    PROMPT = "prompt"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """One usable model. `base_url` None means the protocol's own; `credential_key` is as in `EndpointSettings`."""

    role: ModelRole
    protocol: str = BUILTIN
    base_url: str | None = None
    credential_key: str | None = None
    model: str = ""
    max_tokens: int = 2000
    context_tokens: int = 16_000
    temperature: float | None = None
    structured: Structured = Structured.AUTO
    cost_per_million_input: float = 0.0
    cost_per_million_output: float = 0.0
    timeout_seconds: float = 60.0
    region: str | None = None
    max_parallel: int = HARVEST_MAX_PARALLEL

    @property
    def is_priced(self) -> bool:
        """Whether its tokens cost money, as far as the settings say so."""
        return self.cost_per_million_input > 0 or self.cost_per_million_output > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelsInForce:
    """The models of a scope; a role that is missing is misconfigured."""

    by_role: Mapping[ModelRole, ModelSettings] = field(default_factory=dict)
    misconfigured: tuple[Misconfigured, ...] = ()


def model_settings(
    effective: EffectiveSettings,
    protocols: Mapping[str, KnownProtocol],
    environment: Mapping[str, str],
    *,
    max_parallel: int = HARVEST_MAX_PARALLEL,
) -> ModelsInForce:
    """Validate everything under `llm.`. `environment` is as for `research_settings`."""
    given: dict[ModelRole, dict[str, Setting]] = {role: {} for role in ModelRole}
    faults = list(_sort_in(effective.values, given))
    models: dict[ModelRole, ModelSettings] = {}
    for role in ModelRole:
        settings = _Settings(role, given[ModelRole.PRIMARY], given[role])
        made = _model(settings, protocols, environment, max_parallel)
        if isinstance(made, ModelSettings):
            models[role] = made
        else:
            faults.extend(made)
    return ModelsInForce(by_role=models, misconfigured=tuple(dict.fromkeys(faults)))


class ModelSettingsReader:
    """The models of a scope, out of what the reader keeps of its settings."""

    def __init__(
        self,
        reader: SettingsReader,
        protocols: Mapping[str, KnownProtocol],
        environment: Mapping[str, str],
        *,
        max_parallel: int = HARVEST_MAX_PARALLEL,
    ) -> None:
        self._reader = reader
        self._protocols = protocols
        self._environment = environment
        self._max_parallel = max_parallel

    def read(self, scope: SearchScope) -> ModelsInForce:
        """Raises ConfigurationUnavailable when the settings cannot be read and no copy is there."""
        return self.models_in(self._reader.read(scope.tenant_id, scope.project_id, scope.process_id))

    def models_in(self, effective: EffectiveSettings) -> ModelsInForce:
        """The same out of settings that somebody else has read."""
        return model_settings(effective, self._protocols, self._environment, max_parallel=self._max_parallel)


class _Fields(BaseModel):
    """The values of one role's settings."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True, hide_input_in_errors=True)

    protocol: str = BUILTIN
    base_url: Annotated[str, AfterValidator(plain_base_url)] | None = Field(default=None, alias="baseUrl")
    model: str = Field(default="", max_length=256)
    max_tokens: int = Field(default=2000, alias="maxTokens", ge=16, le=200_000)
    context_tokens: int = Field(default=16_000, alias="contextTokens", ge=1000, le=2_000_000)
    temperature: float | None = Field(default=None, ge=0, le=2)
    structured: Structured = Structured.AUTO
    cost_per_million_input: float = Field(default=0.0, alias="costPerMillionInput", ge=0, allow_inf_nan=False)
    cost_per_million_output: float = Field(default=0.0, alias="costPerMillionOutput", ge=0, allow_inf_nan=False)
    timeout_seconds: float = Field(default=60.0, alias="timeoutSeconds", ge=1, le=900)
    region: str | None = Field(default=None, pattern=r"^[a-z]{2}(-[a-z]+)+-[0-9]{1,2}$")
    max_parallel: int | None = Field(default=None, alias="maxParallel", ge=1, le=64)


class _Settings:
    """The settings of one role, its inheritance included, and under which key each of them was saved."""

    def __init__(self, role: ModelRole, primary: Given, own: Given) -> None:
        self._stands_alone = PROTOCOL in own or BASE_URL in own
        self._own = own
        self.role = role
        self.values: Given = own if self._stands_alone else {**primary, **own}

    def fault(self, suffix: str, reason: str) -> Misconfigured:
        role = self.role if self._stands_alone or suffix in self._own else ModelRole.PRIMARY
        return Misconfigured(instance_id="", setting=model_setting(role, suffix), reason=reason)


def _sort_in(values: Given, given: Mapping[ModelRole, dict[str, Setting]]) -> Iterator[Misconfigured]:
    """Put every setting where it belongs; those that belong nowhere are told of."""
    for key, setting in values.items():
        if not key.startswith(PREFIX_MODEL):
            continue
        role, _, suffix = key.removeprefix(PREFIX_MODEL).partition(".")
        if role not in given or suffix not in _EXPECTS:
            yield Misconfigured(instance_id="", setting=key, reason="must be a setting of llm.primary or llm.harvest")
        else:
            given[ModelRole(role)][suffix] = setting


def _model(
    settings: _Settings, protocols: Mapping[str, KnownProtocol], environment: Mapping[str, str], max_parallel: int
) -> ModelSettings | list[Misconfigured]:
    faults = list(_outer_faults(settings))
    if faults:
        return faults
    values = {suffix: setting.value for suffix, setting in settings.values.items() if suffix != API_KEY}
    try:
        fields = _Fields.model_validate(values)
    except ValidationError as error:
        wrong = dict.fromkeys(str(each["loc"][0]) for each in error.errors(include_input=False, include_url=False))
        return [_must_be(settings, suffix) for suffix in wrong]
    protocol = protocols.get(fields.protocol)
    if protocol is None:
        return [_must_be(settings, PROTOCOL)]
    if fields.protocol != BUILTIN and not fields.model:
        return [settings.fault(MODEL, f"is required by protocol {fields.protocol}")]
    credential = _credential(settings, fields, protocol, environment)
    if isinstance(credential, str):
        return [settings.fault(API_KEY, credential)]
    return _assembled(settings.role, fields, credential, max_parallel)


def _credential(
    settings: _Settings, fields: _Fields, protocol: KnownProtocol, environment: Mapping[str, str]
) -> Credential | str:
    """A protocol without a URL of its own takes no key; an endpoint at a base URL of its own may need none."""
    if protocol.default_base_url is None:
        return Credential()
    is_own = fields.base_url in (None, protocol.default_base_url.rstrip("/"))
    return choose_credential(settings.values, fields.base_url, protocol, environment, required=is_own)


def _assembled(role: ModelRole, fields: _Fields, credential: Credential, max_parallel: int) -> ModelSettings:
    return ModelSettings(
        role=role,
        protocol=fields.protocol,
        base_url=fields.base_url,
        credential_key=credential.key,
        model=fields.model,
        max_tokens=fields.max_tokens,
        context_tokens=fields.context_tokens,
        temperature=fields.temperature,
        structured=fields.structured,
        cost_per_million_input=fields.cost_per_million_input,
        cost_per_million_output=fields.cost_per_million_output,
        timeout_seconds=fields.timeout_seconds,
        region=fields.region,
        max_parallel=fields.max_parallel or max_parallel,
    )


def _outer_faults(settings: _Settings) -> Iterator[Misconfigured]:
    """What is wrong before any value is looked into."""
    for suffix, setting in settings.values.items():
        if suffix == API_KEY:
            continue
        if setting.value is None:
            yield settings.fault(suffix, f"must be saved as a String: only {API_KEY} may be a SecureString")
        elif len(setting.value.encode()) > LONGEST_VALUE:
            yield settings.fault(suffix, f"must not be longer than {LONGEST_VALUE} bytes")


def _must_be(settings: _Settings, suffix: str) -> Misconfigured:
    return settings.fault(suffix, f"must be {_EXPECTS[suffix]}")
