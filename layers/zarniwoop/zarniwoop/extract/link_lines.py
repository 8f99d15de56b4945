"""Which lines of an extractor's text are the page's links: it keeps the words of menus, and not that they lead on.

What stands in a page's anchors is known from its markup; a line that is one of them, or a run of several, is no text.
Headings are left alone: a table of contents repeats them.
"""

import re
from collections.abc import Iterable
from dataclasses import replace

from zarniwoop.extract.facts import FoundLink
from zarniwoop.extract.markdown import Written
from zarniwoop.extract.weigh import letters

_UNWORDED = re.compile(r"[\W_]+")
_MOST_CHARS = 60_000
_MOST_LINES = 500
_LEAST_RUN = 12
"""Letters: what is shorter stands in some link or other by chance."""


class LinkLines:
    """The links of one page, in their order."""

    def __init__(self, links: Iterable[FoundLink]) -> None:
        squeezed = [_squeezed("".join(link.text)) for link in links]
        self._alone = frozenset(squeezed) - {""}
        self._run = "".join(squeezed)[:_MOST_CHARS]

    def counted(self, article: Written) -> Written:
        """The article with such lines counted as links."""
        lines = article.text.split("\n", _MOST_LINES)[:_MOST_LINES]
        linked = sum(letters(line) for line in lines if self._is_of_links(line))
        return replace(article, link_chars=min(article.chars, article.link_chars + linked)) if linked else article

    def _is_of_links(self, line: str) -> bool:
        if not line or line.startswith("#") or "](" in line:
            return False
        words = _squeezed(line)
        return words in self._alone or (len(words) >= _LEAST_RUN and words in self._run)


def _squeezed(text: str) -> str:
    return _UNWORDED.sub("", text).casefold()
