"""PubMed's query language: words and phrases with [tags], AND, OR, NOT, parentheses, date ranges.

https://pubmed.ncbi.nlm.nih.gov/help/#search-tags
Quirk: untagged words must all occur; without `sort=relevance` the newest come first.
"""

import re
from collections.abc import Callable, Mapping

from tests.simulator.corpus import Work, first_day
from tests.simulator.formats.boolean import OPERATORS, Rows, rows_of
from tests.simulator.index import STOP_WORDS, Shelf

_RANGE = re.compile(r'"?([\d/]{4,10})"?\s*(?:\[[^\]]*\])?\s*:\s*"?([\d/]{4,10})"?\s*\[[^\]]*\]')
_TOKEN = re.compile(r'[()]|[\d/]{4,10}:[\d/]{4,10}\[dp\]|"[^"]*"(?:\s*\[[^\]]*\])?|[^\s()\[\]"]+(?:\s*\[[^\]]*\])?')
_TAGGED = re.compile(r"(?P<text>.*?)\s*(?:\[(?P<tag>[^\]]*)\])?", re.DOTALL)
_DATE_RANGE = re.compile(r"([\d/]+):([\d/]+)\[dp\]")
_COLUMNS = {"ti": "title", "title": "title", "au": "authors", "author": "authors", "ab": "body", "abstract": "body"}
_LANGUAGES = {"english": "en", "eng": "en", "en": "en", "german": "de", "ger": "de", "de": "de"}


def found_by(asked: Mapping[str, str], works: Shelf[Work]) -> list[Work]:
    """The works with a PMID that the esearch parameters find, in the order that they ask for."""
    term = _RANGE.sub(lambda found: f"{found[1]}:{found[2]}[dp]", asked["term"])
    tokens = _TOKEN.findall(term)
    try:
        rows = rows_of(tokens, lambda token: _leaf(token, works))
    except ValueError:
        rows = rows_of([token for token in tokens if token not in OPERATORS], lambda token: _leaf(token, works))
    rows &= _within(asked.get("mindate", ""), asked.get("maxdate", ""), works)
    words = [_split(token)[0] for token in tokens if token not in OPERATORS]
    found = [works.items[row] for row in works.best_first(rows, words) if works.items[row].pmid]
    if asked.get("sort") == "relevance":
        return found
    return sorted(found, key=lambda work: work.published, reverse=True)


def _leaf(token: str, works: Shelf[Work]) -> Rows:
    dates = _DATE_RANGE.fullmatch(token)
    if dates:
        return _within(dates[1], dates[2], works)
    text, tag = _split(token)
    if tag in ("la", "lang", "language"):
        return _rows(works, lambda work: work.language == _LANGUAGES.get(text.lower()))
    if tag in ("dp", "pdat", "date - publication"):
        return _within(text, text, works)
    if tag in ("pt", "publication type"):
        return _rows(works, lambda work: work.is_retracted or "retracted" not in text.lower())
    if tag in ("uid", "pmid"):
        return _rows(works, lambda work: work.pmid == text)
    if text.lower() in STOP_WORDS:
        return frozenset(range(len(works.items)))
    return works.holding(text, _COLUMNS.get(tag))


def _split(token: str) -> tuple[str, str]:
    found = _TAGGED.fullmatch(token)
    if found is None:
        return token, ""
    return found["text"].strip('"'), (found["tag"] or "").lower()


def _within(earliest: str, latest: str, works: Shelf[Work]) -> Rows:
    """Rows between two dates as NCBI writes them (2019, 2019/01 or 2019/01/31), both inclusive; "" is open."""
    low, high = earliest.replace("/", "-"), latest.replace("/", "-")

    def lies_within(work: Work) -> bool:
        day = first_day(work.published)
        return (not low or day >= low) and (not high or day[: len(high)] <= high)

    return _rows(works, lies_within)


def _rows(works: Shelf[Work], test: Callable[[Work], bool]) -> Rows:
    return frozenset(row for row, work in enumerate(works.items) if test(work))
