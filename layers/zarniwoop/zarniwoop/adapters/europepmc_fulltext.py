"""The text of an article in JATS XML: title, abstract, body, one line a paragraph.

Format: https://jats.nlm.nih.gov/archiving/
Quirks: paragraphs lie inside paragraphs (lists, figures), so an article is read from end to end and broken into lines
where one begins or ends; a formula may come as MathML and again as TeX. Some articles have no body at all.
"""

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from zarniwoop.text.plain import plain

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_LINES = frozenset(
    (
        *("abstract", "article-title", "body", "boxed-text", "caption", "def-item", "disp-formula", "disp-quote"),
        *("fig", "label", "list", "list-item", "p", "sec", "statement", "subtitle", "table-wrap", "title", "tr"),
        "verse-line",
    )
)
_CELLS = frozenset(("td", "th"))
_LEFT_OUT = frozenset(("ref-list", "tex-math", "object-id", "permissions", "supplementary-material"))


def full_text(root: "Element") -> str | None:
    """The article as text; None where there is no body."""
    article = root if root.tag == "article" else root.find(".//article")
    body = article.find("body") if article is not None else None
    if article is None or body is None:
        return None
    title = article.find("front/article-meta/title-group/article-title")
    abstracts = article.findall("front/article-meta/abstract")
    lines = [line for part in (title, *abstracts, body) if part is not None for line in _lines(part)]
    return "\n".join(lines) if list(_lines(body)) else None


def _lines(element: "Element") -> Iterator[str]:
    for line in "".join(_pieces(element)).split("\n"):
        text = plain(escape(line, quote=False))
        if text:
            yield text


def _pieces(element: "Element") -> Iterator[str]:
    """All text inside in its order, with a line break around what is a line of its own; depth costs no recursion."""
    waiting: list[Element | str] = [element]
    while waiting:
        piece = waiting.pop()
        if isinstance(piece, str):
            yield piece
        elif piece.tag not in _LEFT_OUT:
            around = "\n" if piece.tag in _LINES else " " if piece.tag in _CELLS else ""
            parts: list[Element | str] = [around, _in_one_line(piece.text)]
            for child in piece:
                parts += (child, _in_one_line(child.tail))
            waiting.extend(reversed((*parts, around)))


def _in_one_line(text: str | None) -> str:
    return text.replace("\n", " ").replace("\r", " ") if text else ""
