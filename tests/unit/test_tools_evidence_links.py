"""Hits on their way into the ledger: the answer waits for it until its deadline, and tells what was not kept."""

import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.fakes.evidence import DEMO, hit
from tests.fakes.evidence_store import InMemoryEvidenceStore
from tests.fakes.research import Research
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.evidence import Evidence
from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.request import SearchScope
from zarniwoop.evidence.ledger import EvidenceLedger
from zarniwoop.observe.clock import SystemClock
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.runs import Run, RunState
from zarniwoop.stores.state import ProjectKey
from zarniwoop.tools.evidence_links import keep_found
from zarniwoop.tools.research_investigate import InvestigateArguments, investigate
from zarniwoop.tools.run_report import RunReport, report

LINK = {"id": "ev-1", "href": "/v1/evidence/ev-1?project_id=demo"}
HITS = [(hit(url=f"https://example.com/{number}"), "alpha") for number in range(20)]


class SlowStore(InMemoryEvidenceStore):
    """One that never answers for one URL until it is let go."""

    def __init__(self) -> None:
        super().__init__(SystemClock())
        self.let_go = threading.Event()

    def put(self, project: ProjectKey, evidence: Evidence, body: str, *, body_gone: bool = False) -> Evidence:
        if not evidence.url.endswith("/0"):
            self.let_go.wait()
        return super().put(project, evidence, body, body_gone=body_gone)


@pytest.fixture
def slow() -> Iterator[SlowStore]:
    store = SlowStore()
    yield store
    store.let_go.set()


class _Ended:
    """`tools.research_investigate.Investigations`: the run has ended, with evidence."""

    def investigate(self, arguments: InvestigateArguments, scope: SearchScope) -> RunReport:
        run = Run(
            run_id="r-1",
            project=DEMO,
            tool="research_investigate",
            created_at=0.0,
            updated_at=0.0,
            deadline_at=0.0,
            expires_at=0.0,
            execution_arn="arn",
            ended_as=RunState.SUCCEEDED,
        )
        return report(run, {"stage": "result", "hits": [], "evidence": [LINK]})


def _kept(
    store: InMemoryEvidenceStore, found: list[tuple[SearchHit, str]], seconds: float = 20.0
) -> tuple[list[str], str | None]:
    scope = SearchScope(tenant_id="acme", project_id="demo", deadline=Deadline.after(seconds, SystemClock()))
    links, note = keep_found(found, scope, lambda: EvidenceLedger(store=store, clock=SystemClock()))
    return [each["url"] for each in links], note


def test_a_slow_store_is_waited_for_until_the_deadline_and_no_longer(slow: SlowStore) -> None:
    """What was kept by then is linked to, the rest is told."""
    links, note = _kept(slow, HITS, seconds=0.5)
    assert links == ["https://example.com/0"]
    assert note == "19 of 20 hits are not kept as evidence: the time of the request was over"


def test_nothing_is_begun_after_the_deadline() -> None:
    """Whoever has waited long enough for the search does not wait for this."""
    store = InMemoryEvidenceStore(SystemClock())
    links, note = _kept(store, HITS, seconds=0.0)
    assert (links, store.calls["put"]) == ([], 0)
    assert note == "20 of 20 hits are not kept as evidence: the time of the request was over"


def test_a_store_that_failed_is_let_alone_and_each_hit_is_counted() -> None:
    """Hits that say nothing were not to be kept, so they are not missed."""
    store = InMemoryEvidenceStore(SystemClock())
    store.fail_with = StoreUnavailable("down")
    links, note = _kept(store, [*HITS[:3], (hit(snippet=None), "alpha")])
    assert links == []
    assert note is not None
    assert note.endswith("of 4 hits are not kept as evidence: the store of evidence did not answer")


def test_all_that_was_kept_is_linked_to_without_a_note() -> None:
    """In the order of the hits."""
    store = InMemoryEvidenceStore(SystemClock())
    assert _kept(store, HITS) == ([each.url for each, _ in HITS], None)
    assert len(store.list(DEMO, limit=50).evidence) == 20
    assert _kept(store, []) == ([], None)


def test_a_run_that_is_waited_for_links_to_its_evidence_in_the_envelope() -> None:
    """And not a second time in its results."""
    research = Research(scripts={})
    services = replace(research.services, investigations=_Ended)
    answer = investigate(InvestigateArguments(question="How?", store_evidence=True), research.scope(), services)
    assert answer.evidence == (LINK,)
    assert answer.data.results == {"stage": "result", "hits": []}
