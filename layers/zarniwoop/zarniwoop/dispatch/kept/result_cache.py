"""Kept answers, and single flight: of searches that mean the same, one asks and the whole fleet has its answer.

Off unless `research.cache.ttlSeconds.<modality>` is set. The identity is an HMAC of the meaning, so that no query can
be guessed from it; who stands in the caller's line is part of that, so a pin, `free_only` and a process's own settings
have answers of their own. Whether a caller may have what stands there is asked each time: it must be of the project's
present generation (no stop and no change of settings since), and young enough for the settings in force.
Who asks holds a lease. Whoever comes meanwhile waits for the answer, within most of its deadline. A lease whose holder
died ends by itself, and one of those who wait takes over, as after an answer that may not be kept. DynamoDB down means
that everybody asks.
"""

import hmac
import random
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.request import CacheUse, SearchRequest, SearchScope
from zarniwoop.contract.result import DispatchFailure, SearchResult
from zarniwoop.dispatch.candidates.selection import Lineup
from zarniwoop.dispatch.kept.form import kept_seconds, meaning, packed, unpacked
from zarniwoop.observe.metrics import Metric, Metrics
from zarniwoop.settings.endpoints import ResearchSettings
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.kept_results import Flight, KeptAnswer, Standing
from zarniwoop.stores.keys import partition
from zarniwoop.stores.project import ProjectKey
from zarniwoop.stores.results import ResultStore
from zarniwoop.stores.state import StateSnapshot

LEASE_SECONDS = 10.0
"""Longer than one attempt may take; a search that needs more lets one other go, so much later."""
PATIENCE_SHARE = 0.6
"""How much of its time a search waits for another's answer; the rest is for asking itself."""
_SPREAD = 0.26
"""Those who have waited in vain, since nothing came that may be kept, shall not all ask in one moment."""
_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 0.8
_MOST_CLAIMS = 5
_NOT_KNOWN = -1

Ask = Callable[[bool], tuple[SearchResult, "Sought | None"]]
"""Asks the providers; told whether time has passed since the shared state was read. The answer, and to what it is one:
by then the project may have other settings."""


class CacheOutcome(StrEnum):
    """What became of a search whose answer might have been kept: the tag of `vance.research.cache`."""

    HIT = "hit"
    SHARED = "shared"
    MISS = "miss"
    ALONE = "alone"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """A search that may have an answer already. What is older than `seconds` is too old."""

    project: ProjectKey
    identity: str
    seconds: float
    generation: int = 0
    standing: Standing | None = None

    def seen(self, snapshot: StateSnapshot, built_in: int | None) -> "Sought":
        """With what one read of the shared state brought, for instances that were built in that generation.

        Where a change came between the two, nothing may be taken or kept: it would be of the older settings.
        """
        return Sought(
            project=self.project,
            identity=self.identity,
            seconds=self.seconds,
            generation=snapshot.generation if built_in == snapshot.generation else _NOT_KNOWN,
            standing=snapshot.results.get(self.identity),
        )

    def is_answered_by(self, other: "Sought | None") -> bool:
        """Whether what was asked for in the end is this very search, of the same generation."""
        return other is not None and (other.identity, other.generation) == (self.identity, self.generation)


