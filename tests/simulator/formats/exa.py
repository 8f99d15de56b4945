"""Exa: pages by meaning, with their text on request.

Wire format: POST a JSON object to /search or /contents, key in `x-api-key` or as a bearer token.
https://exa.ai/docs/reference/search
Quirks: contents of a search lie in an object of their own, those of /contents at the top; a page that cannot be read is
a 200 with a status; used up credits are a 402. A key that begins with `bad-` or `empty-` brings refusals about.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit
from zlib import crc32

from tests.simulator.corpus import NewsItem, Page, Work, first_day, moment
from tests.simulator.formats.format import Format, World
from tests.simulator.library import plain, spoken_name
from tests.simulator.messages import Answer, Request, json_answer

_TYPES = ("auto", "instant", "fast", "neural", "keyword", "deep")
_PRICE, _PRICE_OF_A_PAGE = 0.005, 0.001
_MOST = 100


def _refusal(status: int, tag: str, words: str) -> Answer:
    return json_answer({"requestId": f"sim-{status}", "error": words, "tag": tag}, status=status)


_UNAUTHORIZED = _refusal(401, "INVALID_API_KEY", "Invalid API key")
_USED_UP = _refusal(402, "NO_MORE_CREDITS", "You have exceeded your credits limit.")
_TOO_FAST = _refusal(429, "RATE_LIMIT_EXCEEDED", "You've exceeded your Exa rate limit.")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What Exa has of a page, a story or a paper."""

    title: str
    url: str
    text: str
    date: datetime | None = None
    author: str | None = None


def answer(request: Request, world: World) -> Answer:
    if request.method != "POST" or request.path not in ("/search", "/contents"):
        return json_answer({"error": "Not Found", "tag": "NOT_FOUND", "requestId": "sim-404"}, status=404)
    bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
    key = request.headers.get("x-api-key") or bearer
    if not key or key.startswith("bad-"):
        return _UNAUTHORIZED
    if key.startswith("empty-") or world.metered["exa"].balance == 0:
        return _USED_UP
    try:
        asked = request.json()
    except ValueError:
        asked = None
    if not isinstance(asked, dict):
        return _refusal(400, "INVALID_REQUEST_BODY", "The body is no JSON object.")
    return _search(asked, world) if request.path == "/search" else _contents(asked, world)


def _search(asked: dict[str, Any], world: World) -> Answer:
    query, count = asked.get("query"), asked.get("numResults", 10)
    if not isinstance(query, str) or not query.strip() or asked.get("type", "auto") not in _TYPES:
        return _refusal(400, "INVALID_REQUEST_BODY", "The query or the type is invalid.")
    if not isinstance(count, int) or not 1 <= count <= _MOST:
        return _refusal(400, "INVALID_NUM_RESULTS", "numResults must lie between 1 and 100.")
    try:
        keep = _keeps(asked)
    except ValueError:
        return _refusal(400, "INVALID_REQUEST_BODY", "A date is invalid.")
    wanted = asked.get("contents") or {}
    found = [each for each in _by_category(asked.get("category"), query, world) if keep(each)][:count]
    world.metered["exa"].spend(1)
    body = {
        "requestId": f"{crc32(query.encode()):032x}",
        "resolvedSearchType": "neural",
        "results": [_result(each, wanted) for each in found],
        "searchTime": 12.5,
        "costDollars": _cost({"search": {"neural": _PRICE}}, wanted, len(found)),
    }
    return json_answer(body)


def _cost(base: dict[str, Any], wanted: dict[str, Any], pages: int) -> dict[str, Any]:
    kinds = [kind for kind in ("text", "highlights") if wanted.get(kind)]
    prices = {kind: round(_PRICE_OF_A_PAGE * pages, 6) for kind in kinds}
    total = sum(prices.values()) + (_PRICE if base else 0)
    return {"total": round(total, 6), **base, **({"contents": prices} if prices else {})}


def _by_category(category: str | None, query: str, world: World) -> Sequence[_Found]:
    library = world.library
    if category == "news":
        return [_of_page(item) for item in library.news.search(query, count=_MOST).items]
    if category == "research paper":
        return [_of_work(work) for work in library.works.search(query, count=_MOST).items if _address(work)]
    return [_of_page(page) for page in library.pages.search(query, count=_MOST).items]


def _of_page(item: Page | NewsItem) -> _Found:
    date = moment(item.date, item.age_hours if isinstance(item, NewsItem) else None)
    return _Found(title=item.title, url=item.link, text=f"# {item.title}\n\n{item.snippet}", date=date)


def _of_work(work: Work) -> _Found:
    return _Found(
        title=plain(work.title),
        url=_address(work),
        text=plain(work.abstract),
        date=moment(first_day(work.published), None),
        author=", ".join(spoken_name(author) for author in work.authors),
    )


def _address(work: Work) -> str:
    if work.arxiv:
        return f"https://arxiv.org/abs/{work.arxiv.id}"
    return f"https://doi.org/{work.doi}" if work.doi else ""


def _keeps(asked: dict[str, Any]) -> Callable[[_Found], bool]:
    """Raises ValueError for a date that is none."""
    wanted, unwanted = asked.get("includeDomains") or [], asked.get("excludeDomains") or []
    first, last = (_moment(asked.get(end)) for end in ("startPublishedDate", "endPublishedDate"))

    def keep(each: _Found) -> bool:
        host = urlsplit(each.url).hostname or ""
        if (wanted and not any(_below(host, domain) for domain in wanted)) or any(_below(host, d) for d in unwanted):
            return False
        if first is None and last is None:
            return True
        return each.date is not None and (not first or each.date > first) and (not last or each.date < last)

    return keep


def _moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    parsed = datetime.fromisoformat(text)
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def _below(host: str, domain: str) -> bool:
    return host == domain or host.endswith("." + domain)


def _result(each: _Found, wanted: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {"id": each.url, "title": each.title, "url": each.url}
    if each.date:
        result["publishedDate"] = f"{each.date:%Y-%m-%dT%H:%M:%S}.000Z"
    result["author"] = each.author
    if wanted.get("text"):
        result["text"] = each.text
    if wanted.get("highlights"):
        result |= {"highlights": [each.text[:200]], "highlightScores": [0.5]}
    return result


def _contents(asked: dict[str, Any], world: World) -> Answer:
    urls = asked.get("urls") or asked.get("ids") or []
    library = world.library
    everything = [*map(_of_page, library.news.items), *map(_of_page, library.pages.items)]
    known = {each.url: each for each in (*everything, *map(_of_work, library.works.items)) if each.url}
    failed = {"tag": "CRAWL_NOT_FOUND", "httpStatusCode": 404}
    statuses = [
        {"id": url, "status": "success"} if url in known else {"id": url, "status": "error", "error": failed}
        for url in urls
    ]
    results = [_result(known[url], asked) for url in urls if url in known]
    world.metered["exa"].spend(len(results))
    cost = _cost({}, asked, len(results))
    return json_answer({"requestId": "sim", "results": results, "statuses": statuses, "costDollars": cost})


FORMAT = Format(
    name="exa", answer=answer, refusals={401: _UNAUTHORIZED, 402: _USED_UP, 429: _TOO_FAST}, credits=1_000_000
)
