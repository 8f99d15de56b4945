"""Text in the one form in which it is stored, and in which all offsets count: NFC, plain line ends, nothing unseen."""

import re

from zarniwoop.text.invisible import CONTROLS, SOFT_HYPHEN, SPACE_CONTROLS, ZERO_WIDTH
from zarniwoop.text.normal_form import normal_form

_INVISIBLE = re.compile(f"[{CONTROLS}{SPACE_CONTROLS}{SOFT_HYPHEN}{ZERO_WIDTH}]")
_NEWLINE = re.compile("\r\n?|\u2028|\u2029|\x0c")
_GAP = re.compile(r"\n{3,}")


def tidied(text: str) -> str:
    """Composed characters, plain line ends, nothing invisible."""
    text = normal_form("NFC", _INVISIBLE.sub("", _NEWLINE.sub("\n", text)))
    return _GAP.sub("\n\n", "\n".join(line.rstrip() for line in text.split("\n"))).strip()
