"""Characters that no reader sees: taken out of a stranger's text, and counted.

Joiners stay where they shape letters or emoji (Persian, the scripts of India, families of emoji); elsewhere they only
cut words apart for whoever compares them. Soft hyphens go without being counted: pages are full of honest ones.
"""

import re
from collections import Counter

from zarniwoop.extract.styles import Hidden
from zarniwoop.text.invisible import (
    CONTROLS,
    DIRECTION,
    FILLERS,
    JOINERS,
    MORE_SELECTORS,
    SELECTORS,
    SOFT_HYPHEN,
    TAGS,
    ZERO_WIDTH,
)

_JOINED = (
    "\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17ff\ufe0f"
    "\U0001f000-\U0001faff\u2600-\u27bf"
)
_KINDS = (
    (
        Hidden.ZERO_WIDTH,
        re.compile(
            f"[{ZERO_WIDTH}{FILLERS}{MORE_SELECTORS}]|(?<=[{SELECTORS}])[{SELECTORS}]|(?<![{_JOINED}])[{JOINERS}]"
        ),
    ),
    (Hidden.BIDI, re.compile(f"[{DIRECTION}]")),
    (Hidden.TAG_CHARACTER, re.compile(f"[{TAGS}]")),
)
_NEVER = re.compile(f"[{CONTROLS}\x0b\x1c-\x1f{SOFT_HYPHEN}]")


def seen(text: str, counts: Counter[str]) -> str:
    """The text as a reader sees it; what went is added to the counts."""
    if text.isascii() and text.isprintable():
        return text
    if not text.isascii():
        for kind, pattern in _KINDS:
            text, times = pattern.subn("", text)
            if times:
                counts[kind.value] += times
    return _NEVER.sub("", text)


def smuggled(text: str) -> str:
    """What is written in tag characters, as ASCII: whole sentences stand there that only a model reads."""
    return "".join(chr(ord(each) - 0xE0000) for each in text if 0xE0020 <= ord(each) <= 0xE007E)
