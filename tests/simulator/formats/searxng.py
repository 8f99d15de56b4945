"""SearXNG: one instance with its engines, as JSON.

Wire format: GET or POST /search (or /) with `format=json`. https://docs.searxng.org/dev/search_api.html
Quirks: a format that is off is a 403 page, here every one but HTML below `/html-only`; engines that were blocked are
named beside an empty list, here all of them below `/blocked`. A bearer token that begins with `bad-` is refused by a
proxy before the instance.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from tests.simulator.corpus import Image, NewsItem, Page, Video, Work, first_day, moment
from tests.simulator.formats.format import Format, World
from tests.simulator.formats.google import Search, read_search
from tests.simulator.library import plain, spoken_name
from tests.simulator.messages import Answer, Request, json_answer, text_answer

_PAGE = 10
_LANGUAGE = re.compile(r"auto|all|[a-z]{2,3}(?:-[a-zA-Z]{2})?")
_RANGES = {"day": 1, "week": 7, "month": 31, "year": 366}
_BLOCKED = (("brave", "Suspended: too many requests"), ("duckduckgo", "CAPTCHA"), ("google", "timeout"))
_FORBIDDEN = text_answer(
    "<!doctype html>\n<html lang=en>\n<title>403 Forbidden</title>\n<h1>Forbidden</h1>\n"
    "<p>You don&#39;t have the permission to access the requested resource. "
    "It is either read-protected or not readable by the server.</p>\n",
    status=403,
    media_type="text/html; charset=utf-8",
)
_LIMITED = text_answer("Too Many Requests", status=429)


def answer(request: Request, world: World) -> Answer:
    mode, _, rest = request.path.removeprefix("/").partition("/")
    mode, path = (mode, f"/{rest}") if mode in ("html-only", "blocked") else ("", request.path)
    if path not in ("/search", "/"):
        return text_answer("Not Found", status=404)
    if request.headers.get("authorization", "").removeprefix("Bearer ").startswith("bad-"):
        return text_answer("Unauthorized", status=401)
    asked = request.parameters
    wanted = asked.get("format", "html")
    if wanted == "html":
        return text_answer("<!doctype html><html><body>results</body></html>", media_type="text/html")
    if wanted != "json" or mode == "html-only":
        return _FORBIDDEN
    wrong = _wrong(asked)
    if wrong:
        return json_answer({"error": wrong}, status=400)
    results, silent = ([], _BLOCKED) if mode == "blocked" else (_results(asked, world), ())
    extras: dict[str, list[Any]] = {"answers": [], "corrections": [], "infoboxes": [], "suggestions": []}
    blocked = [list(pair) for pair in silent]
    return json_answer({"query": asked["q"], "results": results, **extras, "unresponsive_engines": blocked})


def _wrong(asked: Mapping[str, str]) -> str | None:
    if not asked.get("q"):
        return "No query"
    page, language, span = asked.get("pageno", "1"), asked.get("language", "all"), asked.get("time_range", "")
    checks = {
        "pageno": page.isdecimal() and int(page) > 0,
        "language": _LANGUAGE.fullmatch(language) is not None,
        "time_range": span in ("", *_RANGES),
    }
    return next(
        (f"Invalid value {asked[name]} for parameter {name}" for name, good in checks.items() if not good), None
    )


def _results(asked: Mapping[str, str], world: World) -> list[dict[str, Any]]:
    search = read_search(asked["q"], "")
    if asked.get("time_range"):
        earliest = datetime.now(UTC) - timedelta(days=_RANGES[asked["time_range"]])
        search = Search(words=search.words, sites=search.sites, filetypes=search.filetypes, earliest=earliest)
    categories = [each.strip() for each in asked.get("categories", "general").split(",")]
    start = (int(asked.get("pageno", "1")) - 1) * _PAGE
    found = [item for each in categories if each in _CATEGORIES for item in _CATEGORIES[each](search, world, start)]
    return [{**item, "positions": [rank], "score": round(1 / rank, 4)} for rank, item in enumerate(found, 1)]


def _result(title: str, url: str, content: str, engine: str, category: str, date: datetime | None) -> dict[str, Any]:
    """A result of the newer kind, with every key of its."""
    empty = {"img_src": "", "iframe_src": "", "audio_src": "", "thumbnail": "", "length": None, "views": ""}
    flags = {"author": "", "metadata": "", "priority": "", "open_group": False, "close_group": False}
    stamp = {
        "publishedDate": date.isoformat() if date else None,
        "pubdate": f"{date:%Y-%m-%d %H:%M:%S%z}" if date else "",
    }
    told = {"template": "default.html", "title": title, "content": content, "url": url}
    parts = list(urlsplit(url))
    parsed = [parts[0], parts[1], parts[2], "", parts[3], parts[4]]
    named = {"engine": engine, "engines": [engine], "category": category, "parsed_url": parsed}
    return {**told, **empty, **flags, **stamp, **named}


def _general(search: Search, world: World, start: int) -> list[dict[str, Any]]:
    return _pages(search, world, start, "brave", "general")


def _code(search: Search, world: World, start: int) -> list[dict[str, Any]]:
    return _pages(search, world, start, "github", "it")


def _pages(search: Search, world: World, start: int, engine: str, category: str) -> list[dict[str, Any]]:
    def date_of(page: Page) -> datetime | None:
        return moment(page.date, None)

    found = search.on(world.library.pages, lambda page: page.link, date_of, start, _PAGE)
    return [_result(page.title, page.link, page.snippet, engine, category, date_of(page)) for page in found.items]


def _news(search: Search, world: World, start: int) -> list[dict[str, Any]]:
    def date_of(item: NewsItem) -> datetime | None:
        return moment(item.date, item.age_hours)

    found = search.on(world.library.news, lambda item: item.link, date_of, start, _PAGE)
    return [_result(item.title, item.link, item.snippet, "bing news", "news", date_of(item)) for item in found.items]


def _images(search: Search, world: World, start: int) -> list[dict[str, Any]]:
    found = search.on(world.library.images, lambda image: image.link, lambda _: None, start, _PAGE)
    return [_image(image) for image in found.items]


def _image(image: Image) -> dict[str, Any]:
    size = {"resolution": f"{image.width} x {image.height}", "thumbnail_src": "", "img_format": "JPG", "filesize": ""}
    result = _result(image.title, image.link, "", "bing images", "images", None)
    return {**result, "template": "images.html", "img_src": image.image_url, "source": image.source, **size}


def _videos(search: Search, world: World, start: int) -> list[dict[str, Any]]:
    found = search.on(
        world.library.videos, lambda video: video.link, lambda video: moment(video.date, None), start, _PAGE
    )
    return [_video(video) for video in found.items]


def _video(video: Video) -> dict[str, Any]:
    result = _result(video.title, video.link, video.snippet, "youtube", "videos", moment(video.date, None))
    own = {"thumbnail": video.image_url, "author": video.channel, "length": video.duration}
    return {**result, "template": "videos.html", **own}


def _science(search: Search, world: World, start: int) -> list[dict[str, Any]]:
    found = world.library.works.search(search.words, keep=lambda work: bool(_address(work)), start=start, count=_PAGE)
    return [_paper(work) for work in found.items]


def _address(work: Work) -> str:
    return f"https://doi.org/{work.doi}" if work.doi else f"https://arxiv.org/abs/{work.arxiv.id}" if work.arxiv else ""


def _paper(work: Work) -> dict[str, Any]:
    date = moment(first_day(work.published), None)
    result = _result(plain(work.title), _address(work), plain(work.abstract), "openalex", "science", date)
    own = {"authors": [spoken_name(author) for author in work.authors], "journal": work.venue, "doi": work.doi or ""}
    return {**result, "template": "paper.html", **own, "pdf_url": work.pdf_url or "", "type": work.type, "tags": []}


_CATEGORIES: Mapping[str, Callable[[Search, World, int], list[dict[str, Any]]]] = {
    "general": _general,
    "it": _code,
    "news": _news,
    "images": _images,
    "videos": _videos,
    "science": _science,
}

FORMAT = Format(name="searxng", answer=answer, refusals={403: _FORBIDDEN, 429: _LIMITED})
