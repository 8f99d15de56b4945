"""Words of any language, and how well texts answer a handful of them (Okapi BM25).

S. Robertson and H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009; rarity as in Lucene, so
that a word which every text has counts little but never against a text.
Quirk: scripts that write no spaces, and Korean with its glued particles, are cut into overlapping pairs of characters.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import log

from zarniwoop.text.normal_form import normal_form

_ACCENT = re.compile("[\u0300-\u036f]")
_WORD = re.compile("(?:[^\\W_]|[\u064b-\u065f\u0900-\u0963\u0966-\u0fff\u1000-\u1049\u1780-\u17d3])+")
_PAIRED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUN = re.compile(f"([{_PAIRED}]+)|[^{_PAIRED}]+")
_SATURATION = 1.2
_LENGTH_MATTERS = 0.75


def words(text: str) -> list[str]:
    """The words in order, in lower case, without Latin, Greek or Cyrillic accents: `Müllers café` is mullers, cafe."""
    folded = text.casefold()
    if not folded.isascii():
        folded = normal_form("NFKC", _ACCENT.sub("", normal_form("NFKD", folded)))
    return _WORD.findall(folded)


def terms(text: str) -> list[str]:
    """What texts are compared by: words without their English plural, pairs of characters where nothing is spaced."""
    found: list[str] = []
    for word in words(text):
        if word.isascii():
            found.append(_singular(word))
            continue
        for run in _RUN.finditer(word):
            found.extend(_pairs(run.group()) if run.group(1) else (run.group(),))
    return found


def rarity(asked: Iterable[str], texts: Sequence[Sequence[str]]) -> dict[str, float]:
    """For each asked term how telling it is, by the number of texts that have it; always above 0."""
    holding = Counter(term for text in texts for term in set(text))
    count = len(texts)
    return {term: log(1 + (count - holding[term] + 0.5) / (holding[term] + 0.5)) for term in asked}


def scores(telling: Mapping[str, float], texts: Sequence[Sequence[str]]) -> list[float]:
    """The score of each text for the terms of `rarity`. A text of average length that has each once gets their sum."""
    average = sum(map(len, texts)) / len(texts) if texts else 0.0
    return [_score(telling, text, average) for text in texts]


def _score(telling: Mapping[str, float], text: Sequence[str], average: float) -> float:
    counts = Counter(text)
    long_winded = _SATURATION * (1 - _LENGTH_MATTERS + _LENGTH_MATTERS * len(text) / average) if average else 0.0
    return sum(
        weight * counts[term] * (_SATURATION + 1) / (counts[term] + long_winded)
        for term, weight in telling.items()
        if counts[term]
    )


def _singular(word: str) -> str:
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is", "news")):
        return word
    return word[:-3] + "y" if word.endswith("ies") and len(word) > 4 else word[:-1]


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]
