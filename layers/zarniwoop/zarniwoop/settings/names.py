"""The names of all settings: the only place that spells a key, its default and its meaning (seed 1, section 8).

The tables `ENDPOINT_SUFFIXES`, `ROUTING`, `KNOBS` and `MODEL_SETTINGS` are what the documentation's tables are checked
against.
"""

from dataclasses import dataclass

from zarniwoop.contract.chat import ModelRole
from zarniwoop.contract.modality import SearchModality

PREFIX_ENDPOINT = "research.endpoint."
PREFIX_DEFAULT = "research.default."
PREFIX_FALLBACK = "research.fallback."
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
        documentation="How much may be spent in the period that `creditKind` names.",
    ),
    Suffix(
        name="autoAllow",
        kind="bool",
        expects="true or false",
        default="false",
        documentation="`true` lets an endpoint with a `costPerCall` be asked also where no routing or pin names it.",
    ),
)

ROUTING = {
    PREFIX_DEFAULT + "<modality>": "Endpoint that is asked first; the modality in lower case.",
    PREFIX_FALLBACK + "<modality>": "Endpoints that are asked next, in this order, separated by commas.",
}

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
        key="research.log.retentionDays",
        attribute="log_retention_days",
        default=30,
        least=1,
        most=3650,
        documentation="How long the audit records of provider calls are kept.",
    ),
)

MODEL_SETTINGS = (
    Suffix(
        name=PROTOCOL,
        kind="string",
        expects="openai, anthropic, bedrock or builtin",
        default="builtin",
        documentation="Wire format of the model; `builtin` asks none. `harvest` follows `primary` by default.",
    ),
    Suffix(
        name=BASE_URL,
        kind="string",
        expects="an http or https URL without user name, query or fragment",
        default="the protocol's own",
        documentation="Where the model is reached, for `openai` up to and including `/v1`.",
    ),
    Suffix(
        name=API_KEY,
        kind="password",
        expects="a key, saved as a SecureString",
        default="the protocol's environment variable",
        documentation="The endpoint's key; one at a base URL of its own may need none.",
    ),
    Suffix(
        name="model",
        kind="string",
        expects="a model id of at most 256 characters",
        default="required",
        documentation="Which model is asked, as the endpoint calls it.",
    ),
    Suffix(
        name="maxTokens",
        kind="int",
        expects="a whole number from 16 to 200000",
        default="2000",
        documentation="How much one answer may have, reasoning included; doubled once when reasoning used it up.",
    ),
    Suffix(
        name="contextTokens",
        kind="int",
        expects="a whole number from 1000 to 2000000",
        default="16000",
        documentation="How much the model reads at once; hits are put to it in batches of that size.",
    ),
    Suffix(
        name="temperature",
        kind="number",
        expects="a number from 0 to 2",
        default="not sent",
        documentation="Sampling temperature.",
    ),
    Suffix(
        name="structured",
        kind="string",
        expects="auto, json_schema, json_object or prompt",
        default="auto",
        documentation="How an answer in JSON is asked for; `auto` tries the strictest way first.",
    ),
    Suffix(
        name="costPerMillionInput",
        kind="number",
        expects="a number of at least 0",
        default="0",
        documentation="Price of a million tokens put in.",
    ),
    Suffix(
        name="costPerMillionOutput",
        kind="number",
        expects="a number of at least 0",
        default="0",
        documentation="Price of a million tokens written, reasoning included.",
    ),
    Suffix(
        name="timeoutSeconds",
        kind="number",
        expects="a number from 1 to 900",
        default="60",
        documentation="How long one answer may take.",
    ),
    Suffix(
        name="region",
        kind="string",
        expects="an AWS region",
        default="the stack's own",
        documentation="Where `bedrock` is asked.",
    ),
    Suffix(
        name="maxParallel",
        kind="int",
        expects="a whole number from 1 to 64",
        default="HARVEST_MAX_PARALLEL, else 4",
        documentation="How many calls an environment makes at once; counts for `harvest`.",
    ),
)
"""Of a model: `llm.primary.<name>` and `llm.harvest.<name>`."""


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


def cooldown_subject(instance_id: str, modality: SearchModality) -> str:
    """How a cooldown's subject is spelt where people read it (seed 1, section 9)."""
    return f"research:{instance_id}:{modality.value}"


def is_secret(key: str) -> bool:
    """Whether the value is a key that nothing but the key ring may hold."""
    return key.endswith(f".{API_KEY}")
