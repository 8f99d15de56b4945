"""The gate before every call (the seed's ZarniwoopGateService): may this candidate be asked now, and if not, why."""

from dataclasses import dataclass
from enum import StrEnum

from zarniwoop.contract.quota import ProviderAvailability, QuotaStatus
from zarniwoop.contract.request import SearchScope
from zarniwoop.dispatch.candidates.selection import Candidate
from zarniwoop.stores.state import Cooldown
from zarniwoop.text.numbers import in_digits


class Skip(StrEnum):
    """Why a candidate was not asked: the closed words of an attempt's `reason`."""

    DISABLED = "disabled"
    COOLDOWN = "cooldown"
    PROBING = "probing"
    EXHAUSTED = "exhausted"
    BUDGET = "budget"
    METERED = "metered"
    THROTTLED = "throttled"
    OUT_OF_TIME = "out_of_time"
    SUPERSEDED = "superseded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """`skip` None means go; `probe` means: only if you claim the one probe that the fleet is allowed."""

    skip: Skip | None = None
    detail: str | None = None
    retry_at: float | None = None
    limit: float | None = None
    probe: Cooldown | None = None


_GO = Verdict()


def to_raise(ceiling: str | None, limit: float | None) -> str:
    """The way out where a ceiling stands against a call, with what that is now."""
    return f"raise {ceiling}" if limit is None else f"raise {ceiling} (now {in_digits(limit)})"


def judge(
    candidate: Candidate, cooldown: Cooldown | None, quota: QuotaStatus | None, scope: SearchScope, now: float
) -> Verdict:
    """The verdict out of settings and state alone; time decides here, since expired items linger in DynamoDB."""
    if candidate.instance.availability(scope) is ProviderAvailability.DISABLED:
        return Verdict(skip=Skip.DISABLED)
    if quota is not None and quota.exhausted_at(now):
        return Verdict(skip=Skip.EXHAUSTED, retry_at=quota.resets_at)
    if cooldown is None or cooldown.closed:
        return _GO
    if cooldown.until_settings_change:
        return Verdict(skip=Skip.COOLDOWN, detail=cooldown.reason)
    if now < cooldown.until:
        return Verdict(skip=Skip.COOLDOWN, detail=cooldown.reason, retry_at=cooldown.until)
    return Verdict(probe=cooldown)
