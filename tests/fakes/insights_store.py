"""The graphs of projects in memory."""

import hashlib
from collections.abc import Callable

from tests.fakes.outage import Outage
from zarniwoop.stores.insights import StoredGraph, graph_key
from zarniwoop.stores.state import ProjectKey


class InMemoryInsightsStore(Outage):
    """`stores.insights.InsightsStore`; `before_read` and `before_write` are called before what stands is looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.objects: dict[str, bytes] = {}
        self.before_read: Callable[[], None] = lambda: None
        self.before_write: Callable[[], None] = lambda: None

    def read(self, project: ProjectKey) -> StoredGraph | None:
        self.before_read()
        with self._lock:
            self._called("read")
            body = self.objects.get(graph_key(project))
            return None if body is None else StoredGraph(body=body, version=_version(body))

    def write(self, project: ProjectKey, body: bytes, *, over: str | None) -> bool:
        key = graph_key(project)
        self.before_write()
        with self._lock:
            self._called("write")
            standing = self.objects.get(key)
            if (None if standing is None else _version(standing)) != over:
                return False
            self.objects[key] = body
            return True

    def delete(self, project: ProjectKey) -> None:
        with self._lock:
            self._called("delete")
            self.objects.pop(graph_key(project), None)


def _version(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()[:32]
