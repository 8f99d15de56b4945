"""Firecrawl: Google's web, news and images for credits, and any page as Markdown.

Wire format: JSON, one POST of /v2/search, a list per source. https://docs.firecrawl.dev/api-reference/endpoint/search
Quirks: a search costs by ten results; a scraped page that is an error is a 200, whose `metadata` tells; older answers
have one list instead of one per source. What a search cost is the extra `credits` of the first hit.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from zarniwoop.adapters.firecrawl_items import is_an_error, to_hit
from zarniwoop.adapters.firecrawl_query import (
    EXTRACT,
    MARKDOWN_OF_RESULTS,
    MOST_CHARACTERS,
    MOST_RESULTS,
    RATE,
    SCRAPE,
    SOURCES,
    question,
)
from zarniwoop.contract.failure import Cause, ProviderError, ProviderUnavailable, QueryRejected, QuotaExhausted
from zarniwoop.contract.hit import ContentReference
from zarniwoop.contract.modality import SearchDomain
from zarniwoop.contract.provider import Pacing, ProviderInstanceConfig
from zarniwoop.contract.quota import QuotaSource, QuotaStatus
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.transport import HeaderKey, HttpAnswer, HttpRequest
from zarniwoop.text.operators import Kind
from zarniwoop.text.plain import clip, plain
from zarniwoop.wire.driver import WireProtocol
from zarniwoop.wire.extras import is_on
from zarniwoop.wire.format import ContentExchange, Exchange, Found, QuotaExchange, WireFormat
from zarniwoop.wire.pacing import pacing_subject
from zarniwoop.wire.pages import page_asked, page_read
from zarniwoop.wire.reading import read_hits, read_json

_LONGEST_WARNING = 300


def exchange(request: SearchRequest, config: ProviderInstanceConfig) -> Exchange:
    asked, on_demand = question(request, config), is_on(config, EXTRACT)
    body = _read((yield HttpRequest(url=f"{config.base_url}/v2/search", method="POST", json=asked.body)))
    items = _items(body, SOURCES[request.modality])
    hits, dropped = read_hits(items, lambda item: to_hit(item, request.modality, on_demand=on_demand))
    warned = "Firecrawl added a warning to its answer" if body.get("warning") else None
    if hits:
        hits = (hits[0].with_extras(_of_the_whole(body)), *hits[1:])
    note = "; ".join(filter(None, (asked.note, warned))) or None
    return Found(hits=hits, dropped_count=dropped, translated=asked.translated, note=note)


def _read(answer: HttpAnswer) -> Mapping[str, Any]:
    """The body of an answer that says it succeeded. Raises ProviderUnavailable for a 200 that says it did not."""
    body: Mapping[str, Any] = read_json(answer)
    if body["success"] is False:
        raise ProviderUnavailable("Firecrawl says that it failed", cause=Cause.STATUS, status=answer.status)
    return body


def _items(body: Mapping[str, Any], source: str) -> list[Any]:
    """The list of the source asked for; one that is absent is empty."""
    data = body["data"]
    items = data if isinstance(data, list) else data.get(source)
    return [] if items is None else items


def _of_the_whole(body: Mapping[str, Any]) -> dict[str, Any]:
    """What was said of the search and not of a page: the credits spent, and a warning in Firecrawl's words."""
    spent, warning = body.get("creditsUsed"), plain(str(body.get("warning") or ""))
    told = {
        "credits": spent if type(spent) is int else None,
        "warning": clip(warning, _LONGEST_WARNING) if warning else None,
    }
    return {name: value for name, value in told.items() if value is not None}


def content_exchange(reference: ContentReference, config: ProviderInstanceConfig) -> ContentExchange:
    """A page's text. Raises QueryRejected for what is no page, an error page, and one that Firecrawl cannot read."""
    url = page_asked(reference)
    body = _read((yield HttpRequest(url=f"{config.base_url}/v2/scrape", method="POST", json={"url": url, **SCRAPE})))
    page = body["data"]
    metadata = page.get("metadata") or {}
    if is_an_error(metadata):
        raise QueryRejected("the page is not there, or does not let Firecrawl in")
    return page_read(page.get("markdown"), metadata.get("url") or metadata.get("sourceURL"), url, reader="Firecrawl")


def quota_exchange(config: ProviderInstanceConfig) -> QuotaExchange:
    """What is left of the plan's credits. Credits that were bought beside it make more than the plan has."""
    data = _read((yield HttpRequest(url=f"{config.base_url}/v2/team/credit-usage")))["data"]
    left, plan, end = data["remainingCredits"], data.get("planCredits"), data.get("billingPeriodEnd")
    limit = float(plan) if plan is not None and plan >= left else None
    return QuotaStatus(
        source=QuotaSource.PROVIDER,
        unit="credits",
        used=limit - left if limit is not None else None,
        limit=limit,
        remaining=float(left),
        resets_at=datetime.fromisoformat(end).timestamp() if end else None,
    )


def _classify(answer: HttpAnswer) -> ProviderError | None:
    if answer.status == 402:
        return QuotaExhausted("the credits of this key are used up", cause=Cause.STATUS, status=402)
    return None


def _pacing(_request: SearchRequest, config: ProviderInstanceConfig) -> Pacing:
    rate = int(config.extras.get(RATE.name) or RATE.default or 10)
    return Pacing(subject=pacing_subject(config, by_key=True), requests=rate, seconds=60.0)


PROTOCOL = WireProtocol(
    WireFormat(
        protocol_id="firecrawl",
        display_name="Firecrawl",
        modalities=frozenset(SOURCES),
        domains=frozenset((SearchDomain.WEB, SearchDomain.NEWS)),
        exchange=exchange,
        filters=frozenset(("site", "domain", "filetype", "date_from", "date_to", "freshness_days")),
        form_hint="Can search, and scrape pages into Markdown.",
        prompt_hint="""**Firecrawl** searches the open web, news, images and PDFs, and reads a page as Markdown where
its settings allow that. Choose it when whole pages are needed. It costs credits, and so does every page.""",
        operators=frozenset((Kind.INTITLE, Kind.NOT_SITE, Kind.PHRASE, Kind.SITE)),
        index_family="google",
        documentation="https://docs.firecrawl.dev/api-reference/endpoint/search",
        default_base_url="https://api.firecrawl.dev",
        authentication=HeaderKey(name="Authorization", prefix="Bearer "),
        key_required=True,
        key_variable="FIRECRAWL_API_KEY",
        takes_generic_key=True,
        max_query_chars=MOST_CHARACTERS,
        max_results=MOST_RESULTS,
        ignores={"locale": "Firecrawl takes a country, and no language"},
        setting_fields=(MARKDOWN_OF_RESULTS, EXTRACT, RATE),
        classify=_classify,
        content_exchange=content_exchange,
        quota_exchange=quota_exchange,
        pacing=_pacing,
    )
)
