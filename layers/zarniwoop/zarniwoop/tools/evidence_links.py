"""`evidence[]` of the envelope: what an answer stands on, and where it is read (`GET /v1/evidence/<id>`)."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from threading import Event
from typing import TYPE_CHECKING, Any

from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.evidence import Evidence
from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.request import SearchScope
from zarniwoop.contract.result import SearchResult
from zarniwoop.dispatch.dispatcher import ANSWER_GRACE_SECONDS
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.state import ProjectKey
from zarniwoop.tools.tool import ToolServices

if TYPE_CHECKING:
    from zarniwoop.evidence.ledger import EvidenceLedger

NOT_KEPT = "the store of evidence did not answer"
OUT_OF_TIME = "the time of the request was over"
NOTHING_KEPT: tuple[Mapping[str, Any], ...] = ()
_AT_ONCE = 8
Found = tuple[SearchHit, str]
"""A hit, and the instance that found it."""


def link_to(evidence: Evidence, scope: SearchScope) -> Mapping[str, Any]:
    """The project is named, since the reader's token may have several. The title is a stranger's."""
    return {
        "id": evidence.id,
        "href": f"/v1/evidence/{evidence.id}?project_id={scope.project_id}",
        "source_type": evidence.source_type.value,
        "url": evidence.url,
        "title": evidence.title,
        "credibility_score": evidence.credibility_score,
        "untrusted": True,
    }


def keep_hits(
    results: Sequence[SearchResult], scope: SearchScope, services: ToolServices
) -> tuple[tuple[Mapping[str, Any], ...], str | None]:
    """Every hit that says something, as evidence; and a note when not all could be kept. A hit stands there once."""
    found = [(hit, _finder(hit, result)) for result in results for hit in result.hits]
    return keep_found(found, scope, lambda: services.pages().ledger)


def keep_found(
    found: Sequence[Found], scope: SearchScope, ledger: "Callable[[], EvidenceLedger]", *, task_id: str | None = None
) -> tuple[tuple[Mapping[str, Any], ...], str | None]:
    """As `keep_hits`. The answer waits for what is being kept until its deadline, and no longer."""
    if not found:
        return (), None
    keeping = _Keeping(ledger=ledger(), project=ProjectKey.of(scope), task_id=task_id, deadline=scope.deadline)
    pool = ThreadPoolExecutor(max_workers=min(_AT_ONCE, len(found)), thread_name_prefix="evidence")
    try:
        futures = [pool.submit(keeping.keep, *each) for each in found]
        wait(futures, timeout=scope.deadline.remaining() + ANSWER_GRACE_SECONDS)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    kept = [future.result() if _is_done(future) else OUT_OF_TIME for future in futures]
    links = {each.id: link_to(each, scope) for each in kept if isinstance(each, Evidence)}
    return tuple(links.values()), _note([each for each in kept if isinstance(each, str)], len(kept))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Keeping:
    """The hits of one answer on their way into the ledger."""

    ledger: "EvidenceLedger"
    project: ProjectKey
    task_id: str | None
    deadline: Deadline
    down: Event = field(default_factory=Event)

    def keep(self, hit: SearchHit, instance_id: str) -> Evidence | str | None:
        """None for a hit that says nothing, a word of ours for one that is not kept.

        A store that failed once is let alone: the hits are waited for.
        """
        if self.down.is_set():
            return NOT_KEPT
        if self.deadline.expired:
            return OUT_OF_TIME
        try:
            return self.ledger.keep_hit(self.project, hit, instance_id=instance_id, task_id=self.task_id)
        except StoreUnavailable:
            self.down.set()
            return NOT_KEPT


def _is_done(future: "Future[Evidence | str | None]") -> bool:
    return future.done() and not future.cancelled()


def _note(reasons: Sequence[str], all_hits: int) -> str | None:
    """How many, and why not."""
    if not reasons:
        return None
    return f"{len(reasons)} of {all_hits} hits are not kept as evidence: {' and '.join(dict.fromkeys(reasons))}"


def noted(result: SearchResult, note: str | None) -> SearchResult:
    """The result with one more note."""
    return replace(result, note="; ".join(filter(None, (result.note, note)))) if note else result


def _finder(hit: SearchHit, result: SearchResult) -> str:
    return hit.contributors[0].instance_id if hit.contributors else result.provider_instance_id
