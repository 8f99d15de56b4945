"""Providers: what is there and in what state."""

from collections.abc import Mapping

from zarniwoop_client.results.record import Record
from zarniwoop_client.results.searches import AnswerSize, QuotaStatus


class Observation(Record):
    """`value` None: nobody knows. `how` is what it was seen by, `observed_at` when (epoch seconds)."""

    value: bool | None
    how: str
    observed_at: float | None = None
    detail: str | None = None


class Health(Record):
    configured: Observation
    reachable: Observation
    funded: Observation
    usable: Observation


class CooldownRow(Record):
    """`remaining_seconds` None: only a change of the endpoint's settings ends it.

    `key_index` says which of several keys it is of; None: it is the endpoint's.
    """

    subject: str
    modality: str
    reason: str
    remaining_seconds: float | None
    failures: int
    key_index: int | None = None


class ProviderSummary(Record):
    """One instance. Availability by modality, because a cooldown of IMAGE leaves WEB alone.

    `seen` tells apart what was seen of it: configured, reachable, funded, usable; null: nobody knows. `operators` are
    those of a query that the provider itself heeds.
    """

    id: str
    protocol: str
    availability: Mapping[str, str]
    seen: Mapping[str, bool | None]
    cooldowns: tuple[CooldownRow, ...]
    quota: QuotaStatus | None
    cost_per_call: float
    operators: tuple[str, ...]


class ProviderRow(ProviderSummary):
    """All of it. `filters` are those that the provider itself applies; the others are applied here, where its hits
    allow it. `health` says of each thing that was seen how and when.
    """

    display_name: str
    enabled: bool
    has_key: bool
    domains: tuple[str, ...]
    tiers: tuple[str, ...]
    filters: tuple[str, ...]
    max_results: int | None
    max_query_chars: int | None
    index_family: str | None
    language: str | None
    loads_content: bool
    tells_quota: bool
    health: Health
    status_text: str | None
    prompt_hint: str


class MisconfiguredRow(Record):
    """An endpoint, knob or add-on that cannot be used; `setting` is what to mend."""

    id: str
    setting: str
    reason: str


class Allowance(Record):
    """`used` since the budget was set or its period began: what was spent, and what calls under way may come to."""

    limit: float
    used: float
    left: float


class BudgetRow(Record):
    """`budget` is `project`, or `tenant` for all projects of the tenant together. None: that is not limited, and then
    it is not told, since not every call is counted. `resets_at` in epoch seconds.
    """

    budget: str
    period: str
    calls: Allowance | None
    usd: Allowance | None
    resets_at: float | None


class ProvidersReport(Record):
    """`routing` gives, for every modality, the instances in the order in which they would be asked.

    In short, modalities that nobody serves are left out of it. `budgets` are those of the project and its tenant.
    """

    providers: tuple[ProviderRow | ProviderSummary, ...]
    routing: Mapping[str, tuple[str, ...]]
    budgets: tuple[BudgetRow, ...]
    misconfigured: tuple[MisconfiguredRow, ...]
    settings_are_stale: bool
    size: AnswerSize | None = None
