"""What did not fit into answers, in memory."""

import orjson

from tests.fakes.clock import FakeClock
from tests.fakes.outage import Outage
from zarniwoop.contract.deadline import Clock
from zarniwoop.stores.continuations import Rest
from zarniwoop.stores.project import ProjectKey
from zarniwoop.text.as_json import as_json


class InMemoryContinuations(Outage):
    """`stores.continuations.Continuations`; tokens are counted up. Hits come back as JSON has them."""

    def __init__(self, clock: Clock | None = None) -> None:
        super().__init__()
        self._clock = clock or FakeClock()
        self.rests: dict[tuple[ProjectKey, str], Rest] = {}
        self.stopped: dict[ProjectKey, float] = {}

    def keep(self, project: ProjectKey, rest: Rest) -> str:
        with self._lock:
            self._called("keep")
            token = f"{len(self.rests):032x}"
            self.rests[project, token] = rest
            return token

    def stop(self, project: ProjectKey, at: float) -> None:
        with self._lock:
            self._called("stop")
            self.stopped[project] = at

    def find(self, project: ProjectKey, token: str) -> Rest | None:
        with self._lock:
            self._called("find")
            rest = self.rests.get((project, token))
        if rest is None or rest.expires_at <= self._clock.now() or rest.begun_at <= self.stopped.get(project, 0.0):
            return None
        told = orjson.loads(as_json(rest))
        return Rest(**{**told, "entries": tuple((path, hit) for path, hit in told["entries"])})
