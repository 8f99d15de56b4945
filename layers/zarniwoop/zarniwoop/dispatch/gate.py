"""The gate before every call (the seed's ZarniwoopGateService): may this candidate be asked now, and if not, why."""

from dataclasses import dataclass
from enum import StrEnum

from zarniwoop.contract.quota import ProviderAvailability
from zarniwoop.contract.request import SearchScope
from zarniwoop.dispatch.candidates import Candidate
from zarniwoop.stores.state import Cooldown, KeptQuota


class Skip(StrEnum):
    """Why a candidate was not asked: the closed words of an attempt's `reason`."""

    DISABLED = "disabled"
    COOLDOWN = "cooldown"
    PROBING = "probing"
    EXHAUSTED = "exhausted"
    THROTTLED = "throttled"
    OUT_OF_TIME = "out_of_time"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """`skip` None means go; `probe` means: only if you claim the one probe that the fleet is allowed."""

    skip: Skip | None = None
    detail: str | None = None
    retry_at: float | None = None
    probe: Cooldown | None = None


def judge(
    candidate: Candidate, kept_cooldown: Cooldown | None, quota: KeptQuota | None, scope: SearchScope, now: float
) -> Verdict:
    """The verdict out of settings and state alone; time decides here, since expired items linger in DynamoDB."""
    if candidate.instance.availability(scope) is ProviderAvailability.DISABLED:
        return Verdict(skip=Skip.DISABLED)
    if quota is not None and quota.status.exhausted:
        return Verdict(skip=Skip.EXHAUSTED, retry_at=quota.status.resets_at or quota.expires_at)
    cooldown = standing(kept_cooldown, candidate.fingerprint)
    if cooldown is None:
        return Verdict()
    if cooldown.until_settings_change:
        return Verdict(skip=Skip.COOLDOWN, detail=cooldown.reason)
    if now < cooldown.until:
        return Verdict(skip=Skip.COOLDOWN, detail=cooldown.reason, retry_at=cooldown.until)
    return Verdict(probe=cooldown)


def standing(cooldown: Cooldown | None, fingerprint: str) -> Cooldown | None:
    """The cooldown if it still counts: not closed by a success, and of the settings that are in force."""
    return None if cooldown is None or cooldown.closed or cooldown.fingerprint != fingerprint else cooldown
