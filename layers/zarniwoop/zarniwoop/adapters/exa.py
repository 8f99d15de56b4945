"""Exa: an index of its own that finds pages by meaning, with news, papers, and on request their text or passages.

Wire format: JSON, one POST of /search. https://exa.ai/docs/reference/search
Quirks: without `contents` a hit has no text at all, and every kind of it costs by the page; `id` is the address; an
author is free text, at times a note; credits that are used up are a 402. The price of a search is the extra
`cost_dollars` of the first hit.
"""

from collections.abc import Mapping
from typing import Any

from zarniwoop.adapters.exa_query import (
    CATEGORIES,
    EXTRACT,
    HIGHLIGHTS,
    KIND,
    LARGEST_TEXT,
    MOST_RESULTS,
    RATE,
    TEXT,
    question,
)
from zarniwoop.contract.failure import Cause, ProviderError, QueryRejected, QuotaExhausted
from zarniwoop.contract.hit import ContentReference, SearchHit
from zarniwoop.contract.modality import SearchDomain, SearchModality
from zarniwoop.contract.provider import Pacing, ProviderInstanceConfig
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.transport import HeaderKey, HttpAnswer, HttpRequest
from zarniwoop.text.dates import parse_day_or_instant
from zarniwoop.text.identifiers import bare_arxiv_id
from zarniwoop.text.plain import clip, plain
from zarniwoop.text.urls import http_url, url_and_host
from zarniwoop.wire.driver import WireProtocol
from zarniwoop.wire.extras import is_on
from zarniwoop.wire.format import ContentExchange, Exchange, Found, WireFormat
from zarniwoop.wire.pacing import pacing_subject
from zarniwoop.wire.pages import page_asked, page_of, page_read
from zarniwoop.wire.reading import read_hits, read_json

_BEGINNING = 2_000
_LONGEST_SNIPPET = 500
_UNREADABLE = ("ROBOTS_FILTER_FAILED", "PROHIBITED_CONTENT")


def exchange(request: SearchRequest, config: ProviderInstanceConfig) -> Exchange:
    asked, on_demand = question(request, config), is_on(config, EXTRACT)
    body = read_json((yield HttpRequest(url=f"{config.base_url}/search", method="POST", json=asked.body)))
    hits, dropped = read_hits(body["results"], lambda item: _to_hit(item, request.modality, on_demand=on_demand))
    cost = body.get("costDollars")
    total = cost.get("total") if isinstance(cost, dict) else None
    if hits and isinstance(total, (int, float)):
        hits = (hits[0].with_extras({"cost_dollars": total}), *hits[1:])
    return Found(hits=hits, dropped_count=dropped, translated=asked.translated)


def _to_hit(item: Mapping[str, Any], modality: SearchModality, *, on_demand: bool) -> SearchHit | None:
    title, link = plain(item["title"]), url_and_host(item["url"])
    if title is None or link is None:
        return None
    url, host = link
    text, score = item.get("text"), item.get("score")
    told = {"score": score if isinstance(score, float) else None, "image_url": http_url(item.get("image"))}
    arxiv_id = bare_arxiv_id(url) if "arxiv" in url else None
    return SearchHit(
        title=title,
        url=url,
        modality=modality,
        snippet=_snippet(item.get("highlights"), text),
        source=host,
        content=page_of(text, url, on_demand=on_demand),
        authors=_authors(item.get("author")),
        published_at=parse_day_or_instant(item.get("publishedDate")),
        identifiers={"arxiv_id": arxiv_id} if arxiv_id else {},
        extras={name: extra for name, extra in told.items() if extra is not None},
    )


def _snippet(highlights: list[str] | None, text: str | None) -> str | None:
    """The passages that answer, else how the page begins, else nothing: it depends on what was asked for."""
    passages = [passage for each in highlights or () if (passage := plain(each))]
    beginning = plain((text or "")[:_BEGINNING])
    return " [...] ".join(passages) or (clip(beginning, _LONGEST_SNIPPET) if beginning else None)


def _authors(author: str | None) -> tuple[str, ...]:
    """Several only where every part has two words: "Silver, David" is one, and "[Submitted on …]" is nobody."""
    names = plain(author)
    if names is None or names.startswith("["):
        return ()
    parts = tuple(names.split(", "))
    return parts if all(" " in part for part in parts) else (names,)


def content_exchange(reference: ContentReference, config: ProviderInstanceConfig) -> ContentExchange:
    """A page's text. Raises QueryRejected for what is no page, and for a page that Exa cannot read."""
    url = page_asked(reference)
    asked = {"urls": [url], "text": {"maxCharacters": LARGEST_TEXT}}
    body = read_json((yield HttpRequest(url=f"{config.base_url}/contents", method="POST", json=asked)))
    page: Mapping[str, Any] = next(iter(body["results"]), {})  # why there is none stands in `statuses`
    return page_read(page.get("text"), page.get("url"), url, reader="Exa")


def _classify(answer: HttpAnswer) -> ProviderError | None:
    """Credits of the account or of the key, and what Exa will not show; for the rest its statuses are everybody's."""
    if answer.status == 402:
        return QuotaExhausted("the credits of this key are used up", cause=Cause.STATUS, status=402)
    if answer.status == 403 and read_json(answer).get("tag") in _UNREADABLE:
        return QueryRejected("Exa does not show what was asked for", cause=Cause.STATUS, status=403)
    return None


def _pacing(_request: SearchRequest, config: ProviderInstanceConfig) -> Pacing:
    rate = int(config.extras.get(RATE.name) or RATE.default or 10)
    return Pacing(subject=pacing_subject(config, by_key=True), requests=rate, seconds=1.0)


PROTOCOL = WireProtocol(
    WireFormat(
        protocol_id="exa",
        display_name="Exa",
        modalities=frozenset(CATEGORIES),
        domains=frozenset((SearchDomain.WEB, SearchDomain.NEWS, SearchDomain.ACADEMIC)),
        exchange=exchange,
        filters=frozenset(("site", "domain", "date_from", "date_to", "freshness_days")),
        form_hint="Good for semantic search and optional result text.",
        prompt_hint="""**Exa** finds pages by meaning, in an index of its own. Describe the page you want in a whole
sentence instead of keywords. Choose it where keyword searches fail, and for papers and news by topic; it costs.""",
        site_lists=True,
        index_family="exa",
        documentation="https://exa.ai/docs/reference/search",
        default_base_url="https://api.exa.ai",
        authentication=HeaderKey(name="x-api-key"),
        key_required=True,
        key_variable="EXA_API_KEY",
        takes_generic_key=True,
        max_query_chars=2_000,
        max_results=MOST_RESULTS,
        ignores={"locale": "Exa takes a user's country, and no language"},
        setting_fields=(KIND, TEXT, HIGHLIGHTS, EXTRACT, RATE),
        classify=_classify,
        content_exchange=content_exchange,
        pacing=_pacing,
    )
)
