"""Serper: Google's results pages as JSON.

Wire format: POST a JSON object to /search, /images, /videos, /news or /scholar, key in `X-API-KEY`.
https://serper.dev/playground
Quirks: the list's name differs per type and scholar says `organic` again; `date` is free text ("3 hours ago");
a bad key is 403 and an empty account 400. Here a key that begins with `bad-` or `empty-` brings them about.
"""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote
from zlib import crc32

from tests.simulator.corpus import Image, NewsItem, Page, Video, Work, first_day, initials, moment
from tests.simulator.formats.format import Format, World
from tests.simulator.formats.google import Search, free_date, read_search
from tests.simulator.index import Matches
from tests.simulator.library import plain
from tests.simulator.messages import Answer, Request, json_answer, natural

_UNAUTHORIZED = json_answer({"message": "Unauthorized.", "statusCode": 403}, status=403)
_NOT_ENOUGH = json_answer({"message": "Not enough credits", "statusCode": 400}, status=400)
_THUMBNAILS = "https://encrypted-tbn0.gstatic.com/images?q=tbn:"

Results = tuple[str, list[dict[str, Any]], dict[str, Any]]


def answer(request: Request, world: World) -> Answer:
    key = request.headers.get("x-api-key", "")
    if not key or key.startswith("bad-"):
        return _UNAUTHORIZED
    if request.path == "/account":
        return json_answer({"balance": 0 if key.startswith("empty-") else world.serper.balance})
    kind = request.path.removeprefix("/")
    if kind not in _KINDS:
        missing = {"statusCode": 404, "message": f"Cannot {request.method} {request.path}", "error": "Not Found"}
        return json_answer(missing, status=404)
    if key.startswith("empty-") or world.serper.balance == 0:
        return _NOT_ENOUGH
    return _search(kind, request, world)


def _search(kind: str, request: Request, world: World) -> Answer:
    try:
        asked = {**request.query, **(request.json() if request.body else {})}
    except (ValueError, TypeError):
        return json_answer({"message": "Invalid JSON", "statusCode": 400}, status=400)
    if not isinstance(asked.get("q"), str) or not asked["q"].strip():
        return json_answer({"message": "Missing query parameter", "statusCode": 400}, status=400)
    search = read_search(asked["q"], str(asked.get("tbs", "")))
    number = natural(str(asked.get("num", 10)), 10, least=1, most=100)
    page = natural(str(asked.get("page", 1)), 1, least=1, most=100)
    name, results, blocks = _KINDS[kind](search, world, (page - 1) * number, number)
    spent = 2 if kind == "images" and number > 10 else 1
    world.serper.spend(spent)
    echo = {"q": asked["q"], "gl": asked.get("gl", "us"), "hl": asked.get("hl", "en"), "num": number, "type": kind}
    echo |= {name: asked[name] for name in ("tbs", "page", "location") if name in asked}
    return json_answer({"searchParameters": echo, **blocks, name: results, "credits": spent})


def _web(search: Search, world: World, start: int, count: int) -> Results:
    found = search.on(world.library.pages, _link_of, lambda page: moment(page.date, None), start, count)
    blocks = _knowledge(search, world) if start == 0 else {}
    if found.items:
        blocks["relatedSearches"] = [{"query": f"{search.words} explained"}, {"query": f"{search.words} overview"}]
    return "organic", _numbered(found, _organic, start), blocks


def _organic(page: Page) -> dict[str, Any]:
    result: dict[str, Any] = {"title": page.title, "link": page.link, "snippet": page.snippet}
    date = moment(page.date, None)
    return {**result, "date": free_date(date)} if date else result


def _knowledge(search: Search, world: World) -> dict[str, Any]:
    for article in world.library.articles["en"].items:
        if article.title.lower() == search.words.lower():
            link = f"https://en.wikipedia.org/wiki/{quote(article.title.replace(' ', '_'), safe='()_')}"
            panel = {
                "title": article.title,
                "type": article.description,
                "description": article.extract.partition("\n")[0],
                "descriptionSource": "Wikipedia",
                "descriptionLink": link,
                "attributes": {},
            }
            return {"knowledgeGraph": panel}
    return {}


