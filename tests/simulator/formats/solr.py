"""Solr: the house's documents, as JSON.

Wire format: GET /<core>/select with `q`, `qf`, `fq`, `fl`, `rows`, `start`, `hl`.
https://solr.apache.org/guide/solr/latest/query-guide/common-query-parameters.html
Quirks: one core, `documents`; another one is a page of the web server's; a field that the schema lacks is a 400 which
carries an answer; titles and authors are lists; `omitHeader` leaves the header out. A user that begins with `bad` is
refused, and a query for `timeout` runs out of time.
"""

import re
from base64 import b64decode
from typing import Any

from tests.simulator.corpus import Document
from tests.simulator.formats.elasticsearch import fields_of, marked
from tests.simulator.formats.format import Format, World
from tests.simulator.messages import Answer, Request, json_answer, natural, text_answer

_CORE = "documents"
_SCHEMA = ("id", "title", "url", "content", "date", "authors", "department", "language")
_WINDOW = re.compile(r"date:\[(\S+) TO (\S+)[}\]]")
_LANGUAGE = re.compile(r"language:\(([^)]*)\)")
_REFUSED = text_answer(
    "<html><head><title>Error 401 Bad credentials</title></head></html>", status=401, media_type="text/html"
)


def _page_404(path: str) -> Answer:
    page = f"<html><head><title>Error 404 Not Found</title></head><body><th>URI:</th><td>/solr{path}</td></body></html>"
    return text_answer(page, status=404, media_type="text/html;charset=iso-8859-1")


def answer(request: Request, world: World) -> Answer:
    way, _, value = request.headers.get("authorization", "").partition(" ")
    if way == "Basic" and b64decode(value).startswith(b"bad"):
        return _REFUSED
    if request.path != f"/{_CORE}/select":
        return _page_404(request.path)
    asked = request.query
    found, total = _find(request, world)
    documents = [_document(document, rank, asked.get("fl", "*")) for rank, document in enumerate(found)]
    body: dict[str, Any] = {"response": {"numFound": total, "start": 0, "numFoundExact": True, "docs": documents}}
    unknown = [name for name in asked.get("qf", "title").split() if name.partition("^")[0] not in _SCHEMA]
    if unknown:
        return json_answer({**body, "error": {"msg": f'undefined field: "{unknown[0]}"', "code": 400}}, status=400)
    if asked.get("omitHeader") != "true":
        late = {"partialResults": True} if "timeout" in asked.get("q", "") else {}
        body = {"responseHeader": {"status": 0, "QTime": 2, **late}, **body}
    if asked.get("hl") == "true":
        body["highlighting"] = {document.id: _passages(document, request) for document in found}
    return json_answer(body, media_type="application/json;charset=utf-8")


def _find(request: Request, world: World) -> tuple[tuple[Document, ...], int]:
    query, filters = request.query.get("q", ""), request.query.get("fq", "")
    window, languages = _WINDOW.search(filters), _LANGUAGE.search(filters)

    def keep(document: Document) -> bool:
        moment = f"{document.date}T00:00:00Z"
        spoken = re.findall(r"\w+", languages.group(1)) if languages else [document.language]
        if window is None:
            return document.language in spoken
        first, last = window.groups()
        return document.language in spoken and (first == "*" or moment >= first) and (last == "*" or moment < last)

    rows, start = natural(request.query.get("rows"), 10), natural(request.query.get("start"), 0)
    shelf = world.library.documents
    found = (
        shelf.page(range(len(shelf.items)), keep=keep, start=start, count=rows)
        if query in ("", "*:*")
        else shelf.search(query, keep=keep, start=start, count=rows)
    )
    return found.items, found.total


def _document(document: Document, rank: int, wanted: str) -> dict[str, Any]:
    fields = {**fields_of(document), "title": [document.title], "score": 9.0 - rank * 0.25}
    names = fields if wanted == "*" else wanted.split(",")
    return {name: fields[name] for name in names if name in fields}


def _passages(document: Document, request: Request) -> dict[str, list[str]]:
    named = request.query.get("hl.fl", "")
    return {named: [marked(document.body, request.query.get("q", ""))]} if named == "content" else {}


FORMAT = Format(name="solr", answer=answer, refusals={401: _REFUSED})
