"""The names of all settings: the only place that spells a key, its default and its meaning (seed 1, section 8).

The tables `ENDPOINT_SUFFIXES`, `ROUTING`, `BUDGETS`, `KNOBS` and `MODEL_SETTINGS` are what the documentation's tables
are checked against.
"""

from dataclasses import dataclass

from zarniwoop.contract.chat import ModelRole
from zarniwoop.contract.modality import SearchModality

PREFIX_ENDPOINT = "research.endpoint."
PREFIX_DEFAULT = "research.default."
PREFIX_FALLBACK = "research.fallback."
PREFIX_CACHE = "research.cache.ttlSeconds."
PREFIX_MODEL = "llm."

PROTOCOL = "protocol"
BASE_URL = "baseUrl"
API_KEY = "apiKey"
ENABLED = "enabled"
HALF_SAVED = "half-saved"
"""What `enabled` starts with while an endpoint moves to another address or key; `settings.plan` has the rest."""

GENERIC_KEY_VARIABLE = "WEB_SEARCH_API_KEY"
"""The operator's key for any protocol that takes it, when neither a saved key nor the protocol's variable is there."""

MODEL_KEY_VARIABLES = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY")
"""The operator's keys of the model protocols, named here so that a search need not import those."""

LONGEST_VALUE = 4096
"""Bytes of UTF-8 in a value: what a standard parameter of Parameter Store holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suffix:
    """`research.endpoint.<id>.<name>`, or `llm.<role>.<name>`. `expects` completes the sentence "must be …"."""

    name: str
    kind: str
    expects: str
    default: str
    documentation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Knob:
    """A service-wide whole number; `attribute` is its name in `Knobs`."""

    key: str
    attribute: str
    default: int
    least: int
    most: int
    documentation: str


ENDPOINT_SUFFIXES = (
    Suffix(
        name=PROTOCOL,
        kind="string",
        expects="the id of a known protocol",
        default="required",
        documentation="Protocol id of the endpoint (`serper`, `pubmed`, …). Without it the endpoint is ignored.",
    ),
    Suffix(
        name=BASE_URL,
        kind="string",
        expects="an http or https URL without user name, query or fragment",
        default="the protocol's own",
        documentation="Where the provider is reached. A key is never sent to a base URL from a less trusted level.",
    ),
    Suffix(
        name=API_KEY,
        kind="password",
        expects="a key, saved as a SecureString",
        default="the protocol's environment variable",
        documentation="The provider's key, stored as a SecureString and read only when the endpoint is called.",
    ),
    Suffix(
        name=ENABLED,
        kind="bool",
        expects="true or false",
        default="true",
        documentation="`false` keeps the endpoint listed, but it is never asked.",
    ),
    Suffix(
        name="maxResults",
        kind="int",
        expects="a whole number from 1 to 50",
        default="as asked",
        documentation="How many hits one search of this endpoint may bring at most.",
    ),
    Suffix(
        name="timeoutSeconds",
        kind="number",
        expects="a number from 1 to 20",
        default="8",
        documentation="How long one call may take, and never more than 60 % of the time that the search has left.",
    ),
    Suffix(
        name="priority",
        kind="int",
        expects="a whole number",
        default="100",
        documentation="Order among all endpoints where routing names none: smaller first, then by id.",
    ),
    Suffix(
        name="costPerCall",
        kind="number",
        expects="a number of at least 0",
        default="0",
        documentation="What one call costs, in the unit of `creditLimit`.",
    ),
    Suffix(
        name="creditKind",
        kind="string",
        expects="none, monthly, one_time or daily_usd",
        default="none",
        documentation="How the provider counts credit: `monthly`, `one_time`, or by the day (`daily_usd`, `none`).",
    ),
    Suffix(
        name="creditLimit",
        kind="number",
        expects="a number of at least 0",
        default="no limit",
        documentation="How much may be spent in the period of `creditKind`, by all projects if it is the tenant's.",
    ),
    Suffix(
        name="resetDay",
        kind="int",
        expects="a whole number from 1 to 31",
        default="1",
        documentation="On which day of the month `monthly` credit comes back (UTC); in a short month on its last.",
    ),
    Suffix(
        name="autoAllow",
        kind="bool",
        expects="true or false",
        default="false",
        documentation="`true` lets an endpoint with a `costPerCall` be asked also where no routing or pin names it.",
    ),
    Suffix(
        name="hedgeMetered",
        kind="bool",
        expects="true or false",
        default="false",
        documentation="`true` lets an endpoint with a `costPerCall` be asked beside one that keeps a search waiting.",
    ),
)

ROUTING = {
    PREFIX_DEFAULT + "<modality>": "Endpoint that is asked first; the modality in lower case.",
    PREFIX_FALLBACK + "<modality>": "Endpoints that are asked next, in this order, separated by commas.",
}

LONGEST_CACHE_SECONDS = 86_400
CACHE = {PREFIX_CACHE + "<modality>": "How many seconds an answer is kept, 0 to 86400; the modality in lower case."}
"""The default, 0, keeps none."""

PREFIX_BUDGET = "research.budget."
_BUDGET_PERIOD = ".period"

BUDGETS = (
    Suffix(
        name="research.budget.project.calls",
        kind="int",
        expects="a whole number of at least 0",
        default="no limit",
        documentation="How many provider requests a project may make in the period.",
    ),
    Suffix(
        name="research.budget.project.usd",
        kind="number",
        expects="a number of at least 0",
        default="no limit",
        documentation="What a project's calls may cost in the period, as `costPerCall` says in dollars.",
    ),
    Suffix(
        name="research.budget.tenant.calls",
        kind="int",
        expects="a whole number of at least 0",
        default="no limit",
        documentation="How many provider requests all projects of the tenant may make in the period together.",
    ),
    Suffix(
        name="research.budget.tenant.usd",
        kind="number",
        expects="a number of at least 0",
        default="no limit",
        documentation="What the calls of all the tenant's projects may cost in the period together.",
    ),
    Suffix(
        name="research.budget.project.period",
        kind="string",
        expects="month or day",
        default="month",
        documentation="After what time a project's budget begins anew (UTC).",
    ),
    Suffix(
        name="research.budget.tenant.period",
        kind="string",
        expects="month or day",
        default="month",
        documentation="After what time the tenant's budget begins anew (UTC).",
    ),
)
"""By whole key. Of one that stands at several levels the outermost counts: nobody raises his own.

