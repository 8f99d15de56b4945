"""Semantic Scholar's Academic Graph: papers with citations.

Wire format: GET /paper/search with `query`, `fields`, `offset`, `limit`, `publicationDateOrYear`; GET /paper/DOI:<doi>.
https://api.semanticscholar.org/api-docs/graph
Quirks: without `fields` there are ids and titles; an empty answer has no `data` and the last page no `next`; the
gateway says `message`, the API `error`; a hyphen inside a word matches nothing. A key beginning with `bad` is refused.
"""

import re
from collections.abc import Callable, Mapping
from hashlib import sha1
from typing import Any

from tests.simulator.corpus import Work, first_day
from tests.simulator.formats.format import Format, World
from tests.simulator.library import plain, spoken_name
from tests.simulator.messages import Answer, Request, json_answer, natural

_FORBIDDEN = json_answer({"message": "Forbidden"}, status=403, headers={"x-amzn-errortype": "ForbiddenException"})
_TOO_FAST = json_answer(
    {
        "message": "Too Many Requests. Please wait and try again or apply for a key for higher rate limits. "
        "https://www.semanticscholar.org/product/api#api-key-form",
        "code": "429",
    },
    status=429,
)
_LARGEST_PAGE = 100
_DEEPEST = 1000
_RANGE = re.compile(r"(\d{4}(?:-\d\d(?:-\d\d)?)?)?(:)?(\d{4}(?:-\d\d(?:-\d\d)?)?)?")


def answer(request: Request, world: World) -> Answer:
    if request.headers.get("x-api-key", "").startswith("bad"):
        return _FORBIDDEN
    unknown = [name for name in _names(request.query) if name not in _FIELDS]
    if unknown:
        return _error(f"Unrecognized or unsupported fields: [{', '.join(unknown)}]")
    if request.path == "/paper/search":
        return _search(request.query, world)
    return _paper(request.path.removeprefix("/paper/"), request.query, world)


def _search(asked: Mapping[str, str], world: World) -> Answer:
    query = asked.get("query", "").strip()
    start, size = natural(asked.get("offset"), 0), natural(asked.get("limit"), 100, most=10_000)
    window = _RANGE.fullmatch(asked.get("publicationDateOrYear", ""))
    if not query:
        return _error("Missing required parameter: 'query'")
    if not 1 <= size <= _LARGEST_PAGE or start + size > _DEEPEST:
        return _error("limit must be <= 100 and offset + limit must be <= 1000")
    if window is None:
        return _error("Unacceptable query params: [publicationDateOrYear]")
    if re.search(r"\w-\w", query):
        return json_answer({"total": 0, "offset": start})
    keep = _within(window)
    found = world.library.works.search(query, keep=keep, start=start, count=size)
    envelope: dict[str, Any] = {"total": found.total, "offset": start}
    if start + size < found.total:
        envelope["next"] = start + size
    if found.items:
        envelope["data"] = [_record(work, asked) for work in found.items]
    return json_answer(envelope)


def _within(window: re.Match[str]) -> Callable[[Work], bool]:
    earliest, between, latest = window.groups()
    last = latest or ("" if between else earliest or "")
    return lambda work: (
        first_day(work.published) >= (earliest or "") and (not last or first_day(work.published)[: len(last)] <= last)
    )


def _paper(name: str, asked: Mapping[str, str], world: World) -> Answer:
    kind, _, value = name.partition(":")
    for work in world.library.works.items:
        known = {"DOI": work.doi, "ARXIV": work.arxiv.id if work.arxiv else None, "PMID": work.pmid}
        if name == _paper_id(work) or (value and known.get(kind.upper()) == value.lower()):
            return json_answer(_record(work, asked))
    return _error(f"Paper with id {name} not found", status=404)


def _names(asked: Mapping[str, str]) -> list[str]:
    return [name for name in asked.get("fields", "title").split(",") if name]


def _record(work: Work, asked: Mapping[str, str]) -> dict[str, Any]:
    return {"paperId": _paper_id(work), **{name: _FIELDS[name](work) for name in _names(asked)}}


def _paper_id(work: Work) -> str:
    return sha1(str(work.number).encode(), usedforsecurity=False).hexdigest()


def _external_ids(work: Work) -> dict[str, Any]:
    known = {
        "ArXiv": work.arxiv.id if work.arxiv else None,
        "DOI": work.doi,
        "CorpusId": work.number % 1_000_000_000,
        "PubMed": work.pmid,
        "PubMedCentral": (work.pmcid or "").removeprefix("PMC"),
    }
    return {name: value for name, value in known.items() if value}


def _journal(work: Work) -> dict[str, Any]:
    known = {"name": work.venue, "pages": work.pages, "volume": work.volume}
    return {name: value for name, value in known.items() if value}


def _authors(work: Work) -> list[dict[str, Any]]:
    return [
        {"authorId": str(work.number % 100_000 * 100 + place), "name": spoken_name(author)}
        for place, author in enumerate(work.authors)
    ]


def _pdf(work: Work) -> dict[str, Any]:
    return {"url": work.pdf_url or "", "status": "GREEN" if work.pdf_url else None, "license": None}


_FIELDS: Mapping[str, Callable[[Work], Any]] = {
    "paperId": _paper_id,
    "externalIds": _external_ids,
    "url": lambda work: f"https://www.semanticscholar.org/paper/{_paper_id(work)}",
    "title": lambda work: plain(work.title),
    "abstract": lambda work: plain(work.abstract) or None,
    "tldr": lambda _work: None,
    "venue": lambda work: work.venue,
    "journal": _journal,
    "year": lambda work: int(work.published[:4]),
    "publicationDate": lambda work: work.published if len(work.published) == 10 else None,
    "publicationTypes": lambda work: ["JournalArticle"] if work.type == "article" else None,
    "authors": _authors,
    "citationCount": lambda work: work.cited_by,
    "influentialCitationCount": lambda work: work.cited_by // 20,
    "isOpenAccess": lambda work: work.is_open_access,
    "openAccessPdf": _pdf,
}


def _error(text: str, *, status: int = 400) -> Answer:
    return json_answer({"error": text}, status=status)


FORMAT = Format(name="semanticscholar", answer=answer, refusals={403: _FORBIDDEN, 429: _TOO_FAST})
