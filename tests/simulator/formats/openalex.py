"""OpenAlex: works with their metadata.

Wire format: GET /works with `search`, `filter`, `per-page`, `page`; GET /works/<id or DOI>.
https://docs.openalex.org/api-entities/works
Quirks: abstracts come as an inverted index; a bad filter is 400 with the list of good ones; an unknown work is an HTML
page; budget headers count credits and dollars and reset at midnight UTC.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from tests.simulator.corpus import Work, first_day
from tests.simulator.formats.format import Format, World
from tests.simulator.index import Matches
from tests.simulator.library import plain
from tests.simulator.messages import Answer, Request, json_answer, natural, text_answer

_SEARCH_CREDITS = 10
_LIST_CREDITS = 1
_MOST_RECORDS = 10_000
_NOT_FOUND = text_answer(
    "<!doctype html>\n<html lang=en>\n<title>404 Not Found</title>\n<h1>Not Found</h1>\n"
    "<p>The requested URL was not found on the server. If you entered the URL manually please check your spelling and "
    "try again.</p>\n",
    status=404,
    media_type="text/html; charset=utf-8",
)
_EXHAUSTED = json_answer(
    {"error": "Rate limit exceeded", "message": "Insufficient budget. This request costs $0.001."}, status=429
)


class _BadQueryError(ValueError):
    """A parameter that OpenAlex answers with 400."""


def answer(request: Request, world: World) -> Answer:
    if request.path == "/works":
        return _list(request, world)
    if request.path.startswith("/works/"):
        work = _singleton(request.path.removeprefix("/works/"), world)
        return _with_budget(json_answer(_record(work, None, request.query)), world, 0) if work else _NOT_FOUND
    return _NOT_FOUND


def _list(request: Request, world: World) -> Answer:
    cost = _SEARCH_CREDITS if "search" in request.query else _LIST_CREDITS
    if world.openalex.balance < cost:
        return _EXHAUSTED
    try:
        found, page, per_page = _find(request.query, world)
    except _BadQueryError as error:
        return json_answer({"error": "Invalid query parameters error.", "message": str(error)}, status=400)
    world.openalex.spend(cost)
    meta = {"count": found.total, "db_response_time_ms": 12, "page": page, "per_page": per_page, "groups_count": None}
    scored = "search" in request.query
    results = [
        _record(work, 1000.0 / ((page - 1) * per_page + rank) if scored else None, request.query)
        for rank, work in enumerate(found.items, 1)
    ]
    return _with_budget(json_answer({"meta": meta, "results": results, "group_by": []}), world, cost)


def _find(query: Mapping[str, str], world: World) -> tuple[Matches[Work], int, int]:
    per_page = natural(query.get("per-page", query.get("per_page")), 25, most=1_000)
    if not 1 <= per_page <= 200:
        raise _BadQueryError("per-page parameter must be between 1 and 200")
    page = natural(query.get("page"), 1, least=1, most=1_000_000)
    if page * per_page > _MOST_RECORDS:
        raise _BadQueryError("Maximum results size of 10,000 records is exceeded. Cursor pagination is required.")
    keep = _filter(query.get("filter", ""))
    works = world.library.works
    start = (page - 1) * per_page
    search = query.get("search", "").strip()
    if search:
        return works.search(search, keep=keep, start=start, count=per_page), page, per_page
    newest = sorted(range(len(works.items)), key=lambda row: works.items[row].published, reverse=True)
    return works.page(newest, keep=keep, start=start, count=per_page), page, per_page


def _filter(text: str) -> Callable[[Work], bool]:
    conditions = [_condition(*_split(part)) for part in text.split(",") if part]
    return lambda work: all(condition(work) for condition in conditions)


def _split(part: str) -> tuple[str, str]:
    name, colon, value = part.partition(":")
    if not colon:
        raise _BadQueryError(f"Invalid filter: {part}. Filters are written as attribute:value.")
    return name, value


def _condition(name: str, value: str) -> Callable[[Work], bool]:
    if name not in _FILTERS:
        valid = ", ".join(sorted(_FILTERS))
        raise _BadQueryError(f"{name} is not a valid field. Valid fields are: {valid}")
    if "date" in name and not _is_date(value):
        raise _BadQueryError(f"Value for param {name} must be in format YYYY-MM-DD, not {value}.")
    wanted = {one.lower() for one in value.removeprefix("!").split("|")}
    test = _FILTERS[name]
    return lambda work: any(test(work, one) for one in wanted) != value.startswith("!")


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


_FILTERS: Mapping[str, Callable[[Work, str], bool]] = {
    "from_publication_date": lambda work, value: first_day(work.published) >= value,
    "to_publication_date": lambda work, value: first_day(work.published) <= value,
    "publication_date": lambda work, value: first_day(work.published) == value,
    "publication_year": lambda work, value: work.published[:4] == value,
    "language": lambda work, value: work.language == value,
    "doi": lambda work, value: work.doi == re.sub(r"^(https?://doi\.org/|doi:)", "", value),
    "type": lambda work, value: work.type == value,
    "is_oa": lambda work, value: work.is_open_access == (value == "true"),
    "open_access.is_oa": lambda work, value: work.is_open_access == (value == "true"),
    "is_retracted": lambda work, value: work.is_retracted == (value == "true"),
    "has_abstract": lambda work, value: bool(work.abstract) == (value == "true"),
    "ids.pmid": lambda work, value: work.pmid == value,
}


def _singleton(name: str, world: World) -> Work | None:
    doi = re.sub(r"^(https?:/{1,2}doi\.org/|doi:)", "", name.lower())
    number = re.sub(r"^(https?:/{1,2}openalex\.org/)?w", "", name.lower())
    for work in world.library.works.items:
        if work.doi == doi or str(work.number) == number or (work.pmid and name == f"pmid:{work.pmid}"):
            return work
    return None


def _record(work: Work, score: float | None, query: Mapping[str, str]) -> dict[str, Any]:
    address = f"https://openalex.org/W{work.number}"
    doi = f"https://doi.org/{work.doi}" if work.doi else None
    place = _location(work, doi)
    record: dict[str, Any] = {
        "id": address,
        "doi": doi,
        "title": work.title,
        "display_name": work.title,
        "relevance_score": score,
        "publication_year": int(work.published[:4]),
        "publication_date": first_day(work.published),
        "ids": _identifiers(work, address, doi),
        "language": work.language,
        "primary_location": place,
        "type": work.type,
        "type_crossref": "posted-content" if work.type == "preprint" else "journal-article",
        "indexed_in": [*(["crossref"] if doi else []), *(["pubmed"] if work.pmid else [])],
        "open_access": _open_access(work),
        "authorships": [_authorship(work, position) for position in range(len(work.authors))],
        "cited_by_count": work.cited_by,
        "biblio": _pages_of(work),
        "is_retracted": work.is_retracted,
        "is_paratext": False,
        "keywords": [{"display_name": keyword, "score": 0.5} for keyword in work.keywords],
        "locations_count": 1,
        "locations": [place],
        "best_oa_location": place if work.is_open_access else None,
        "abstract_inverted_index": _inverted(plain(work.abstract)),
        "updated_date": "2025-11-20T09:00:00.000000",
        "created_date": first_day(work.published),
    }
    if score is None:
        del record["relevance_score"]
    selected = [name for name in query.get("select", "").split(",") if name]
    return {name: record[name] for name in selected if name in record} if selected else record


def _open_access(work: Work) -> dict[str, Any]:
    return {
        "is_oa": work.is_open_access,
        "oa_status": "green" if work.is_open_access else "closed",
        "oa_url": work.pdf_url,
        "any_repository_has_fulltext": work.arxiv is not None,
    }


def _location(work: Work, doi: str | None) -> dict[str, Any]:
    kind = "repository" if work.type == "preprint" else "journal"
    return {
        "is_oa": work.is_open_access,
        "landing_page_url": doi,
        "pdf_url": work.pdf_url,
        "source": {"id": None, "display_name": work.venue, "issn_l": work.issn, "is_oa": False, "type": kind},
        "license": None,
        "version": "publishedVersion",
        "is_accepted": True,
        "is_published": True,
    }


def _identifiers(work: Work, address: str, doi: str | None) -> dict[str, str]:
    known = {
        "openalex": address,
        "doi": doi,
        "pmid": f"https://pubmed.ncbi.nlm.nih.gov/{work.pmid}" if work.pmid else None,
        "pmcid": f"https://www.ncbi.nlm.nih.gov/pmc/articles/{work.pmcid[3:]}" if work.pmcid else None,
    }
    return {name: value for name, value in known.items() if value}


def _authorship(work: Work, position: int) -> dict[str, Any]:
    last, _, first = work.authors[position].partition(", ")
    place = "first" if position == 0 else "last" if position == len(work.authors) - 1 else "middle"
    name = f"{first} {last}".strip()
    author = {"id": f"https://openalex.org/A{work.number}{position:02}", "display_name": name, "orcid": None}
    return {"author_position": place, "author": author, "institutions": [], "countries": [], "raw_author_name": name}


def _pages_of(work: Work) -> dict[str, str | None]:
    first, _, last = (work.pages or "").partition("-")
    return {"volume": work.volume, "issue": work.issue, "first_page": first or None, "last_page": last or first or None}


def _inverted(text: str) -> dict[str, list[int]] | None:
    index: dict[str, list[int]] = {}
    for position, word in enumerate(text.split()):
        index.setdefault(word, []).append(position)
    return index or None


def _with_budget(sent: Answer, world: World, cost: int) -> Answer:
    now = datetime.now(UTC)
    midnight = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    left = world.openalex.balance
    headers = {
        "X-RateLimit-Limit": str(world.openalex.limit),
        "X-RateLimit-Remaining": str(left),
        "X-RateLimit-Credits-Used": str(cost),
        "X-RateLimit-Limit-USD": f"{world.openalex.limit / 10_000:g}",
        "X-RateLimit-Remaining-USD": f"{left / 10_000:g}",
        "X-RateLimit-Cost-USD": f"{cost / 10_000:g}",
        "X-RateLimit-Reset": str(int((midnight - now).total_seconds())),
    }
    return Answer(status=sent.status, body=sent.body, media_type=sent.media_type, headers=headers)


FORMAT = Format(name="openalex", answer=answer, refusals={404: _NOT_FOUND, 429: _EXHAUSTED})
