"""Quotation marks and brackets in pairs, for queries that are passed on in a language where they mean something."""

import re

_MARK = re.compile(r'[()\[\]"]')
_OPENER = {")": "(", "]": "["}


def paired(query: str) -> str:
    """The query as it was written, or without any of these marks when one of them lacks its partner.

    Nothing that is appended then falls into a phrase or a bracket.
    """
    return query if _is_paired(query) else _MARK.sub(" ", query)


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
