"""Strangers' words made harmless for a terminal: what would move its cursor, colour it or turn its text round is shown.

A title or a page may hold escape sequences that rename the window, write to the clipboard or overwrite what was said
before. Nothing of them reaches the terminal: control characters become their visible pictures (`␛`), those that have
none, what reorders text (Trojan Source), and letters that are not shown at all, become `�`.
"""

import json
import re

_PICTURES = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"} | {0x7F: 0x2421}
_REORDERING = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_TAGS = range(0xE0000, 0xE0080)
"""Letters that no terminal shows, and a model reads."""
_UNSEEN = (*range(0x80, 0xA0), *_REORDERING, 0xFEFF, *_TAGS)
_TABLE: dict[int, int | str] = {**_PICTURES, **dict.fromkeys(_UNSEEN, 0xFFFD), 0x2028: "\n", 0x2029: "\n"}
_RAW_IN_JSON = re.compile(f"[\x7f\u2028\u2029{''.join(map(chr, _UNSEEN))}]")


def lines(text: object) -> str:
    """Text of several lines."""
    return str(text).replace("\r\n", "\n").translate(_TABLE)


def line(text: object) -> str:
    """Text as a single line."""
    return " ".join(lines(text).split())


def escaped(document: str) -> str:
    """The same JSON with those characters spelt out that JSON lets stand and a terminal may obey."""
    return _RAW_IN_JSON.sub(lambda found: json.dumps(found.group())[1:-1], document)
