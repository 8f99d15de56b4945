"""Several keys of one endpoint: which to ask with, and what is known of each.

A key has a cooldown of its own for what is the key's: it was refused, throttled, or its plan is used up. What concerns
the provider (an outage, a garbled answer) cools the endpoint down as ever. A key's cooldown is kept under the
fingerprint of the endpoint's settings and the key's place in the setting, so a change of the setting ends it.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.failure import CredentialsRejected, ProviderError, QuotaExhausted, RateLimited
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import Pacing
from zarniwoop.dispatch.candidates.selection import Candidate
from zarniwoop.dispatch.fleet.state import FleetState
from zarniwoop.stores.state import Cooldown, ProjectKey, StateSnapshot, key_fingerprint

OF_A_KEY = (CredentialsRejected, RateLimited, QuotaExhausted)
"""Failures that say something of the key and not of the provider."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolKey:
    """One of several keys. `cooldown` is what is kept of it, closed or past ones included."""

    index: int
    fingerprint: str
    cooldown: Cooldown | None = None

    def is_cooling(self, now: float) -> bool:
        if self.cooldown is None or self.cooldown.closed:
            return False
        return self.cooldown.until_settings_change or now < self.cooldown.until

    @property
    def probe(self) -> Cooldown | None:
        """The cooldown whose one probe is to be claimed before it is asked with."""
        return None if self.cooldown is None or self.cooldown.closed else self.cooldown


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """The keys that may be asked with, the next in turn first; where there is none, why, and when there is one."""

    usable: tuple[PoolKey, ...]
    reason: str | None = None
    retry_at: float | None = None


def known_pool(
    candidate: Candidate, modality: SearchModality, snapshot: StateSnapshot, now: float, start: int = 0
) -> Pool | None:
    """Out of what was read, beginning with another key for another `start`; None where it tells of no pool."""
    cooldowns = snapshot.pools.get((candidate.endpoint.id, modality))
    if cooldowns is None:
        return None
    keys = _keys_of(candidate, cooldowns)
    first = start % len(keys)
    usable = tuple(key for key in (*keys[first:], *keys[:first]) if not key.is_cooling(now))
    soonest = min(cooldowns.values(), key=lambda each: (each.until_settings_change, each.until), default=None)
    if usable or soonest is None:
        return Pool(usable=usable)
    return Pool(usable=(), reason=soonest.reason, retry_at=None if soonest.until_settings_change else soonest.until)


def _keys_of(candidate: Candidate, cooldowns: Mapping[int, Cooldown]) -> list[PoolKey]:
    settings = candidate.endpoint.fingerprint
    return [
        PoolKey(index=index, fingerprint=key_fingerprint(settings, index), cooldown=cooldowns.get(index))
        for index in range(1, candidate.key_count() + 1)
    ]


class KeyPicker:
    """Picks keys, one after the other; environments begin at different ones. Safe to use from several threads."""

    def __init__(self, *, fleet: FleetState, clock: Clock) -> None:
        self._fleet = fleet
        self._clock = clock
        self._turns = count(secrets.randbelow(1 << 16))

    def of(
        self, candidate: Candidate, modality: SearchModality, project: ProjectKey, snapshot: StateSnapshot
    ) -> Pool | None:
        """None for an endpoint with one key or none. Raises ConfigurationUnavailable when keys cannot be read.

        An environment that has not read the keys yet did not know that there are several, and looks at them now.
        """
        candidate.read_keys()
        if candidate.key_count() == 1:
            return None
        now = self._clock.now()
        if (candidate.endpoint.id, modality) not in snapshot.pools:
            snapshot = self._fleet.snapshot(project, [candidate.wanted(modality, now)])
        pool = known_pool(candidate, modality, snapshot, now, next(self._turns))
        return pool or Pool(usable=tuple(_keys_of(candidate, {})))


def pace_of(pacing: Pacing | None, key: PoolKey | None, candidate: Candidate) -> Pacing | None:
    """A published rate that is counted by key is each key's own."""
    name = candidate.endpoint.credential_key
    if pacing is None or key is None or key.index == 1 or not name or not pacing.subject.endswith(f":{name}"):
        return pacing
    return replace(pacing, subject=f"{pacing.subject}:k{key.index}")


def is_of_a_key(error: ProviderError | None) -> bool:
    return isinstance(error, OF_A_KEY)
