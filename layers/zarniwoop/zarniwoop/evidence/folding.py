"""Text folded for comparing, with the way back: where each folded character stands in the text itself.

Two texts are the same when they fold to the same. Folded are
- white space: any run of it is one space;
- soft hyphens, zero-width spaces, word joiners and byte order marks: nothing;
- quotation marks and apostrophes of all shapes: `'` and `"`; hyphens, dashes and the minus sign: `-`;
- compatibility forms (NFKC): ligatures, the ellipsis, full and half width, presentation forms of Arabic; accents are
  compared in their decomposed form, so that it does not matter how a letter was composed.
Not folded are upper and lower case, accents as such, and superscripts, subscripts, fractions and circled numbers, which
NFKC would take for plain digits: 10⁶ is not 106.
Of Markdown, whoever folds it says which marks (`evidence.marks`) are not read.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache

from zarniwoop.evidence.marks import Mark
from zarniwoop.text.invisible import SOFT_HYPHEN, ZERO_WIDTH
from zarniwoop.text.normal_form import normal_form

_DROPPED = SOFT_HYPHEN + ZERO_WIDTH
_SINGLE = "'`\u00b4\u2018\u2019\u201a\u201b\u2032\u2039\u203a\u02bc\uff07"
_DOUBLE = '"\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\uff02'
_DASHES = "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_MARKS = {**dict.fromkeys(_SINGLE, "'"), **dict.fromkeys(_DOUBLE, '"'), **dict.fromkeys(_DASHES, "-")}
_OTHERWISE_SAID = frozenset(("<super>", "<sub>", "<fraction>", "<circle>", "<square>", "<vertical>", "<font>"))
_TOKENS = re.compile(
    rf"(?P<space>[{_DROPPED}]*\s[\s{_DROPPED}]*)|(?P<dropped>[{_DROPPED}]+)"
    rf"|(?P<plain>[!#-&(-_a-~]+)|(?P<other>[^\s{_DROPPED}])"
)
"""`plain` is ASCII that folds to itself."""


def folded(text: str) -> str:
    """The text as it is compared."""
    return Folded(text).text


class Folded:
    """A text, composed (NFC) as stored bodies are, and what it folds to. `marks` of it are not read, in their order."""

    def __init__(self, text: str, marks: Iterable[Mark] = ()) -> None:
        pieces: list[str] = []
        self._starts: list[int] = []
        self._spans: list[tuple[int, int, int]] = []
        self._opening: dict[int, Mark] = {}
        self._closing: dict[int, Mark] = {}
        length = 0
        for piece, start, end in self._pieces(text, marks):
            if not piece or (piece == " " and pieces and pieces[-1] == " "):
                continue
            self._place(length, len(piece), start, end)
            pieces.append(piece)
            length += len(piece)
        self.text = "".join(pieces)

    def find(self, wanted: str, *, near: int | None = None) -> tuple[int, int] | None:
        """Where in the text itself the folded text stands: the first place, or at `near`, if it stands there too.

        A match that begins or ends within a character is none: `cafe` does not stand in `café`.
        """
        return self.find_at(wanted, -1 if near is None else self.folded_at(near))

    def find_at(self, wanted: str, position: int) -> tuple[int, int] | None:
        """The same, at this position of what is folded, if it stands there."""
        if position < 0 or not wanted or not self.text.startswith(wanted, position):
            position = self.text.find(wanted) if wanted else -1
        while position >= 0:
            place = self.place(position, position + len(wanted))
            if place is not None:
                return place
            position = self.text.find(wanted, position + 1)
        return None

    def place(self, start: int, end: int) -> tuple[int, int] | None:
        """The characters that fold to this stretch; None where it begins or ends within one."""
        if not 0 <= start < end <= len(self.text):
            return None
        begins, ends = self._origin(start), self._origin(end - 1)
        if begins[0] != start or ends[1] != end:
            return None
        return self._whole(begins[2], ends[3])

    def around(self, start: int, end: int) -> tuple[int, int]:
        """The characters that this stretch touches."""
        return self._whole(self._origin(start)[2], self._origin(end - 1)[3])

    def folded_at(self, start: int) -> int:
        """Where this character of the text is folded to, or what follows it; -1 where nothing does."""
        index = bisect_right(self._spans, start, key=lambda span: span[1]) - 1
        if index < 0:
            return 0 if self._spans else -1
        begins, (size, first, end) = self._starts[index], self._spans[index]
        if start >= end:
            return begins + size
        return begins + start - first if size == end - first else begins

    def _pieces(self, text: str, marks: Iterable[Mark]) -> Iterator[tuple[str, int, int]]:
        """What each token folds to, and where it stands; between marks that are not read."""
        place = 0
        for mark in marks:
            for token in _TOKENS.finditer(text, place, mark.start):
                yield _piece(token), *token.span()
            if mark.shown:
                yield " ", mark.start, mark.end
            if mark.whole is not None:
                is_opening = mark.whole[0] == mark.start
                (self._opening if is_opening else self._closing)[mark.end if is_opening else mark.start] = mark
            place = mark.end
        for token in _TOKENS.finditer(text, place):
            yield _piece(token), *token.span()

    def _whole(self, start: int, end: int) -> tuple[int, int]:
        """With both marks of each link and code whose inner end this is, where the other one is within or beside it."""
        for _nested in range(2):
            opening, closing = self._opening.get(start), self._closing.get(end)
            if (
                closing
                and closing.whole
                and (closing.whole[0] >= start or (opening and opening.whole == closing.whole))
            ):
                end = closing.end
            if opening and opening.whole and opening.whole[1] <= end:
                start = opening.start
        return start, end

    def _origin(self, position: int) -> tuple[int, int, int, int]:
        """From where to where the folded character's origin is folded to, and where it stands in the text."""
        index = bisect_right(self._starts, position) - 1
        begins, (size, start, end) = self._starts[index], self._spans[index]
        if size != end - start:
            return begins, begins + size, start, end
        return position, position + 1, start + position - begins, start + position - begins + 1

    def _place(self, begins: int, size: int, start: int, end: int) -> None:
        """Characters that fold to one each are one stretch."""
        linear = size == end - start
        if linear and self._spans:
            size_before, start_before, end_before = self._spans[-1]
            if size_before == end_before - start_before and end_before == start:
                self._spans[-1] = (size_before + size, start_before, end)
                return
        self._starts.append(begins)
        self._spans.append((size, start, end))


def _piece(token: re.Match[str]) -> str:
    match token.lastgroup:
        case "plain":
            return token.group()
        case "space":
            return " "
        case "dropped":
            return ""
        case _:
            return _character(token.group())


@lru_cache(maxsize=8_192)
def _character(character: str) -> str:
    mark = _MARKS.get(character)
    if mark is not None:
        return mark
    said = unicodedata.decomposition(character).partition(" ")[0]
    if said in _OTHERWISE_SAID:
        return character
    folded_to = normal_form("NFKD", character)
    return "".join(_MARKS.get(each, each) for each in folded_to)
