"""The steps `search`, one item of the Map, and `merge`, which settles what became of every item."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from zarniwoop.contract.failure import ConfigurationUnavailable
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.result import DispatchFailure, SearchResult
from zarniwoop.dispatch.candidates.gate import Skip
from zarniwoop.dispatch.spending.purse import MAX_CALLS, MAX_COST
from zarniwoop.pipelines.investigate.batching import make_batches
from zarniwoop.pipelines.investigate.folder import SearchRecord, plain
from zarniwoop.pipelines.investigate.found import Gathered, gather
from zarniwoop.pipelines.investigate.merge import SearchOutcome
from zarniwoop.pipelines.investigate.plan import PlannedSearch
from zarniwoop.pipelines.investigate.services import Work
from zarniwoop.stores.run_files import MERGED
from zarniwoop.text.plain import clip
from zarniwoop.tools.research_investigate import InvestigateArguments

SEARCH_SECONDS = 20.0
_MOST_TEXT_CHARS = 8_000
_MOST_SNIPPET_CHARS = 2_000


def search(work: Work) -> dict[str, Any]:
    """One search through the dispatcher. Whatever providers do is data; a search that failed fails nothing else.

    Once a provider was asked the step fails no more: the state machine would have it asked again. What cannot be
    written down then is lost, and its cost is counted.
    """
    index = work.given.index
    record = work.folder.search(index)
    if record is not None:
        work.done("search", str(index), counts=_counts(record), cost=record.cost)
    else:
        record = _searched(_planned(work, index), work)
        if not work.keep(partial(work.folder.put_search, record)):
            record = replace(record, outcome=None)
        work.keep(partial(work.done, "search", str(index), counts=_counts(record), cost=record.cost))
    return {"ok": record.outcome is not None, "index": index, "hits": record.hits}


def merge(work: Work) -> dict[str, Any]:
    """Each work of all searches so far, once; and what is next."""
    wave = work.given.wave
    found = gather(work.folder, wave)
    _settle(found, work)
    work.folder.write(MERGED, found.as_json())
    work.done("merge", str(wave), total=wave, counts={"works": len(found.new_hits)})
    return {"then": _next(found, work), **make_batches(work, found.hits)}


def _settle(found: Gathered, work: Work) -> None:
    """Every search is counted, also those whose step died, before or after it could say so itself."""
    counted = work.run.progress.get("search")
    if counted is not None and counted.done >= len(found.planned):
        return
    for record in found.records.values():
        work.done("search", str(record.index), counts=_counts(record), cost=record.cost)
    for index in found.lost:
        work.done("search", str(index), counts={"searches": 1, "failed_searches": 1})


def _next(found: Gathered, work: Work) -> str:
    if not found.hits:
        return "judge"
    return "deepen" if work.asked.refine_depth else "evaluate"


def _planned(work: Work, index: int) -> PlannedSearch:
    record = work.folder.plan(work.given.wave)
    return next(search for search in (record.plan.searches if record else ()) if search.index == index)


def _searched(planned: PlannedSearch, work: Work) -> SearchRecord:
    skipped = work.budget.stands_against_search(0.0)
    if skipped:
        return SearchRecord(index=planned.index, skipped=skipped)
    request = request_of(planned.query, planned.modality, work.asked)
    started = work.services.clock.monotonic()
    try:
        scope = work.within(min(SEARCH_SECONDS, work.budget.seconds_to_gather))
        result = work.services.dispatcher.search(request, scope, work.money)
    except ConfigurationUnavailable:
        return SearchRecord(index=planned.index, failure="config_unavailable")
    took = round((work.services.clock.monotonic() - started) * 1000)
    return _record(planned, result, took)


def request_of(query: str, modality: SearchModality, asked: InvestigateArguments) -> SearchRequest:
    """What the dispatcher is asked for, when a search of a run is made and when it is only foretold."""
    return SearchRequest(query=query, modality=modality, max_results=asked.max_results, free_only=asked.free_only)


def _record(planned: PlannedSearch, result: SearchResult, milliseconds: int) -> SearchRecord:
    outcome = None
    if result.failure is None:
        outcome = SearchOutcome.of(planned.index, planned.source_affinity, result)
        outcome = replace(outcome, hits=tuple(_bounded(hit) for hit in outcome.hits))
    skipped = _refused_by(result)
    return SearchRecord(
        index=planned.index,
        outcome=outcome,
        failure=str(result.failure) if result.failure and skipped is None else None,
        skipped=skipped,
        attempts=tuple(plain(result.attempts)),
        note=result.note,
        cost=result.cost,
        milliseconds=milliseconds,
    )


def _refused_by(result: SearchResult) -> str | None:
    """The run's own budget, where that is why nobody was asked."""
    if result.failure is not DispatchFailure.BUDGET:
        return None
    refusing = (attempt.detail for attempt in result.attempts if attempt.reason == Skip.BUDGET)
    return next((name for name in refusing if name in (MAX_CALLS, MAX_COST)), None)


def _bounded(hit: Mapping[str, Any]) -> Mapping[str, Any]:
    """Texts at lengths that a run of hundreds of hits can hold; whole bodies are in the content store."""
    snippet, content = hit.get("snippet"), hit.get("content")
    bounded = dict(hit)
    if snippet and len(snippet) > _MOST_SNIPPET_CHARS:
        bounded["snippet"] = clip(snippet, _MOST_SNIPPET_CHARS)
    if content and content.get("text") and len(content["text"]) > _MOST_TEXT_CHARS:
        bounded["content"] = {**content, "text": clip(content["text"], _MOST_TEXT_CHARS)}
    return bounded


def _counts(record: SearchRecord) -> dict[str, int]:
    return {"searches": 1, "failed_searches": int(record.outcome is None), "hits": record.hits}
