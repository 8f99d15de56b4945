"""Which stored bodies are text, the one encoding in which text is stored, and cutting it where characters end.

Text is stored as UTF-8 whatever it came as, so that an offset means the same to everybody and a quote can be compared.
"""

import codecs
import re
from dataclasses import dataclass

from zarniwoop.contract.hit import LoadedContent

_TEXT = re.compile(
    r"text/.+|application/(?:json|xml|javascript|ecmascript|x-ndjson|rtf|sql|toml|yaml|.+\+(?:json|xml))"
)
_CHARSET = re.compile(r";\s*charset\s*=\s*\"?([A-Za-z0-9._:-]{1,40})", re.IGNORECASE)
_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,63}/[a-z0-9][a-z0-9!#$&^_.+-]{0,127}")
_UNKNOWN = "application/octet-stream"
_LOOKS_LIKE_UTF8 = frozenset(("utf-16", "utf-16-le", "utf-16-be", "utf-32", "iso2022_jp", "iso2022_kr", "hz"))
"""Their bytes are often valid UTF-8 by chance, so that the declaration has to be believed first."""
_CHARSETS = _LOOKS_LIKE_UTF8.union(
    ("big5", "cp932", "cp949", "euc_jp", "euc_kr", "gb18030", "gb2312", "gbk", "koi8-r", "koi8-u", "mac-roman"),
    ("shift_jis", "tis-620"),
    (f"cp125{number}" for number in range(9)),
    (f"iso8859-{number}" for number in range(1, 17)),
)
"""Python knows codecs that are slow on purpose-made input (punycode, idna); those of the web are enough."""
_LAST_RESORT = "cp1252"
_LONGEST_CHARACTER = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredForm:
    """A body as it is stored, and the media type that it has then."""

    body: bytes
    media_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPage:
    """A stretch of a stored text. Offsets count bytes; `next_offset` is None where the text ends."""

    text: str
    offset: int
    next_offset: int | None


def is_text(media_type: str) -> bool:
    return _TEXT.fullmatch(_essence(media_type)) is not None


def stored_form(content: LoadedContent) -> StoredForm:
    """Text as UTF-8, out of whatever it says or seems to be; everything else as it is."""
    essence = _essence(content.media_type)
    if not is_text(essence):
        return StoredForm(body=content.body, media_type=essence)
    text = _decoded(content.body, _declared_charset(content.media_type))
    return StoredForm(body=text.encode("utf-8", "replace"), media_type=f"{essence}; charset=utf-8")


def bytes_wanted(max_chars: int) -> int:
    """How much of a text must be read for so many characters, wherever in one the reading starts."""
    return (max_chars + 1) * _LONGEST_CHARACTER


def cut_page(raw: bytes, *, offset: int, size: int, max_chars: int) -> TextPage:
    """At most `max_chars` characters out of the bytes from `offset` on; a character begun before it is left out."""
    skipped = 0
    while skipped < min(len(raw), _LONGEST_CHARACTER - 1) and offset and raw[skipped] & 0xC0 == 0x80:
        skipped += 1
    start = offset + skipped
    at_end = offset + len(raw) >= size
    decoded = codecs.getincrementaldecoder("utf-8")("replace").decode(raw[skipped:], final=at_end)
    text = decoded[:max_chars]
    end = start + len(text.encode())
    return TextPage(text=text, offset=start, next_offset=end if text and end < size else None)


def _essence(media_type: str) -> str:
    essence = media_type.partition(";")[0].strip().lower()
    return essence if _MEDIA_TYPE.fullmatch(essence) else _UNKNOWN


def _declared_charset(media_type: str) -> str | None:
    declared = _CHARSET.search(media_type)
    return known_charset(declared[1]) if declared else None


def known_charset(label: str) -> str | None:
    """Python's name for one of the charsets of the web; None for any other label."""
    try:
        known = codecs.lookup(label).name
    except LookupError:
        return None
    return known if known in _CHARSETS else None


def _decoded(body: bytes, charset: str | None) -> str:
    tried = (charset, "utf-8-sig") if charset in _LOOKS_LIKE_UTF8 else ("utf-8-sig", charset)
    for encoding in filter(None, tried):
        try:
            return body.decode(encoding)
        except UnicodeError:
            continue
    return body.decode(_LAST_RESORT, "replace")
