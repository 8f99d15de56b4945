"""How much a text says: characters, where an ideograph or a syllable counts as much as a short word."""

import re

_HEAVY = re.compile("[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]")
_LINK = re.compile(r"\[([^\[\]]{0,400})\]\([^()\s]{0,2100}\)")
_MARKS = re.compile(r"^(?:#{1,6} |[>\s]+|- |\d{1,7}\. |\|[\s|:-]+\|$)", re.MULTILINE)
_HEAVY_WEIGHT = 3


def text_weight(text: str) -> int:
    """In letters of a Latin text."""
    length = len(text) - text.count(" ") - text.count("\n")
    return length if text.isascii() else length + (_HEAVY_WEIGHT - 1) * len(_HEAVY.findall(text))


def words_of(markdown: str) -> str:
    """Markdown without its marks: the words that a reader sees, line by line."""
    text = _LINK.sub(r"\1", markdown) if "](" in markdown else markdown
    return _MARKS.sub("", text).replace("`", "").replace("\\|", "|")
