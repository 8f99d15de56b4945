"""The part of a passage that shows why it was found."""

import re
from unicodedata import category

from zarniwoop.documents.words import Terms
from zarniwoop.text.normal_form import normal_form

SNIPPET_CHARS = 320
_WORD = re.compile(r"\w+", re.UNICODE)
_STEM = 4


def snippet(text: str, terms: Terms) -> str:
    """A stretch of whole words where the most different terms stand, with an ellipsis where it was cut."""
    shown = " ".join(text.split())
    if len(shown) <= SNIPPET_CHARS:
        return shown
    start = _best_start(shown, _shown_words(terms))
    end = min(len(shown), start + SNIPPET_CHARS)
    if end < len(shown):
        space = shown.rfind(" ", start, end)
        end = space if space > start + SNIPPET_CHARS // 2 else end
    return ("…" if start else "") + shown[start:end].strip() + ("…" if end < len(shown) else "")


def _shown_words(terms: Terms) -> set[str]:
    return {_folded(word) for term in (*terms.required, *terms.words) for word in term.split()}


def _best_start(text: str, terms: set[str]) -> int:
    """The earliest of the stretches that begin at a word and hold the most different terms."""
    places = [(found.start(), _folded(found[0])) for found in _WORD.finditer(text)]
    hits = [(start, term) for start, word in places for term in terms if _means(word, term)]
    if not hits:
        return 0
    counted = [
        len({term for start, term in hits if first <= start < first + SNIPPET_CHARS * 3 // 4}) for first, _ in hits
    ]
    first = hits[counted.index(max(counted))][0]
    lead = [start for start, _ in places if first - SNIPPET_CHARS // 5 <= start <= first]
    return 0 if first <= SNIPPET_CHARS // 5 else lead[0]


def _means(word: str, term: str) -> bool:
    """Roughly what the index means by the same word: its beginning, or a part of an unspaced script."""
    if not term.isascii() and len(term) <= _STEM and term in word:
        return True
    stem = term[: max(_STEM, len(term) - 2)]
    return word.startswith(stem) and len(word) <= len(term) + 3


def _folded(text: str) -> str:
    return "".join(mark for mark in normal_form("NFKD", text.casefold()) if category(mark) != "Mn")
