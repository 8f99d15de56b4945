"""Tavily: web and news search made for language models, with passages instead of teasers, and pages as Markdown.

Wire format: JSON, one POST of /search. https://docs.tavily.com/documentation/api-reference/endpoint/search
Quirks: a plan that is used up is a 432, a pay-as-you-go limit a 433; a search has one page. The depth is always said:
left to itself Tavily may choose one that costs double. What a search cost is the extra `credits` of the first hit.
"""

from collections.abc import Mapping
from typing import Any

from zarniwoop.adapters.tavily_query import ANSWER, DEPTH, EXTRACT, MOST_RESULTS, RAW, question
from zarniwoop.contract.failure import Cause, ProviderError, QuotaExhausted
from zarniwoop.contract.hit import ContentReference, SearchHit
from zarniwoop.contract.modality import SearchDomain, SearchModality
from zarniwoop.contract.provider import Pacing, ProviderInstanceConfig
from zarniwoop.contract.quota import QuotaSource, QuotaStatus
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.transport import HeaderKey, HttpAnswer, HttpRequest
from zarniwoop.text.dates import parse_date
from zarniwoop.text.plain import plain
from zarniwoop.text.urls import url_and_host
from zarniwoop.wire.driver import WireProtocol
from zarniwoop.wire.extras import is_on
from zarniwoop.wire.format import ContentExchange, Exchange, Found, QuotaExchange, SettingField, WireFormat
from zarniwoop.wire.pacing import pacing_subject
from zarniwoop.wire.pages import page_asked, page_of, page_read
from zarniwoop.wire.reading import read_hits, read_json

_RATE = SettingField(
    name="requestsPerMinute",
    title="Requests per minute",
    description="The published rate of the key: 100 for a development key, 1000 for one of production.",
    default="100",
    pattern=r"[1-9]\d{0,4}",
)


def exchange(request: SearchRequest, config: ProviderInstanceConfig) -> Exchange:
    asked = question(request, config)
    answer = yield HttpRequest(url=f"{config.base_url}/search", method="POST", json=asked.body)
    body, on_demand = read_json(answer), is_on(config, EXTRACT)
    hits, dropped = read_hits(body["results"], lambda item: _to_hit(item, request.modality, on_demand=on_demand))
    if hits:
        hits = (hits[0].with_extras(_of_the_whole(body)), *hits[1:])
    return Found(hits=hits, dropped_count=dropped, translated=asked.translated)


def _to_hit(item: Mapping[str, Any], modality: SearchModality, *, on_demand: bool) -> SearchHit | None:
    title, link, score = plain(item["title"]), url_and_host(item["url"]), item.get("score")
    if title is None or link is None:
        return None
    url, host = link
    return SearchHit(
        title=title,
        url=url,
        modality=modality,
        snippet=plain(item.get("content")),
        source=host,
        content=page_of(item.get("raw_content"), url, on_demand=on_demand),
        published_at=parse_date(item.get("published_date")),
        extras={"score": score} if isinstance(score, float) else {},
    )


def _of_the_whole(body: Mapping[str, Any]) -> dict[str, Any]:
    """What was said of the search and not of a page: the answer of Tavily's model, and the credits spent."""
    usage, answer = body.get("usage"), body.get("answer")
    spent = usage.get("credits") if isinstance(usage, dict) else None
    told = {"answer": plain(answer) if isinstance(answer, str) else None, "credits": spent}
    return {name: value for name, value in told.items() if value is not None}


def content_exchange(reference: ContentReference, config: ProviderInstanceConfig) -> ContentExchange:
    """A page's text. Raises QueryRejected for what is no page, and for a page that Tavily cannot read."""
    url = page_asked(reference)
    asked = {"urls": [url], "extract_depth": "basic", "format": "markdown"}
    body = read_json((yield HttpRequest(url=f"{config.base_url}/extract", method="POST", json=asked)))
    page: Mapping[str, Any] = next(iter(body["results"]), {"raw_content": None})
    return page_read(page["raw_content"], page.get("url"), url, reader="Tavily")


def quota_exchange(config: ProviderInstanceConfig) -> QuotaExchange:
    """The tighter of two limits: the key's own, and that of the account, to which pay-as-you-go may add."""
    body = read_json((yield HttpRequest(url=f"{config.base_url}/usage")))
    key, account = body["key"], body["account"]
    extra = account.get("paygo_limit") or 0
    plan = account["plan_limit"]
    of_account = (account["plan_usage"] + (account.get("paygo_usage") or 0), None if plan is None else plan + extra)
    limits = [(used, limit) for used, limit in ((key["usage"], key.get("limit")), of_account) if limit is not None]
    if not limits:
        return QuotaStatus(source=QuotaSource.PROVIDER, unit="credits", used=float(of_account[0]))
    used, limit = min(limits, key=lambda pair: pair[1] - pair[0])
    left: float | None = max(0.0, float(limit - used))
    if not left and (used, limit) == of_account and account.get("paygo_limit", 0) is None:
        left = None  # what comes after the plan has no limit, or is not booked: a 432 will tell
    return QuotaStatus(source=QuotaSource.PROVIDER, unit="credits", used=used, limit=limit, remaining=left)


def _classify(answer: HttpAnswer) -> ProviderError | None:
    if answer.status in (432, 433):
        return QuotaExhausted("the credits of this key are used up", cause=Cause.STATUS, status=answer.status)
    return None


def _pacing(_request: SearchRequest, config: ProviderInstanceConfig) -> Pacing:
    rate = int(config.extras.get(_RATE.name) or "100")
    return Pacing(subject=pacing_subject(config, by_key=True), requests=rate, seconds=60.0)


PROTOCOL = WireProtocol(
    WireFormat(
        protocol_id="tavily",
        display_name="Tavily",
        modalities=frozenset((SearchModality.WEB, SearchModality.NEWS)),
        domains=frozenset((SearchDomain.WEB, SearchDomain.NEWS)),
        exchange=exchange,
        filters=frozenset(("site", "domain", "date_from", "date_to", "freshness_days")),
        form_hint="Good default for agent and RAG style search.",
        prompt_hint="""**Tavily** searches the open web and the news for language models: a hit carries the passage that
answers, not a teaser. Choose it for questions in plain words. It costs credits and takes no search operators.""",
        site_lists=True,
        index_family="tavily",
        documentation="https://docs.tavily.com/documentation/api-reference/endpoint/search",
        default_base_url="https://api.tavily.com",
        authentication=HeaderKey(name="Authorization", prefix="Bearer "),
        key_required=True,
        key_variable="TAVILY_API_KEY",
        takes_generic_key=True,
        max_results=MOST_RESULTS,
        ignores={"locale": "Tavily takes a country for general topics, and no language"},
        setting_fields=(DEPTH, ANSWER, RAW, EXTRACT, _RATE),
        classify=_classify,
        content_exchange=content_exchange,
        quota_exchange=quota_exchange,
        pacing=_pacing,
    )
)
