"""Tavily: passages for language models.

Wire format: POST a JSON object to /search or /extract, GET /usage, key as a bearer token.
https://docs.tavily.com/documentation/api-reference/introduction
Quirks: a plan that is used up is a 432; only news are dated; what a search cost is said only when asked. Here a key
that begins with `bad-` or `empty-` brings refusals about.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from email.utils import format_datetime
from typing import Any
from urllib.parse import urlsplit
from zlib import crc32

from tests.simulator.corpus import NewsItem, Page, moment
from tests.simulator.formats.format import Credits, Format, World
from tests.simulator.messages import Answer, Request, json_answer

_LONGEST_QUERY = 400
_TOPICS = ("general", "news", "finance")
_PRICES = {"basic": 1, "fast": 1, "ultra-fast": 1, "advanced": 2}


def _refusal(status: int, words: str) -> Answer:
    return json_answer({"detail": {"error": words}}, status=status)


_UNAUTHORIZED = _refusal(401, "Unauthorized: missing or invalid API key.")
_USED_UP = _refusal(432, "This request exceeds your plan's set usage limit")
_TOO_FAST = _refusal(429, "Your request has been blocked due to excessive requests.")


def answer(request: Request, world: World) -> Answer:
    if (request.method, request.path) not in (("GET", "/usage"), ("POST", "/search"), ("POST", "/extract")):
        return json_answer({"detail": "Not Found"}, status=404)
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    if scheme != "Bearer" or not key or key.startswith("bad-"):
        return _UNAUTHORIZED
    account = world.metered["tavily"]
    if request.path == "/usage":
        return json_answer(_usage(account))
    if key.startswith("empty-") or account.balance == 0:
        return _USED_UP
    try:
        asked = request.json()
    except ValueError:
        return _refusal(400, "The body is not valid JSON.")
    if not isinstance(asked, dict):
        return _refusal(400, "The body is no object.")
    return _search(asked, world) if request.path == "/search" else _extract(asked, world)


def _usage(account: Credits) -> dict[str, Any]:
    used = account.limit - account.balance
    plan = {"current_plan": "Researcher", "plan_usage": used, "plan_limit": account.limit}
    return {"key": {"usage": used, "limit": None}, "account": {**plan, "paygo_usage": 0, "paygo_limit": 0}}


def _search(asked: dict[str, Any], world: World) -> Answer:
    query, depth, topic = asked.get("query"), asked.get("search_depth", "basic"), asked.get("topic", "general")
    if not isinstance(query, str) or not query.strip():
        return _refusal(400, "Query is missing.")
    if len(query) > _LONGEST_QUERY:
        return _refusal(400, "Query is too long. Max query length is 400 characters.")
    if depth not in _PRICES or topic not in _TOPICS or not 0 <= asked.get("max_results", 5) <= 20:
        return _refusal(400, "Invalid search depth, topic or max results.")
    items = _found(asked, world)
    world.metered["tavily"].spend(_PRICES[depth])
    results = [_result(item, 1 - rank / 100, asked) for rank, item in enumerate(items, 1)]
    body: dict[str, Any] = {
        "query": query,
        "follow_up_questions": None,
        "answer": None,
        "images": [],
        "results": results,
    }
    if asked.get("include_answer"):
        body["answer"] = results[0]["content"] if results else ""
    body |= {"usage": {"credits": _PRICES[depth]}} if asked.get("include_usage") else {}
    return json_answer({**body, "response_time": 0.01, "request_id": f"sim-{crc32(query.encode()):08x}"})


def _found(asked: dict[str, Any], world: World) -> Sequence[Page | NewsItem]:
    query, keep, count = asked["query"], _keeps(asked), asked.get("max_results", 5)
    if asked.get("topic") == "news":
        return world.library.news.search(query, keep=keep, count=count).items
    return world.library.pages.search(query, keep=keep, count=count).items


def _keeps(asked: dict[str, Any]) -> Callable[[Page | NewsItem], bool]:
    wanted, unwanted = asked.get("include_domains") or [], asked.get("exclude_domains") or []
    first, last = (datetime.fromisoformat(f"{asked[end]}T00:00Z") if asked.get(end) else None for end in _ENDS)

    def keep(item: Page | NewsItem) -> bool:
        date, host = _date_of(item), urlsplit(item.link).hostname or ""
        if (wanted and not any(_below(host, domain) for domain in wanted)) or any(_below(host, d) for d in unwanted):
            return False
        if first is None and last is None:
            return True
        return bool(date and (not first or date >= first) and (not last or date < last + timedelta(days=1)))

    return keep


_ENDS = ("start_date", "end_date")


def _below(host: str, domain: str) -> bool:
    return host == domain or host.endswith("." + domain)


def _date_of(item: Page | NewsItem) -> datetime | None:
    return moment(item.date, item.age_hours if isinstance(item, NewsItem) else None)


def _result(item: Page | NewsItem, score: float, asked: dict[str, Any]) -> dict[str, Any]:
    raw = _text_of(item) if asked.get("include_raw_content") else None
    result = {"title": item.title, "url": item.link, "content": item.snippet, "score": score, "raw_content": raw}
    date = _date_of(item)
    return (
        {**result, "published_date": format_datetime(date, usegmt=True)}
        if asked.get("topic") == "news" and date
        else result
    )


def _text_of(item: Page | NewsItem) -> str:
    return f"# {item.title}\n\n{item.snippet}"


def _extract(asked: dict[str, Any], world: World) -> Answer:
    urls = [asked["urls"]] if isinstance(asked.get("urls"), str) else asked.get("urls") or []
    known = {item.link: item for shelf in (world.library.news, world.library.pages) for item in shelf.items}
    results = [{"url": url, "raw_content": _text_of(known[url]), "images": []} for url in urls if url in known]
    failed = [{"url": url, "error": "Failed to fetch url"} for url in urls if url not in known]
    world.metered["tavily"].spend(-(-len(results) // 5))
    return json_answer({"results": results, "failed_results": failed, "response_time": 0.02, "request_id": "sim"})


FORMAT = Format(
    name="tavily", answer=answer, refusals={401: _UNAUTHORIZED, 429: _TOO_FAST, 432: _USED_UP}, credits=1_000_000
)
