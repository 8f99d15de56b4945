"""What is read becomes evidence here, or does not: pages that were found (`ok`), hits that say something, nothing else.

The stored body is the page's Markdown, or the hit's abstract or snippet: UTF-8, composed (NFC), lines ended by LF.
Quotes are looked for in that body before anything is stored; one that does not stand there is no quote, and left out.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.evidence import MOST_ANCHORS, Evidence, Quote, SourceType
from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.page import ExtractedPage, PageAnswer, PageOutcome
from zarniwoop.evidence.credibility import score_of, signals_again, signals_of
from zarniwoop.evidence.known import NOTHING_KNOWN, KnownSource, SourceFacts, facts_of
from zarniwoop.evidence.marks import is_markdown
from zarniwoop.evidence.quotes import find_quotes
from zarniwoop.evidence.sources import identifiers_of_url, says_it_is_retracted
from zarniwoop.stores.evidence import EvidenceStore, evidence_id, evidence_url
from zarniwoop.stores.state import ProjectKey
from zarniwoop.text.normal_form import normal_form
from zarniwoop.text.plain import clip, is_blank

_LONGEST_TITLE = 500
_LONGEST_FIELD = 300
_LONGEST_SNIPPET = 500
_LONGEST_URL = 8_192
_MOST_AUTHORS = 20
_MOST_IDENTIFIERS = 20
_LOOKED_THROUGH = (20, 100, 100, 100, 100, 100)
"""So many of a URL's latest evidence at a time are looked through for a page among hits."""


class NotEvidenceError(ValueError):
    """The page was not read, so nothing can stand on it."""


