"""The marks of stored Markdown: what stands in it and is not read. https://github.github.com/gfm

Those that our own writer writes: links, code, headings, tables' bars, escapes; it writes no emphasis. A reader without
a renderer is shown the text without them (`format: text`). Bullets, numbers of lists, marks of quotations and of notes
are read, but left out by many who quote: they are `loose`.
Quirk: only what leads somewhere is a link: `[1](see below)` and `a[i](x)` stand as they are, and so does all of code.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_PLAIN = frozenset(("plain", "xml", "pdf", "provider"))
"""Extractors whose texts are no Markdown, whatever stands in them."""
_LINE = re.compile(r"[^\n]+")
_LEAD = re.compile(r"(?:[ \t]*+(?:>|[-*+](?=[ \t](?![0-9]))|[0-9]{1,3}[.)](?=[ \t])))*+[ \t]*+")
"""A dash before a number may be a minus."""
_FENCE = re.compile(r"(`{3,})([^`\n]*)$")
_HEADING = re.compile(r"#{1,6}[ \t]+")
_RULE = re.compile(r"\|(?:[ \t]*+:?-{3,}+:?[ \t]*+\|)++[ \t]*+$")
_NOTE = r"[0-9]{1,3}|[a-z]"
_LINKED_NOTE = re.compile(rf"\((?:{_NOTE})\)")
_INLINE = re.compile(
    r"(?P<escape>\\[!-/:-@\[-`{-~])"
    r"|(?P<ticks>`{1,3})(?P<code>[^`\n]++)(?P=ticks)(?!`)"
    r"|\[(?P<text>(?:[^\[\]\\\n]++|\\.)++)\]\((?:<[^<>\n]*+>"
    r"|(?:[A-Za-z][A-Za-z0-9+.-]{1,20}:|/|\#|\.{1,2}/)(?:[^\s()<>]++|\([^\s()<>]*+\))*+)(?:[ ]\"[^\"\n]*+\")?\)"
    rf"|(?P<note>(?:(?<=\w{{3}})|(?<=[.,;:!?…”’\"')\]]))\[(?:{_NOTE})\](?!\\?\())"
    r"|(?P<bar>\|)[ \t]*+"
)


@dataclass(frozen=True, slots=True)
class Mark:
    """Characters that are not read, or read as `shown`. `whole` is where the link or code that it begins or ends is."""

    start: int
    end: int
    shown: str = ""
    loose: bool = False
    whole: tuple[int, int] | None = None


def is_markdown(extractor: str) -> bool:
    """Whether what it reads is Markdown: a page's text is by whoever read it."""
    return extractor not in _PLAIN


def marks(text: str) -> Iterator[Mark]:
    """In their order; none stands within another. In one pass over the lines."""
    fence = ""
    for line in _LINE.finditer(text):
        start, end = line.span()
        found = _LEAD.match(text, start, end)
        lead = found.end() if found else start
        ticks = _FENCE.match(text, lead, end)
        if fence:
            if ticks and len(ticks[1]) >= len(fence) and not ticks[2].strip():
                yield Mark(lead, min(end + 1, len(text)))
                fence = ""
            continue
        if text[start:lead].strip():
            yield Mark(start, lead, loose=True)
        if ticks:
            yield Mark(lead, min(end + 1, len(text)))
            fence = ticks[1]
        else:
            yield from _of_line(text, lead, end)


def inline_marks(
    text: str, start: int = 0, end: int | None = None, *, row: tuple[int, int] | None = None
) -> Iterator[Mark]:
    """Those within lines. `row` is where a table's row begins and ends: elsewhere a bar is a bar."""
    for found in _INLINE.finditer(text, start, len(text) if end is None else end):
        begins, ends = found.span()
        if found["escape"]:
            yield Mark(begins, begins + 1)
        elif found["note"]:
            yield Mark(begins, ends, loose=True)
        elif found["bar"]:
            if row is not None:
                yield Mark(begins, ends, "" if begins == row[0] or ends == row[1] else "\t")
        else:
            yield from _enclosed(text, found, in_row=row is not None)


def as_read(markdown: str) -> str:
    """What is left for a reader who does not render Markdown; cells of a row stand apart by a tab."""
    pieces: list[str] = []
    place = 0
    for mark in marks(markdown):
        if mark.loose:
            continue
        before = markdown[place : mark.start]
        pieces += (before.rstrip(" ") if markdown.startswith("|", mark.start) else before, mark.shown)
        place = mark.end
    pieces.append(markdown[place:])
    return "".join(pieces)


def _of_line(text: str, start: int, end: int) -> Iterator[Mark]:
    if _RULE.match(text, start, end):
        yield Mark(start, min(end + 1, len(text)))
        return
    if heading := _HEADING.match(text, start, end):
        yield Mark(start, heading.end())
        start = heading.end()
    is_row = text.startswith("|", start, end) and end - start > 1 and text[end - 1] == "|"
    yield from inline_marks(text, start, end, row=(start, end) if is_row else None)


def _enclosed(text: str, found: re.Match[str], *, in_row: bool) -> Iterator[Mark]:
    """A link's marks, and those within its text; those of code, in which a row's bars alone are escaped."""
    (begins, ends), is_code = found.span(), found["code"] is not None
    first, last = found.span("code" if is_code else "text")
    yield Mark(begins, first, whole=(begins, ends))
    if not is_code and _LINKED_NOTE.fullmatch(text, first, last):
        yield Mark(first, last, loose=True)
    elif not is_code:
        yield from inline_marks(text, first, last)
    elif in_row:
        yield from (Mark(place, place + 1) for place in range(first, last - 1) if text.startswith("\\|", place))
    yield Mark(last, ends, whole=(begins, ends))
