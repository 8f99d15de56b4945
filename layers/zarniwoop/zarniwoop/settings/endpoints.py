"""Settings to endpoints: a wrong one is told of and left out, and never takes another along (seed 1, section 8.1).

Quirk: the reasons are written here, and never hold a value: somebody may have pasted a key into the wrong field.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from zarniwoop.contract.modality import SearchModality
from zarniwoop.settings.budgets import Budgets, read_budgets
from zarniwoop.settings.cascade import EffectiveSettings, Setting
from zarniwoop.settings.credentials import Credential, KnownProtocol, choose_credential
from zarniwoop.settings.fetching import FetchSettings, read_fetching
from zarniwoop.settings.levels import Level
from zarniwoop.settings.misconfigured import Misconfigured
from zarniwoop.settings.names import (
    API_KEY,
    ENABLED,
    ENDPOINT_SUFFIXES,
    HALF_SAVED,
    LONGEST_VALUE,
    PROTOCOL,
    split_endpoint_setting,
)
from zarniwoop.settings.routing import Knobs, read_cache_seconds, read_knobs, read_rerank_recipe, read_routing
from zarniwoop.stores.keys import is_id
from zarniwoop.text.urls import http_url

__all__ = ["EndpointSettings", "Knobs", "KnownProtocol", "Misconfigured", "ResearchSettings", "research_settings"]

_EXPECTS = {suffix.name: suffix.expects for suffix in ENDPOINT_SUFFIXES}


class CreditKind(StrEnum):
    """How a provider counts credit."""

    NONE = "none"
    MONTHLY = "monthly"
    ONE_TIME = "one_time"
    DAILY_USD = "daily_usd"


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSettings:
    """One usable endpoint.

    `credential_key` names where its key is: a parameter, `env:<VARIABLE>`, or None. `fingerprint` changes with any of
    its settings and with its key, and does not give the key away. `base_url` None means the protocol's own.
    `credit_shared`: its `creditLimit` was set for the whole tenant, whose projects spend it together. `in_dollars`: its
    prices are, whatever its `creditKind`.
    """

    id: str
    protocol: str
    base_url: str | None
    credential_key: str | None
    enabled: bool
    priority: int
    cost_per_call: float
    credit_kind: CreditKind
    credit_limit: float | None
    extras: Mapping[str, str]
    auto_allow: bool
    fingerprint: str
    max_results: int | None = None
    timeout_seconds: float | None = None
    reset_day: int = 1
    hedge_metered: bool = False
    credit_shared: bool = False
    in_dollars: bool = False
    standing: bool = False

    @property
    def rank(self) -> tuple[bool, int, str]:
        """Its place among all that nobody named: what somebody configured comes before what is there without that."""
        return self.standing, self.priority, self.id

    @property
    def may_be_asked_unnamed(self) -> bool:
        """Whether a search may fall to it without routing or a pin naming it: what costs money must be chosen."""
        return self.cost_per_call == 0 or self.auto_allow

    @property
    def may_be_a_hedge(self) -> bool:
        """Whether it may be asked while another that was asked before it may still answer."""
        return self.cost_per_call == 0 or self.hedge_metered


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchSettings:
    """What the settings of a scope come to; endpoints in the order of their priority, then id."""

    endpoints: tuple[EndpointSettings, ...] = ()
    misconfigured: tuple[Misconfigured, ...] = ()
    defaults: Mapping[SearchModality, str] = field(default_factory=dict)
    fallbacks: Mapping[SearchModality, tuple[str, ...]] = field(default_factory=dict)
    knobs: Knobs = field(default_factory=Knobs)
    rerank_recipe: str | None = None
    cache_seconds: Mapping[SearchModality, int] = field(default_factory=dict)
    budgets: Budgets = field(default_factory=Budgets)
    fetching: FetchSettings = field(default_factory=FetchSettings)


def research_settings(
    effective: EffectiveSettings, protocols: Mapping[str, KnownProtocol], environment: Mapping[str, str]
) -> ResearchSettings:
    """Validate everything under `research.` and `fetch.`.

    `environment` holds the operator's key variables with the marks of `credentials.marks_of`.
    """
    endpoints: list[EndpointSettings] = []
    faults: list[Misconfigured] = []
    for instance_id, settings in _by_instance(effective.values).items():
        if PROTOCOL in settings:
            made = _endpoint(instance_id, settings, protocols, environment)
            if isinstance(made, EndpointSettings):
                endpoints.append(made)
            else:
                faults.extend(made)
    routing = read_routing(effective.values)
    knobs, wrong_knobs = read_knobs(effective.values)
    rerank_recipe, wrong_recipe = read_rerank_recipe(effective.values)
    cache_seconds, wrong_cache = read_cache_seconds(effective.values)
    budgets, wrong_budgets = read_budgets(effective.values)
    fetching, wrong_fetching = read_fetching(effective.values)
    wrong = (*wrong_knobs, *wrong_recipe, *wrong_cache, *wrong_budgets, *wrong_fetching)
    return ResearchSettings(
        endpoints=tuple(sorted(endpoints, key=lambda endpoint: (endpoint.priority, endpoint.id))),
        misconfigured=(*faults, *routing.misconfigured, *wrong),
        defaults=routing.defaults,
        fallbacks=routing.fallbacks,
        knobs=knobs,
        rerank_recipe=rerank_recipe,
        cache_seconds=cache_seconds,
        budgets=budgets,
        fetching=fetching,
    )


def plain_base_url(value: str) -> str:
    """The URL without a slash at its end. Raises ValueError for one that has more to it than scheme, host and path."""
    url = http_url(value)
    authority = value.partition("://")[2].partition("/")[0]
    if url is None or "@" in authority or any(mark in value for mark in "?#\\"):
        raise ValueError("not a base URL")
    return url.rstrip("/")


class _Fields(BaseModel):
    """The values of one endpoint's own suffixes."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True, hide_input_in_errors=True)

    protocol: str
    base_url: Annotated[str, AfterValidator(plain_base_url)] | None = Field(default=None, alias="baseUrl")
    enabled: bool = True
    max_results: int | None = Field(default=None, alias="maxResults", ge=1, le=50)
    timeout_seconds: float | None = Field(default=None, alias="timeoutSeconds", ge=1, le=20, allow_inf_nan=False)
    priority: int = 100
    cost_per_call: float = Field(default=0.0, alias="costPerCall", ge=0, allow_inf_nan=False)
    credit_kind: CreditKind = Field(default=CreditKind.NONE, alias="creditKind")
    credit_limit: float | None = Field(default=None, alias="creditLimit", ge=0, allow_inf_nan=False)
    auto_allow: bool = Field(default=False, alias="autoAllow")
    hedge_metered: bool = Field(default=False, alias="hedgeMetered")
    reset_day: int = Field(default=1, alias="resetDay", ge=1, le=31)


