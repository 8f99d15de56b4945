"""ORCID: the directory of researchers.

Wire format: GET /expanded-search and /search with `q`, `start`, `rows`; GET /<iD>/person and /<iD>/works.
https://info.orcid.org/documentation/api-tutorials/api-tutorial-searching-the-orcid-registry/
Quirks: nobody is a null; `{!edismax …}` before the words makes the search lenient, else a query is Lucene's and one
that cannot be read is a 500 with Solr's exception; a `start` that is no number is a 500 too, one beyond 10,000 and
`rows` beyond 1,000 are a 400; a refusal has two messages and a code. A token that begins with `bad` is refused.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tests.simulator.corpus import Person
from tests.simulator.formats.boolean import OPERATORS, Rows, rows_of
from tests.simulator.formats.format import Format, World
from tests.simulator.index import Shelf
from tests.simulator.messages import Answer, Request, json_answer, text_answer

_MEDIA_TYPE = "application/vnd.orcid+json; qs=4;charset=UTF-8"
_MOST_ROWS, _MOST_START = 1000, 10_000
_SOLR = "org.apache.solr.client.solrj.impl.HttpSolrClient.RemoteSolrException Full validation error: "
_WENT_WRONG = "Something went wrong in ORCID."
_BAD_REQUEST = "The client application made a bad request to the ORCID API."
_TOO_MANY = text_answer("Too Many Requests. You have exceeded the daily quota for anonymous usage.", status=429)
_BURST = text_answer("<html><body><h1>503 Service Temporarily Unavailable</h1></body></html>", status=503)
_LOCAL = re.compile(r"\{!edismax [^}]*\}")
_TOKEN = re.compile(r'[()]|[\w-]+:"[^"]*"|"[^"]*"|[^\s()"]+')
_FIELD = re.compile(r"(?P<name>[\w-]+):(?P<value>.+)", re.DOTALL)
_COLUMNS = {
    "text": None,
    "given-names": "title",
    "family-name": "title",
    "given-and-family-names": "title",
    "credit-name": "title",
    "other-names": "title",
    "affiliation-org-name": "authors",
    "keyword": "subject",
    "biography": "body",
    "title": "body",
}
_PERSON = re.compile(r"/([^/]+)/(person|works)")


def answer(request: Request, world: World) -> Answer:
    if request.headers.get("authorization", "").startswith("Bearer bad"):
        return json_answer({"error": "invalid_token", "error_description": "Invalid access token"}, status=401)
    if request.path.rstrip("/") in ("/expanded-search", "/search"):
        return _search(request.query, world.library.people, expanded="expanded" in request.path)
    named = _PERSON.fullmatch(request.path)
    for person in world.library.people.items:
        if named and person.orcid == named[1]:
            return _answer(_person(person) if named[2] == "person" else _works(person))
    known = named[1] if named else request.path.strip("/")
    text = f"404 Not Found: The resource was not found. Full validation error: ORCID iD {known} not found"
    return _refused(404, text, "The resource was not found.", 9016)


def _search(asked: Mapping[str, str], people: Shelf[Person], *, expanded: bool) -> Answer:
    start, rows = asked.get("start", "0"), asked.get("rows", "100")
    if not start.isdecimal():
        return _refused(500, f'{_SOLR}Error from server: For input string: "{start}"', _WENT_WRONG, 9008)
    if int(start) > _MOST_START:
        return _refused(400, f"The start parameter must not exceed {_MOST_START}", _BAD_REQUEST, 9043)
    if not rows.isdecimal() or int(rows) > _MOST_ROWS:
        return _refused(400, f"The rows parameter must be an integer between 0 and {_MOST_ROWS}", _BAD_REQUEST, 9006)
    try:
        found = _found_by(asked.get("q", ""), people)
    except ValueError as error:
        return _refused(500, f"{_SOLR}Error from server: {error}", _WENT_WRONG, 9008)
    page = found[int(start) : int(start) + int(rows)]
    result = [_row(person) if expanded else {"orcid-identifier": _identifier(person)} for person in page]
    return _answer({"expanded-result" if expanded else "result": result or None, "num-found": len(found)})


def _found_by(query: str, people: Shelf[Person]) -> Sequence[Person]:
    """Whom the query fits, by relevance. Raises ValueError for one that Solr could not read."""
    local = _LOCAL.match(query)
    if local:
        return people.search(query[local.end() :].replace('"', " "), count=len(people.items)).items
    tokens = _TOKEN.findall(query)
    if not tokens:
        return ()
    rows = rows_of(tokens, lambda token: _leaf(token, people))
    words = [token.strip('"') for token in tokens if token not in OPERATORS and not _FIELD.fullmatch(token)]
    return [people.items[row] for row in people.best_first(rows, words)]


def _leaf(token: str, people: Shelf[Person]) -> Rows:
    field = _FIELD.fullmatch(token)
    if field is None:
        return people.holding(token.strip('"'))
    name, value = field["name"], field["value"].strip('"')
    if name == "orcid":
        return frozenset(row for row, person in enumerate(people.items) if person.orcid == value)
    if name not in _COLUMNS:
        raise ValueError(f"undefined field {name}")
    return people.holding(value, _COLUMNS[name])


def _answer(body: Any) -> Answer:
    return json_answer(body, media_type=_MEDIA_TYPE)


def _refused(status: int, for_developers: str, for_users: str, code: int) -> Answer:
    more = "https://members.orcid.org/api/resources/troubleshooting"
    body = {"response-code": status, "developer-message": for_developers, "user-message": for_users}
    return json_answer({**body, "error-code": code, "more-info": more}, status=status, media_type=_MEDIA_TYPE)


def _identifier(person: Person) -> dict[str, str]:
    return {"uri": f"https://orcid.org/{person.orcid}", "path": person.orcid, "host": "orcid.org"}


def _row(person: Person) -> dict[str, Any]:
    return {
        "orcid-id": person.orcid,
        "given-names": person.given_names,
        "family-names": person.family_name,
        "credit-name": person.credit_name,
        "other-name": list(person.other_names),
        "email": [],
        "institution-name": list(person.institutions),
    }


def _wrapped(text: str | None) -> dict[str, str] | None:
    return None if text is None else {"value": text}


def _person(person: Person) -> dict[str, Any]:
    path = f"/{person.orcid}"
    names = (person.given_names, person.family_name, person.credit_name)
    sections = {
        "other-name": [{"content": name} for name in person.other_names],
        "researcher-url": [{"url-name": link["name"], "url": _wrapped(link["url"])} for link in person.links],
        "email": [],
        "address": [{"country": _wrapped(person.country)}] if person.country else [],
        "keyword": [{"content": keyword} for keyword in person.keywords],
        "external-identifier": [],
    }
    record: dict[str, Any] = {"last-modified-date": None, "name": None, "biography": None}
    if any(names):
        parts = zip(("given-names", "family-name", "credit-name"), names, strict=True)
        record["name"] = {name: _wrapped(text) for name, text in parts}
        record["name"] |= {"source": None, "visibility": "public", "path": person.orcid}
    if person.biography:
        record["biography"] = {"content": person.biography, "visibility": "public", "path": f"{path}/biography"}
    for name, entries in sections.items():
        plural = f"{name}es" if name == "address" else f"{name}s"
        own = f"{path}/{name if name in ('email', 'address') else plural}"
        record[plural] = {"last-modified-date": None, name: entries, "path": own}
    return {**record, "path": f"{path}/person"}


def _works(person: Person) -> dict[str, Any]:
    groups = [{"last-modified-date": None, "work-summary": [_summary(work)]} for work in person.works]
    return {"last-modified-date": None, "group": groups, "path": f"/{person.orcid}/works"}


def _summary(work: Mapping[str, str | None]) -> dict[str, Any]:
    doi, year = work["doi"], work["year"]
    return {
        "title": {"title": _wrapped(work["title"]), "subtitle": None, "translated-title": None},
        "external-ids": {"external-id": [{"external-id-type": "doi", "external-id-value": doi}] if doi else []},
        "url": None,
        "type": "journal-article",
        "publication-date": {"year": _wrapped(year), "month": None, "day": None} if year else None,
        "journal-title": _wrapped(work["journal"]),
        "visibility": "public",
    }


FORMAT = Format(name="orcid", answer=answer, refusals={429: _TOO_MANY, 503: _BURST})
