"""Run files in memory."""

from typing import Any

from tests.fakes.outage import Outage
from zarniwoop.stores.run_files import RunFile, encoded, file_key, folder
from zarniwoop.stores.state import ProjectKey


class InMemoryRunFiles(Outage):
    """`stores.run_files.RunFiles`; `objects` holds what was written by its whole key."""

    def __init__(self) -> None:
        super().__init__()
        self.objects: dict[str, bytes] = {}

    def put(self, project: ProjectKey, run_id: str, name: str, content: Any) -> None:
        with self._lock:
            self._called("put")
            self.objects[file_key(project, run_id, name)] = encoded(content)

    def get(self, project: ProjectKey, run_id: str, name: str) -> bytes | None:
        with self._lock:
            self._called("get")
            return self.objects.get(file_key(project, run_id, name))

    def presigned(self, project: ProjectKey, run_id: str, name: str, seconds: int) -> str:
        with self._lock:
            self._called("presigned")
            return f"https://content.test/{file_key(project, run_id, name)}?X-Amz-Expires={seconds}"

    def names(self, project: ProjectKey, run_id: str) -> tuple[RunFile, ...]:
        with self._lock:
            self._called("names")
            prefix = folder(project, run_id)
            keys = sorted(key for key in self.objects if key.startswith(prefix))
            return tuple(RunFile(name=key.removeprefix(prefix), size=len(self.objects[key])) for key in keys)
