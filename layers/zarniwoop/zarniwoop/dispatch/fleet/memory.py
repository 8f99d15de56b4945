"""What an environment remembers of the shared state, for when the table is down: cooldowns, of keys too, and quotas.

What was last seen stands in for what cannot be read. What could not be written holds here in any case, until it is over
or the table has something that outlasts it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from zarniwoop.contract.deadline import Clock
from zarniwoop.stores.recent import Recent
from zarniwoop.stores.state import Cooldown, KeptQuota, ProjectKey, StateSnapshot, Subject, Wanted, pools_among

Key = TypeVar("Key")
Found = TypeVar("Found")

_CooldownKey = tuple[ProjectKey, Subject, str]
_QuotaKey = tuple[ProjectKey, Subject]
_Cooldowns = dict[tuple[Subject, str], Cooldown]


class FleetMemory:
    """Safe to use from several threads."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seen: Recent[_CooldownKey, Cooldown] = Recent()
        self._unwritten: Recent[_CooldownKey, Cooldown] = Recent()
        self._quotas: Recent[_QuotaKey, KeptQuota] = Recent()
        self._unwritten_quotas: Recent[_QuotaKey, KeptQuota] = Recent()

    def see(self, project: ProjectKey, wanted: Sequence[Wanted], snapshot: StateSnapshot) -> None:
        """What the table says is how it is, also where it says nothing (any more)."""
        if self._seen or snapshot.cooldowns or snapshot.pools:
            known = _cooldowns_in(snapshot)
            for each in wanted:
                for fingerprint in each.fingerprints:
                    found = known.get((each.subject, fingerprint))
                    _keep(self._seen, (project, each.subject, fingerprint), found)
        if self._quotas or snapshot.quotas:
            for each in wanted:
                _keep(self._quotas, (project, each.subject), snapshot.quotas.get(each.subject))

    def last_seen(self, project: ProjectKey, wanted: Sequence[Wanted]) -> StateSnapshot:
        """In the place of what could not be read; no generation can be told from it."""
        known = {
            (each.subject, fingerprint): cooldown
            for each in wanted
            for fingerprint in each.fingerprints
            if (cooldown := self._seen.get((project, each.subject, fingerprint))) is not None
        }
        now = self._clock.now()
        quotas = {each.subject: self._quotas.get((project, each.subject)) for each in wanted}
        return StateSnapshot(
            cooldowns=_of_endpoints(wanted, known),
            pools=pools_among(wanted, known),
            quotas={subject: quota for subject, quota in quotas.items() if quota and now < quota.expires_at},
            generation=-1,
        )

    def with_unwritten(self, project: ProjectKey, wanted: Sequence[Wanted], snapshot: StateSnapshot) -> StateSnapshot:
        """The snapshot with what the table does not have."""
        if self._unwritten_quotas:
            quotas = dict(self._quotas_held_here(project, wanted, snapshot.quotas))
            snapshot = replace(snapshot, quotas={**snapshot.quotas, **quotas})
        if self._unwritten:
            known = _cooldowns_in(snapshot)
            known.update(self._cooldowns_held_here(project, wanted, known))
            snapshot = replace(
                snapshot,
                cooldowns={**snapshot.cooldowns, **_of_endpoints(wanted, known)},
                pools={**snapshot.pools, **pools_among(wanted, known)},
            )
        return snapshot

    def written(self, project: ProjectKey, cooldown: Cooldown, standing: Cooldown) -> None:
        key = _key_of(project, cooldown)
        self._unwritten.pop(key)
        self._seen.put(key, standing)

    def not_written(self, project: ProjectKey, cooldown: Cooldown) -> None:
        self._unwritten.put(_key_of(project, cooldown), cooldown)

    def closed(self, project: ProjectKey, cooldown: Cooldown) -> None:
        key = _key_of(project, cooldown)
        self._unwritten.pop(key)
        self._seen.pop(key)

    def in_the_table(self, project: ProjectKey, cooldown: Cooldown) -> Cooldown | None:
        """What the table has in the place of a cooldown, as far as it was seen."""
        key = _key_of(project, cooldown)
        return self._seen.get(key) if self._unwritten.get(key) == cooldown else cooldown

    def quota_written(self, project: ProjectKey, subject: Subject, standing: KeptQuota) -> None:
        self._unwritten_quotas.pop((project, subject))
        self._quotas.put((project, subject), standing)

    def quota_not_written(self, project: ProjectKey, subject: Subject, quota: KeptQuota, *, looked_up: bool) -> None:
        """That something is left is no news to anybody; that nothing is holds here."""
        key = (project, subject)
        held = self._unwritten_quotas.get(key)
        if held is None or looked_up or held.gives_way_to(quota, self._clock.now()):
            self._quotas.put(key, quota)
            _keep(self._unwritten_quotas, key, quota if quota.status.exhausted else None)

    def forget(self, project: ProjectKey) -> None:
        for cooldowns in (self._seen, self._unwritten):
            cooldowns.drop(lambda key: key[0] == project)
        for quotas in (self._quotas, self._unwritten_quotas):
            quotas.drop(lambda key: key[0] == project)

    def _cooldowns_held_here(
        self, project: ProjectKey, wanted: Sequence[Wanted], known: _Cooldowns
    ) -> Iterator[tuple[tuple[Subject, str], Cooldown]]:
        """Unwritten ones that hold longer than what the table has. Those that are over are let go of."""
        now = self._clock.now()
        for place in [(each.subject, fingerprint) for each in wanted for fingerprint in each.fingerprints]:
            held = self._unwritten.get((project, *place))
            if held is None:
                continue
            if now < held.until and _outlasts(held, known.get(place)):
                yield place, held
            else:
                self._unwritten.pop((project, *place))

    def _quotas_held_here(
        self, project: ProjectKey, wanted: Sequence[Wanted], known: Mapping[Subject, KeptQuota]
    ) -> Iterator[tuple[Subject, KeptQuota]]:
        now = self._clock.now()
        for each in wanted:
            held, standing = self._unwritten_quotas.get((project, each.subject)), known.get(each.subject)
            if held is None:
                continue
            if now < held.expires_at and (standing is None or not held.gives_way_to(standing, now)):
                yield each.subject, held
            else:
                self._unwritten_quotas.pop((project, each.subject))


def _keep(kept: Recent[Key, Found], key: Key, found: Found | None) -> None:
    if found is None:
        kept.pop(key)
    else:
        kept.put(key, found)


def _key_of(project: ProjectKey, cooldown: Cooldown) -> _CooldownKey:
    return project, cooldown.subject, cooldown.fingerprint


def _cooldowns_in(snapshot: StateSnapshot) -> _Cooldowns:
    of_keys = [cooldown for pool in snapshot.pools.values() for cooldown in pool.values()]
    return {(each.subject, each.fingerprint): each for each in (*snapshot.cooldowns.values(), *of_keys)}


def _of_endpoints(wanted: Sequence[Wanted], known: _Cooldowns) -> dict[Subject, Cooldown]:
    return {
        each.subject: cooldown
        for each in wanted
        if (cooldown := known.get((each.subject, each.fingerprint))) is not None
    }


def _outlasts(held: Cooldown, known: Cooldown | None) -> bool:
    return known is None or (held.until_settings_change, held.until) > (known.until_settings_change, known.until)
