"""Brave Search: an independent index of the web, with news, videos and images.

Wire format: JSON, one GET per page; the path picks the kind. https://api-dashboard.search.brave.com/documentation
Quirks: the list lies in a block of its own for the web, and any block may be absent; `offset` counts pages; a bad key
is a 422; rate headers are comma lists with a value per window, of which the longest is the plan.
"""

import re
from collections.abc import Mapping
from math import ceil
from typing import Any

from zarniwoop.adapters.brave_items import to_hit
from zarniwoop.adapters.brave_query import KINDS, MOST_CHARACTERS, OPERATORS, question
from zarniwoop.contract.failure import Cause, CredentialsRejected, ProviderError, QuotaExhausted, RateLimited
from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.modality import SearchDomain
from zarniwoop.contract.provider import Pacing, ProviderInstanceConfig
from zarniwoop.contract.quota import QuotaSource, QuotaStatus
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.transport import HeaderKey, HttpAnswer, HttpRequest
from zarniwoop.wire.driver import WireProtocol
from zarniwoop.wire.format import Exchange, Found, SettingField, WireFormat
from zarniwoop.wire.pacing import pacing_subject
from zarniwoop.wire.reading import read_hits, read_json, read_numbers

_WINDOW = re.compile(r";\s*w=(\d{1,9})")
_BAD_TOKEN = ("SUBSCRIPTION_TOKEN_INVALID", "SUBSCRIPTION_TOKEN_MISSING")
_RATE = SettingField(
    name="requestsPerSecond",
    title="Requests per second",
    description="What the plan allows, where that is little: 1 on the old free plan. Not set: not held back here.",
    pattern=r"[1-9]\d{0,3}",
)


def exchange(request: SearchRequest, config: ProviderInstanceConfig) -> Exchange:
    path, asked = KINDS[request.modality].path, question(request)
    hits: tuple[SearchHit, ...] = ()
    dropped = 0
    for page in range(_pages(request)):
        params = asked.params | ({"offset": str(page)} if page else {})
        url, headers = f"{config.base_url}/res/v1/{path}/search", {"Accept": "application/json"}
        body = read_json((yield HttpRequest(url=url, params=params, headers=headers)))
        items = _items(body, path)
        read, lost = read_hits(items, lambda item: to_hit(item, request.modality))
        hits, dropped = hits + read, dropped + lost
        if len(hits) >= request.max_results or not items or not _has_more(body):
            break
    return Found(hits=hits, dropped_count=dropped, translated=asked.translated, note=asked.note)


def _pages(request: SearchRequest) -> int:
    kind = KINDS[request.modality]
    return min(kind.pages, ceil(request.max_results / kind.most))


def _items(body: dict[str, Any], path: str) -> list[Any]:
    """The list asked for; an envelope of the right type without it is an empty answer."""
    if body["type"] != ("search" if path == "web" else path):
        raise ValueError("an answer to another kind of search")
    block = body.get("web") if path == "web" else body
    items = None if block is None else block.get("results")
    return [] if items is None else items


def _has_more(body: Mapping[str, Any]) -> bool:
    return (body.get("query") or {}).get("more_results_available") is True


def _classify(answer: HttpAnswer) -> ProviderError | None:
    """A refusal says in its code what its status does not."""
    if answer.status not in (422, 429):
        return None
    error = read_json(answer)["error"]
    if error["code"] in _BAD_TOKEN or "x-subscription-token" in str(error.get("meta")).lower():
        return CredentialsRejected("Brave refuses this key", cause=Cause.STATUS, status=answer.status)
    return _too_many(error, answer.headers) if answer.status == 429 else None


def _too_many(error: Mapping[str, Any], headers: Mapping[str, str]) -> ProviderError:
    """The plan's month, or only its second; how long that takes stands in the rate headers."""
    meta, quota = error.get("meta") or {}, _quota(headers, 0.0)
    used_up = meta.get("quota_limit") and (meta.get("quota_current") or 0) >= meta["quota_limit"]
    stated = "retry-after" in headers
    if error["code"] == "QUOTA_LIMITED" or used_up or (quota and quota.exhausted):
        wait = quota.resets_at if quota and not stated else None
        return QuotaExhausted("the requests of this plan are used up", status=429, cause=Cause.STATUS, retry_after=wait)
    resets = read_numbers(headers, "x-ratelimit-reset")
    wait = min(resets) if resets and not stated else None
    return RateLimited("Brave says slow down", status=429, cause=Cause.STATUS, retry_after=wait)


def _quota(headers: Mapping[str, str], now: float) -> QuotaStatus | None:
    """The longest of the windows; one of seconds alone is no quota, and a limit of 0 there is none."""
    limits, left, resets = (read_numbers(headers, f"x-ratelimit-{name}") for name in ("limit", "remaining", "reset"))
    if len(limits) < 2 or not len(limits) == len(left) == len(resets):
        return None
    windows = [int(seconds) for seconds in _WINDOW.findall(headers.get("x-ratelimit-policy", ""))]
    longest = windows.index(max(windows)) if len(windows) == len(limits) else len(limits) - 1
    if limits[longest] <= 0:
        return None
    return QuotaStatus(
        source=QuotaSource.HEADERS,
        used=limits[longest] - left[longest],
        limit=limits[longest],
        remaining=left[longest],
        resets_at=now + resets[longest],
    )


def _pacing(request: SearchRequest, config: ProviderInstanceConfig) -> Pacing | None:
    rate = config.extras.get(_RATE.name)
    if rate is None:
        return None
    subject = pacing_subject(config, by_key=True)
    return Pacing(subject=subject, requests=int(rate), seconds=1.0, calls=_pages(request), separate=True)


PROTOCOL = WireProtocol(
    WireFormat(
        protocol_id="brave",
        display_name="Brave Search",
        modalities=frozenset(KINDS),
        domains=frozenset((SearchDomain.WEB, SearchDomain.NEWS)),
        exchange=exchange,
        filters=frozenset(("site", "domain", "filetype", "date_from", "date_to", "freshness_days", "locale")),
        form_hint="Uses Brave's independent search index.",
        prompt_hint="""**Brave** has an index of the open web of its own, independent of Google's and Bing's, with
news, videos and images. Choose it for a second opinion beside a Google index, or as the first. It counts requests.""",
        operators=OPERATORS,
        operators_for=lambda modality, _config: OPERATORS if KINDS[modality].operators else frozenset(),
        index_family="brave",
        documentation="https://api-dashboard.search.brave.com/documentation",
        default_base_url="https://api.search.brave.com",
        authentication=HeaderKey(name="X-Subscription-Token"),
        key_required=True,
        key_variable="BRAVE_SEARCH_API_KEY",
        takes_generic_key=True,
        max_query_chars=MOST_CHARACTERS,
        max_results=60,
        ignores={"locale": "Brave does not know this language"},
        setting_fields=(_RATE,),
        classify=_classify,
        quota_from_headers=_quota,
        pacing=_pacing,
        most_calls=lambda request, _config: _pages(request),
    )
)
