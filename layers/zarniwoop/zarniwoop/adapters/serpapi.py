"""SerpApi: result pages of Google (web, images, news, Scholar), Bing, DuckDuckGo and YouTube, for searches of a plan.

Wire format: JSON, one GET of /search.json per page; `engine` picks the search engine. https://serpapi.com/search-api
Quirks: the key is a query parameter; an `error` inside a 200 says that there are no results, or that something failed,
in words alone; a plan that is used up is a 429 like a pace that was too fast.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from math import ceil
from typing import Any
from urllib.parse import parse_qs, urlsplit

from zarniwoop.adapters.serpapi_engines import DOMAINS, ENGINE, MODALITIES, OPERATORS, Engine, engine_for, question
from zarniwoop.adapters.serpapi_items import panels_of, stories_of, to_hit
from zarniwoop.contract.failure import (
    Cause,
    CredentialsRejected,
    ProviderError,
    ProviderUnavailable,
    QuotaExhausted,
    RateLimited,
)
from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.contract.quota import QuotaSource, QuotaStatus
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.transport import HttpAnswer, HttpRequest, QueryKey
from zarniwoop.wire.driver import WireProtocol
from zarniwoop.wire.format import Exchange, Found, QuotaExchange, WireFormat
from zarniwoop.wire.reading import read_hits, read_json

_MOST_PAGES, _LONGEST_TOKEN = 3, 1000
_NOTHING_FOUND = ("returned any results", "no results")
_USED_UP = ("run out of searches", "searches for the month are exhausted")
_TOO_FAST = ("throughput", "rate limit", "too many")
_BAD_KEY = ("api key", "api_key")


def exchange(request: SearchRequest, config: ProviderInstanceConfig) -> Exchange:
    engine = engine_for(request.modality, config.extras.get(ENGINE.name))
    params, translated = question(request, engine)
    hits: tuple[SearchHit, ...] = ()
    dropped = 0
    for _ in range(_pages(request, engine)):
        body = read_json((yield HttpRequest(url=f"{config.base_url}/search.json", params=params)))
        items = stories_of(_items(body, engine.items))
        read, lost = read_hits(items, lambda item: to_hit(item, request.modality, engine.name))
        if read and not hits and (panels := panels_of(body)):
            read = (read[0].with_extras(panels), *read[1:])
        hits, dropped = hits + read, dropped + lost
        further = _next_page(body, engine.page)
        if len(hits) >= request.max_results or not further or not (read or lost):
            break
        params = params | further
    short = f"{engine.name} gave {len(hits)} of the {request.max_results} results asked for"
    note = short if 0 < len(hits) < request.max_results else None
    return Found(hits=hits, dropped_count=dropped, translated=translated, note=note)


def _items(body: Mapping[str, Any], name: str) -> list[Any]:
    """The list asked for. Without it the page is empty if the search succeeded, or says that it found nothing."""
    items = body.get(name)
    if items is None and (isinstance(body.get("error"), str) or body["search_metadata"]["status"] == "Success"):
        return []
    if not isinstance(items, list):
        raise TypeError("the results are no list")
    return items


def _next_page(body: Mapping[str, Any], page: str | None) -> dict[str, str]:
    """The page parameter out of the address of the next page; the address itself is never followed."""
    pagination = body.get("serpapi_pagination")
    following = pagination.get("next") if isinstance(pagination, dict) else None
    if page is None or not isinstance(following, str):
        return {}
    value = parse_qs(urlsplit(following).query).get(page, [""])[0]
    return {page: value} if 0 < len(value) <= _LONGEST_TOKEN else {}


def _classify(answer: HttpAnswer) -> ProviderError | None:
    """What an `error` means, whatever status it came with; that nothing was found is no failure."""
    if answer.status not in (200, 429) or b'"error"' not in answer.body:
        return None
    error = read_json(answer).get("error")
    return _meaning(error.lower(), answer.status) if isinstance(error, str) else None


def _meaning(error: str, status: int) -> ProviderError | None:
    if any(words in error for words in _USED_UP):
        return QuotaExhausted("the searches of this plan are used up", cause=Cause.STATUS, status=status)
    if status == 429 or any(words in error for words in _TOO_FAST):
        return RateLimited("SerpApi says slow down", cause=Cause.STATUS, status=status)
    if any(words in error for words in _NOTHING_FOUND):
        return None
    if any(words in error for words in _BAD_KEY):
        return CredentialsRejected("SerpApi refuses this key", cause=Cause.STATUS, status=status)
    return ProviderUnavailable("the search engine behind SerpApi gave no answer", cause=Cause.STATUS, status=status)


def _pages(request: SearchRequest, engine: Engine) -> int:
    return min(_MOST_PAGES, ceil(request.max_results / engine.size))


def _most_calls(request: SearchRequest, config: ProviderInstanceConfig) -> int:
    return _pages(request, engine_for(request.modality, config.extras.get(ENGINE.name)))


def quota_exchange(config: ProviderInstanceConfig) -> QuotaExchange:
    """What is left of the plan and of extra credits. Free of charge; it names the owner, too, which is not read."""
    body = read_json((yield HttpRequest(url=f"{config.base_url}/account.json")))
    used, left, renewal = body["this_month_usage"], body["total_searches_left"], body.get("plan_renewal_date")
    resets_at = datetime.fromisoformat(renewal).replace(tzinfo=UTC).timestamp() if renewal else None
    return QuotaStatus(
        source=QuotaSource.PROVIDER,
        unit="searches",
        used=float(used),
        limit=float(used + left),
        remaining=float(left),
        resets_at=resets_at,
    )


PROTOCOL = WireProtocol(
    WireFormat(
        protocol_id="serpapi",
        display_name="SerpApi",
        modalities=MODALITIES,
        domains=DOMAINS,
        exchange=exchange,
        filters=frozenset(("site", "domain", "filetype", "date_from", "date_to", "freshness_days", "locale")),
        form_hint="Supports search-engine-specific parameters such as `engine`.",
        prompt_hint="""**SerpApi** has Google's result pages (web, PDFs, images, news, Scholar) and YouTube's; for the
web it may be set to Bing or DuckDuckGo. Choose it for what is current, local or commercial. Every page costs.""",
        operators=OPERATORS,
        operators_for=lambda modality, config: engine_for(modality, config.extras.get(ENGINE.name)).understands,
        index_family="google",
        documentation="https://serpapi.com/search-api",
        default_base_url="https://serpapi.com",
        authentication=QueryKey(name="api_key"),
        key_required=True,
        key_variable="SERPAPI_API_KEY",
        takes_generic_key=True,
        ignores={"locale": "Bing and DuckDuckGo take a language only together with a country"},
        setting_fields=(ENGINE,),
        classify=_classify,
        quota_exchange=quota_exchange,
        most_calls=_most_calls,
    )
)