def _by_instance(values: Mapping[str, Setting]) -> dict[str, dict[str, Setting]]:
    found: dict[str, dict[str, Setting]] = {}
    for key, setting in values.items():
        split = split_endpoint_setting(key)
        if split is not None:
            found.setdefault(split[0], {})[split[1]] = setting
    return found


def _endpoint(
    instance_id: str,
    settings: Mapping[str, Setting],
    protocols: Mapping[str, KnownProtocol],
    environment: Mapping[str, str],
) -> EndpointSettings | list[Misconfigured]:
    faults = [
        Misconfigured(instance_id=instance_id, setting=setting, reason=reason)
        for setting, reason in _outer_faults(instance_id, settings)
    ]
    if faults:
        return faults
    values = {suffix: setting.value for suffix, setting in settings.items() if suffix != API_KEY}
    try:
        fields = _Fields.model_validate({suffix: value for suffix, value in values.items() if suffix in _EXPECTS})
    except ValidationError as error:
        wrong = dict.fromkeys(str(each["loc"][0]) for each in error.errors(include_input=False, include_url=False))
        return [_must_be(instance_id, suffix) for suffix in wrong]
    protocol = protocols.get(fields.protocol)
    if protocol is None:
        return [_must_be(instance_id, PROTOCOL)]
    credential = choose_credential(settings, fields.base_url, protocol, environment, required=fields.enabled)
    if isinstance(credential, str):
        return [Misconfigured(instance_id=instance_id, setting=API_KEY, reason=credential)]
    return _assembled(instance_id, settings, fields, credential)


def _assembled(
    instance_id: str, settings: Mapping[str, Setting], fields: _Fields, credential: Credential
) -> EndpointSettings:
    return EndpointSettings(
        id=instance_id,
        protocol=fields.protocol,
        base_url=fields.base_url,
        credential_key=credential.key,
        enabled=fields.enabled,
        priority=fields.priority,
        cost_per_call=fields.cost_per_call,
        credit_kind=fields.credit_kind,
        credit_limit=fields.credit_limit,
        extras={
            suffix: setting.value.strip()
            for suffix, setting in settings.items()
            if suffix not in _EXPECTS and setting.value is not None
        },
        auto_allow=fields.auto_allow,
        fingerprint=_fingerprint(settings, credential),
        max_results=fields.max_results,
        timeout_seconds=fields.timeout_seconds,
        reset_day=fields.reset_day,
        hedge_metered=fields.hedge_metered,
        credit_shared="creditLimit" in settings and settings["creditLimit"].level is Level.TENANT,
    )


def _outer_faults(instance_id: str, settings: Mapping[str, Setting]) -> Iterator[tuple[str, str]]:
    """What is wrong before any value is looked into, as (setting, reason)."""
    if not is_id(instance_id):
        yield "id", "must have 1 to 63 characters out of a-z, 0-9, '_' and '-', and start with a letter or digit"
    for suffix, setting in settings.items():
        if suffix == API_KEY:
            continue
        if setting.value is None:
            yield suffix, f"must be saved as a String: only {API_KEY} may be a SecureString"
        elif len(setting.value.encode()) > LONGEST_VALUE:
            yield suffix, f"must not be longer than {LONGEST_VALUE} bytes"
        elif suffix == ENABLED and setting.value.startswith(HALF_SAVED):
            yield suffix, "says that a change was broken off: send it again (PUT /v1/settings)"


def _must_be(instance_id: str, suffix: str) -> Misconfigured:
    return Misconfigured(instance_id=instance_id, setting=suffix, reason=f"must be {_EXPECTS[suffix]}")


def _fingerprint(settings: Mapping[str, Setting], credential: Credential) -> str:
    stated = sorted((suffix, setting.value) for suffix, setting in settings.items() if suffix != API_KEY)
    return hashlib.sha256(orjson.dumps([stated, credential.key, credential.version])).hexdigest()[:16]