A budget's period is none of inner levels' business either, once one further out says anything of that budget.
"""

RERANK_RECIPE = "research.rerank.recipe"
RERANK_RECIPES = ("zarniwoop-research-rerank",)
"""The recipes that can put survivors into a better order; empty, which is the default, leaves them as they are."""

KNOBS = (
    Knob(
        key="research.quota.cache.ttlMinutes",
        attribute="quota_cache_ttl_minutes",
        default=5,
        least=0,
        most=1440,
        documentation="How long a quota that was seen is believed, per endpoint and modality.",
    ),
    Knob(
        key="research.factory.cache.ttlMinutes",
        attribute="factory_cache_ttl_minutes",
        default=5,
        least=0,
        most=1440,
        documentation="How long an environment keeps endpoints before it reads the settings again.",
    ),
    Knob(
        key="research.hedge.afterMs",
        attribute="hedge_after_ms",
        default=2500,
        least=0,
        most=20000,
        documentation="After how many milliseconds without an answer the next endpoint is asked too; 0: never.",
    ),
    Knob(
        key="research.log.retentionDays",
        attribute="log_retention_days",
        default=30,
        least=1,
        most=3650,
        documentation="How long the audit records of provider calls are kept.",
    ),
)


def budget_setting(budget: str, name: str) -> str:
    """`name` is calls, usd or period."""
    return f"{PREFIX_BUDGET}{budget}.{name}"


def budget_of(key: str) -> str | None:
    """Whose budget a setting is about; None for any other key."""
    return key.removeprefix(PREFIX_BUDGET).partition(".")[0] if key.startswith(PREFIX_BUDGET) else None


def is_budget_period(key: str) -> bool:
    return key.startswith(PREFIX_BUDGET) and key.endswith(_BUDGET_PERIOD)


def endpoint_setting(instance_id: str, suffix: str) -> str:
    return f"{PREFIX_ENDPOINT}{instance_id}.{suffix}"


def split_endpoint_setting(key: str) -> tuple[str, str] | None:
    """Instance id and suffix of an endpoint's setting; None for any other key."""
    instance_id, dot, suffix = key.removeprefix(PREFIX_ENDPOINT).partition(".")
    return (instance_id, suffix) if key.startswith(PREFIX_ENDPOINT) and dot and suffix else None


def model_setting(role: ModelRole, suffix: str) -> str:
    return f"{PREFIX_MODEL}{role}.{suffix}"


def default_for(modality: SearchModality) -> str:
    return PREFIX_DEFAULT + modality.value.lower()


def fallback_for(modality: SearchModality) -> str:
    return PREFIX_FALLBACK + modality.value.lower()


def cache_seconds_for(modality: SearchModality) -> str:
    return PREFIX_CACHE + modality.value.lower()


def cooldown_subject(instance_id: str, modality: SearchModality) -> str:
    """How a cooldown's subject is spelt where people read it (seed 1, section 9)."""
    return f"research:{instance_id}:{modality.value}"


def is_secret(key: str) -> bool:
    """Whether the value is a key that nothing but the key ring may hold."""
    return key.endswith(f".{API_KEY}")
