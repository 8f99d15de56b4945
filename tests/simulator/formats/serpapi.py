"""SerpApi: result pages of several search engines as JSON.

Wire format: GET /search.json with `engine`, GET /account.json, key as `api_key` in the query. https://serpapi.com/search-api
Quirks: nothing found is a 200 with an `error`; a bad key is a 401 and a plan that is used up a 429; lists, queries and
pages have other names at other engines. A key that begins with `bad-` or `empty-` brings the refusals about.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import urlencode
from zlib import crc32

from tests.simulator.corpus import Image, NewsItem, Page, Video, Work, first_day, initials, moment
from tests.simulator.formats.format import Format, World
from tests.simulator.formats.google import Search, free_date, read_search
from tests.simulator.library import plain
from tests.simulator.messages import Answer, Request, json_answer, natural

_UNAUTHORIZED = json_answer(
    {"error": "Invalid API key. Your API key should be here: https://serpapi.com/manage-api-key"}, status=401
)
_USED_UP = json_answer({"error": "Your account has run out of searches."}, status=429)
_TOO_FAST = json_answer({"error": "You are exceeding the hourly throughput limit of your plan."}, status=429)
_EPOCH = date(1970, 1, 1)
_PICTURES = "https://serpapi.com/searches/simulated/images"

Items = tuple[list[dict[str, Any]], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Engine:
    """How an engine is asked, what it calls its list, and how its pages are counted: from `first`, in steps."""

    title: str
    items: str
    find: Callable[[Search, World, int, int], Items]
    size: int = 10
    query: str = "q"
    page: str | None = "start"
    first: int = 0
    by_page: bool = False


def answer(request: Request, world: World) -> Answer:
    if request.method != "GET" or request.path not in ("/search.json", "/search", "/account.json", "/account"):
        return json_answer({"error": "Not found."}, status=404)
    key = request.query.get("api_key", "")
    if not key or key.startswith("bad-"):
        return _UNAUTHORIZED
    plan = world.metered["serpapi"]
    left = 0 if key.startswith("empty-") else plan.balance
    if request.path.startswith("/account"):
        return json_answer(_account(plan.limit, left, key))
    engine = _ENGINES.get(request.query.get("engine", "google"))
    if engine is None:
        return json_answer({"error": f"Unsupported `{request.query['engine']}` search engine."}, status=400)
    if not request.query.get(engine.query, "").strip():
        return json_answer({"error": f"Missing query `{engine.query}` parameter."}, status=400)
    if left == 0:
        return _USED_UP
    plan.spend(1)
    return json_answer(_page_of(engine, request, world))


def _account(limit: int, left: int, key: str) -> dict[str, Any]:
    plan = {"plan_id": "simulated", "plan_name": "Simulated Plan", "plan_renewal_date": "2027-02-01"}
    spent = {"searches_per_month": limit, "plan_searches_left": left, "extra_credits": 0, "total_searches_left": left}
    rates = {"this_month_usage": limit - left, "this_hour_searches": 0, "account_rate_limit_per_hour": 200_000}
    return {"account_id": "sim", "api_key": key, "account_email": "sim@example.org", **plan, **spent, **rates}


def _page_of(engine: _Engine, request: Request, world: World) -> dict[str, Any]:
    asked = request.query
    position = natural(asked.get(engine.page), engine.first) if engine.page else 0
    start = position * engine.size if engine.by_page else position - engine.first
    found, total = engine.find(_search(asked, engine), world, max(0, start), engine.size)
    echo = {name: value for name, value in asked.items() if name != "api_key"}
    state = "Results for exact spelling" if found else "Fully empty"
    body: dict[str, Any] = {
        "search_metadata": {"id": f"{crc32(request.query_string.encode()):08x}", "status": "Success"},
        "search_parameters": {"engine": "google", **echo},
        "search_information": {"organic_results_state": state},
    }
    if not found:
        return {**body, "error": f"{engine.title} hasn't returned any results for this query."}
    body[engine.items] = [{"position": start + number, **item} for number, item in enumerate(found, 1)]
    if engine.page and start + engine.size < total:
        following = position + (1 if engine.by_page else engine.size)
        address = f"https://serpapi.com/search.json?{urlencode({**echo, engine.page: following})}"
        body["serpapi_pagination"] = {"current": start // engine.size + 1, "next": address, "next_link": address}
    return body


def _search(asked: Mapping[str, str], engine: _Engine) -> Search:
    """Operators and windows as each engine writes them."""
    query, dates = [], dict[str, str]()
    for word in asked[engine.query].split():
        name, colon, value = word.partition(":")
        if colon and name in ("after", "before"):
            dates[name] = value
        else:
            query.append(word)
    search = read_search(" ".join(query), asked.get("tbs", ""))
    first, last = _window(asked, dates)
    return replace(search, earliest=first or search.earliest, latest=last or search.latest)


def _window(asked: Mapping[str, str], dates: Mapping[str, str]) -> tuple[datetime | None, datetime | None]:
    """Both ends; the latest is exclusive."""
    if "df" in asked:
        first, last = (date.fromisoformat(day) for day in asked["df"].split(".."))
        return _midnight(first), _midnight(last + timedelta(days=1))
    if "filters" in asked:
        _, first_day_number, last_day_number = asked["filters"].strip('"').split("_")
        first, last = (_EPOCH + timedelta(days=int(number)) for number in (first_day_number, last_day_number))
        return _midnight(first), _midnight(last + timedelta(days=1))
    if "as_ylo" in asked or "as_yhi" in asked:
        return _year(asked.get("as_ylo"), 0), _year(asked.get("as_yhi"), 1)
    after, before = (date.fromisoformat(dates[end]) if end in dates else None for end in ("after", "before"))
    return _midnight(after), _midnight(before)


def _year(text: str | None, later: int) -> datetime | None:
    return datetime(int(text) + later, 1, 1, tzinfo=UTC) if text else None


def _midnight(day: date | None) -> datetime | None:
    return datetime(day.year, day.month, day.day, tzinfo=UTC) if day else None


def _web(search: Search, world: World, start: int, count: int) -> Items:
    found = search.on(world.library.pages, lambda page: page.link, lambda page: moment(page.date, None), start, count)
    return [_organic(page) for page in found.items], found.total


def _organic(page: Page) -> dict[str, Any]:
    dated = moment(page.date, None)
    result = {"title": page.title, "link": page.link, "displayed_link": page.link, "snippet": page.snippet}
    return {**result, "date": free_date(dated)} if dated else result


def _images(search: Search, world: World, start: int, count: int) -> Items:
    found = search.on(world.library.images, lambda image: image.link, _undated, start, count)
    return [_image(image) for image in found.items], found.total


def _undated(_image: Image) -> None:
    return None


def _image(image: Image) -> dict[str, Any]:
    return {
        "thumbnail": f"{_PICTURES}/{crc32(image.image_url.encode()):x}.jpeg",
        "source": image.source,
        "title": image.title,
        "link": image.link,
        "original": image.image_url,
        "original_width": image.width,
        "original_height": image.height,
        "is_product": False,
    }


def _news(search: Search, world: World, start: int, count: int) -> Items:
    shelf = world.library.news
    found = search.on(shelf, lambda item: item.link, lambda item: moment(item.date, item.age_hours), start, count)
    return [_news_item(item) for item in found.items], found.total


def _news_item(item: NewsItem) -> dict[str, Any]:
    dated = moment(item.date, item.age_hours)
    result: dict[str, Any] = {"title": item.title, "source": {"name": item.source}, "link": item.link}
    if dated is None:
        return result
    written = {"date": f"{dated:%m/%d/%Y, %I:%M %p}, +0000 UTC", "iso_date": f"{dated:%Y-%m-%dT%H:%M:%SZ}"}
    return {**result, **written}


def _videos(search: Search, world: World, start: int, count: int) -> Items:
    shelf = world.library.videos
    found = search.on(shelf, lambda video: video.link, lambda video: moment(video.date, None), start, count)
    return [_video(video) for video in found.items], found.total


def _video(video: Video) -> dict[str, Any]:
    dated = moment(video.date, None)
    return {
        "title": video.title,
        "link": video.link,
        "channel": {"name": video.channel, "verified": True},
        "published_date": free_date(dated) if dated else "",
        "length": video.duration,
        "description": video.snippet,
        "thumbnail": {"static": video.image_url},
    }


def _scholar(search: Search, world: World, start: int, count: int) -> Items:
    shelf = world.library.works
    found = search.on(shelf, _landing_page, lambda work: moment(first_day(work.published), None), start, count)
    return [_work(work) for work in found.items], found.total


def _work(work: Work) -> dict[str, Any]:
    link = _landing_page(work)
    names = [" ".join([initials(first), last]).strip() for last, _, first in (a.partition(", ") for a in work.authors)]
    people = ", ".join(names[:3]) + ("…" if len(names) > 3 else "")
    result = {
        "title": plain(work.title),
        "result_id": f"sim{work.number}",
        "link": link,
        "snippet": f"… {plain(work.abstract)[:160]} …",
        "publication_info": {"summary": f"{people} - {work.venue}, {work.published[:4]} - {link.split('/')[2]}"},
        "inline_links": {"cited_by": {"total": work.cited_by}},
    }
    pdf = {"title": "PDF", "file_format": "PDF", "link": work.pdf_url}
    return {**result, "resources": [pdf]} if work.pdf_url else result


def _landing_page(work: Work) -> str:
    if work.arxiv:
        return f"https://arxiv.org/abs/{work.arxiv.id}"
    return f"https://doi.org/{work.doi}" if work.doi else f"https://www.jstor.org/stable/{work.number}"


_ENGINES = {
    "google": _Engine(title="Google", items="organic_results", find=_web),
    "bing": _Engine(title="Bing", items="organic_results", find=_web, page="first", first=1),
    "duckduckgo": _Engine(title="DuckDuckGo", items="organic_results", find=_web, size=25),
    "google_images": _Engine(title="Google", items="images_results", find=_images, size=100, page="ijn", by_page=True),
    "google_news": _Engine(title="Google", items="news_results", find=_news, size=100, page=None),
    "youtube": _Engine(title="YouTube", items="video_results", find=_videos, query="search_query", page="sp"),
    "google_scholar": _Engine(title="Google", items="organic_results", find=_scholar),
}

FORMAT = Format(name="serpapi", answer=answer, refusals={401: _UNAUTHORIZED, 429: _TOO_FAST}, credits=1_000_000)
