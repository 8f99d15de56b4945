"""Elasticsearch: the house's documents, as JSON.

Wire format: POST /<index>/_search with a query in the query DSL, `size`, `from`, `_source`, `highlight`.
https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-search
Quirks: one index, `documents`, which patterns may name; an index that is not there is a 404; of the query DSL it knows
bool, multi_match, match, match_all, range, term and terms. A key that begins with `bad` is refused, and a query for
`timeout` runs out of time.
"""

import re
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Any

from tests.simulator.corpus import Document
from tests.simulator.formats.format import Format, World
from tests.simulator.index import terms_of
from tests.simulator.library import plain
from tests.simulator.messages import Answer, Request, json_answer

_INDEX = "documents"
_WORDS_OF = ("multi_match", "match", "match_phrase", "query_string", "simple_query_string")

Keep = Callable[[Document], bool]


def _error(status: int, kind: str, reason: str, **more: str) -> Answer:
    cause = {"type": kind, "reason": reason, **more}
    return json_answer({"error": {"root_cause": [cause], **cause}, "status": status}, status=status)


_UNAUTHENTICATED = _error(401, "security_exception", "unable to authenticate with provided credentials")
_TOO_MANY = _error(429, "es_rejected_execution_exception", "rejected execution of coordinating operation")


class _QueryError(ValueError):
    """A query that this Elasticsearch does not know."""


def answer(request: Request, world: World) -> Answer:
    if _key(request.headers.get("authorization", "")).startswith("bad"):
        return _UNAUTHENTICATED
    index, _, operation = request.path.removeprefix("/").partition("/")
    if not any(fnmatchcase(_INDEX, name) for name in index.split(",")):
        more = {"resource.type": "index_or_alias", "resource.id": index, "index_uuid": "_na_", "index": index}
        return _error(404, "index_not_found_exception", f"no such index [{index}]", **more)
    if operation != "_search":
        return json_answer({"error": "no handler found for uri [...] and method [...]"}, status=400)
    try:
        body = request.json() if request.body else {}
        words, keep = _read(body.get("query", {"match_all": {}}))
    except _QueryError as error:
        return _error(400, "parsing_exception", f"unknown query [{error}]")
    except (ValueError, AttributeError, KeyError):
        return _error(400, "x_content_parse_exception", "the body is no search")
    return json_answer(_found(body, words, keep, world))


def _key(authorization: str) -> str:
    way, _, value = authorization.partition(" ")
    try:
        return b64decode(value).decode() if way == "Basic" else value
    except ValueError:
        return "bad"


def _found(body: Mapping[str, Any], words: str, keep: Keep, world: World) -> dict[str, Any]:
    start, size = int(body.get("from", 0)), int(body.get("size", 10))
    shelf = world.library.documents
    found = (
        shelf.search(words, keep=keep, start=start, count=size)
        if words
        else shelf.page(range(len(shelf.items)), keep=keep, start=start, count=size)
    )
    hits = [_hit(document, rank, body, words) for rank, document in enumerate(found.items)]
    return {
        "took": 3,
        "timed_out": "timeout" in words,
        "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
        "hits": {
            "total": {"value": found.total, "relation": "eq"},
            "max_score": hits[0]["_score"] if hits else None,
            "hits": hits,
        },
    }


def _hit(document: Document, rank: int, body: Mapping[str, Any], words: str) -> dict[str, Any]:
    fields, shown = fields_of(document), body.get("_source", True)
    source = fields if shown is True else {name: fields[name] for name in shown or () if name in fields}
    hit: dict[str, Any] = {"_index": _INDEX, "_id": document.id, "_score": 9.0 - rank * 0.25, "_source": source}
    wanted = (body.get("highlight") or {}).get("fields") or {}
    passages = {name: [marked(fields[name], words)] for name in wanted if isinstance(fields.get(name), str)}
    return hit | ({"highlight": passages} if passages else {})


def fields_of(document: Document) -> dict[str, Any]:
    """A document as an index keeps it; one without an address lacks that field."""
    address = {"url": document.link} if document.link else {}
    return {
        "id": document.id,
        "title": document.title,
        **address,
        "content": document.body,
        "date": f"{document.date}T00:00:00Z",
        "authors": list(document.authors),
        "department": document.department,
        "language": document.language,
    }


def marked(text: str, words: str) -> str:
    """The sentence in which a word stands, and where."""
    text = plain(text)
    pattern = re.compile("|".join(rf"\b{re.escape(word)}\w*" for word in terms_of(words)) or "$^", re.IGNORECASE)
    found = pattern.search(text)
    begin = max(text.rfind(". ", 0, found.start()) + 1, 0) if found else 0
    return pattern.sub(lambda match: f"<em>{match.group()}</em>", text[begin : begin + 200].strip())


def _read(query: Mapping[str, Any]) -> tuple[str, Keep]:
    """The words of a query, and what a document must be besides."""
    ((kind, inside),) = query.items()
    if kind == "bool":
        clauses = [_read(clause) for name in ("must", "filter", "should") for clause in _listed(inside.get(name))]
        return " ".join(words for words, _ in clauses if words), lambda each: all(keep(each) for _, keep in clauses)
    if kind in _WORDS_OF:
        asked = inside["query"] if "query" in inside else next(iter(inside.values()))
        return str(asked["query"] if isinstance(asked, dict) else asked), _anything
    if kind == "match_all":
        return "", _anything
    if kind not in ("range", "term", "terms"):
        raise _QueryError(kind)
    ((field, condition),) = inside.items()
    return "", lambda each: _meets(fields_of(each).get(field), kind, condition)


def _listed(clauses: Any) -> Iterator[Mapping[str, Any]]:
    yield from clauses if isinstance(clauses, list) else [clauses] if clauses else []


def _anything(_document: Document) -> bool:
    return True


def _meets(value: Any, kind: str, condition: Any) -> bool:
    if kind == "terms":
        return value in condition
    if kind == "term":
        return bool(value == (condition["value"] if isinstance(condition, dict) else condition))
    moment = _moment(value)
    bounds = {end: _moment(day) for end, day in condition.items()}
    return moment >= bounds.get("gte", moment) and not moment >= bounds.get("lt", datetime.max.replace(tzinfo=UTC))


def _moment(text: str) -> datetime:
    parsed = datetime.fromisoformat(text)
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


FORMAT = Format(name="elasticsearch", answer=answer, refusals={401: _UNAUTHENTICATED, 429: _TOO_MANY})
