"""Evidence in memory."""

import math
from collections.abc import Callable
from dataclasses import replace

from tests.fakes.clock import FakeClock
from tests.fakes.content_store import InMemoryContentStore
from tests.fakes.outage import Outage
from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.evidence import Evidence, Quote
from zarniwoop.stores.content import is_there
from zarniwoop.stores.evidence import (
    LONGEST_BODY,
    MOST_QUOTES,
    Deleted,
    EvidencePage,
    ProjectStopped,
    TooManyQuotes,
    as_content,
    evidence_url,
    list_kind,
)
from zarniwoop.stores.keys import evidence_key, evidence_of_task, partition, seen_key
from zarniwoop.stores.page_tokens import PageTokens
from zarniwoop.stores.state import ProjectKey


class InMemoryEvidenceStore(Outage):
    """`stores.evidence.EvidenceStore`; `bodies` has what was uploaded."""

    def __init__(
        self,
        clock: Clock | None = None,
        *,
        kept_seconds: float = 90 * 86_400,
        begun_at: Callable[[], float] = lambda: math.inf,
    ) -> None:
        super().__init__()
        self._clock = clock or FakeClock()
        self._kept_seconds = kept_seconds
        self.bodies = InMemoryContentStore(self._clock, kept_seconds=kept_seconds)
        self._known: dict[ProjectKey, dict[str, Evidence]] = {}
        self._begun_at = begun_at
        self.stops: dict[ProjectKey, float] = {}

    def put(self, project: ProjectKey, evidence: Evidence, body: str, *, body_gone: bool = False) -> Evidence:
        with self._lock:
            self._called("put")
            _checked(project, evidence)
            standing = self._standing(project, evidence.id)
            merged = {(quote.start, quote.end): quote for quote in (*_quotes(standing), *evidence.quotes)}
            if len(merged) > MOST_QUOTES:
                raise TooManyQuotes
            expires_at = standing.expires_at if standing else None
            if body_gone or expires_at is None or not is_there(expires_at, self._clock.now(), self._kept_seconds):
                stopped_at = self.stops.get(project, 0.0)
                if self._begun_at() <= stopped_at:
                    raise ProjectStopped
                content, reader = as_content(body, evidence.url), evidence.instance_id or evidence.extractor
                stored = self.bodies.put(
                    project, content, instance_id=reader, since=math.inf if body_gone else stopped_at
                )
                if stored.sha256 != evidence.content_hash:
                    raise ValueError("the evidence is of another body")
                expires_at = stored.expires_at
            kept = replace(evidence, expires_at=expires_at, quotes=tuple(merged[place] for place in sorted(merged)))
            self._known.setdefault(project, {})[evidence.id] = kept
            return kept

    def get(self, project: ProjectKey, evidence_id: str) -> Evidence | None:
        with self._lock:
            self._called("get")
            evidence_key(evidence_id)
            partition(project)
            return self._standing(project, evidence_id)

    def body(self, project: ProjectKey, content_hash: str) -> str | None:
        with self._lock:
            self._called("body")
            raw = self.bodies.read(project, content_hash, start=0, length=LONGEST_BODY)
            return None if raw is None else raw.decode()

    def list(
        self,
        project: ProjectKey,
        *,
        limit: int,
        page_token: str | None = None,
        task_id: str | None = None,
        url: str | None = None,
    ) -> EvidencePage:
        with self._lock:
            self._called("list")
            if task_id is not None:
                evidence_of_task(project, task_id)
            tokens = PageTokens(list_kind(task_id, url), lambda: b"k" * 32)
            after = tokens.open(project, page_token) if page_token is not None else None
            listed = sorted(
                (
                    (seen_key(each.retrieved_at, each.id), each)
                    for each in self._known.get(project, {}).values()
                    if self._standing(project, each.id)
                    and (task_id is None or each.task_id == task_id)
                    and (url is None or evidence_url(each.url) == evidence_url(url))
                ),
                key=lambda entry: entry[0],
                reverse=True,
            )
            rest = [entry for entry in listed if after is None or entry[0] < after]
            more = tokens.seal(project, rest[limit - 1][0]) if len(rest) > limit else None
            return EvidencePage(evidence=tuple(each for _, each in rest[:limit]), next_page_token=more)

    def stop(self, project: ProjectKey, at: float) -> None:
        with self._lock:
            self._called("stop")
            self.stops[project] = at

    def delete_project(self, project: ProjectKey) -> Deleted:
        with self._lock:
            self._called("delete_project")
            self.bodies.forget(project)
            items = len(self._known.pop(project, {}))
            return Deleted(items=items, objects=self.bodies.delete_project(project))

    def _standing(self, project: ProjectKey, evidence_id: str) -> Evidence | None:
        known = self._known.get(project, {}).get(evidence_id)
        return known if known and (known.expires_at or 0) > self._clock.now() else None


def _quotes(standing: Evidence | None) -> tuple[Quote, ...]:
    return standing.quotes if standing else ()


def _checked(project: ProjectKey, evidence: Evidence) -> None:
    partition(project)
    evidence_key(evidence.id)
    if evidence.task_id is not None:
        evidence_of_task(project, evidence.task_id)
