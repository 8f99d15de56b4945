"""A reading as it is given out: what is known of the page, and its text in the wanted form, fenced."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from zarniwoop.contract.evidence import MOST_ANCHORS, Evidence
from zarniwoop.contract.page import ExtractedPage, PageFormat
from zarniwoop.evidence.marks import as_read
from zarniwoop.pages.chain import Reading
from zarniwoop.pages.keeping import Kept, reads_markdown
from zarniwoop.tools.fetched import FetchedPage, link_of
from zarniwoop.tools.untrusted import fenced, nonce_for
from zarniwoop.tools.ways_out import way_out

_NO_MARKUP = "there is no markup of this page: ask for it as markdown or text"


def nonce_of(read: Sequence[tuple[Reading, Kept]]) -> str:
    """One that no text of the answer holds, in whatever form."""
    texts = [text for reading, kept in read for text in (kept.body, _markup(reading)) if text]
    return nonce_for(texts)


def shown(number: int, url: str, reading: Reading, kept: Kept, shape: PageFormat, nonce: str) -> FetchedPage:
    answer = reading.answer
    page = FetchedPage(
        url=url,
        outcome=answer.outcome,
        final_url=answer.final_url,
        reason=answer.reason,
        status=answer.status,
        source_type=reading.source_type,
        archived_at=reading.moment,
        media_type=answer.media_type,
        quotes=kept.quotes,
        not_kept=kept.not_kept,
        retry_after=answer.retry_after,
        suggested_action=way_out(answer.outcome, answer.reason),
        hops=answer.hops,
        steps=answer.steps,
        attempts=reading.attempts,
    )
    if kept.evidence is not None:
        page = replace(page, evidence_id=kept.evidence.id, source_type=kept.evidence.source_type)
    if reading.stored is not None:
        page = replace(page, **_stored_facts(reading.stored.evidence))
    elif kept.body is not None and answer.page is not None:
        page = replace(page, **_facts(answer.page))
    if shape is PageFormat.LINKS:
        found = answer.page.links if answer.page is not None and kept.body is not None else ()
        return replace(page, links=tuple(link_of(number, link) for link in found))
    if shape is PageFormat.HTML and kept.body is not None and not _markup(reading):
        return replace(page, note=_NO_MARKUP)
    return _with_content(page, _in_shape(reading, kept, shape), nonce)


def _in_shape(reading: Reading, kept: Kept, shape: PageFormat) -> str | None:
    if kept.body is None:
        return None
    if shape is PageFormat.HTML:
        return _markup(reading)
    return as_read(kept.body) if shape is PageFormat.TEXT and reads_markdown(reading) else kept.body


def _with_content(page: FetchedPage, text: str | None, nonce: str) -> FetchedPage:
    if not text:
        return page
    return replace(page, content=fenced(text, nonce), content_chars=len(text), content_end=len(text))


def _markup(reading: Reading) -> str | None:
    return reading.answer.page.html if reading.answer.page is not None else None


def _facts(page: ExtractedPage) -> dict[str, Any]:
    return {
        "title": page.title,
        "byline": page.byline,
        "site_name": page.site_name,
        "published_at": page.published_at,
        "modified_at": page.modified_at,
        "language": page.language,
        "canonical_url": page.canonical_url,
        "links_count": len(page.links),
        "anchors": page.anchors[:MOST_ANCHORS],
        "hidden": page.hidden,
        "suspicious": page.suspicious,
        "truncated": page.truncated,
    }


def _stored_facts(known: Evidence) -> dict[str, Any]:
    """What was kept of the page when it was read. Its links were not, not even their number."""
    return {
        "title": known.title,
        "byline": known.byline,
        "site_name": known.site_name,
        "published_at": known.published_at,
        "modified_at": known.modified_at,
        "language": known.language,
        "canonical_url": known.canonical_url,
        "media_type": known.media_type,
        "source_type": known.source_type,
        "anchors": known.anchors,
        "hidden": known.hidden,
        "suspicious": known.suspicious,
        "truncated": known.truncated,
    }
