"""arXiv's query language: what of a user's words is asked, and in which form.

Documented at https://info.arxiv.org/help/api/user-manual.html#51-details-of-query-construction
Quirk: a hyphen inside a word is read as NOT (arXiv/arxiv-search issue 322), so words are cut there.
"""

import re

from zarniwoop.contract.failure import QueryRejected
from zarniwoop.contract.request import DateRange

_ID = re.compile(
    r"(?:https?://(?:www\.|export\.)?arxiv\.org/(?:abs|pdf)/|arxiv:|(?:https?://doi\.org/)?10\.48550/arxiv\.)?"
    r"((?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?/\d{7})(?:v\d+)?)(?:\.pdf)?",
    re.IGNORECASE | re.ASCII,
)
_TERM = re.compile(r"\b(cat):(\w+(?:[.-]\w+)*)|(?:\b(ti|au|abs|co|jr|rn|all):)?(\w+)")
_BOOLEAN = re.compile(r"\b(?:(?:AND)?NOT\s+\S+|(?:AND|OR)\b)")
_LOST = re.compile(r"\b(?:NOT\s|ANDNOT\s|OR\b)")
_SAYS_NOTHING = re.compile(
    r"all:(?:an?|and|are|as|at|be|by|can|do|does|for|from|how|in|is|it|not|of|on|or|the|to|what|which|why|with)"
)


def asked_ids(query: str) -> list[str]:
    """The ids when the query consists of arXiv ids, their URLs or their DOIs and nothing else; else none."""
    found = [_ID.fullmatch(word) for word in re.split(r"[\s,;]+", query.strip())]
    ids = [match[1] for match in found if match]
    return ids if len(ids) == len(found) else []


def search_query(query: str, published: DateRange | None) -> str:
    """Every telling word in its field, all of them wanted, and the days of the first submission.

    Only word characters pass (and the dots and hyphens of a category), so nothing the user wrote can break the query.
    """
    words = _TERM.finditer(_BOOLEAN.sub(" ", query))
    clauses = [f"{match[1] or match[3] or 'all'}:{match[2] or match[4].lower()}" for match in words]
    if not clauses:
        raise QueryRejected("the query has no word to search for")
    telling = [clause for clause in clauses if not _SAYS_NOTHING.fullmatch(clause)] or clauses
    asked = list(dict.fromkeys(telling))
    return " AND ".join([*asked, _submitted(published)] if published else asked)


def what_was_left_out(query: str) -> str | None:
    """A sentence for the caller whose OR and NOT were not asked as they stand."""
    if _LOST.search(query):
        return "arXiv was asked for all words: OR was read as AND, and what follows NOT was left out"
    return None


def _submitted(published: DateRange) -> str:
    """arXiv takes no open end, so one before its first paper or far ahead stands for it."""
    earliest = f"{published.earliest:%Y%m%d}" if published.earliest else "19850101"
    latest = f"{published.latest:%Y%m%d}" if published.latest else "29991231"
    return f"submittedDate:[{earliest}0000 TO {latest}2359]"
