"""Brave Search: an index of its own, as JSON.

Wire format: GET /res/v1/{web,news,videos,images}/search, key in `X-Subscription-Token`.
https://api-dashboard.search.brave.com/documentation
Quirks: the web's list lies in a block of its own; `offset` counts pages; a bad key is a 422 and a month that is used up
a 429; the rate headers are lists, a value per window. A key that begins with `bad-` or `empty-` brings refusals about.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit
from zlib import crc32

from tests.simulator.corpus import Image, NewsItem, Page, Video, moment
from tests.simulator.formats.format import Credits, Format, World
from tests.simulator.formats.google import Search, free_date, read_search
from tests.simulator.messages import Answer, Request, json_answer, natural

_PER_SECOND, _MONTH = 50, 2_592_000
_LAST_PAGE = 9
_SPANS = {"pd": 1, "pw": 7, "pm": 31, "py": 365}
_IMAGES = "https://imgs.search.brave.com"


def _refusal(status: int, code: str, detail: str, meta: Mapping[str, Any]) -> Answer:
    error = {"id": f"sim-{status}", "status": status, "code": code, "detail": detail, "meta": meta}
    return json_answer({"type": "ErrorResponse", "error": error, "time": 1_800_000_000}, status=status)


_BAD_TOKEN = _refusal(
    422, "SUBSCRIPTION_TOKEN_INVALID", "The provided subscription token is invalid.", {"component": "authentication"}
)
_INVALID = _refusal(422, "VALIDATION", "Unable to validate request parameter(s)", {})
_PLAN = {"plan": "Search", "rate_limit": _PER_SECOND, "rate_current": 1, "component": "rate_limiter"}
_TOO_FAST = _refusal(429, "RATE_LIMITED", "Request rate limit exceeded for plan", _PLAN)
_USED_UP = _refusal(
    429, "QUOTA_LIMITED", "Request quota exceeded for plan", {**_PLAN, "quota_limit": 1, "quota_current": 1}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """A kind of search: how many results a page has at most and by default, and how they are found."""

    name: str
    most: int
    usual: int
    find: Callable[[Search, World, int, int], tuple[list[dict[str, Any]], int]]


def answer(request: Request, world: World) -> Answer:
    kind = _KINDS.get(request.path)
    if kind is None:
        return json_answer({"type": "ErrorResponse", "error": {"code": "NOT_FOUND", "status": 404}}, status=404)
    key = request.headers.get("x-subscription-token", "")
    if not key or key.startswith("bad-"):
        return _BAD_TOKEN
    account = world.metered["brave"]
    if key.startswith("empty-") or account.balance == 0:
        return replace(_USED_UP, headers=_rates(account, left=0))
    refused = _check(kind, request)
    if refused is not None:
        return refused
    account.spend(1)
    return replace(json_answer(_body(kind, request, world)), headers=_rates(account, left=account.balance))


def _rates(account: Credits, *, left: int) -> dict[str, str]:
    return {
        "X-RateLimit-Limit": f"{_PER_SECOND}, {account.limit}",
        "X-RateLimit-Policy": f"{_PER_SECOND};w=1, {account.limit};w={_MONTH}",
        "X-RateLimit-Remaining": f"{_PER_SECOND - 1}, {left}",
        "X-RateLimit-Reset": "1, 1209600",
    }


def _check(kind: _Kind, request: Request) -> Answer | None:
    query = request.query.get("q", "")
    count, offset = request.query.get("count", str(kind.usual)), request.query.get("offset", "0")
    numbers = count.isdecimal() and offset.isdecimal() and 1 <= int(count) <= kind.most and int(offset) <= _LAST_PAGE
    fits = query.strip() and len(query) <= 400 and len(query.split()) <= 50
    try:
        _window(request.query.get("freshness"))
    except (ValueError, KeyError):
        return _INVALID
    return None if numbers and fits else _INVALID


def _window(freshness: str | None) -> tuple[datetime | None, datetime | None]:
    """Both ends; the latest is exclusive."""
    if not freshness:
        return None, None
    if "to" not in freshness:
        return datetime.now(UTC) - timedelta(days=_SPANS[freshness]), None
    first, last = (datetime.fromisoformat(f"{day}T00:00+00:00") for day in freshness.split("to"))
    return first, last + timedelta(days=1)


def _body(kind: _Kind, request: Request, world: World) -> dict[str, Any]:
    earliest, latest = _window(request.query.get("freshness"))
    search = replace(read_search(request.query["q"], ""), earliest=earliest, latest=latest)
    count = natural(request.query.get("count"), kind.usual)
    start = natural(request.query.get("offset"), 0) * count
    results, total = kind.find(search, world, start, count)
    query: dict[str, Any] = {"original": request.query["q"], "spellcheck_off": True, "country": "us"}
    if kind.name != "web":
        return {"type": kind.name, "query": query, "results": results}
    query["more_results_available"] = start + count < total
    main = [{"type": "web", "index": index, "all": False} for index in range(len(results))]
    body: dict[str, Any] = {"query": query, "mixed": {"type": "mixed", "main": main, "top": [], "side": []}}
    block = {"web": {"type": "search", "results": results, "family_friendly": True}} if results else {}
    return {**body, "type": "search", **block}


def _web(search: Search, world: World, start: int, count: int) -> tuple[list[dict[str, Any]], int]:
    found = search.on(world.library.pages, lambda page: page.link, lambda page: moment(page.date, None), start, count)
    return [_page(page) for page in found.items], found.total


def _page(page: Page) -> dict[str, Any]:
    kind = {"type": "search_result", "subtype": "generic", "is_live": False, "language": page.language}
    flags = {"is_source_local": False, "is_source_both": False, "family_friendly": True}
    return {**_common(page.title, page.link, page.snippet), **kind, **flags, **_age(moment(page.date, None))}


def _news(search: Search, world: World, start: int, count: int) -> tuple[list[dict[str, Any]], int]:
    shelf = world.library.news
    found = search.on(shelf, lambda item: item.link, lambda item: moment(item.date, item.age_hours), start, count)
    return [_news_item(item) for item in found.items], found.total


def _news_item(item: NewsItem) -> dict[str, Any]:
    common = _common(item.title, item.link, item.snippet)
    thumbnail = {"thumbnail": {"src": _thumbnail(item.link)}} if item.has_image else {}
    date = moment(item.date, item.age_hours)
    return {"type": "news_result", **common, "breaking": False, **thumbnail, **_age(date)}


def _videos(search: Search, world: World, start: int, count: int) -> tuple[list[dict[str, Any]], int]:
    shelf = world.library.videos
    found = search.on(shelf, lambda video: video.link, lambda video: moment(video.date, None), start, count)
    return [_video(video) for video in found.items], found.total


def _video(video: Video) -> dict[str, Any]:
    about = {"duration": video.duration, "creator": video.channel, "publisher": "YouTube"}
    picture = {"src": _thumbnail(video.image_url), "original": video.image_url}
    common = _common(video.title, video.link, video.snippet)
    return {"type": "video_result", **common, "video": about, "thumbnail": picture, **_age(moment(video.date, None))}


def _images(search: Search, world: World, start: int, count: int) -> tuple[list[dict[str, Any]], int]:
    found = search.on(world.library.images, lambda image: image.link, _undated, start, count)
    return [_image(image) for image in found.items], found.total


def _undated(_image: Image) -> None:
    return None


def _image(image: Image) -> dict[str, Any]:
    return {
        "type": "image_result",
        "title": image.title,
        "url": image.link,
        "source": urlsplit(image.link).hostname,
        "thumbnail": {"src": _thumbnail(image.image_url)},
        "properties": {"url": image.image_url, "width": image.width, "height": image.height},
        "meta_url": _meta(image.link),
        "confidence": "high",
    }


def _common(title: str, link: str, snippet: str) -> dict[str, Any]:
    return {"title": title, "url": link, "description": snippet, "meta_url": _meta(link)}


def _meta(link: str) -> dict[str, Any]:
    host = urlsplit(link).hostname
    return {"scheme": "https", "netloc": host, "hostname": host, "favicon": f"{_IMAGES}/{host}", "path": "› page"}


def _age(date: datetime | None) -> dict[str, str]:
    return {"age": free_date(date), "page_age": f"{date:%Y-%m-%dT%H:%M:%S}"} if date else {}


def _thumbnail(address: str) -> str:
    return f"{_IMAGES}/{crc32(address.encode()):x}"


_KINDS = {
    f"/res/v1/{kind.name}/search": kind
    for kind in (
        _Kind(name="web", most=20, usual=10, find=_web),
        _Kind(name="news", most=50, usual=20, find=_news),
        _Kind(name="videos", most=50, usual=20, find=_videos),
        _Kind(name="images", most=200, usual=50, find=_images),
    )
}

FORMAT = Format(name="brave", answer=answer, refusals={422: _BAD_TOKEN, 429: _TOO_FAST}, credits=1_000_000)
