"""DOAJ: open-access articles of journals.

Wire format: GET /search/articles/<query> with `page`, `pageSize`; GET /articles/<id>. https://doaj.org/api/v4/docs
Quirks: words are joined by AND; wildcards and `~` are refused; a page holds at most 100 articles and none lies beyond
the first 1000; a colon makes a field of what stands before it, and in one that is not there nothing is found.
"""

import re
from calendar import month_name
from collections.abc import Callable, Mapping, Sequence
from hashlib import md5
from typing import Any

from tests.simulator.corpus import Work
from tests.simulator.formats.boolean import OPERATORS, Rows, rows_of
from tests.simulator.formats.format import Format, World, plain_refusal
from tests.simulator.index import STOP_WORDS, Shelf
from tests.simulator.library import plain, spoken_name
from tests.simulator.messages import Answer, Request, json_answer, natural

_REFERENCE = " (ref: 00000000-0000-11f0-0000-000000000000)"
_BASE = "https://doaj.org/api/v4"
_LARGEST_PAGE, _DEEPEST = 100, 1000
_DISALLOWED = re.compile(r".+[^\\]([?*]|~[0-9.]*)", re.DOTALL)
_TOKEN = re.compile(r'[()]|[\w.]+:\[[^\]]*\]|[\w.]+:"[^"]*"|"[^"]*"|[^\s()"]+')
_FIELD = re.compile(r"(?P<name>[\w.]+):(?P<value>.+)", re.DOTALL)
_COLUMNS = {"title": "title", "bibjson.title": "title", "abstract": "body", "bibjson.author.name": "authors"}


def answer(request: Request, world: World) -> Answer:
    if request.path.startswith("/search/articles/"):
        return _search(request.path.removeprefix("/search/articles/"), request.query, world)
    for work in world.library.works.items:
        if _is_held(work) and request.path == f"/articles/{_id(work)}":
            return json_answer(_record(work))
    return _refused(404, "not_found", "Resource not found")


def _search(query: str, asked: Mapping[str, str], world: World) -> Answer:
    size = natural(asked.get("pageSize"), 10, least=1, most=_LARGEST_PAGE)
    page = natural(asked.get("page"), 1, least=1)
    start = (page - 1) * size
    if _DISALLOWED.search(query):
        return _refused(400, "bad_request", "Query contains disallowed Lucene features")
    if start >= _DEEPEST:
        return _refused(400, "bad_request", f"You cannot access results beyond {_DEEPEST} records via this API.")
    try:
        works = _found_by(query, world.library.works)
    except ValueError:
        return _refused(400, "bad_request", "There was an error executing your query")
    body = {"total": len(works), "page": page, "pageSize": size, "timestamp": "2026-11-30T12:00:00.000000Z"}
    body |= {"query": query, "results": [_record(work) for work in works[start : start + size]]}
    last = max(1, -(-len(works) // size))
    links = {"next": page + 1, "last": last} if page < last else {"last": last}
    body |= {name: f"{_BASE}/search/articles/{query}?page={at}&pageSize={size}" for name, at in links.items()}
    return json_answer(body)


def _refused(status: int, kind: str, text: str) -> Answer:
    return json_answer({"status": kind, "error": text + _REFERENCE}, status=status)


def _found_by(query: str, works: Shelf[Work]) -> Sequence[Work]:
    """The works that DOAJ would hold, by relevance. Raises ValueError for a query that cannot be read."""
    tokens = _TOKEN.findall(query)
    if not tokens:
        raise ValueError("an empty query")
    held = _rows(works, _is_held)
    rows = rows_of(tokens, lambda token: _leaf(token, works)) & held
    words = [token.strip('"') for token in tokens if token not in OPERATORS and not _FIELD.fullmatch(token)]
    return [works.items[row] for row in works.best_first(rows, words)]


def _is_held(work: Work) -> bool:
    return work.is_open_access and work.type == "article" and work.doi is not None


def _leaf(token: str, works: Shelf[Work]) -> Rows:
    field = _FIELD.fullmatch(token)
    if field is None:
        word = token.strip('"')
        return frozenset(range(len(works.items))) if word.lower() in STOP_WORDS else works.holding(word)
    name, value = field["name"], field["value"].strip('"')
    if name in _COLUMNS:
        return works.holding(value, _COLUMNS[name])
    if name not in _TESTS:
        return frozenset()
    test = _TESTS[name]
    return _rows(works, lambda work: test(work, value))


def _in_years(work: Work, value: str) -> bool:
    first, _, last = value.strip("[]").partition(" TO ")
    return first <= work.published[:4] <= (last or first)


_TESTS: Mapping[str, Callable[[Work, str], bool]] = {
    "doi": lambda work, value: work.doi == value,
    "bibjson.identifier.id": lambda work, value: value.lower() in (work.doi, work.issn),
    "bibjson.year": _in_years,
    "bibjson.journal.language": lambda work, value: work.language == value.lower(),
    "issn": lambda work, value: work.issn == value,
}


def _rows(works: Shelf[Work], test: Callable[[Work], bool]) -> Rows:
    return frozenset(row for row, work in enumerate(works.items) if test(work))


def _id(work: Work) -> str:
    return md5(str(work.number).encode(), usedforsecurity=False).hexdigest()


def _record(work: Work) -> dict[str, Any]:
    day = "2024-02-01T02:27:47Z"
    return {"last_updated": day, "bibjson": _bibjson(work), "id": _id(work), "created_date": day}


def _bibjson(work: Work) -> dict[str, Any]:
    issn = [{"id": work.issn, "type": "pissn"}] if work.issn else []
    journal = {
        "volume": work.volume,
        "number": work.issue,
        "country": "GB",
        "license": [{"open_access": True, "title": "CC BY", "type": "CC BY", "url": f"https://doi.org/{work.doi}"}],
        "issns": [work.issn] if work.issn else [],
        "publisher": work.venue,
        "language": [work.language.upper()],
        "title": work.venue,
    }
    start, _, end = (work.pages or "").partition("-")
    record: dict[str, Any] = {
        "identifier": [{"id": work.doi, "type": "doi"}, *issn],
        "journal": {name: value for name, value in journal.items() if value is not None},
        "month": _month(work),
        "end_page": end or None,
        "keywords": list(work.keywords),
        "year": work.published[:4],
        "start_page": start or None,
        "subject": [{"code": "Q", "scheme": "LCC", "term": "Science"}],
        "author": [{"name": spoken_name(author)} for author in work.authors],
        "link": _links(work),
        "abstract": plain(work.abstract) or None,
        "title": plain(work.title),
    }
    return {name: value for name, value in record.items() if value is not None}


def _month(work: Work) -> str | None:
    """Some publishers write numbers, others names."""
    month = work.published[5:7]
    if not month:
        return None
    return month_name[int(month)] if work.number % 2 else str(int(month))


def _links(work: Work) -> list[dict[str, str]]:
    page = {"content_type": "HTML", "type": "fulltext", "url": f"https://doi.org/{work.doi}"}
    return [page, {"type": "fulltext", "url": work.pdf_url}] if work.pdf_url else [page]


FORMAT = Format(name="doaj", answer=answer, refusals={404: _refused(404, "not_found", "x"), 429: plain_refusal(429)})
