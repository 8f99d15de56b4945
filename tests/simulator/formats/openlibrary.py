"""Open Library: the Internet Archive's book index.

Wire format: GET /search.json with `q` (title:, author:, isbn:, language:, first_publish_year:[a TO b]), `fields`,
`limit`, `page`; GET /works/<id>.json. https://openlibrary.org/dev/docs/api/search
Quirks: `key` is a path; every key of a doc is optional; `description` is a string or an object.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from tests.simulator.corpus import Book
from tests.simulator.formats.format import Format, World
from tests.simulator.index import Matches
from tests.simulator.messages import Answer, Request, json_answer, natural

_FIELDED = re.compile(
    r"(?<!\S)\(?(?P<name>first_publish_year|publish_year|language|title|author|author_name|isbn|subject):"
    r'(?P<value>\[[^\]]*\]|"[^"]*"|[^\s()]+)\)?'
)
_YEARS = re.compile(r"\[\s*(\d+|\*)\s+TO\s+(\d+|\*)\s*\]")
_OPERATORS = re.compile(r"(?<!\S)(AND|OR|NOT)(?!\S)")
_DEFAULT_FIELDS = (
    "author_key",
    "author_name",
    "cover_i",
    "ebook_access",
    "edition_count",
    "first_publish_year",
    "has_fulltext",
    "key",
    "language",
    "title",
)
_PARAMETERS = ("title", "author", "isbn", "subject", "language")
_WORK = re.compile(r"/works/(OL\d+W)(\.json)?")


def answer(request: Request, world: World) -> Answer:
    if request.path == "/search.json":
        return _search(request, world)
    named = _WORK.fullmatch(request.path)
    for book in world.library.books.items:
        if named and book.work == named[1]:
            return json_answer(_work(book))
    return json_answer({"error": "notfound", "key": request.path.removesuffix(".json")}, status=404)


def _search(request: Request, world: World) -> Answer:
    asked = request.query
    limit = natural(asked.get("limit"), 100, most=1000)
    page = natural(asked.get("page"), 1, least=1)
    start = natural(asked.get("offset"), (page - 1) * limit)
    found = _find(asked, world, start, limit)
    fields = [name.strip() for name in asked.get("fields", ",".join(_DEFAULT_FIELDS)).split(",")]
    envelope = {
        "numFound": found.total,
        "start": start,
        "numFoundExact": True,
        "num_found": found.total,
        "documentation_url": "https://openlibrary.org/dev/docs/api/search",
        "q": asked.get("q", ""),
        "offset": start if "offset" in asked else None,
        "docs": [_doc(book, fields) for book in found.items],
    }
    return json_answer(envelope)


def _find(asked: Mapping[str, str], world: World, start: int, limit: int) -> Matches[Book]:
    query = asked.get("q", "")
    conditions = [_condition(found["name"], found["value"]) for found in _FIELDED.finditer(query)]
    conditions += [_condition(name, asked[name]) for name in _PARAMETERS if name in asked]
    words = _OPERATORS.sub(" ", _FIELDED.sub(" ", query)).replace("(", " ").replace(")", " ").strip()

    def keep(book: Book) -> bool:
        return all(condition(book) for condition in conditions)

    books = world.library.books
    if words and words not in ("*", "*:*"):
        return books.search(words, keep=keep, start=start, count=limit)
    rows = range(len(books.items)) if words or conditions else ()
    return books.page(rows, keep=keep, start=start, count=limit)


def _condition(name: str, value: str) -> Callable[[Book], bool]:
    years = _YEARS.fullmatch(value)
    if years:
        low, high = (None if end == "*" else int(end) for end in years.groups())
        return lambda book: (
            (low is None or book.first_publish_year >= low) and (high is None or book.first_publish_year <= high)
        )
    wanted = value.strip('"').lower()
    texts = _TEXTS[name]
    return lambda book: any(wanted in text.lower() for text in texts(book))


_TEXTS: Mapping[str, Callable[[Book], list[str]]] = {
    "first_publish_year": lambda book: [str(book.first_publish_year)],
    "publish_year": lambda book: [str(book.first_publish_year)],
    "language": lambda book: list(book.languages),
    "title": lambda book: [book.title],
    "author": lambda book: list(book.authors),
    "author_name": lambda book: list(book.authors),
    "isbn": lambda book: list(book.isbn),
    "subject": lambda book: list(book.subjects),
}


def _doc(book: Book, fields: list[str]) -> dict[str, Any]:
    whole: dict[str, Any] = {
        "author_key": [_author_key(book, position) for position in range(len(book.authors))],
        "author_name": list(book.authors),
        "cover_i": book.cover,
        "ebook_access": "no_ebook",
        "edition_count": book.editions,
        "first_publish_year": book.first_publish_year,
        "has_fulltext": False,
        "isbn": list(book.isbn),
        "key": f"/works/{book.work}",
        "language": list(book.languages),
        "number_of_pages_median": book.pages,
        "publisher": [book.publisher],
        "publish_year": [book.first_publish_year],
        "subject": list(book.subjects),
        "title": book.title,
    }
    present = {name: value for name, value in whole.items() if value not in (None, [])}
    return present if "*" in fields else {name: value for name, value in present.items() if name in fields}


def _work(book: Book) -> dict[str, Any]:
    text: Any = {"type": "/type/text", "value": book.description} if book.description_is_object else book.description
    role = {"key": "/type/author_role"}
    authors = [f"/authors/{_author_key(book, position)}" for position in range(len(book.authors))]
    work: dict[str, Any] = {
        "title": book.title,
        "key": f"/works/{book.work}",
        "authors": [{"type": role, "author": {"key": key}} for key in authors],
        "type": {"key": "/type/work"},
        "description": text,
        "first_publish_date": str(book.first_publish_year),
        "subjects": list(book.subjects),
        "latest_revision": 5,
        "revision": 5,
        "created": {"type": "/type/datetime", "value": "2009-12-09T22:32:55.165173"},
        "last_modified": {"type": "/type/datetime", "value": "2025-10-17T16:02:13.388699"},
    }
    return {**work, "covers": [book.cover]} if book.cover else work


def _author_key(book: Book, position: int) -> str:
    return f"OL{book.work[2:-1]}{position}A"


FORMAT = Format(name="openlibrary", answer=answer)
