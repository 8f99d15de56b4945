"""Somebody's Markdown as the HTML that it is shown as (CommonMark with GitHub's tables and strikethrough).

https://spec.commonmark.org, https://markdown-it-py.readthedocs.io
So it is cleaned and written like any page: comments, hidden elements, pictures and links that are none of the web
go, and what is code stays, since much Markdown is about markup.
Quirks: definitions of links are never shown, and their titles are a way to write comments (`[//]: # (so)`).
`[^1]: Bronze` would be a definition too, and is a footnote. Front matter would be a heading, and is data.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

_FRONT_MATTER = re.compile(r"\A---\n(.{1,20000}?)\n---(?:\n|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """`remarks` are the titles of definitions that no link shows."""

    markup: str
    remarks: tuple[str, ...]


def shown(text: str) -> Shown:
    """Never raises for what the text is; how long it takes is bounded where it is called."""
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import reference

    def defined(state: "StateBlock", start: int, end: int, silent: bool) -> bool:
        is_footnote = state.src.startswith("[^", state.bMarks[start] + state.tShift[start])
        return not is_footnote and reference(state, start, end, silent)

    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    parser.block.ruler.at("reference", defined)
    parser.validateLink = _any_target  # type: ignore[method-assign]
    known: dict[str, Any] = {}
    tokens = parser.parse(_FRONT_MATTER.sub(r"```yaml\n\1\n```\n", text), known)
    told = set(_titles(tokens))
    definitions = (*known.get("references", {}).values(), *known.get("duplicate_refs", ()))
    remarks = tuple(each["title"] for each in definitions if each["title"] and each["title"] not in told)
    return Shown(markup=parser.renderer.render(tokens, parser.options, known), remarks=remarks)


def _any_target(url: str) -> bool:
    """Targets are judged where links are written."""
    return url is not None


def _titles(tokens: "Iterable[Token]") -> Iterator[str]:
    for token in tokens:
        yield str(token.attrs.get("title", ""))
        yield from _titles(token.children or ())
