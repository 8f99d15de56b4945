"""Operators that users write into a query: told apart from its words once, for whoever asks a provider.

They are `site:`, `-site:`, `filetype:` (or `ext:`), `intitle:`, `before:` and `after:` (a year, month or day), phrases
in quotes, and `OR` between two things; brackets may stand around them. A site may be written with its scheme, with `*.`
before it, or in its own script. Quirk: what only looks like an operator is a word, and stays as it was written: a URL,
a time, `std::vector`, `site:` with a blank behind it, a quote that is never closed, an `OR` at the end. So does one of
these that cannot be read (`after:lunch`), and one of other search engines' (`inurl:`, `AROUND(3)`); these say so.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from typing import NamedTuple

_TOKEN = re.compile(r'\(*(?:-?[A-Za-z]+:)?"[^"]+"\)*(?!\S)|\S+')
_BRACKETED = re.compile(r"(\(*)(.*?)(\)*)", re.DOTALL)
_BEFORE_HOST = re.compile(r"(?:https?://)?(?:\*?\.)?", re.IGNORECASE)
_NAMED = re.compile(r'(-?)(site|filetype|ext|intitle|before|after):(?:"([^"]+)"|([^\s"]+))', re.IGNORECASE)
_MISREAD = re.compile(
    r"-?(site|filetype|ext|intitle|before|after|inurl|intext|allintitle|related|cache|link):(?!:|//)(.*)",
    re.IGNORECASE | re.DOTALL,
)
_AROUND = re.compile(r"AROUND\((\d+)\)")
_UNKNOWN = "not known here: asked for as a word"
_MISREAD_AS = {
    "site": "not a site: asked for as a word",
    "filetype": "not a file type: asked for as a word",
    "ext": "not a file type: asked for as a word",
    "intitle": "not a word of a title: asked for as a word",
    "before": "not a day: asked for as a word",
    "after": "not a day: asked for as a word",
}
_PLACE = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)*[A-Za-z]{2,63}(?:/[^\s?#:]*)?")
_EXTENSION = re.compile(r"\.?[A-Za-z0-9]{1,10}")
_DAY = re.compile(r"([12][0-9]{3})(?:-([0-9]{2})(?:-([0-9]{2}))?)?")


class Kind(StrEnum):
    """What an operator does; a wire format declares those that its provider understands within a query."""

    SITE = "site"
    NOT_SITE = "-site"
    FILETYPE = "filetype"
    INTITLE = "intitle"
    BEFORE = "before"
    AFTER = "after"
    PHRASE = "phrase"
    OR = "or"


class Unread(NamedTuple):
    """What was meant as an operator and is asked for as a word, and why."""

    name: str
    value: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A piece of a query as it was written. Of an operator, `value` is what it is about; a word has no `kind`.

    `opening` and `closing` are the brackets around an operator. `unread`: the word is one that cannot be read.
    """

    text: str
    value: str
    kind: Kind | None = None
    opening: str = ""
    closing: str = ""
    unread: Unread | None = None


def has_marks(query: str) -> bool:
    """Whether a query may hold an operator: none is without one of these, and most queries are without all of them."""
    return ":" in query or '"' in query or "OR" in query or "AROUND" in query


def tokens_of(query: str) -> tuple[Token, ...]:
    """The query's words and operators in their order; their texts, with blanks between them, are the query again."""
    pieces = [_token(found.group()) for found in _TOKEN.finditer(query)]
    last = len(pieces) - 1
    return tuple(
        Token(text=piece.text, value=piece.value, kind=Kind.OR)
        if piece.text == "OR" and 0 < at < last and "OR" not in (pieces[at - 1].text, pieces[at + 1].text)
        else piece
        for at, piece in enumerate(pieces)
    )


def first_day(written: str) -> date | None:
    """Of a year, month or day; None when there is no such one."""
    found = _DAY.fullmatch(written)
    try:
        return date(int(found[1]), int(found[2] or 1), int(found[3] or 1)) if found else None
    except ValueError:
        return None


def day_before(written: str) -> date | None:
    """The last day before a year, month or day."""
    first = first_day(written)
    return first - timedelta(days=1) if first else None


def _token(text: str) -> Token:
    bracketed = _BRACKETED.fullmatch(text)
    if bracketed is None or not (bracketed[1] or bracketed[3]):
        return _bare(text)
    inside = _bare(bracketed[2])
    if inside.kind is None:
        return Token(text=text, value=text, unread=_unread(text) or inside.unread)
    return Token(text=text, value=inside.value, kind=inside.kind, opening=bracketed[1], closing=bracketed[3])


def _bare(text: str) -> Token:
    if len(text) > 2 and text[0] == text[-1] == '"':
        inside = " ".join(text[1:-1].split())
        return Token(text=text, value=inside, kind=Kind.PHRASE) if inside else Token(text=text, value=text)
    return next(_named(text), None) or Token(text=text, value=text, unread=_unread(text))


def _unread(text: str) -> Unread | None:
    """What was meant, of a word that was to be an operator."""
    around = _AROUND.fullmatch(text)
    if around is not None:
        return Unread("around", around[1], _UNKNOWN)
    found = _MISREAD.fullmatch(text)
    name, value = (found[1].lower(), found[2].strip('"')) if found else ("", "")
    if not value and name != "allintitle":  # that one is about all words behind it
        return None
    if text.startswith("-") and name != "site":
        return Unread(f"-{name}", value, _UNKNOWN)
    return Unread(name, value, _MISREAD_AS.get(name, _UNKNOWN))


def _named(text: str) -> Iterator[Token]:
    found = _NAMED.fullmatch(text)
    if found is None:
        return
    minus, name, value = found[1], found[2].lower(), " ".join((found[3] or found[4]).split())
    if name == "site" and (place := _place(value)):
        yield Token(text=text, value=place, kind=Kind.NOT_SITE if minus else Kind.SITE)
    elif not minus and name in ("filetype", "ext") and _EXTENSION.fullmatch(value):
        yield Token(text=text, value=value.lstrip(".").lower(), kind=Kind.FILETYPE)
    elif not minus and name == "intitle" and value and not value.startswith("/"):
        yield Token(text=text, value=value, kind=Kind.INTITLE)
    elif not minus and name in ("before", "after") and first_day(value):
        yield Token(text=text, value=value, kind=Kind(name))


def _place(written: str) -> str | None:
    """A host, in ASCII, and the path behind it if there is one; None for what is no place."""
    host, slash, path = _BEFORE_HOST.sub("", written, count=1).partition("/")
    try:
        known = host.lower() if host.isascii() else host.encode("idna").decode("ascii")
    except UnicodeError:
        return None
    place = known + (slash + path if path else "")
    return place if _PLACE.fullmatch(place) else None
