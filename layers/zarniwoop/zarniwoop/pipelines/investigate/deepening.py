"""The step `deepen`: the bodies of the most promising works, through the instances that named them.

Loads run side by side, each under the rules of a search (`dispatch.bodies`) and within the run's budget; bodies go to
the content store, and of each the passage that is closest to the question goes before the judge. A body that cannot be
loaded is a note, never a failure of the run.
Quirk: whoever found the richest hit need not be who has a body, so every source of a work is looked through.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from typing import Any

from zarniwoop.contract.hit import ContentInline, ContentReference, LoadedContent
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.result import Attempt
from zarniwoop.dispatch.calls.bodies import Body
from zarniwoop.dispatch.calls.promises import foretold, most_load_calls
from zarniwoop.dispatch.candidates.credit import dollars_of_a_call
from zarniwoop.dispatch.candidates.gate import Skip
from zarniwoop.dispatch.candidates.selection import Candidate
from zarniwoop.dispatch.dispatcher import Survey
from zarniwoop.pipelines.investigate.batching import make_batches
from zarniwoop.pipelines.investigate.budget import OUT_OF_MONEY
from zarniwoop.pipelines.investigate.folder import BODIES
from zarniwoop.pipelines.investigate.found import Gathered, gather
from zarniwoop.pipelines.investigate.merge import MergedHit
from zarniwoop.pipelines.investigate.passage import closest_passage
from zarniwoop.pipelines.investigate.services import Work
from zarniwoop.stores.content_text import is_text, stored_form
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.text.plain import plain
from zarniwoop.tools.research_investigate import InvestigateArguments

MOST_BODIES = 5
LOAD_SECONDS = 8.0
_GRACE_SECONDS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    key: str
    body: Body

    @property
    def price(self) -> float:
        """At most."""
        calls = foretold(lambda: most_load_calls(self.body.candidate, self.body.reference), 1)
        return calls * dollars_of_a_call(self.body.candidate.endpoint)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loaded:
    """What became of a body: its entry in `bodies.json`, and what the provider took."""

    entry: Mapping[str, Any]
    cost: float = 0.0


def deepen(work: Work) -> dict[str, Any]:
    """Load what is most promising and not loaded yet; the batches are made anew, since hits have grown.

    What was loaded and cannot be written down is lost, and a wave that was counted loads nothing more: the state
    machine does a step that fails again, and it would be paid for twice.
    """
    wave = work.given.wave
    found = gather(work.folder, wave)
    bodies = work.folder.bodies()
    counted = work.run.progress.get("deepen")
    loaded = {} if counted is not None and counted.done >= wave else _loaded(found, bodies, work)
    told = {**bodies, **{key: each.entry for key, each in loaded.items()}}
    kept = not loaded or work.keep(partial(work.folder.write, BODIES, told))
    stored = sum("sha256" in each.entry for each in loaded.values()) if kept else 0
    cost = sum(each.cost for each in loaded.values())
    work.keep(partial(work.done, "deepen", str(wave), total=wave, counts={"bodies": stored}, cost=cost))
    return {"then": "evaluate", **make_batches(work, found.hits)}


def _loaded(found: Gathered, bodies: Mapping[str, Any], work: Work) -> dict[str, _Loaded]:
    survey = work.services.dispatcher.survey(work.scope)
    allowed = allowed_by(work.asked, survey.assembly.candidates)
    return _load_all(_most_promising(found, bodies, allowed), survey, work)


def allowed_by(asked: InvestigateArguments, candidates: Mapping[str, Candidate]) -> dict[str, Candidate]:
    """Those of which bodies may be asked for, as far as the request is concerned."""
    return {
        name: candidate
        for name, candidate in candidates.items()
        if not (asked.free_only and candidate.endpoint.cost_per_call > 0)
    }


def _most_promising(found: Gathered, bodies: Mapping[str, Any], candidates: Mapping[str, Candidate]) -> list[_Wanted]:
    ordered = sorted(found.new_hits, key=lambda hit: (-hit.affinity * hit.reciprocal_rank, hit.key))
    wanted: list[_Wanted] = []
    for hit in ordered:
        if len(wanted) < MOST_BODIES and hit.key not in bodies:
            wanted += list(_bodies_of(hit, found, candidates))[:1]
    return wanted


def _bodies_of(hit: MergedHit, found: Gathered, candidates: Mapping[str, Candidate]) -> Iterator[_Wanted]:
    """Where a body of the work can be had, its best rank first."""
    for source in sorted(hit.sources, key=lambda source: source.rank):
        record = found.records.get(source.search_index)
        candidate = candidates.get(source.instance_id)
        if record is None or record.outcome is None or candidate is None:
            continue
        named = record.outcome.hits[source.rank - 1]
        content = named.get("content") or {}
        if content.get("reference"):
            reference = ContentReference(
                inline=ContentInline(content["inline"]),
                media_type=content.get("media_type") or "text/plain",
                reference=content["reference"],
            )
            modality = SearchModality(named["modality"])
            yield _Wanted(key=hit.key, body=Body(candidate=candidate, modality=modality, reference=reference))


def _load_all(wanted: Sequence[_Wanted], survey: Survey, work: Work) -> dict[str, _Loaded]:
    """What became of each, by key. Threads cannot be broken off; those that are late end at their own deadline."""
    affordable = _affordable(wanted, work)
    if not affordable:
        return {each.key: _failed(each, OUT_OF_MONEY) for each in wanted}
    seconds = min(LOAD_SECONDS, work.budget.seconds_to_gather)
    load = _loading(survey, work, seconds)
    pool = ThreadPoolExecutor(max_workers=MOST_BODIES, thread_name_prefix="deepen")
    try:
        futures = {each.key: pool.submit(load, each) for each in affordable}
        wait(futures.values(), timeout=seconds + _GRACE_SECONDS)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return {each.key: _result(each, futures.get(each.key)) for each in wanted}


def _result(wanted: _Wanted, future: "Future[_Loaded] | None") -> _Loaded:
    """What is late may have been charged for."""
    if future is None:
        return _failed(wanted, OUT_OF_MONEY)
    return future.result() if future.done() and not future.cancelled() else _failed(wanted, "timeout", wanted.price)


def _affordable(wanted: Sequence[_Wanted], work: Work) -> list[_Wanted]:
    """Those whose prices fit into the budget together, the most promising first; what is free always fits."""
    left, affordable = work.budget.cost, []
    for each in wanted:
        if each.price and each.price > left:
            continue
        left -= each.price
        affordable.append(each)
    return affordable


def _loading(survey: Survey, work: Work, seconds: float) -> Callable[[_Wanted], _Loaded]:
    """How one is loaded: all of them by one look at the shared state, and until the same moment."""
    load_body = work.services.dispatcher.loading(
        survey, work.within(seconds), free_only=work.asked.free_only, run=work.money
    )

    def load(each: _Wanted) -> _Loaded:
        cost = 0.0
        try:
            asked = load_body(each.body)
            cost = asked.attempt.cost
            if asked.content is None:
                return _failed(each, _why_not(asked.attempt), cost)
            return _Loaded(entry=_stored(each, asked.content, work), cost=cost)
        except StoreUnavailable:
            return _failed(each, "store_unavailable", cost)
        except Exception:  # noqa: BLE001 - the SPI's boundary, as in dispatch: what an add-on loads may be anything
            return _failed(each, "internal", cost)

    return load


def _why_not(attempt: Attempt) -> str:
    """Of a budget its name."""
    named = attempt.detail if attempt.reason == Skip.BUDGET else None
    return named or attempt.reason or "unavailable"


def _stored(wanted: _Wanted, content: LoadedContent, work: Work) -> dict[str, Any]:
    """Raises StoreUnavailable."""
    instance_id = wanted.body.candidate.endpoint.id
    stored = work.services.content.put(work.run.project, content, instance_id=instance_id)
    return {
        "instance_id": instance_id,
        "sha256": stored.sha256,
        "media_type": stored.media_type,
        "size": stored.size,
        "source_url": stored.source_url,
        "passage": closest_passage(_text_of(content), work.asked.question),
    }


def _failed(wanted: _Wanted, reason: str, cost: float = 0.0) -> _Loaded:
    return _Loaded(entry={"instance_id": wanted.body.candidate.endpoint.id, "failure": reason}, cost=cost)


def _text_of(content: LoadedContent) -> str:
    """What a judge can read of it; nothing of what is no text."""
    if not is_text(content.media_type):
        return ""
    text = stored_form(content).body.decode("utf-8", "replace")
    return (plain(text) or "") if "<" in text[:2_000] else text