class ResultCache:
    """`store` is asked for only where answers are kept. Without a saved `hash_key` none are: nobody could find them."""

    def __init__(
        self,
        *,
        store: Callable[[], ResultStore],
        hash_key: Callable[[], bytes | None],
        clock: Clock,
        metrics: Metrics,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._store = store
        self._hash_key = hash_key
        self._clock = clock
        self._metrics = metrics
        self._chance = chance

    def sought(
        self, request: SearchRequest, scope: SearchScope, lineup: Lineup, settings: ResearchSettings
    ) -> Sought | None:
        """What to look for; None where answers are not kept, or not wanted, or nobody could have given one."""
        seconds = settings.cache_seconds.get(request.modality, 0)
        if not seconds or request.cache is CacheUse.NO_STORE or not lineup.candidates:
            return None
        key = self._hash_key()
        if key is None:
            return None
        project = ProjectKey.of(scope)
        meant = f"result\n{partition(project)}\n".encode() + meaning(request, lineup)
        return Sought(
            project=project,
            identity=hmac.digest(key, meant, "sha256").hex(),
            seconds=seconds,
        )

    def age_of(self, sought: Sought | None) -> float | None:
        """How old the answer is that would be given, in seconds; None where none would be, as far as that is seen."""
        return self._age(sought, sought.standing) if sought else None

    def _age(self, sought: Sought, standing: Standing | None) -> float | None:
        if not isinstance(standing, KeptAnswer) or standing.generation != sought.generation:
            return None
        age = max(0.0, self._clock.now() - standing.stored_at)
        return age if age < min(standing.kept_seconds, sought.seconds) else None

    def answer(self, sought: Sought, request: SearchRequest, scope: SearchScope, ask: Ask) -> SearchResult:
        """The kept answer, or another's that is under way, or one that is asked for now."""
        search = _Search(sought=sought, request=request, ask=ask)
        found = self._admitted(search, sought.standing)
        if found is not None:
            return self._told(search, CacheOutcome.HIT, found)
        if request.cache is CacheUse.ONLY:
            return self._told(search, CacheOutcome.ABSENT, not_cached(request))
        if sought.generation < 0:
            return self._told(search, CacheOutcome.MISS, ask(False)[0])
        try:
            return self._join(search, scope)
        except StoreUnavailable:
            self._metrics.count(Metric.STATE_UNAVAILABLE, operation="results")
            return self._told(search, CacheOutcome.ALONE, ask(True)[0])

    def _join(self, search: "_Search", scope: SearchScope) -> SearchResult:
        """Take off, or wait for whoever did. Raises StoreUnavailable, but not once a provider was asked."""
        sought, standing, waited = search.sought, search.sought.standing, False
        share = PATIENCE_SHARE * (1 - _SPREAD / 2 + _SPREAD * self._chance())
        patience = scope.deadline.within(share * scope.deadline.remaining())
        pauses, claims = _pauses(self._chance), 0
        while not patience.expired and claims < _MOST_CLAIMS:
            if isinstance(standing, Flight) and self._is_under_way(standing, sought):
                self._clock.sleep(min(next(pauses), patience.remaining()))
                waited, claims = True, 0
                standing = self._store().look(sought.project, sought.identity)
            else:
                flight = self._flight(sought, scope)
                claims += 1
                standing = self._store().claim(sought.project, sought.identity, flight, over=standing)
                if standing is None:
                    return self._told(search, CacheOutcome.MISS, self._fly(search, flight, waited))
            found = self._admitted(search, standing)
            if found is not None:
                return self._told(search, CacheOutcome.SHARED, found)
        result, answered = search.ask(waited)
        self._keep(search, result, answered)
        return self._told(search, CacheOutcome.ALONE, result)

    def _fly(self, search: "_Search", flight: Flight, waited: bool) -> SearchResult:
        kept = False
        try:
            result, answered = search.ask(waited)
            kept = self._keep(search, result, answered)
            return result
        finally:
            if not kept:
                self._land(search, flight)

    def _keep(self, search: "_Search", result: SearchResult, answered: Sought | None) -> bool:
        """Whether the answer is there for others now; what cannot be written is counted, and nobody is hindered."""
        sought = search.sought
        if not sought.is_answered_by(answered):
            return False
        seconds = kept_seconds(result, search.request.strategy, sought.seconds)
        body = packed(result) if seconds else None
        if body is None:
            return False
        now = self._clock.now()
        answer = KeptAnswer(generation=sought.generation, stored_at=now, kept_seconds=seconds, body=body)
        return self._write(lambda: self._store().keep(sought.project, sought.identity, answer))

    def _land(self, search: "_Search", flight: Flight) -> None:
        self._write(lambda: self._store().land(search.sought.project, search.sought.identity, flight.holder))

    def _write(self, write: Callable[[], None]) -> bool:
        try:
            write()
        except StoreUnavailable:
            self._metrics.count(Metric.STATE_UNAVAILABLE, operation="results")
            return False
        return True

    def _admitted(self, search: "_Search", standing: Standing | None) -> SearchResult | None:
        """The answer, where this caller may have it."""
        sought = search.sought
        age = self._age(sought, standing)
        if age is None or not isinstance(standing, KeptAnswer):
            return None
        try:
            body = self._store().body(sought.project, standing)
        except StoreUnavailable:
            self._metrics.count(Metric.STATE_UNAVAILABLE, operation="results")
            return None
        return unpacked(body, search.request, age) if body is not None else None

    def _is_under_way(self, flight: Flight, sought: Sought) -> bool:
        """One of an earlier generation brings an answer that we may not have."""
        return flight.held_until > self._clock.now() and flight.generation >= sought.generation

    def _flight(self, sought: Sought, scope: SearchScope) -> Flight:
        lease = min(LEASE_SECONDS, scope.deadline.remaining())
        return Flight(generation=sought.generation, holder=secrets.token_hex(8), held_until=self._clock.now() + lease)

    def _told(self, search: "_Search", outcome: CacheOutcome, result: SearchResult) -> SearchResult:
        self._metrics.count(Metric.CACHE, modality=search.request.modality, outcome=outcome)
        return result


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    """One search on its way through the cache."""

    sought: Sought
    request: SearchRequest
    ask: Ask


def not_cached(request: SearchRequest) -> SearchResult:
    """What `cache: only` gets where nothing is kept."""
    return SearchResult(
        query=request.query,
        modality=request.modality,
        provider_instance_id=request.pinned_provider_id or "",
        tier=request.tier,
        error_message="no answer to this search is kept",
        calls=0,
        failure=DispatchFailure.NOT_CACHED,
    )


def _pauses(chance: Callable[[], float]) -> Iterator[float]:
    """Doubling, and each a little different, so that those who wait do not come back together."""
    pause = _FIRST_PAUSE
    while True:
        yield pause * (0.75 + chance() / 2)
        pause = min(2 * pause, _LONGEST_PAUSE)
