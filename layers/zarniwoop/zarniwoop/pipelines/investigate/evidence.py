"""The survivors of a run as evidence: each hit as it was found, under the run's id as its task.

Whatever becomes of it, the run has its result. Nothing is kept of a run that was stopped: its project may be going.
Quirk: a run's files hold hits as JSON, perhaps as another version wrote them; what cannot be read is told as not kept.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from zarniwoop.contract.hit import (
    ContentInline,
    ContentReference,
    Contributor,
    DatePrecision,
    PublishedAt,
    SearchHit,
)
from zarniwoop.contract.modality import SearchModality
from zarniwoop.pipelines.investigate.rank import RankedHit
from zarniwoop.pipelines.investigate.services import Work
from zarniwoop.stores.failure import ILLEGIBLE
from zarniwoop.tools.evidence_links import Found, keep_found

MOST_KEPT = 200
"""As many as an answer shows."""
_SECONDS = 30.0


def keep_survivors(work: Work, survivors: Sequence[RankedHit]) -> tuple[tuple[Mapping[str, Any], ...], str | None]:
    """Links to what was kept, the best first, and a note when it is not all."""
    found = list(_found(survivors[:MOST_KEPT]))
    scope = work.within(min(_SECONDS, work.scope.deadline.remaining() / 2))
    links, note = keep_found(found, scope, work.services.ledger, task_id=work.run.run_id)
    left = len(survivors) - len(found)
    more = f"{left} further survivors are not kept as evidence: too many, or illegible" if left else None
    return links, "; ".join(filter(None, (note, more))) or None


def _found(survivors: Sequence[RankedHit]) -> Iterator[Found]:
    for survivor in survivors:
        try:
            hit = _hit(survivor.hit)
        except ILLEGIBLE:
            continue
        yield hit, survivor.sources[0].instance_id if survivor.sources else "unknown"


def _hit(told: Mapping[str, Any]) -> SearchHit:
    """Raises ILLEGIBLE."""
    content, published = told.get("content"), told.get("published_at")
    return SearchHit(
        title=str(told["title"]),
        url=str(told["url"]),
        modality=SearchModality(told["modality"]),
        snippet=told.get("snippet"),
        source=told.get("source"),
        content=_content(content) if content else None,
        authors=tuple(told.get("authors") or ()),
        published_at=PublishedAt(value=published["value"], precision=DatePrecision(published["precision"]))
        if published
        else None,
        language=told.get("language"),
        identifiers=told.get("identifiers") or {},
        extras=told.get("extras") or {},
        contributors=tuple(Contributor(**each) for each in told.get("contributors") or ()),
    )


def _content(told: Mapping[str, Any]) -> ContentReference:
    return ContentReference(**{**told, "inline": ContentInline(told["inline"])})
