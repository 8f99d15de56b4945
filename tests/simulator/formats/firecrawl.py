"""Firecrawl: Google's results and scraped pages.

Wire format: POST a JSON object to /v2/search or /v2/scrape, GET /v2/team/credit-usage, key as a bearer token.
https://docs.firecrawl.dev/api-reference/introduction
Quirks: a list per source; two credits for every ten results and one for a page; a page that is an error is a 200 with
its status in the metadata. A key that begins with `bad-` or `empty-` brings refusals about.
"""

from collections.abc import Callable, Mapping
from math import ceil
from typing import Any
from zlib import crc32

from tests.simulator.corpus import Image, NewsItem, Page, moment, read
from tests.simulator.formats.format import Credits, Format, World
from tests.simulator.formats.google import Search, free_date, read_search
from tests.simulator.messages import Answer, Request, json_answer

_MOST, _LONGEST_QUERY = 100, 500
_PATHS = (("GET", "/v2/team/credit-usage"), ("POST", "/v2/search"), ("POST", "/v2/scrape"))
_OPERATORS = {"pdf": "filetype:pdf", "github": "site:github.com"}


def _refusal(status: int, words: str) -> Answer:
    return json_answer({"success": False, "error": words}, status=status)


_UNAUTHORIZED = _refusal(401, "Unauthorized: Invalid token")
_USED_UP = _refusal(402, "Payment Required: Insufficient credits")
_TIMED_OUT = _refusal(408, "Request timed out")
_TOO_FAST = json_answer({"error": "Request rate limit exceeded. Please wait and try again later."}, status=429)
_BROKEN = json_answer(
    {"success": False, "code": "UNKNOWN_ERROR", "error": "An unexpected error occurred on the server."}, status=500
)


def answer(request: Request, world: World) -> Answer:
    if (request.method, request.path) not in _PATHS:
        return _refusal(404, "Not Found")
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    if scheme != "Bearer" or not key or key.startswith("bad-"):
        return _UNAUTHORIZED
    account = world.metered["firecrawl"]
    if request.method == "GET":
        return json_answer({"success": True, "data": _usage(account)})
    if key.startswith("empty-") or account.balance == 0:
        return _USED_UP
    try:
        asked = request.json()
    except ValueError:
        asked = None
    if not isinstance(asked, dict):
        return _refusal(400, "Bad Request")
    return _search(asked, world) if request.path == "/v2/search" else _scrape(asked, world)


def _usage(account: Credits) -> dict[str, Any]:
    period = {"billingPeriodStart": "2027-01-01T00:00:00Z", "billingPeriodEnd": "2027-01-31T23:59:59Z"}
    return {"remainingCredits": account.balance, "planCredits": account.limit, **period}


def _search(asked: dict[str, Any], world: World) -> Answer:
    query, limit = asked.get("query"), asked.get("limit", 10)
    sources = [each if isinstance(each, str) else each.get("type") for each in asked.get("sources") or ["web"]]
    if not isinstance(query, str) or not 0 < len(query.strip()) <= _LONGEST_QUERY or not set(sources) <= set(_SOURCES):
        return _refusal(400, "Bad Request")
    if not isinstance(limit, int) or not 1 <= limit <= _MOST:
        return _refusal(400, "Bad Request")
    operators = [_OPERATORS[each] for each in asked.get("categories") or [] if each in _OPERATORS]
    search = read_search(" ".join((query, *operators)), asked.get("tbs") or "")
    found = {source: _SOURCES[source](search, world, limit) for source in sources}
    spent = sum(2 * ceil(len(items) / 10) for items in found.values())
    if asked.get("scrapeOptions"):
        pages = [item for source, items in found.items() if source != "images" for item in items]
        spent += len(pages)
        for item in pages:
            item |= _page(item["url"], world)
    world.metered["firecrawl"].spend(spent)
    positioned = {
        source: [{**item, "position": rank} for rank, item in enumerate(items, 1)] for source, items in found.items()
    }
    return json_answer(
        {"success": True, "data": positioned, "creditsUsed": spent, "id": f"sim-{crc32(query.encode()):08x}"}
    )


def _web(search: Search, world: World, count: int) -> list[dict[str, Any]]:
    found = search.on(world.library.pages, lambda page: page.link, lambda page: moment(page.date, None), 0, count)
    return [{"url": page.link, "title": page.title, "description": page.snippet} for page in found.items]


def _news(search: Search, world: World, count: int) -> list[dict[str, Any]]:
    found = search.on(world.library.news, lambda item: item.link, _date_of, 0, count)
    return [_story(item) for item in found.items]


def _story(item: NewsItem) -> dict[str, Any]:
    date = _date_of(item)
    story = {"title": item.title, "url": item.link, "snippet": item.snippet}
    return {**story, "date": free_date(date)} if date else story


def _date_of(item: NewsItem) -> Any:
    return moment(item.date, item.age_hours)


def _images(search: Search, world: World, count: int) -> list[dict[str, Any]]:
    found = search.on(world.library.images, lambda image: image.link, lambda _: None, 0, count)
    return [_image(image) for image in found.items]


def _image(image: Image) -> dict[str, Any]:
    size = {"imageWidth": image.width, "imageHeight": image.height}
    return {"title": image.title, "imageUrl": image.image_url, **size, "url": image.link}


_SOURCES: Mapping[str, Callable[[Search, World, int], list[dict[str, Any]]]] = {
    "web": _web,
    "news": _news,
    "images": _images,
}


def _scrape(asked: dict[str, Any], world: World) -> Answer:
    url = asked.get("url")
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        return _refusal(400, "Invalid URL")
    world.metered["firecrawl"].spend(1)
    page = _page(url, world)
    page["metadata"]["creditsUsed"] = 1
    return json_answer({"success": True, "data": page})


def _page(url: str, world: World) -> dict[str, Any]:
    known: dict[str, Page | NewsItem] = {item.link: item for item in world.library.pages.items}
    known |= {item.link: item for item in world.library.news.items}
    item = known.get(url)
    scraped = next((each for each in read("scraped") if each["url"] == url), None)
    told = {"sourceURL": url, "url": url, "contentType": "text/html", "proxyUsed": "basic"}
    if scraped is not None:
        metadata = {**told, "title": scraped["title"], "language": "en", "statusCode": 200}
        return {"markdown": scraped["markdown"], "metadata": metadata}
    if item is None:
        return {"markdown": "# 404 Not Found", "metadata": {**told, "statusCode": 404, "error": "Not Found"}}
    markdown = f"# {item.title}\n\n{item.snippet}"
    return {"markdown": markdown, "metadata": {**told, "title": item.title, "language": "en", "statusCode": 200}}


FORMAT = Format(
    name="firecrawl",
    answer=answer,
    refusals={401: _UNAUTHORIZED, 402: _USED_UP, 408: _TIMED_OUT, 429: _TOO_FAST, 500: _BROKEN},
    credits=1_000_000,
)
