"""The markup that is given out: a page's elements and texts, with the few attributes that a reader gains from.

Extractors need classes, ids and what stands in the head; nobody sees these, and whole sentences fit into them. Nor is a
page's own element given out: its name may be a sentence too.
"""

import re
from collections.abc import Callable, Mapping
from html import escape
from typing import Any

_CHUNK = 65_536
GIVEN = frozenset((
    "html", "body", "main", "article", "section", "header", "footer", "aside", "nav", "h1", "h2", "h3", "h4", "h5",
    "h6", "hgroup", "p", "div", "span", "a", "ul", "ol", "li", "dl", "dt", "dd", "table", "caption", "colgroup",
    "col", "thead", "tbody", "tfoot", "tr", "th", "td", "blockquote", "q", "cite", "pre", "code", "kbd", "samp",
    "var", "em", "strong", "b", "i", "u", "s", "del", "ins", "mark", "small", "sub", "sup", "abbr", "dfn", "time",
    "address", "figure", "figcaption", "details", "summary", "ruby", "rb", "rt", "rp", "bdi", "bdo", "wbr", "br",
    "hr", "center", "font", "tt", "strike", "big",
))  # fmt: skip
_LEFT_OUT = frozenset(("head", "title", "script", "style", "template", "noscript"))
_VOID = frozenset(("br", "col", "hr", "wbr"))
_NUMBER = re.compile(r"-?[0-9]{1,6}")
_VALUES = {
    "lang": re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8}){0,4}"),
    "datetime": re.compile(r"[0-9TZWPYMDHS:+., -]{1,40}"),
    "colspan": _NUMBER,
    "rowspan": _NUMBER,
    "start": _NUMBER,
}


class _Writer:
    """The parser's target."""

    def __init__(self, resolve: Callable[[str | None], str | None]) -> None:
        self._resolve = resolve
        self._pieces: list[str] = []
        self._left_out = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if self._left_out or tag in _LEFT_OUT:
            self._left_out += 1
        elif tag in GIVEN:
            self._pieces.append(given_tag(tag, attributes, self._resolve))

    def end(self, tag: str) -> None:
        if self._left_out:
            self._left_out -= 1
        elif tag in GIVEN and tag not in _VOID:
            self._pieces.append(f"</{tag}>")

    def data(self, text: str) -> None:
        if not self._left_out:
            self._pieces.append(escape(text, quote=False))

    def comment(self, _text: str) -> None: ...

    def pi(self, *_parts: Any) -> None: ...

    def doctype(self, *_parts: Any) -> None: ...

    def close(self) -> str:
        return "".join(self._pieces)


def given_tag(tag: str, attributes: Mapping[str, str], resolve: Callable[[str | None], str | None]) -> str:
    """The start of one of the elements that are `GIVEN`."""
    href = resolve(attributes.get("href")) if tag == "a" else None
    given = {"href": href} if href else {}
    for name, pattern in _VALUES.items():
        value = attributes.get(name)
        if value and pattern.fullmatch(value):
            given[name] = value
    written = "".join(f' {name}="{escape(value)}"' for name, value in given.items())
    return f"<{tag}{written}>"


def given_html(markup: str, resolve: Callable[[str | None], str | None]) -> str:
    """Clean markup as it is given out. `resolve` makes a link absolute, or says that it is none (None)."""
    from lxml import etree

    target = _Writer(resolve)
    parser = etree.HTMLParser(target=target, huge_tree=True)
    try:
        for start in range(0, len(markup), _CHUNK):
            parser.feed(markup[start : start + _CHUNK])
        parser.close()
    except etree.XMLSyntaxError:  # nothing that could be called markup was in it
        pass
    return target.close()
