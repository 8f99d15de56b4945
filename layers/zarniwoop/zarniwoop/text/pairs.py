"""Queries that are passed on in a language where marks mean something: marks in pairs, and filters as words beside.

Quirk: Google heeds no brackets, so that an OR at the beginning joins what stands before them.
"""

import re
from collections.abc import Sequence

_MARK = re.compile(r'[()\[\]"]')
_OPENER = {")": "(", "]": "["}
_BRACKET = re.compile(r"[()\[\]]")
_JOINS_BEFORE = re.compile(r"[\s()\[\]]*(?:(?:OR|AND)(?![^\s()\[\]|&])|[|&])")
_JOINS_BEHIND = re.compile(r"(?:(?<![^\s()\[\]|&])(?:OR|AND|NOT|-)|[|&])[\s()\[\]]*\Z")


def paired(query: str) -> str:
    """The query as it was written, or without any of these marks when one of them lacks its partner.

    Nothing that is appended then falls into a phrase or a bracket.
    """
    return query if _is_paired(query) else _MARK.sub(" ", query)


def behind(filters: Sequence[str], query: str) -> str:
    """The filters as words, and behind them the query, none of whose operators reaches them; without any, the query.

    A quote or bracket without its partner goes, and so does an operator at an end, which would join a filter.
    """
    return " ".join(filter(None, (*filters, _whole(query)))) if filters else query


def _whole(query: str) -> str:
    whole = paired(query)
    while (joint := _JOINS_BEFORE.match(whole)) or (joint := _JOINS_BEHIND.search(whole)):
        left = f"{whole[: joint.start()]} {whole[joint.end() :]}".strip()
        whole = _BRACKET.sub(" ", left) if _BRACKET.search(joint.group()) else left
    return whole if whole is query else whole.strip()


def has_words(query: str) -> bool:
    return bool(_MARK.sub("", query).strip())


def _is_paired(text: str) -> bool:
    if text.count('"') % 2:
        return False
    waiting: list[str] = []
    for mark in _MARK.findall("".join(text.split('"')[::2])):
        if mark in "([":
            waiting.append(mark)
        elif not waiting or waiting.pop() != _OPENER[mark]:
            return False
    return not waiting
