"""Europe PMC: PubMed's works and preprints, with full texts of the open ones.

Wire format: GET /search with `query`, `format`, `resultType`, `pageSize`, `cursorMark`; GET /<pmcid>/fullTextXML.
https://europepmc.org/RestfulWebService
Quirks: the next page's mark comes only while there is one; `lite` records have no abstract; flags are "Y" and "N";
a faulty query is an error inside a 200; an article that is not open has no full text.
"""

import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from tests.simulator.corpus import Work, first_day
from tests.simulator.formats.boolean import OPERATORS, Rows, rows_of
from tests.simulator.formats.format import Format, World
from tests.simulator.formats.pubmed import short_name
from tests.simulator.formats.pubmed_xml import LANGUAGES
from tests.simulator.index import STOP_WORDS, Shelf
from tests.simulator.library import plain
from tests.simulator.messages import Answer, Request, json_answer, natural, text_answer

_VERSION = "6.9"
_LARGEST_PAGE = 1000
_NOT_FOUND = text_answer("", status=404)
_TOKEN = re.compile(r'[()]|\w+:\[[^\]]*\]|\w+:"[^"]*"|"[^"]*"|[^\s()"]+')
_FIELD = re.compile(r"(?P<name>[A-Z_]+):(?P<value>.+)", re.DOTALL)
_COLUMNS = {"TITLE": "title", "AUTH": "authors", "ABSTRACT": "body"}


def answer(request: Request, world: World) -> Answer:
    if request.path == "/search":
        return _search(request.query, world)
    found = re.fullmatch(r"/(PMC\d+)/fullTextXML", request.path)
    work = next((work for work in world.library.works.items if found and work.pmcid == found[1]), None)
    if work is None or not work.is_open_access:
        return _NOT_FOUND
    return text_answer(_article(work), media_type="application/xml;charset=UTF-8")


def _search(asked: Mapping[str, str], world: World) -> Answer:
    query, kind = asked.get("query", "").strip(), asked.get("resultType", "lite")
    size = natural(asked.get("pageSize"), 25, least=1, most=_LARGEST_PAGE)
    try:
        start = _start_of(asked.get("cursorMark", "*"))
        works = _found_by(query, world.library.works)
    except ValueError:
        return json_answer({"version": _VERSION, "errCode": 400, "errMsg": "The request is not valid."})
    page = works[start : start + size]
    echo = {"queryString": query, "resultType": kind, "cursorMark": asked.get("cursorMark", "*"), "pageSize": size}
    body: dict[str, Any] = {"version": _VERSION, "hitCount": len(works)}
    if start + size < len(works):
        body["nextCursorMark"] = b64encode(str(start + size).encode()).decode()
    body["request"] = {**echo, "sort": asked.get("sort", ""), "synonym": False}
    body["resultList"] = {"result": [_core(work) if kind == "core" else _lite(work) for work in page]}
    return json_answer(body)


def _start_of(mark: str) -> int:
    """Raises ValueError for a mark that was never given."""
    try:
        return 0 if mark == "*" else int(b64decode(mark, validate=True))
    except Base64Error as error:
        raise ValueError("no such mark") from error


def _found_by(query: str, works: Shelf[Work]) -> Sequence[Work]:
    """The works that Europe PMC would hold, by relevance. Raises ValueError for a query that cannot be read."""
    tokens = _TOKEN.findall(query)
    if not tokens:
        raise ValueError("an empty query")
    rows = rows_of(tokens, lambda token: _leaf(token, works)) & _rows(works, _is_held)
    words = [token.strip('"') for token in tokens if token not in OPERATORS and not _FIELD.fullmatch(token)]
    return [works.items[row] for row in works.best_first(rows, words)]


def _is_held(work: Work) -> bool:
    return work.pmid is not None or work.pmcid is not None


def _leaf(token: str, works: Shelf[Work]) -> Rows:
    field = _FIELD.fullmatch(token)
    if field is None:
        word = token.strip('"')
        return frozenset(range(len(works.items))) if word.lower() in STOP_WORDS else works.holding(word)
    name, value = field["name"], field["value"].strip('"')
    if name in _COLUMNS:
        return works.holding(value, _COLUMNS[name])
    if name == "FIRST_PDATE":
        earliest, _, latest = value.strip("[]").partition(" TO ")
        return _rows(works, lambda work: earliest <= first_day(work.published) <= latest)
    if name not in _TESTS:
        raise ValueError("no such field")
    test = _TESTS[name]
    return _rows(works, lambda work: test(work, value))


