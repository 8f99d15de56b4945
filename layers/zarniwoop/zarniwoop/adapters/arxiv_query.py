"""arXiv's query language: what of a user's words is asked, and in which form.

Documented at https://info.arxiv.org/help/api/user-manual.html#51-details-of-query-construction
Quirk: a hyphen inside a word is read as NOT (arXiv/arxiv-search issue 322), so words are cut there; a phrase in quotes
stays one, with its field: `au:"Del Maestro"`.
"""

import re

from zarniwoop.contract.failure import QueryRejected
from zarniwoop.contract.request import DateRange

_ID = re.compile(
    r"(?:https?://(?:www\.|export\.)?arxiv\.org/(?:abs|pdf)/|arxiv:|(?:https?://doi\.org/)?10\.48550/arxiv\.)?"
    r"((?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?/\d{7})(?:v\d+)?)(?:\.pdf)?",
    re.IGNORECASE | re.ASCII,
)
_LEFT_OUT = r'\b(?:AND)?NOT\s+(?:\w+:)?(?:"[^"]*"|\S+)|\b(?:AND|OR)\b'
_PHRASE = r'(?:\b(?P<of>ti|au|abs|co|jr|rn|all):\s*)?"(?P<phrase>[^"]*)"'
_TERM = r'\bcat:"?(?P<category>\w+(?:[.-]\w+)*)"?|(?:\b(?P<field>ti|au|abs|co|jr|rn|all):)?(?P<word>\w+)'
_TOKEN = re.compile(f"{_LEFT_OUT}|{_PHRASE}|{_TERM}")
_QUOTES = str.maketrans("“”„‟", '""""')
_QUOTED = re.compile(r'"[^"]*"')
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
    """Every telling word and every phrase in its field, all of them wanted, and the days of the first submission.

    Only word characters pass (and the dots and hyphens of a category), so nothing the user wrote can break the query.
    """
    clauses = [clause for match in _TOKEN.finditer(_in_pairs(query)) if (clause := _clause(match))]
    if not clauses:
        raise QueryRejected("the query has no word to search for")
    telling = [clause for clause in clauses if not _SAYS_NOTHING.fullmatch(clause)] or clauses
    asked = list(dict.fromkeys(telling))
    return " AND ".join([*asked, _submitted(published)] if published else asked)


def _in_pairs(query: str) -> str:
    """The query with straight quotation marks, and without the last one where it has no partner."""
    straight = query.translate(_QUOTES)
    if straight.count('"') % 2 == 0:
        return straight
    before, _, after = straight.rpartition('"')
    return before + after if before.endswith(":") else f"{before} {after}"


def _clause(match: re.Match[str]) -> str | None:
    category, field, word, phrase = match.group("category", "field", "word", "phrase")
    if category:
        return f"cat:{category}"
    if word:
        return f"{field or 'all'}:{word.lower()}"
    words = re.findall(r"\w+", phrase.lower()) if phrase else []
    if not words:
        return None
    return f"{match['of'] or 'all'}:" + (f'"{" ".join(words)}"' if len(words) > 1 else words[0])


def what_was_left_out(query: str) -> str | None:
    """A sentence for the caller whose OR, NOT or lonely quotation mark was not asked as it stands."""
    unquoted = _QUOTED.sub(" ", query.translate(_QUOTES))
    notes = []
    if _LOST.search(unquoted):
        notes.append("arXiv was asked for all words: OR was read as AND, and what follows NOT was left out")
    if '"' in unquoted:
        notes.append("a quotation mark without its partner was left out: what follows it was asked word by word")
    return "; ".join(notes) or None


def _submitted(published: DateRange) -> str:
    """arXiv takes no open end, so one before its first paper or far ahead stands for it."""
    earliest = f"{published.earliest:%Y%m%d}" if published.earliest else "19850101"
    latest = f"{published.latest:%Y%m%d}" if published.latest else "29991231"
    return f"submittedDate:[{earliest}0000 TO {latest}2359]"
