"""How an endpoint is doing, as four things that were seen, each with how and when: no single word covers them.

Configured: its settings let it be asked. Reachable: it was heard of, or not, the last time that anybody had to do with
it. Funded: there is credit left, as far as a figure is known. Usable: a search would ask it now. Whatever nobody has
seen is unknown, and nobody is asked in order to see it: a key in the settings proves nothing, and a probe may cost.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from zarniwoop.contract.failure import ProviderUnavailable
from zarniwoop.contract.quota import ProviderAvailability, QuotaSource, QuotaStatus
from zarniwoop.contract.request import SearchScope
from zarniwoop.dispatch.candidates.selection import Candidate
from zarniwoop.stores.audit import CallRecord
from zarniwoop.stores.state import StateSnapshot
from zarniwoop.text.numbers import in_digits

_SAYS_NOTHING = frozenset(("declined", "internal", "key_unavailable", "superseded", "deadline"))
"""Ends of a call in which the provider had no part, or not to its end."""
_FIGURES = {
    QuotaSource.PROVIDER: "the provider's own figure",
    QuotaSource.HEADERS: "what an answer said",
    QuotaSource.LOCAL: "our own count",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """`value` None: nobody knows. `how` is what it was seen by, `observed_at` when (epoch seconds)."""

    value: bool | None
    how: str
    observed_at: float | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    configured: Observation
    reachable: Observation
    funded: Observation
    usable: Observation

    @property
    def values(self) -> dict[str, bool | None]:
        """What was seen, without how and when."""
        return {
            "configured": self.configured.value,
            "reachable": self.reachable.value,
            "funded": self.funded.value,
            "usable": self.usable.value,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """The last free look-up of this environment: when, and the reason word of its failure."""

    at: float
    failure: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What is known of an endpoint, besides its settings. `read_at` is when those were read.

    `budget` names the budget that leaves nothing for a call of it. `last_calls` are newest first; None: not read.
    """

    snapshot: StateSnapshot
    availability: Mapping[str, str]
    read_at: float
    quota: QuotaStatus | None = None
    last_calls: Sequence[CallRecord] | None = ()
    look_up: Contact | None = None
    budget: str | None = None


def health_of(candidate: Candidate, seen: Seen, scope: SearchScope, now: float) -> Health:
    """Out of what is known alone."""
    return Health(
        configured=_configured(candidate, seen, scope),
        reachable=_reachable(candidate, seen),
        funded=_funded(candidate, seen.quota, seen.read_at, now),
        usable=_usable(seen, now),
    )


def _configured(candidate: Candidate, seen: Seen, scope: SearchScope) -> Observation:
    """What is too wrong to be made into an instance has no row, and stands under `misconfigured`."""
    value = candidate.instance.availability(scope) is not ProviderAvailability.DISABLED
    missing = "it has no baseUrl" if candidate.endpoint.enabled else "enabled = false"
    return Observation(value=value, how="settings", observed_at=seen.read_at, detail=None if value else missing)


def _reachable(candidate: Candidate, seen: Seen) -> Observation:
    """The latest of all that was heard; a refusal is an answer, and whoever gives one was reached."""
    heard = list(_heard(candidate, seen))
    if heard:
        return max(heard, key=lambda each: each.observed_at or 0.0)
    if seen.last_calls:
        last = seen.last_calls[0]
        return Observation(value=None, how=_made_by(last), observed_at=_ended_at(last), detail=last.error_message)
    if seen.last_calls is None and candidate.endpoint.enabled:
        return Observation(value=None, how="not read", detail="its calls could not be read in time")
    if seen.last_calls is None:
        return Observation(value=None, how="not read", detail="nobody looks at the calls of what is switched off")
    return Observation(value=None, how="never seen", detail="no call of it is known")


def _heard(candidate: Candidate, seen: Seen) -> Iterator[Observation]:
    telling = (call for call in seen.last_calls or () if call.error_message not in _SAYS_NOTHING)
    for call in islice(telling, 1):
        yield _contact(call.error_message, _made_by(call), _ended_at(call))
    if seen.look_up is not None:
        yield _contact(seen.look_up.failure, "quota look-up", seen.look_up.at)
    for (instance_id, _), cooldown in seen.snapshot.cooldowns.items():
        if instance_id == candidate.endpoint.id and not cooldown.closed:
            yield _contact(cooldown.reason, "last failure", cooldown.failed_at)


def _made_by(call: CallRecord) -> str:
    return "test of its settings" if call.diagnostics else "last call"


def _ended_at(call: CallRecord) -> float:
    return call.started_at + call.duration_ms / 1000


def _contact(failure: str | None, how: str, at: float) -> Observation:
    return Observation(value=failure != ProviderUnavailable.reason, how=how, observed_at=at, detail=failure)


def _funded(candidate: Candidate, quota: QuotaStatus | None, read_at: float, now: float) -> Observation:
    if quota is not None and quota.remaining is not None:
        left = f"{in_digits(quota.remaining)} {quota.unit} left"
        how = _FIGURES[quota.source]
        return Observation(value=not quota.exhausted_at(now), how=how, observed_at=quota.observed_at, detail=left)
    if candidate.endpoint.cost_per_call == 0 and candidate.endpoint.credential_key is None:
        return Observation(value=True, how="settings", observed_at=read_at, detail="it takes no key and costs nothing")
    return Observation(value=None, how="no figure", detail="no provider's figure and no creditLimit is known")


def _usable(seen: Seen, now: float) -> Observation:
    """For at least one modality; the row has each of them."""
    met = set(seen.availability.values())
    ready = ProviderAvailability.READY in met
    detail = seen.budget if ready else ", ".join(sorted(met)) or None
    value = ready and seen.budget is None
    return Observation(value=value, how="what a search would meet", observed_at=now, detail=detail)