class EvidenceLedger:
    """Keeps evidence. Every method raises StoreUnavailable when the store does not answer."""

    def __init__(self, *, store: EvidenceStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def keep_page(
        self,
        project: ProjectKey,
        answer: PageAnswer,
        *,
        task_id: str | None = None,
        quotes: Sequence[str] = (),
        source_type: SourceType | None = None,
        instance_id: str | None = None,
        facts: SourceFacts = NOTHING_KNOWN,
        body_gone: bool = False,
    ) -> Evidence:
        """`source_type` is told by whoever did not read the page itself (`hosted`, `archive`), `facts` by `known`.

        `body_gone`: the text that is known of this URL was seen to be gone, so this one is stored whatever is known.
        Raises TooManyQuotes, and NotEvidenceError for a page that is not `ok`.
        """
        page = answer.page
        if answer.outcome is not PageOutcome.OK or page is None or is_blank(page.markdown):
            raise NotEvidenceError("only a page that was read is evidence")
        body = stored_text(page.markdown)
        evidence = replace(
            _of_page(answer, page),
            source_type=source_type or (SourceType.PDF if page.extractor == "pdf" else SourceType.PAGE),
            instance_id=instance_id,
        )
        return self._keep(project, evidence, body, facts, task_id=task_id, quotes=quotes, body_gone=body_gone)

    def keep_hit(
        self, project: ProjectKey, hit: SearchHit, *, instance_id: str, task_id: str | None = None
    ) -> Evidence | None:
        """None for a hit without abstract or snippet."""
        said = (hit.content and hit.content.text) or hit.snippet or ""
        if is_blank(said):
            return None
        return self._keep(
            project,
            replace(_of_hit(hit, said), instance_id=instance_id),
            stored_text(said),
            SourceFacts.of_hit(hit),
            task_id=task_id,
        )

    def keep_again(
        self,
        project: ProjectKey,
        known: Evidence,
        body: str,
        *,
        task_id: str | None = None,
        quotes: Sequence[str] = (),
        facts: SourceFacts = NOTHING_KNOWN,
    ) -> Evidence:
        """What is known, read again without a change (`not_modified`), for this task, and as credible as it is now.

        `body` is its text as it is stored. Raises TooManyQuotes.
        """
        found = find_quotes(body, quotes, markdown=is_markdown(known.extractor))
        now = replace(
            known,
            quotes=(),
            identifiers=_bounded({**known.identifiers, **facts.identifiers}),
            retracted=known.retracted or facts.retracted,
            retrieved_at=self._clock.now(),
        )
        signals = signals_again(now)
        scored = replace(now, signals=signals, credibility_score=score_of(signals))
        return self._put(project, scored, body, task_id=task_id, quotes=found)

    def known(self, project: ProjectKey, url: str) -> KnownSource:
        """What was last read at this URL, with its validators and the hash of its text; hits are no reading.

        None, too, where 520 hits of the URL are newer than it: whoever knows of no reading asks for the whole page, and
        what that costs is all that there is to lose. The facts are those of the evidence that was looked through.
        """
        onwards: str | None = None
        seen: list[Evidence] = []
        for limit in _LOOKED_THROUGH:
            page = self._store.list(project, limit=limit, page_token=onwards, url=url)
            seen += page.evidence
            found = next((each for each in page.evidence if _is_own_reading(each)), None)
            onwards = page.next_page_token
            if found is not None or onwards is None:
                return KnownSource(reading=found, facts=facts_of(seen))
        return KnownSource(facts=facts_of(seen))

    def body(self, project: ProjectKey, known: Evidence) -> str | None:
        return self._store.body(project, known.content_hash)

    def _keep(
        self,
        project: ProjectKey,
        evidence: Evidence,
        body: str,
        facts: SourceFacts,
        *,
        task_id: str | None,
        quotes: Sequence[str] = (),
        body_gone: bool = False,
    ) -> Evidence:
        found = find_quotes(body, quotes, markdown=is_markdown(evidence.extractor))
        identifiers = {**identifiers_of_url(evidence.url), **facts.identifiers}
        known = replace(
            evidence,
            identifiers=_bounded(identifiers),
            authors=tuple(author[:_LONGEST_FIELD] for author in facts.authors[:_MOST_AUTHORS]),
            modality=facts.modality,
            retracted=facts.retracted or says_it_is_retracted(evidence.title),
            snippet=clip(" ".join(body[: 2 * _LONGEST_SNIPPET].split()), _LONGEST_SNIPPET),
            content_hash=hashlib.sha256(body.encode()).hexdigest(),
            body_chars=len(body),
            retrieved_at=self._clock.now(),
        )
        signals = signals_of(known, independent=facts.independent)
        scored = replace(known, signals=signals, credibility_score=score_of(signals))
        return self._put(project, scored, body, task_id=task_id, quotes=found, body_gone=body_gone)

    def _put(
        self,
        project: ProjectKey,
        evidence: Evidence,
        body: str,
        *,
        task_id: str | None,
        quotes: tuple[Quote, ...],
        body_gone: bool = False,
    ) -> Evidence:
        named = replace(
            evidence,
            id=evidence_id(evidence.url, evidence.content_hash, task_id, _reader_of(evidence)),
            task_id=task_id,
            quotes=quotes,
            retrieved_at=self._clock.now(),
        )
        return self._store.put(project, named, body, body_gone=body_gone)


def _bounded(identifiers: Mapping[str, str]) -> dict[str, str]:
    return {name: value[:_LONGEST_FIELD] for name, value in list(identifiers.items())[:_MOST_IDENTIFIERS] if value}


def _is_own_reading(evidence: Evidence) -> bool:
    return evidence.source_type in (SourceType.PAGE, SourceType.PDF)


def _reader_of(evidence: Evidence) -> str:
    """Who read it, where that was not ourselves: what one provider knows of a work is not taken back by another."""
    if _is_own_reading(evidence):
        return ""
    return f"{evidence.source_type.value}:{evidence.instance_id or ''}"


def stored_text(text: str) -> str:
    """The one form in which bodies are stored, and in which offsets count."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return normal_form("NFC", lines).encode("utf-8", "replace").decode()


def _of_page(answer: PageAnswer, page: ExtractedPage) -> Evidence:
    """All that does not depend on who keeps it, and why."""
    return Evidence(
        id="",
        source_type=SourceType.PAGE,
        title=clip(page.title or answer.final_url, _LONGEST_TITLE),
        url=evidence_url(answer.url)[:_LONGEST_URL],
        final_url=answer.final_url[:_LONGEST_URL],
        snippet="",
        content_hash="",
        retrieved_at=0.0,
        credibility_score=0.0,
        extractor=page.extractor,
        status=answer.outcome.value,
        language=_clipped(page.language),
        canonical_url=page.canonical_url[:_LONGEST_URL] if page.canonical_url else None,
        byline=_clipped(page.byline),
        site_name=_clipped(page.site_name),
        published_at=page.published_at,
        modified_at=page.modified_at,
        anchors=page.anchors[:MOST_ANCHORS],
        media_type=_clipped(answer.media_type),
        etag=answer.etag,
        last_modified=answer.last_modified,
        truncated=page.truncated,
        degraded=answer.degraded,
        hidden=page.hidden,
        suspicious=page.suspicious,
    )


def _of_hit(hit: SearchHit, said: str) -> Evidence:
    """Looked through like a page: a provider repeats what a stranger wrote."""
    from zarniwoop.extract.invisible import seen, smuggled
    from zarniwoop.extract.signs import signs

    text = f"{hit.title}\n{said}"
    hidden: Counter[str] = Counter()
    return Evidence(
        id="",
        source_type=SourceType.SEARCH_HIT,
        title=clip(hit.title, _LONGEST_TITLE),
        url=evidence_url(hit.url)[:_LONGEST_URL],
        final_url=hit.url[:_LONGEST_URL],
        snippet="",
        content_hash="",
        retrieved_at=0.0,
        credibility_score=0.0,
        extractor="provider",
        status=PageOutcome.OK.value,
        language=_clipped(hit.language),
        site_name=_clipped(hit.source),
        published_at=hit.published_at,
        media_type=hit.content.media_type if hit.content and hit.content.text else "text/plain",
        suspicious=signs(seen(text, hidden), hidden=smuggled(text)),
        hidden=dict(hidden),
    )


def _clipped(text: str | None) -> str | None:
    return clip(text, _LONGEST_FIELD) if text else None
