"""Unicode's normal forms of what others wrote, in linear time.

https://www.unicode.org/reports/tr15/#Stream_Safe_Text_Format
Quirk: CPython sorts the marks behind a letter by insertion, without a bound and holding its lock: 200 KB of them take
15 seconds. No language has more than 30 in a row; those behind are dropped.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Literal

MOST_MARKS = 30
_LONG_RUN = re.compile(rf"[\W\uff9e\uff9f]{{{MOST_MARKS + 1},}}")
"""Marks are no letters, but for two; what else is found here is looked at and stays."""


def normal_form(form: Literal["NFC", "NFKC", "NFKD"], text: str) -> str:
    """The text without endless marks, in this form. Twice changes nothing."""
    if text.isascii():
        return text
    return stream_safe(unicodedata.normalize(form, stream_safe(text)))


def stream_safe(text: str) -> str:
    """The text with at most 30 marks in a row."""
    return text if text.isascii() else _LONG_RUN.sub(_shortened, text)


def _shortened(run: re.Match[str]) -> str:
    kept: list[str] = []
    marks = 0
    for character in run.group():
        marks = marks + 1 if _is_mark(character) else 0
        if marks <= MOST_MARKS:
            kept.append(character)
    return "".join(kept)


@lru_cache(maxsize=4_096)
def _is_mark(character: str) -> bool:
    """Whether it is sorted by itself, or what it comes apart into is."""
    return unicodedata.combining(unicodedata.normalize("NFKD", character)[0]) != 0
