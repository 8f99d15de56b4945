"""Kept answers and flights in memory, with DynamoDB's semantics: every method is atomic."""

from dataclasses import replace

from tests.fakes.clock import FakeClock
from tests.fakes.outage import Outage
from zarniwoop.contract.deadline import Clock
from zarniwoop.stores.kept_results import LANDED, Flight, KeptAnswer, Standing
from zarniwoop.stores.project import ProjectKey


class InMemoryResultStore(Outage):
    """`stores.results.ResultStore`; `standing` is what is written there, for tests and the snapshot to look at."""

    def __init__(self, clock: Clock | None = None) -> None:
        super().__init__()
        self._clock = clock or FakeClock()
        self.standing: dict[tuple[ProjectKey, str], Standing] = {}

    def look(self, project: ProjectKey, identity: str) -> Standing | None:
        with self._lock:
            self._called("look")
            found = self.standing.get((project, identity))
            return None if found is None or self._is_over(found) else found

    def clear(self, project: ProjectKey) -> int:
        """What a project's stop does to the table."""
        with self._lock:
            gone = [key for key in self.standing if key[0] == project]
            for key in gone:
                del self.standing[key]
            return len(gone)

    def claim(
        self, project: ProjectKey, identity: str, flight: Flight, *, over: Standing | None = None
    ) -> Standing | None:
        with self._lock:
            self._called("claim")
            standing = self.standing.get((project, identity))
            if isinstance(standing, Flight) and standing.holder == flight.holder:
                return None
            if standing is not None and not self._may_take_off(standing, flight, over):
                return standing
            self.standing[project, identity] = flight
            return None

    def land(self, project: ProjectKey, identity: str, holder: str) -> None:
        with self._lock:
            self._called("land")
            standing = self.standing.get((project, identity))
            if isinstance(standing, Flight) and standing.holder == holder:
                self.standing[project, identity] = replace(standing, held_until=LANDED)

    def keep(self, project: ProjectKey, identity: str, answer: KeptAnswer) -> None:
        with self._lock:
            self._called("keep")
            standing = self.standing.get((project, identity))
            if standing is None or standing.generation <= answer.generation:
                self.standing[project, identity] = answer

    def body(self, project: ProjectKey, answer: KeptAnswer) -> bytes | None:
        return answer.body

    def _may_take_off(self, standing: Standing, flight: Flight, over: Standing | None) -> bool:
        if self._is_over(standing):
            return True
        if isinstance(standing, KeptAnswer):
            seen = isinstance(over, KeptAnswer) and over.stored_at == standing.stored_at
            return seen and standing.generation <= flight.generation
        if standing.generation < flight.generation:
            return True
        return standing.held_until <= self._clock.now() and standing.generation <= flight.generation

    def _is_over(self, standing: Standing) -> bool:
        """A flight stays until somebody else takes off; on DynamoDB it lapses a minute after its lease."""
        if isinstance(standing, Flight):
            return False
        return int(standing.stored_at + standing.kept_seconds + 1) <= self._clock.now()
