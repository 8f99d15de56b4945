"""Bytes of a text file to text: UTF-8, what a byte order mark says, or what a page declares; never a guess.

A guessed encoding is indexed as words that nobody searches for, so a file without a known one is refused.
"""

import codecs
import re
from unicodedata import normalize

from zarniwoop.documents.kinds import DocumentRefused, Reason
from zarniwoop.stores.content_text import known_charset

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DECLARED = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([A-Za-z0-9._:-]{1,40})", re.IGNORECASE)
_INVISIBLE = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\u00ad\u200b\u2060\ufeff\ud800-\udfff]")
_NEWLINE = re.compile("\r\n?|\u2028|\u2029|\x0c")
_BLANK = re.compile(r"[^\S\n]+\n")
_GAP = re.compile(r"\n{3,}")
_MOST_CONTROLS = 0.01


def decoded(raw: bytes, *, declares: bool = False) -> str:
    """The text. `declares`: a page may name its encoding itself. Raises DocumentRefused."""
    text = _decoded(raw, declares=declares)
    controls = sum(map(text.count, "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x0e\x0f\x1a"))
    if controls > len(text) * _MOST_CONTROLS:
        raise DocumentRefused(Reason.UNKNOWN_ENCODING)
    return text


def _decoded(raw: bytes, *, declares: bool) -> str:
    encoding = next((name for mark, name in _MARKS if raw.startswith(mark)), None) or "utf-8"
    declared = _DECLARED.search(raw[:4_096]) if declares else None
    for tried in (encoding, known_charset(declared[1].decode("ascii")) if declared else None):
        try:
            if tried:
                return raw.decode(tried)
        except UnicodeError:
            continue
    raise DocumentRefused(Reason.UNKNOWN_ENCODING)


def tidied(text: str) -> str:
    """Composed characters, plain line ends, nothing invisible; the text that all offsets count in."""
    text = _INVISIBLE.sub("", _NEWLINE.sub("\n", normalize("NFC", text)))
    return _GAP.sub("\n\n", _BLANK.sub("\n", text)).strip()
