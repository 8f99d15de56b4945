"""What a failure means for the next call (the seed's AgrajagChecker): the class decides the cooldown, design section 5.

A wait that the provider stated is never shortened. Our own guesses climb a ladder by consecutive failures and end at
its top; a subject that stayed well for ten minutes after its last cooldown starts at the bottom again.
Whoever is overtaken has failed, if it had the time of a fair attempt; with less, if it happens three times in a row.
"""

from zarniwoop.contract.failure import (
    AccessRefused,
    Cause,
    CredentialsRejected,
    EndpointMisconfigured,
    MalformedAnswer,
    ProviderError,
    ProviderUnavailable,
    RateLimited,
)
from zarniwoop.stores.state import Cooldown, Subject

_MINUTE = 60.0
_LADDERS: dict[type[ProviderError], tuple[float, ...]] = {
    AccessRefused: (5 * _MINUTE,),
    EndpointMisconfigured: (5 * _MINUTE,),
    RateLimited: (1 * _MINUTE, 5 * _MINUTE, 25 * _MINUTE, 60 * _MINUTE),
    ProviderUnavailable: (30.0, 2 * _MINUTE, 10 * _MINUTE, 30 * _MINUTE),
    MalformedAnswer: (1 * _MINUTE,),
}
_HELD_FOR_SETTINGS = 30 * 24 * 60 * _MINUTE
QUIET_SECONDS = 10 * _MINUTE
FAIR_ATTEMPT_SECONDS = 3.0
"""An attempt that was given less than this and ran out of time says nothing about the provider."""
SLOW_SECONDS = 1.0
"""Nobody who was overtaken in less is slow, however soon others are asked beside it."""
SLOW_IN_A_ROW = 3
SUPERSEDED = "superseded"


def cooldown_after(
    error: ProviderError, subject: Subject, previous: Cooldown | None, *, now: float, fingerprint: str, allowed: float
) -> Cooldown | None:
    """The cooldown that this failure calls for, or None. `allowed` is how many seconds the attempt was given."""
    if isinstance(error, CredentialsRejected):
        seconds = _HELD_FOR_SETTINGS
    elif type(error) not in _LADDERS or (error.cause is Cause.DEADLINE and allowed < FAIR_ATTEMPT_SECONDS):
        return None
    else:
        seconds = _seconds(error, _failures(previous, now))
    instance_id, modality = subject
    return Cooldown(
        instance_id=instance_id,
        modality=modality,
        reason=error.reason,
        until=now + seconds,
        failures=_failures(previous, now),
        failed_at=now,
        fingerprint=fingerprint,
        until_settings_change=isinstance(error, CredentialsRejected),
    )


def cooldown_after_losing(
    subject: Subject, previous: Cooldown | None, *, now: float, fingerprint: str, lasted: float, patience: float
) -> Cooldown | None:
    """What follows when one that was asked beside it, after `patience` seconds, answered first. `lasted`: its own time.

    One that lost so soon is counted under a closed cooldown, until an answer of its own ends the row. A probe has no
    second chance: that it answers was to be shown. What began as somebody's hedge, and had less time, is let off.
    """
    if lasted < FAIR_ATTEMPT_SECONDS:
        if lasted < max(patience, SLOW_SECONDS):
            return None
        recent = previous is not None and now < previous.failed_at + QUIET_SECONDS
        slow = 1 + (previous.slow if previous is not None and recent else 0)
        if slow < SLOW_IN_A_ROW and (previous is None or previous.closed):
            return _counted(slow, subject, previous, now, fingerprint)
    hung = ProviderUnavailable("another provider answered first", cause=Cause.DEADLINE)
    return cooldown_after(hung, subject, previous, now=now, fingerprint=fingerprint, allowed=FAIR_ATTEMPT_SECONDS)


def _counted(slow: int, subject: Subject, previous: Cooldown | None, now: float, fingerprint: str) -> Cooldown:
    """It may be asked as before, and the failures of before are remembered."""
    instance_id, modality = subject
    return Cooldown(
        instance_id=instance_id,
        modality=modality,
        reason=SUPERSEDED,
        until=now,
        failures=_failures(previous, now) - 1,
        failed_at=now,
        fingerprint=fingerprint,
        closed=True,
        slow=slow,
    )


def concerns_one_body(error: ProviderError) -> bool:
    """Of a load: a body that is too large, garbled or behind a wall says nothing of the provider's searches."""
    return isinstance(error, (MalformedAnswer, AccessRefused))


def _failures(previous: Cooldown | None, now: float) -> int:
    """Consecutive failures, this one included."""
    if previous is None or now >= previous.until + QUIET_SECONDS:
        return 1
    return previous.failures + 1


def _seconds(error: ProviderError, failures: int) -> float:
    ladder = _LADDERS[type(error)]
    guess = ladder[min(failures, len(ladder)) - 1]
    stated = error.retry_after or 0.0
    if isinstance(error, RateLimited):
        return stated or guess
    return max(stated, guess)