_TESTS: Mapping[str, Callable[[Work, str], bool]] = {
    "DOI": lambda work, value: work.doi == value.lower(),
    "EXT_ID": lambda work, value: value in (work.pmid, work.pmcid),
    "SRC": lambda work, value: value == _source(work),
    "LANG": lambda work, value: value in (work.language, LANGUAGES.get(work.language)),
    "OPEN_ACCESS": lambda work, value: work.is_open_access == (value.lower() == "y"),
}


def _rows(works: Shelf[Work], test: Callable[[Work], bool]) -> Rows:
    return frozenset(row for row, work in enumerate(works.items) if test(work))


def _source(work: Work) -> str:
    return "MED" if work.pmid else "PMC"


def _lite(work: Work) -> dict[str, Any]:
    held = work.pmcid is not None
    record: dict[str, Any] = {
        "id": work.pmid or work.pmcid,
        "source": _source(work),
        "pmid": work.pmid,
        "pmcid": work.pmcid,
        "fullTextIdList": {"fullTextId": [work.pmcid]} if held else None,
        "doi": work.doi,
        "title": work.title if work.title.endswith(("?", ".")) else f"{work.title}.",
        "authorString": f"{', '.join(short_name(author) for author in work.authors)}.",
        "journalTitle": work.venue_abbreviation or work.venue,
        "issue": work.issue,
        "journalVolume": work.volume,
        "pubYear": work.published[:4],
        "journalIssn": work.issn,
        "pageInfo": work.pages,
        "pubType": "; ".join(kind.lower() for kind in _kinds(work)),
        "isOpenAccess": _flag(work.is_open_access and held),
        "inEPMC": _flag(held),
        "inPMC": _flag(held),
        "hasPDF": _flag(held),
        "hasBook": "N",
        "citedByCount": work.cited_by,
        "firstPublicationDate": first_day(work.published),
    }
    return {name: value for name, value in record.items() if value is not None}


def _core(work: Work) -> dict[str, Any]:
    """A whole record: what `lite` has as text it has in parts."""
    journal = {"title": work.venue, "medlineAbbreviation": work.venue_abbreviation, "issn": work.issn}
    info = {"issue": work.issue, "volume": work.volume, "yearOfPublication": int(work.published[:4])}
    record = _lite(work)
    for name in ("journalTitle", "issue", "journalVolume", "journalIssn", "pubType"):
        record.pop(name, None)
    record["authorList"] = {"author": [_author(author) for author in work.authors]}
    record["journalInfo"] = {**_given(info), "journal": _given(journal)}
    record["abstractText"] = _abstract(work)
    record["language"] = LANGUAGES.get(work.language)
    record["pubTypeList"] = {"pubType": _kinds(work)}
    if work.is_retracted:
        notice = {"id": f"{work.pmid}9", "source": "MED", "type": "Retraction in", "orderIn": 1}
        record["commentCorrectionList"] = {"commentCorrection": [notice]}
    return _given(record)


def _given(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if value}


def _author(author: str) -> dict[str, str]:
    last, _, first = author.partition(", ")
    return {"fullName": short_name(author), "firstName": first, "lastName": last} if first else {"collectiveName": last}


def _abstract(work: Work) -> str:
    sections = "".join(f"<h4>{label.capitalize()}</h4>{text}" for label, text in work.sections)
    return sections or work.abstract


def _kinds(work: Work) -> list[str]:
    return ["Journal Article", *(["Retracted Publication"] if work.is_retracted else [])]


def _flag(value: bool) -> str:
    return "Y" if value else "N"


def _article(work: Work) -> str:
    """The corpus has no full texts: the abstract is the body, and says so."""
    abstract = escape(plain(work.abstract), quote=False)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) Journal Archiving and Interchange DTD v1.3 20210610//EN" '
        '"JATS-archivearticle1-3.dtd">\n<article article-type="research-article"><front><article-meta><title-group>'
        f"<article-title>{escape(plain(work.title), quote=False)}</article-title></title-group></article-meta></front>"
        f"<body><sec><title>What the simulator knows of it</title><p>{abstract}</p></sec></body></article>\n"
    )


FORMAT = Format(name="europepmc", answer=answer, refusals={404: _NOT_FOUND})
