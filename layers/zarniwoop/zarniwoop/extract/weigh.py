"""How much a text says: characters, where an ideograph or a syllable counts as much as a short word."""

import re

_HEAVY = re.compile("[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]")
LINK = re.compile(r"\[([^\[\]\n]{0,400})\]\([^()\s]{1,2100}\)")
"""A link as our writer leaves it: on one line."""
_ANY_LINK = re.compile(r"\[([^\[\]]{0,400})\]\([^()\s]{0,2100}\)")
_MARKS = re.compile(r"^(?:#{1,6} |[>\s]+|- |\d{1,7}\. |\|[\s|:-]+\|$)", re.MULTILINE)
_HEAVY_WEIGHT = 3


def text_weight(text: str) -> int:
    """In letters of a Latin text."""
    length = len(text) - text.count(" ") - text.count("\n")
    return length if text.isascii() else length + (_HEAVY_WEIGHT - 1) * len(_HEAVY.findall(text))


def letters(text: str) -> int:
    """As many as are seen: blanks do not count."""
    return len(text) - text.count(" ")


def words_of(markdown: str) -> str:
    """Markdown without its marks: the words that a reader sees, line by line."""
    text = _ANY_LINK.sub(r"\1", markdown) if "](" in markdown else markdown
    return _MARKS.sub("", text).replace("`", "").replace("\\|", "|")
