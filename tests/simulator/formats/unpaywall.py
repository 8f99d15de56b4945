"""Unpaywall: free copies of works, by DOI or by the words of their titles.

Wire format: GET /<doi> and /search with `query`, `page`, `is_oa`; `email` with both. https://unpaywall.org/products/api
Quirks: no `email`, or one at example.com, is a 422; an unknown DOI a 404; 50 titles a page; a closed work has a null
where its best copy would be; arXiv's DOIs are registered elsewhere; authors have changed their shape.
"""

from collections.abc import Mapping
from typing import Any

from tests.simulator.corpus import Work, first_day
from tests.simulator.formats.format import Format, World, plain_refusal
from tests.simulator.library import plain, spoken_name
from tests.simulator.messages import Answer, Request, json_answer, natural

_PAGE = 50
_ELSEWHERE = "10.48550/"
_NO_EMAIL = "Please use your own email address in API calls. See http://unpaywall.org/products/api"
_TOO_MANY = "History of API use exceeding rate limits"


def answer(request: Request, world: World) -> Answer:
    if request.path != "/search" and not request.path.startswith("/10."):
        return plain_refusal(404)
    email = request.query.get("email", "")
    if "@" not in email or email.endswith("example.com"):
        return _refused(422, _NO_EMAIL)
    if request.path == "/search":
        return _search(request.query, world)
    doi = request.path.removeprefix("/").lower()
    for work in world.library.works.items:
        if work.doi == doi and _is_held(work):
            return json_answer(_record(work))
    return _refused(404, f"'{doi}' is an invalid doi.  See http://doi.org/{doi}")


def _search(asked: Mapping[str, str], world: World) -> Answer:
    page, only_open = natural(asked.get("page"), 1, least=1), asked.get("is_oa") == "true"
    query = asked.get("query", "")
    found = world.library.works.search(
        query,
        keep=lambda work: _is_held(work) and (work.is_open_access or not only_open) and _is_titled(work, query),
        start=(page - 1) * _PAGE,
        count=_PAGE,
    )
    results = [
        {"response": _record(work), "score": round(1 / (place + 2), 9), "snippet": plain(work.title)}
        for place, work in enumerate(found.items)
    ]
    return json_answer({"elapsed_seconds": 0.047, "results": results})


def _is_held(work: Work) -> bool:
    return work.doi is not None and not work.doi.startswith(_ELSEWHERE)


def _is_titled(work: Work, query: str) -> bool:
    """Only titles are searched."""
    title = plain(work.title).lower()
    return any(word in title for word in query.lower().split())


def _refused(status: int, text: str) -> Answer:
    return json_answer({"HTTP_status_code": status, "error": True, "message": text}, status=status)


def _record(work: Work) -> dict[str, Any]:
    best = _copy(work, is_best=True) if work.is_open_access else None
    return {
        "doi": work.doi,
        "doi_url": f"https://doi.org/{work.doi}",
        "title": plain(work.title),
        "genre": "journal-article",
        "is_paratext": False,
        "published_date": first_day(work.published),
        "year": int(work.published[:4]),
        "journal_name": work.venue,
        "journal_issns": work.issn,
        "journal_issn_l": work.issn,
        "journal_is_oa": False,
        "journal_is_in_doaj": False,
        "publisher": work.venue,
        "is_oa": best is not None,
        "oa_status": "bronze" if best else "closed",
        "has_repository_copy": work.pmcid is not None,
        "best_oa_location": best,
        "first_oa_location": best,
        "oa_locations": [best] if best else [],
        "oa_locations_embargoed": [],
        "data_standard": 2,
        "z_authors": [_author(name, work, place) for place, name in enumerate(work.authors)] or None,
        "updated": "2025-07-30T14:23:20Z",
    }


def _author(name: str, work: Work, place: int) -> dict[str, Any]:
    """Older records have a person in two parts, newer ones a name as it was printed."""
    last, _, first = name.partition(", ")
    if first and work.number % 2:
        return {"given": first, "family": last, "sequence": "additional" if place else "first"}
    printed = {"raw_author_name": spoken_name(name), "is_corresponding": not place, "raw_affiliation_strings": []}
    return {"author_position": "middle" if place else "first", **printed}


def _copy(work: Work, *, is_best: bool) -> dict[str, Any]:
    page = f"https://doi.org/{work.doi}"
    return {
        "url": work.pdf_url or page,
        "url_for_pdf": work.pdf_url,
        "url_for_landing_page": page,
        "evidence": "deprecated",
        "license": None,
        "version": "publishedVersion",
        "host_type": "publisher",
        "is_best": is_best,
        "pmh_id": None,
        "endpoint_id": None,
        "repository_institution": None,
        "oa_date": first_day(work.published),
        "updated": "deprecated",
    }


FORMAT = Format(name="unpaywall", answer=answer, refusals={429: _refused(429, _TOO_MANY)})
