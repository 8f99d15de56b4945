"""What is left to spend at a provider, and whether it may be asked now."""

from dataclasses import dataclass
from enum import StrEnum


class ProviderAvailability(StrEnum):
    """What the dispatcher does with an instance (seed 1, section 9.1)."""

    READY = "READY"
    EXHAUSTED = "EXHAUSTED"
    COOLDOWN = "COOLDOWN"
    DISABLED = "DISABLED"


class QuotaSource(StrEnum):
    """Who counted: the provider's own endpoint, its answer headers, or our audit records."""

    PROVIDER = "provider"
    HEADERS = "headers"
    LOCAL = "local"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaStatus:
    """Consumption in `unit`; `limit` and `remaining` are None where nobody stated them; times in epoch seconds."""

    source: QuotaSource
    unit: str = "calls"
    used: float | None = None
    limit: float | None = None
    remaining: float | None = None
    resets_at: float | None = None
    observed_at: float = 0.0

    @property
    def exhausted(self) -> bool:
        return self.remaining is not None and self.remaining <= 0

    def exhausted_at(self, now: float) -> bool:
        """Whether nothing is left at that moment: what was reset since then is not used up, however it was kept."""
        return self.exhausted and (self.resets_at is None or now < self.resets_at)
