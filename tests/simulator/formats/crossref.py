"""Crossref: works by what publishers registered for their DOIs.

Wire format: GET /works with `query`, `filter`, `rows`, `offset`, `select`, `mailto`; GET /works/<doi>.
https://api.crossref.org/swagger-ui/index.html
Quirks: a refusal has a list where the answer would have an object; an unknown DOI is plain text; arXiv's DOIs are
registered elsewhere; titles are lists and escape ampersands; an e-mail address brings the polite pool.
"""

from collections.abc import Callable, Mapping
from html import escape
from typing import Any

from tests.simulator.corpus import Work, first_day
from tests.simulator.formats.format import Format, World
from tests.simulator.messages import Answer, Request, json_answer, natural, text_answer

_NOT_FOUND = text_answer("Resource not found.", status=404, media_type="text/plain")
_TOO_FAST = text_answer(
    "<html><body><h1>429 Too Many Requests</h1>\nYou have sent too many requests in a given amount of time.\n"
    "</body></html>",
    status=429,
    media_type="text/html",
)
_MOST_ROWS = 1000
_ELSEWHERE = "10.48550/"
_SELECTABLE = frozenset(
    """
    abstract URL resource member posted score created degree update-policy short-title license ISSN container-title
    issued update-to issue prefix approved indexed article-number clinical-trial-number accepted author group-title DOI
    is-referenced-by-count updated-by event chair standards-body original-title funder translator published archive
    published-print alternative-id subject subtitle published-online publisher-location content-domain reference title
    link type publisher volume references-count ISBN issn-type assertion deposited page contributor content-created
    short-container-title relation editor
    """.split()  # noqa: SIM905 - a list of sixty strings reads worse
)
_TYPES = {"article": "journal-article", "preprint": "posted-content"}

Keeps = Callable[[Work], bool]


class _RefusedError(ValueError):
    """A parameter that Crossref answers with 400."""

    def __init__(self, kind: str, value: str, message: str) -> None:
        super().__init__(message)
        self.fault = {"type": kind, "value": value, "message": message}


def answer(request: Request, world: World) -> Answer:
    if request.path != "/works":
        return _single(request.path.removeprefix("/works/"), world)
    try:
        message = _list(request.query, world)
    except _RefusedError as refused:
        body = {"status": "failed", "message-type": "validation-failure", "message": [refused.fault]}
        return json_answer(body, status=400)
    pool, limit = ("polite-array", "3") if "mailto" in request.query else ("public-array", "1")
    headers = {"x-api-pool": pool, "x-rate-limit-limit": limit, "x-rate-limit-interval": "1s"}
    return json_answer(_envelope("work-list", message), headers=headers)


def _envelope(kind: str, message: dict[str, Any]) -> dict[str, Any]:
    return {"status": "ok", "message-type": kind, "message-version": "1.0.0", "message": message}


def _list(asked: Mapping[str, str], world: World) -> dict[str, Any]:
    rows, start = natural(asked.get("rows"), 20, most=10_000), natural(asked.get("offset"), 0)
    if rows > _MOST_ROWS:
        known = f"Integer specified as {rows} but must be a positive integer less than or equal to {_MOST_ROWS}."
        raise _RefusedError("integer-not-valid", str(rows), known)
    keep = _filter(asked.get("filter", ""))
    query = asked.get("query", asked.get("query.bibliographic", "")).strip()
    works = world.library.works
    if query:
        found = works.search(query, keep=keep, start=start, count=rows)
    else:
        found = works.page(range(len(works.items)), keep=keep, start=start, count=rows)
    return {
        "facets": {},
        "total-results": found.total,
        "items": [_selected(_record(work), asked) for work in found.items],
        "items-per-page": rows,
        "query": {"start-index": start, "search-terms": query or None},
    }


def _filter(text: str) -> Keeps:
    conditions = [_is_registered, *(_condition(*part.split(":", 1)) for part in text.split(",") if ":" in part)]
    return lambda work: all(condition(work) for condition in conditions)


def _is_registered(work: Work) -> bool:
    return work.doi is not None and not work.doi.startswith(_ELSEWHERE)


