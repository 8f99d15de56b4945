"""The rows of `research_providers`: what there is to know of an instance, in short and in full."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from zarniwoop.contract.quota import QuotaStatus
from zarniwoop.contract.result import AnswerSize
from zarniwoop.dispatch.candidates.observations import Health
from zarniwoop.tools.budget_rows import BudgetRow


@dataclass(frozen=True, slots=True, kw_only=True)
class CooldownRow:
    """`subject` is spelt as in the seed. `remaining_seconds` None: only a change of the endpoint's settings ends it.

    `key_index` says which of several keys it is of; None: it is the endpoint's.
    """

    subject: str
    modality: str
    reason: str
    remaining_seconds: float | None
    failures: int
    key_index: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSummary:
    """One instance. Availability by modality, because a cooldown of IMAGE leaves WEB alone.

    `seen` tells apart what was seen of it: configured, reachable, funded, usable; null: nobody knows. `operators` are
    those of a query that the provider itself heeds.
    """

    id: str
    protocol: str
    availability: dict[str, str]
    seen: dict[str, bool | None]
    cooldowns: list[CooldownRow]
    quota: QuotaStatus | None
    cost_per_call: float
    operators: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderRow(ProviderSummary):
    """All of it. `filters` are those that the provider itself applies; the others are applied here, where its hits
    allow it. `health` says of each thing that was seen how and when.
    """

    display_name: str
    enabled: bool
    has_key: bool
    domains: list[str]
    tiers: list[str]
    filters: list[str]
    max_results: int | None
    max_query_chars: int | None
    index_family: str | None
    language: str | None
    loads_content: bool
    tells_quota: bool
    health: Health
    status_text: str | None
    prompt_hint: str

    def in_short(self) -> ProviderSummary:
        return ProviderSummary(**{field.name: getattr(self, field.name) for field in fields(ProviderSummary)})


@dataclass(frozen=True, slots=True, kw_only=True)
class MisconfiguredRow:
    """An endpoint, knob or add-on that cannot be used; `setting` is what to mend."""

    id: str
    setting: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvidersReport:
    """`routing` gives, for every modality, the instances in the order in which they would be asked.

    In short, modalities that nobody serves are left out of it. `budgets` are those of the project and its tenant.
    `size` is there when the answer was bounded.
    """

    providers: Sequence[ProviderRow | ProviderSummary]
    routing: dict[str, list[str]]
    budgets: list[BudgetRow]
    misconfigured: list[MisconfiguredRow]
    settings_are_stale: bool
    size: AnswerSize | None = None

    def entries(self) -> tuple[tuple[str, Any], ...]:
        return tuple(("providers", row) for row in self.providers)

    def with_entries(self, entries: Sequence[tuple[str, Any]], size: AnswerSize) -> "ProvidersReport":
        return replace(self, providers=[row for _, row in entries], size=size)
