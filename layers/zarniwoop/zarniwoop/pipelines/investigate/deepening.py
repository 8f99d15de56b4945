"""The step `deepen`: the bodies of the most promising works, through the instances that named them.

Loads run side by side, each with a deadline; bodies go to the content store, and of each the passage that is closest to
the question goes before the judge. A body that cannot be loaded is a note, never a failure of the run.
Quirk: whoever found the richest hit need not be who has a body, so every source of a work is looked through.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

from zarniwoop.contract.failure import ConfigurationUnavailable, ProviderError
from zarniwoop.contract.hit import ContentInline, ContentReference, LoadedContent
from zarniwoop.contract.modality import SearchModality
from zarniwoop.dispatch.candidates import Candidate
from zarniwoop.dispatch.gate import judge
from zarniwoop.pipelines.investigate.batching import make_batches
from zarniwoop.pipelines.investigate.folder import BODIES
from zarniwoop.pipelines.investigate.found import Gathered, gather
from zarniwoop.pipelines.investigate.merge import MergedHit
from zarniwoop.pipelines.investigate.passage import closest_passage
from zarniwoop.pipelines.investigate.services import Work
from zarniwoop.stores.content_text import is_text, stored_form
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.state import Cooldown, Subject
from zarniwoop.text.plain import plain

MOST_BODIES = 5
LOAD_SECONDS = 8.0
_GRACE_SECONDS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    key: str
    candidate: Candidate
    modality: SearchModality
    reference: ContentReference


def deepen(work: Work) -> dict[str, Any]:
    """Load what is most promising and not loaded yet; the batches are made anew, since hits have grown."""
    wave = work.given.wave
    found = gather(work.folder, wave)
    bodies = work.folder.bodies()
    wanted = _most_promising(found, bodies, work)
    loaded = _loaded(wanted, work)
    if loaded:
        work.folder.write(BODIES, {**bodies, **loaded})
    stored = sum("sha256" in body for body in loaded.values())
    work.done("deepen", str(wave), total=wave, counts={"bodies": stored})
    return {"then": "evaluate", **make_batches(work, found.hits)}


def _most_promising(found: Gathered, bodies: Mapping[str, Any], work: Work) -> list[_Wanted]:
    candidates = work.services.dispatcher.factory.assemble(work.scope).candidates
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
            yield _Wanted(
                key=hit.key,
                candidate=candidate,
                modality=SearchModality(named["modality"]),
                reference=ContentReference(
                    inline=ContentInline(content["inline"]),
                    media_type=content.get("media_type") or "text/plain",
                    reference=content["reference"],
                ),
            )


def _loaded(wanted: Sequence[_Wanted], work: Work) -> dict[str, dict[str, Any]]:
    """What became of each, by key. Threads cannot be broken off; those that are late end at their own deadline."""
    if not wanted:
        return {}
    allowed = _those_not_cooling(wanted, work)
    seconds = min(LOAD_SECONDS, work.budget.seconds_to_gather)
    pool = ThreadPoolExecutor(max_workers=MOST_BODIES, thread_name_prefix="deepen")
    try:
        futures = {each.key: pool.submit(_load, each, work, seconds) for each in allowed}
        wait(futures.values(), timeout=seconds + _GRACE_SECONDS)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return {
        each.key: {
            "instance_id": each.candidate.endpoint.id,
            **(_result(futures[each.key]) if each.key in futures else {"failure": "cooldown"}),
        }
        for each in wanted
    }


def _result(future: Future[dict[str, Any]]) -> dict[str, Any]:
    return future.result() if future.done() and not future.cancelled() else {"failure": "timeout"}


def _those_not_cooling(wanted: Sequence[_Wanted], work: Work) -> list[_Wanted]:
    """An instance that may be tried again by one probe only is left to searches."""
    now = work.services.clock.now()
    asked = list(dict.fromkeys(each.candidate.wanted(each.modality, now) for each in wanted))
    cooldowns = work.services.dispatcher.fleet.snapshot(work.run.project, asked).cooldowns
    return [each for each in wanted if _is_free(each, cooldowns, work, now)]


def _is_free(wanted: _Wanted, cooldowns: Mapping[Subject, Cooldown], work: Work, now: float) -> bool:
    cooldown = cooldowns.get((wanted.candidate.endpoint.id, wanted.modality))
    verdict = judge(wanted.candidate, cooldown, None, work.scope, now)
    return verdict.skip is None and verdict.probe is None


def _load(wanted: _Wanted, work: Work, seconds: float) -> dict[str, Any]:
    try:
        content = wanted.candidate.instance.load_content(wanted.reference, work.within(seconds))
        stored = work.services.content.put(work.run.project, content, instance_id=wanted.candidate.endpoint.id)
    except ProviderError as error:
        return {"failure": error.reason}
    except ConfigurationUnavailable:
        return {"failure": "config_unavailable"}
    except StoreUnavailable:
        return {"failure": "store_unavailable"}
    except Exception:  # noqa: BLE001 - the SPI's boundary, as in dispatch: an add-on's bug is a note
        return {"failure": "internal"}
    return {
        "sha256": stored.sha256,
        "media_type": stored.media_type,
        "size": stored.size,
        "source_url": stored.source_url,
        "passage": closest_passage(_text_of(content), work.asked.question),
    }


def _text_of(content: LoadedContent) -> str:
    """What a judge can read of it; nothing of what is no text."""
    if not is_text(content.media_type):
        return ""
    text = stored_form(content).body.decode("utf-8", "replace")
    return (plain(text) or "") if "<" in text[:2_000] else text