def _condition(name: str, value: str) -> Keeps:
    if name not in _FILTERS:
        raise _RefusedError("filter-not-available", name, f"Filter {name} specified but there is no such filter.")
    test = _FILTERS[name]
    return lambda work: test(work, value)


_FILTERS: Mapping[str, Callable[[Work, str], bool]] = {
    "doi": lambda work, value: work.doi == value.lower(),
    "from-pub-date": lambda work, value: first_day(work.published) >= value,
    "until-pub-date": lambda work, value: first_day(work.published) <= value,
    "has-abstract": lambda work, value: bool(work.abstract) == (value in ("1", "true")),
    "type": lambda work, value: _TYPES.get(work.type, work.type) == value,
}


def _selected(record: dict[str, Any], asked: Mapping[str, str]) -> dict[str, Any]:
    names = [name for name in asked.get("select", "").split(",") if name]
    for name in names:
        if name not in _SELECTABLE:
            known = f"Select {name} specified but there is no such select for this route."
            raise _RefusedError("select-not-available", name, known)
    return {name: value for name, value in record.items() if not names or name in names}


def _single(doi: str, world: World) -> Answer:
    for work in world.library.works.items:
        if work.doi == doi.lower() and _is_registered(work):
            return json_answer(_envelope("work", _record(work)))
    return _NOT_FOUND


def _record(work: Work) -> dict[str, Any]:
    date = {"date-parts": [[int(part) for part in work.published.split("-")]]}
    record: dict[str, Any] = {
        "DOI": work.doi,
        "URL": f"https://doi.org/{work.doi}",
        "type": _TYPES.get(work.type, work.type),
        "title": [escape(work.title, quote=False) if "<" not in work.title else work.title],
        "author": [_author(name, place) for place, name in enumerate(work.authors)],
        "container-title": [escape(work.venue, quote=False)] if work.venue else [],
        "publisher": work.venue,
        "issued": date,
        "published": date,
        "language": work.language,
        "resource": {"primary": {"URL": f"https://doi.org/{work.doi}"}},
        "link": [_link(work.pdf_url)] if work.pdf_url else [],
        "volume": work.volume,
        "issue": work.issue,
        "page": work.pages,
        "is-referenced-by-count": work.cited_by,
        "relation": {},
        "source": "Crossref",
        "score": 1,
    }
    if work.abstract:
        record["abstract"] = f"<jats:title>Abstract</jats:title><jats:p>{_in_jats(work.abstract)}</jats:p>"
    if work.is_retracted:
        record["updated-by"] = [_notice(work, source) for source in ("publisher", "retraction-watch")]
    return {name: value for name, value in record.items() if value is not None}


def _author(name: str, place: int) -> dict[str, Any]:
    last, _, first = name.partition(", ")
    person = {"given": first, "family": last} if first else {"name": last}
    return {**person, "sequence": "additional" if place else "first", "affiliation": []}


def _link(url: str) -> dict[str, str]:
    how = {"content-version": "vor", "intended-application": "text-mining"}
    return {"URL": url, "content-type": "application/pdf", **how}


def _in_jats(abstract: str) -> str:
    """The corpus marks text as HTML does; JATS has other words for it."""
    for ours, theirs in (("i", "italic"), ("b", "bold"), ("sub", "sub"), ("sup", "sup")):
        abstract = abstract.replace(f"<{ours}>", f"<jats:{theirs}>").replace(f"</{ours}>", f"</jats:{theirs}>")
    return abstract


def _notice(work: Work, source: str) -> dict[str, Any]:
    """The day is our own; every retracted work of the corpus has a notice of one."""
    day = {"date-parts": [[2010, 2, 6]], "date-time": "2010-02-06T00:00:00Z", "timestamp": 1265414400000}
    return {"updated": day, "DOI": f"{work.doi}.notice", "type": "retraction", "source": source, "label": "Retraction"}


FORMAT = Format(name="crossref", answer=answer, refusals={404: _NOT_FOUND, 429: _TOO_FAST})
