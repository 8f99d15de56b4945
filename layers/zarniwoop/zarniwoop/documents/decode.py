"""Bytes of a text file to text: UTF-8, what a byte order mark says, or what a page declares; never a guess.

A guessed encoding is indexed as words that nobody searches for, so a file without a known one is refused.
"""

from zarniwoop.documents.kinds import DocumentRefused, Reason
from zarniwoop.extract.charset import declared, marked

_MOST_CONTROLS = 0.01


def decoded(raw: bytes, *, declares: bool = False) -> str:
    """The text. `declares`: a page may name its encoding itself. Raises DocumentRefused."""
    text = _decoded(raw, declares=declares)
    controls = sum(map(text.count, "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x0e\x0f\x1a"))
    if controls > len(text) * _MOST_CONTROLS:
        raise DocumentRefused(Reason.UNKNOWN_ENCODING)
    return text


def _decoded(raw: bytes, *, declares: bool) -> str:
    encoding, rest = marked(raw) or ("utf-8", raw)
    for tried in (encoding, declared(raw) if declares else None):
        try:
            if tried:
                return rest.decode(tried)
        except UnicodeError:
            continue
    raise DocumentRefused(Reason.UNKNOWN_ENCODING)
