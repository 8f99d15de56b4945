"""What an extractor left out in the middle of what it found, told by its neighbours, and whether it kept the order.

Extractors judge every block by itself, and take short ones for clutter: a heading goes although its section stays, the
first item of a list goes although the others stay. Both stand in the page's own text, between lines that were found.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from zarniwoop.extract.markdown import Written
from zarniwoop.extract.weigh import words_of

_HEADING = re.compile(r"#{2,6} (?!.*\]\()")
_ITEM = re.compile(r"\s{0,40}(?:- |\d{1,7}\. )")
_FENCE = "```"
_MOST_PIECES = 20_000
_LEAST_PIECE = 20
_MOST_MISPLACED = 0.15


def with_gaps_filled(article: Written, own: Written) -> Written:
    """The article with the headings, list items and code that stand on the page between what it has.

    Code that both have is taken from the page: extractors lose its indentation.
    """
    pieces, wanted = _pieces(article.text), _pieces(own.text)
    if not pieces or max(len(pieces), len(wanted)) > _MOST_PIECES:
        return article
    places = {_plain(piece): place for place, piece in reversed(list(enumerate(pieces)))}
    found = [places.get(_plain(piece)) for piece in wanted]
    code = {place: piece for place, piece in zip(found, wanted, strict=True) if piece.startswith(_FENCE)}
    before = _before(wanted, found)
    behind = _behind(wanted, found)
    return _filled(article, [code.get(place, piece) for place, piece in enumerate(pieces)], before, behind)


def is_in_order(article: Written, own: Written) -> bool:
    """Whether what was found stands as it does on the page, but for a few lines."""
    wanted = [_plain(piece) for piece in _pieces(own.text)[:_MOST_PIECES]]
    once = Counter(wanted)
    places = {text: place for place, text in enumerate(wanted) if once[text] == 1 and len(text) >= _LEAST_PIECE}
    found = [places[text] for piece in _pieces(article.text) if (text := _plain(piece)) in places]
    rising: list[int] = []
    for place in found:
        at = bisect_left(rising, place)
        rising[at : at + 1] = [place]
    return len(found) - len(rising) <= _MOST_MISPLACED * len(found)


def _before(wanted: Sequence[str], found: list[int | None]) -> dict[int, list[str]]:
    """What is missing and belongs with what follows it, by its follower's place, which it is given."""
    filled: dict[int, list[str]] = {}
    for number in range(len(wanted) - 2, -1, -1):
        piece, place = wanted[number], found[number + 1]
        if found[number] is not None or place is None:
            continue
        between = piece.startswith(_FENCE) and number and found[number - 1] is not None
        if between or _HEADING.match(piece) or (_ITEM.match(piece) and _ITEM.match(wanted[number + 1])):
            filled.setdefault(place, []).append(piece)
            found[number] = place
    return {place: pieces[::-1] for place, pieces in filled.items()}


def _behind(wanted: Sequence[str], found: list[int | None]) -> dict[int, list[str]]:
    """Missing items of lists that follow one that is there."""
    filled: dict[int, list[str]] = {}
    for number in range(1, len(wanted)):
        place = found[number - 1]
        if (
            found[number] is None
            and place is not None
            and _ITEM.match(wanted[number])
            and _ITEM.match(wanted[number - 1])
        ):
            filled.setdefault(place, []).append(wanted[number])
            found[number] = place
    return filled


def _filled(
    article: Written, pieces: Sequence[str], before: Mapping[int, list[str]], behind: Mapping[int, list[str]]
) -> Written:
    text: list[str] = []
    end = 0
    for place, ((start, until), piece) in enumerate(zip(_spans(article.text), pieces, strict=True)):
        text += [article.text[end:start]]
        text += [each + _gap(each, piece) for each in before.get(place, ())]
        text += [piece, *("\n" + each for each in behind.get(place, ()))]
        end = until
    added = [each for filled in (*before.values(), *behind.values()) for each in filled]
    chars = sum(len("".join(words_of(each).split())) for each in added)
    return replace(article, text="".join((*text, article.text[end:])), chars=article.chars + chars)


def _gap(piece: str, follower: str) -> str:
    return "\n" if _ITEM.match(piece) and _ITEM.match(follower) else "\n\n"


def _pieces(text: str) -> list[str]:
    return [text[start:end] for start, end in _spans(text)]


def _spans(text: str) -> list[tuple[int, int]]:
    """Where lines that are not blank, and blocks of code, begin and end."""
    spans: list[tuple[int, int]] = []
    fence, opened, start = "", 0, 0
    for line in text.split("\n"):
        end = start + len(line)
        if fence and line == fence:
            spans.append((opened, end))
            fence = ""
        elif not fence and line.startswith(_FENCE):
            fence, opened = line[: len(line) - len(line.lstrip("`"))], start
        elif not fence and line.strip():
            spans.append((start, end))
        start = end + 1
    return [*spans, (opened, len(text))] if fence else spans


def _plain(piece: str) -> str:
    """What two writers of the same piece agree on."""
    code = piece.startswith(_FENCE)
    return "".join(piece.split("\n", 1)[-1].strip("`").split()) if code else " ".join(words_of(piece).split())
