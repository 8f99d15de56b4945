"""Answers of the API as the stack's own types have them, for tests of the command that shows them."""

from typing import Any

from zarniwoop.contract.chat import ModelUsage
from zarniwoop.contract.evidence import Evidence, Quote, SourceType
from zarniwoop.contract.hit import DatePrecision, PublishedAt, SearchHit
from zarniwoop.contract.modality import SearchModality, SearchTier
from zarniwoop.contract.page import PageAnchor
from zarniwoop.contract.result import (
    AnswerSize,
    AppliedFilter,
    Attempt,
    FilterHandling,
    Outcome,
    SearchResult,
)
from zarniwoop.stores.runs import NodeProgress, RunState
from zarniwoop.tools.run_report import RunReport

RUN = "run-0123456789abcdef0123456789abcdef"
BEGAN = 1_795_000_000.0

READ = Evidence(
    id="ev-1",
    source_type=SourceType.PAGE,
    title="Mills",
    url="https://a.example",
    final_url="https://a.example/x",
    snippet="s",
    content_hash="h",
    retrieved_at=BEGAN,
    credibility_score=0.75,
    extractor="trafilatura",
    status="ok",
    modified_at=PublishedAt(value="2026-11-02", precision=DatePrecision.DAY),
    anchors=(PageAnchor(name="page=1", start=0), PageAnchor(name="page=2", start=700)),
    hidden={"comment": 2},
    suspicious=("role_play",),
    quotes=(Quote(text="a \x1b[5mmoon", start=5, end=11),),
)


def hit(title: str = "Cologne Cathedral", **more: Any) -> SearchHit:
    usual: dict[str, Any] = {
        "url": "https://en.example.org/wiki/Cologne_Cathedral",
        "modality": SearchModality.WEB,
        "snippet": "A cathedral with bells.",
        "authors": ("Ada", "Bea", "Cyd", "Dee"),
        "published_at": PublishedAt(value="2017-06-12", precision=DatePrecision.DAY),
        "identifiers": {"doi": "10.1000/bells"},
        "rank": 1,
    }
    return SearchHit(title=title, **{**usual, **more})


def found(*hits: SearchHit, **more: Any) -> SearchResult:
    usual: dict[str, Any] = {
        "query": "bells",
        "modality": SearchModality.WEB,
        "provider_instance_id": "wikipedia-en",
        "tier": SearchTier.NORMAL,
        "attempts": (
            Attempt(instance_id="serper-main", outcome=Outcome.FAILURE, reason="rate_limited", duration_ms=3),
            Attempt(instance_id="wikipedia-en", outcome=Outcome.SUCCESS, duration_ms=20, cost=0.002),
        ),
        "cost": 0.002,
    }
    return SearchResult(hits=hits or (hit(),), **{**usual, **more})


def bounded() -> SearchResult:
    ignored = AppliedFilter(name="site", value="x", handling=FilterHandling.IGNORED, reason="not supported")
    size = AnswerSize(max_chars=2000, hits=1, hit_chars=900, hits_left=7, handle="h-1.1")
    return found(applied=(ignored,), size=size, note="served from afar", truncated=True)


def run(state: RunState = RunState.SUCCEEDED, **more: Any) -> RunReport:
    ended = state.is_terminal
    usual: dict[str, Any] = {
        "run_id": RUN,
        "project_id": "demo",
        "tool": "research_investigate",
        "outcome": "success" if state is RunState.SUCCEEDED else None,
        "error": None,
        "status_url": f"/v1/runs/{RUN}?project_id=demo",
        "request_id": "r",
        "created_at": BEGAN,
        "started_at": BEGAN,
        "updated_at": BEGAN + 2,
        "ended_at": BEGAN + 3 if ended else None,
        "deadline_at": BEGAN + 300,
        "progress": {"plan": NodeProgress(done=1, total=1), "search": NodeProgress(done=2, total=6)},
        "counts": {},
        "usage": ModelUsage(),
        "cost": 0.004,
        "webhook": None,
        "results": {"hits": [survivor("The bells of Cologne")], "dropped": [], "mode": "builtin"},
    }
    return RunReport(state=state, **{**usual, **more})


def survivor(title: str) -> dict[str, Any]:
    judged = {"rank": 1, "score": 0.83, "reason": "speaks of the question", "key": "k"}
    return {**judged, "hit": {"title": title, "url": "https://x.example/bells", "snippet": "…"}}
