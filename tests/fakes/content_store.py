"""Stored bodies in memory."""

from tests.fakes.clock import FakeClock
from tests.fakes.outage import Outage
from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.hit import LoadedContent
from zarniwoop.stores.content import StoredContent, content_hash, described, is_there, object_key
from zarniwoop.stores.content_text import stored_form
from zarniwoop.stores.keys import checked_sha256
from zarniwoop.stores.state import ProjectKey


class InMemoryContentStore(Outage):
    """`stores.content.ContentStore`; `objects` holds bodies by project and hash, `uploads` each upload."""

    def __init__(self, clock: Clock | None = None, *, kept_seconds: float = 7 * 86_400) -> None:
        super().__init__()
        self._clock = clock or FakeClock()
        self._kept_seconds = kept_seconds
        self._known: dict[tuple[ProjectKey, str], StoredContent] = {}
        self.objects: dict[ProjectKey, dict[str, bytes]] = {}
        self.uploads: list[str] = []

    def put(
        self, project: ProjectKey, content: LoadedContent, *, instance_id: str, since: float = 0.0
    ) -> StoredContent:
        with self._lock:
            self._called("put")
            body, now = stored_form(content).body, self._clock.now()
            standing = self._standing(project, content_hash(body))
            known = standing is not None and standing.stored_at > since
            if standing is not None and known and is_there(standing.expires_at, now, self._kept_seconds):
                return standing
            stored = described(body, content, instance_id, now, self._kept_seconds)
            self.objects.setdefault(project, {})[stored.sha256] = body
            self.uploads.append(stored.sha256)
            self._known[project, stored.sha256] = stored
            return stored

    def find(self, project: ProjectKey, sha256: str) -> StoredContent | None:
        with self._lock:
            self._called("find")
            return self._standing(project, checked_sha256(sha256))

    def read(self, project: ProjectKey, sha256: str, *, start: int, length: int) -> bytes | None:
        with self._lock:
            self._called("read")
            body = self.objects.get(project, {}).get(checked_sha256(sha256))
            return None if body is None else body[start : start + length]

    def presigned(self, project: ProjectKey, sha256: str, seconds: int) -> str:
        with self._lock:
            self._called("presigned")
            return f"https://content.test/{object_key(project, sha256)}?X-Amz-Expires={seconds}"

    def delete_project(self, project: ProjectKey) -> int:
        with self._lock:
            self._called("delete_project")
            return len(self.objects.pop(project, {}))

    def forget(self, project: ProjectKey) -> None:
        """What is known of the project's bodies goes, as the items of a stopped project do."""
        with self._lock:
            self._known = {key: stored for key, stored in self._known.items() if key[0] != project}

    def _standing(self, project: ProjectKey, sha256: str) -> StoredContent | None:
        stored = self._known.get((project, sha256))
        return stored if stored is not None and stored.expires_at > self._clock.now() else None
