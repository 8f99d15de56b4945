"""Quotes: only what stands verbatim in a stored body is one.

A wanted text is looked for as it is, then folded (`evidence.folding`), and in Markdown as it is read: without its marks
(`evidence.marks`), and then without the loose ones. These are left out of the body alone: whoever names the number of
an item or of a note has to name the right one. What is kept is never the wanted text but the body's own, marks and all:
`text` is `body[start:end]`, counted in characters. Of what does not stand the passage that comes closest can be told,
if any does: every trigram of the wanted text votes for where it would begin.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from zarniwoop.contract.evidence import Quote
from zarniwoop.evidence.folding import Folded, folded
from zarniwoop.evidence.marks import Mark, inline_marks, marks
from zarniwoop.stores.evidence import LONGEST_QUOTE
from zarniwoop.text.normal_form import normal_form
from zarniwoop.text.plain import is_blank

_GRAM = 3
_LEAST_ALIKE = 0.5
_MOST_VOTERS = 64
_MOST_PLACES = 2_000
"""What stands in more of them is no sign of anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosestPassage:
    """What stands where the wanted text would have: a stranger's words. `alike` is from 0 to 1."""

    text: str
    start: int
    end: int
    alike: float


class QuotedBody:
    """A stored body that texts are looked for in; it is folded once in each way, and only when none stands before.

    A passage of more than `longest` characters is no quote, however short it folds.
    """

    def __init__(self, body: str, *, longest: int = LONGEST_QUOTE, markdown: bool = False) -> None:
        self._body = body
        self._longest = longest
        self._is_markdown = markdown

    def find(self, wanted: str, *, near: int | None = None) -> Quote | None:
        """The quote, at `near` if it stands there, else at its first place; None when it does not stand."""
        place = None if is_blank(wanted) else self._place(wanted, near)
        return self._quote(*place) if place is not None and place[1] - place[0] <= self._longest else None

    def _place(self, wanted: str, near: int | None) -> tuple[int, int] | None:
        if near is not None and self._body.startswith(wanted, near):
            return near, near + len(wanted)
        start = self._body.find(wanted)
        if start >= 0 and near is None:
            return start, start + len(wanted)
        composed = normal_form("NFC", wanted)
        plain = folded(composed).strip()
        found = self._folded.find(plain, near=near)
        if found is not None or not self._marks:
            return found
        forms = dict.fromkeys((plain, self._as_read(composed)))
        places = (each.find(form, near=near) for each in self._readings() for form in forms)
        return next(filter(None, places), None)

    def closest(self, wanted: str) -> ClosestPassage | None:
        """The passage that shares most with the wanted text, if that is at least half of it. Reads the whole body."""
        text = self._as_read(normal_form("NFC", wanted)).casefold()
        body = self._lowered
        start = _likeliest_start(text, body)
        if start is None:
            return None
        first, last = max(start, 0), min(start + len(text), len(body))
        alike = _shared(text, body[first:last])
        if alike < _LEAST_ALIKE:
            return None
        begins, ends = self.reading.around(*self._to_words(first, last))
        return ClosestPassage(text=self._body[begins:ends], start=begins, end=ends, alike=round(alike, 2))

    @cached_property
    def reading(self) -> Folded:
        """The body as it is read."""
        tight = [mark for mark in self._marks if not mark.loose]
        return Folded(self._body, tight) if tight else self._folded

    def _readings(self) -> Iterator[Folded]:
        yield self.reading
        if any(mark.loose for mark in self._marks):
            yield self._bare

    @cached_property
    def _folded(self) -> Folded:
        return Folded(self._body)

    @cached_property
    def _bare(self) -> Folded:
        return Folded(self._body, self._marks)

    @cached_property
    def _marks(self) -> tuple[Mark, ...]:
        return tuple(marks(self._body)) if self._is_markdown else ()

    def _as_read(self, wanted: str) -> str:
        found = inline_marks(wanted) if self._is_markdown else ()
        return Folded(wanted, [mark for mark in found if not mark.loose]).text.strip()

    @cached_property
    def _lowered(self) -> str:
        """In small letters, unless some of them are more than one then: offsets have to stay."""
        lowered = self.reading.text.casefold()
        return lowered if len(lowered) == len(self.reading.text) else self.reading.text

    def _quote(self, start: int, end: int) -> Quote:
        return Quote(text=self._body[start:end], start=start, end=end)

    def _to_words(self, start: int, end: int) -> tuple[int, int]:
        """Grown in what is read by the rest of the words that it cuts, if they are no longer than words are."""
        most, text = 20, self.reading.text
        left = start
        while left > 0 and start - left < most and text[left - 1] != " ":
            left -= 1
        right = end
        while right < len(text) and right - end < most and text[right] != " ":
            right += 1
        return left, right


def find_quotes(body: str, wanted: Sequence[str], *, markdown: bool = False) -> tuple[Quote, ...]:
    """Each wanted text that stands in the body, as the body has it and without duplicates."""
    quoted = QuotedBody(body, markdown=markdown)
    found = filter(None, map(quoted.find, wanted))
    return tuple({(quote.start, quote.end): quote for quote in found}.values())


def _likeliest_start(text: str, body: str) -> int | None:
    """Where most of the text's trigrams would have it begin in the body, to within a quarter of its length.

    A vote counts for less, the more places a trigram stands in.
    """
    stride = max(4, len(text) // 4)
    votes: dict[int, float] = defaultdict(float)
    starts: dict[int, list[int]] = defaultdict(list)
    last = len(text) - _GRAM
    for position in range(0, last + 1, max(1, last // _MOST_VOTERS)):
        places = _places(text[position : position + _GRAM], body)
        for place in places:
            bucket = (place - position) // stride
            votes[bucket] += 1 / len(places)
            starts[bucket].append(place - position)
    if not votes:
        return None
    best = max(votes, key=lambda bucket: (votes[bucket] + votes.get(bucket + 1, 0.0), -bucket))
    near = sorted(starts[best] + starts.get(best + 1, []))
    return near[len(near) // 2]


def _places(gram: str, body: str) -> list[int]:
    """Where it stands; nowhere, when that is nearly everywhere."""
    places: list[int] = []
    place = body.find(gram)
    while place >= 0 and len(places) < _MOST_PLACES:
        places.append(place)
        place = body.find(gram, place + 1)
    return places if len(places) < _MOST_PLACES else []


def _shared(text: str, passage: str) -> float:
    """Which part of the text's trigrams the passage has."""
    wanted, there = _grams(text), _grams(passage)
    return sum((wanted & there).values()) / max(1, sum(wanted.values()))


def _grams(text: str) -> Counter[str]:
    return Counter(text[position : position + _GRAM] for position in range(len(text) - _GRAM + 1))
