"""A Word file's main part as simple markup, from which its Markdown is written: headings, lists, tables, paragraphs.

Quirk: a heading is a paragraph whose style is called so, in the language of the Word that made it.
"""

import re
from collections.abc import Iterator
from html import escape
from itertools import islice
from typing import TYPE_CHECKING

from zarniwoop.extract.docx import is_repeated, local_name, word_elements

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_HEADING = re.compile(
    r"(?:heading|berschrift|titre|encabezado|titolo|kop|rubrik|заголовок|見出し|标题)\s?([1-6])", re.IGNORECASE
)
_TITLE = re.compile(r"(?:title|titel|titre|título|titolo)", re.IGNORECASE)
_SPACES = {"tab": " ", "br": "<br>", "cr": "<br>", "noBreakHyphen": "-"}
_TABLE = {"tbl": "table", "tr": "tr", "tc": "td"}


def docx_markup(root: "Element", *, most_chars: int) -> tuple[str, bool]:
    """The markup, and whether it is all of it."""
    pieces: list[str] = []
    left = most_chars
    for piece in _pieces(root):
        left -= len(piece)
        if left < 0:
            return "".join(pieces), False
        pieces.append(piece)
    return "".join(pieces), True


def _pieces(root: "Element") -> Iterator[str]:
    in_list = False
    for name, element, ends in _events(root):
        tag = _paragraph(element) if name == "p" else _TABLE.get(name)
        if tag:
            if not ends and (tag == "li") is not in_list:
                in_list = not in_list
                yield "<ul>" if in_list else "</ul>"
            yield f"</{tag}>" if ends else f"<{tag}>"
        elif ends:
            continue
        elif name == "t":
            yield escape(element.text or "")
        elif name in _SPACES:
            yield _SPACES[name]


def _events(root: "Element") -> "Iterator[tuple[str, Element, bool]]":
    """Where each element of a Word file begins and ends."""
    waiting = [(root, False)]
    while waiting:
        element, ends = waiting.pop()
        name = local_name(element)
        if name is not None:
            yield name, element, ends
        if not ends and not is_repeated(element):
            waiting.append((element, True))
            waiting.extend((child, False) for child in reversed(element))


def _paragraph(element: "Element") -> str:
    """`h2`, `li` or `p`, by the style that its properties name."""
    for name, found in islice(word_elements(element), 12):
        if name == "pStyle":
            style = next(iter(found.attrib.values()), "")
            if level := _HEADING.search(style):
                return f"h{level[1]}"
            if _TITLE.fullmatch(style):
                return "h1"
        elif name == "numPr":
            return "li"
    return "p"
