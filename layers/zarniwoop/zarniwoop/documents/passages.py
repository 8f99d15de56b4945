"""A text cut into passages that join up to it again, each with the place where it stands.

Passages do not overlap: what is found can be pointed at, the whole text is their sum, and nothing is counted twice. A
cut falls where a page ends, else behind a paragraph, a line, a sentence or a word, whichever comes first in that order.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

PAGE_GAP = "\n\n"
"""What stands between two pages in the whole text."""
USUAL_CHARS = 1_000
MOST_CHARS = 1_500
_LEAST_CHARS = 400
_ENDS = (
    re.compile(r"\n\s*\n\s*"),
    re.compile(r"\n\s*"),
    re.compile(r"(?<=[.!?。！？…])[\"'”’»)\]]*\s+|(?<=[。！？])"),
    re.compile(r"\s+"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """`text` is what stands from `start` to `end` of the whole text; `page` counts from 1."""

    start: int
    end: int
    text: str
    page: int | None = None


def whole_text(pages: Sequence[str]) -> str:
    """What all offsets count in."""
    return PAGE_GAP.join(pages)


def passages(pages: Sequence[str], *, paged: bool) -> Iterator[Passage]:
    """All passages in order, without those that are only white space."""
    offset = 0
    for number, page in enumerate(pages, 1):
        for start, end in cuts(page):
            text = page[start:end]
            if not text.isspace():
                yield Passage(start=offset + start, end=offset + end, text=text, page=number if paged else None)
        offset += len(page) + len(PAGE_GAP)


def cuts(text: str) -> Iterator[tuple[int, int]]:
    """Where to cut: stretches that follow upon each other from the first character to the last."""
    start = 0
    while start < len(text):
        end = _end(text, start)
        yield start, end
        start = end


def _end(text: str, start: int) -> int:
    """A short rest is taken along: a passage of one word is found by that word alone and says nothing."""
    if len(text) - start <= MOST_CHARS:
        return len(text)
    for ends in _ENDS:
        places = [found.end() for found in ends.finditer(text, start + _LEAST_CHARS, start + MOST_CHARS)]
        if places:
            return min(places, key=lambda place: abs(place - start - USUAL_CHARS))
    return start + USUAL_CHARS