def _images(search: Search, world: World, start: int, count: int) -> Results:
    found = search.on(world.library.images, _link_of, _undated, start, count)
    return "images", _numbered(found, _image, start), {}


def _image(image: Image) -> dict[str, Any]:
    return {
        "title": image.title,
        "imageUrl": image.image_url,
        "imageWidth": image.width,
        "imageHeight": image.height,
        "thumbnailUrl": f"{_THUMBNAILS}{crc32(image.image_url.encode()):x}&amp;s",
        "thumbnailWidth": 259,
        "thumbnailHeight": 194,
        "source": image.source,
        "domain": image.link.split("/")[2],
        "link": image.link,
        "googleUrl": f"https://www.google.com/imgres?imgurl={quote(image.image_url, safe='')}",
    }


def _videos(search: Search, world: World, start: int, count: int) -> Results:
    found = search.on(world.library.videos, _link_of, lambda video: moment(video.date, None), start, count)
    return "videos", _numbered(found, _video, start), {}


def _video(video: Video) -> dict[str, Any]:
    date = moment(video.date, None)
    return {
        "title": video.title,
        "link": video.link,
        "snippet": video.snippet,
        "imageUrl": video.image_url,
        "duration": video.duration,
        "source": "YouTube",
        "channel": video.channel,
        "date": free_date(date) if date else "",
    }


def _news(search: Search, world: World, start: int, count: int) -> Results:
    found = search.on(world.library.news, _link_of, lambda item: moment(item.date, item.age_hours), start, count)
    return "news", _numbered(found, _news_item, start), {}


def _news_item(item: NewsItem) -> dict[str, Any]:
    date = moment(item.date, item.age_hours)
    result: dict[str, Any] = {"title": item.title, "link": item.link, "snippet": item.snippet}
    result |= {"date": free_date(date) if date else "", "source": item.source}
    return {**result, "imageUrl": f"{_THUMBNAILS}{crc32(item.link.encode()):x}&s"} if item.has_image else result


def _scholar(search: Search, world: World, start: int, count: int) -> Results:
    found = search.on(
        world.library.works, _landing_page, lambda work: moment(first_day(work.published), None), start, count
    )
    return "organic", _numbered(found, _scholarly, start), {}


def _scholarly(work: Work) -> dict[str, Any]:
    link = _landing_page(work)
    names = [" ".join([initials(first), last]).strip() for last, _, first in (a.partition(", ") for a in work.authors)]
    people = ", ".join(names[:3]) + ("…" if len(names) > 3 else "")
    result: dict[str, Any] = {
        "title": plain(work.title),
        "link": link,
        "publicationInfo": f"{people} - {work.venue}, {work.published[:4]} - {link.split('/')[2]}",
        "snippet": f"… {plain(work.abstract)[:160]} …",
        "year": int(work.published[:4]),
        "citedBy": work.cited_by,
    }
    return {**result, "pdfUrl": work.pdf_url} if work.pdf_url else result


def _landing_page(work: Work) -> str:
    if work.arxiv:
        return f"https://arxiv.org/abs/{work.arxiv.id}"
    return f"https://doi.org/{work.doi}" if work.doi else f"https://www.jstor.org/stable/{work.number}"


def _undated(image: Image) -> None:
    return None


def _link_of(item: Page | NewsItem | Image | Video) -> str:
    return item.link


def _numbered(found: Matches[Any], render: Callable[[Any], dict[str, Any]], start: int) -> list[dict[str, Any]]:
    return [{**render(item), "position": start + position} for position, item in enumerate(found.items, 1)]


_KINDS: Mapping[str, Callable[[Search, World, int, int], Results]] = {
    "search": _web,
    "images": _images,
    "videos": _videos,
    "news": _news,
    "scholar": _scholar,
}

FORMAT = Format(name="serper", answer=answer, refusals={400: _NOT_ENOUGH, 403: _UNAUTHORIZED})
