"""What of a text is searched for, and a user's query as an FTS5 expression that cannot be anything else.

The tokenizer is `porter unicode61 remove_diacritics 2`: letters and digits of every script, case and accents folded,
English endings cut ("bells" finds "bell"; other languages lose an `-s` here and there, on both sides alike). It takes
Chinese, Japanese, Korean and Thai for one long word, because no blanks stand between theirs. So each of their
characters is set apart, in the index and in the query, where several side by side are a phrase: two characters find
what a trigram tokenizer needs three for, and the index does not grow to three times its size.
https://www.sqlite.org/fts5.html
Quirk: FTS5's own operators (AND, NOT, NEAR, `*`, `^`, `col:`) are words here: every term goes in as a quoted string.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from zarniwoop.text.normal_form import normal_form

TOKENIZER = "porter unicode61 remove_diacritics 2"
MOST_TERMS = 24
_UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u3040-\u30ff\u31f0-\u31ff"  # Japanese syllables
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Chinese characters
    "\uac00-\ud7af"  # Korean syllables
)
_CHARACTER = re.compile(f"([{_UNSPACED}])")
_QUERY = re.compile(r'(?P<sign>-?)"(?P<phrase>[^"]*)"|(?P<other>\S+)')
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*", re.UNICODE)
_SPACED = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """A query's parts, each a string for FTS5: `required` phrases, words of which any will do, and what is excluded."""

    required: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.required or self.words)


def searchable(text: str) -> str:
    """The text as it is indexed, and as a query is asked: full-width forms narrowed, unspaced scripts set apart."""
    folded = normal_form("NFKC", text)
    return folded if folded.isascii() else _CHARACTER.sub(r" \1 ", folded)


def terms_of(query: str) -> Terms:
    """Phrases in double quotes are required, `-word` and `-"a phrase"` are excluded, of the rest any will do."""
    required: list[str] = []
    words: list[str] = []
    excluded: list[str] = []
    for found in _QUERY.finditer(normal_form("NFKC", query)):
        if found["phrase"] is not None:
            (excluded if found["sign"] else required).extend(_phrases(found["phrase"]))
        elif found["other"].startswith("-") and len(found["other"]) > 1:
            excluded.extend(_words(found["other"]))
        else:
            words.extend(_words(found["other"]))
    if not required and not words:
        words, excluded = excluded, []
    return Terms(required=_first(required), words=_first(words), excluded=_first(excluded))


def telling(terms: Terms, is_common: Callable[[str], bool]) -> Terms:
    """Without the words that stand everywhere (asked as FTS5 would be), unless there is nothing else to go by."""
    if len(terms.words) == 1 and not terms.required:
        return terms
    words = tuple(word for word in terms.words if not is_common(quoted(word)))
    return replace(terms, words=words) if words or terms.required else terms


def expression(terms: Terms, *, every_word: bool = False) -> str:
    """The MATCH expression for a single passage: any of the words, or all of them. Raises ValueError for no terms."""
    if not terms:
        raise ValueError("a search needs a word")
    parts = [quoted(phrase) for phrase in terms.required]
    if words := (" AND " if every_word else " OR ").join(map(quoted, terms.words)):
        parts.append(f"({words})")
    wanted = " AND ".join(parts)
    unwanted = " OR ".join(map(quoted, terms.excluded))
    return f"({wanted}) NOT ({unwanted})" if unwanted else wanted


def quoted(term: str) -> str:
    """A term as FTS5's string, which is a phrase of whatever tokens it has."""
    return '"' + searchable(term).replace('"', '""').strip() + '"'


def _phrases(text: str) -> Iterator[str]:
    phrase = " ".join(_WORD.findall(text))
    if phrase:
        yield phrase


def _words(text: str) -> Iterator[str]:
    """Words, and runs of an unspaced script; a long run is cut into overlapping pairs, since nobody writes it twice."""
    for word in _WORD.findall(text):
        for run in _SPACED.findall(word):
            if _CHARACTER.match(run) and len(run) > 3:
                yield from (run[place : place + 2] for place in range(len(run) - 1))
            else:
                yield run


def _first(terms: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(terms))[:MOST_TERMS]
