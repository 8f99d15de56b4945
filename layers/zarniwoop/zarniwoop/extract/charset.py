"""Bytes of text to text, by the rules of the web. https://encoding.spec.whatwg.org/#names-and-labels

Which encoding: byte order mark, else the header, else what the text itself declares, else the likeliest one, else UTF-8
with replacement characters. A label is looked up here and nowhere else: Python's own table knows codecs that are no
encodings of text, and some that are slow on purpose-made input.
Quirk: a page that is UTF-8 and called `iso-8859-1` by its server's default is UTF-8: bytes above 127 that are valid
UTF-8 throughout are never Latin by chance.
"""

import codecs
import re
from dataclasses import dataclass

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LABELS = {
    "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8",
    "cp866": "866 cp866 csibm866 ibm866",
    "iso8859-2": "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2",
    "iso8859-3": "csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3",
    "iso8859-4": "csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4",
    "iso8859-5": "csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988",
    "iso8859-6": "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e "
    "iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987",
    "iso8859-7": "csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 iso_8859-7 "
    "iso_8859-7:1987 sun_eu_greek",
    "iso8859-8": "csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598 "
    "iso_8859-8 iso_8859-8:1988 visual csiso88598i iso-8859-8-i logical",
    "iso8859-10": "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6",
    "iso8859-13": "iso-8859-13 iso8859-13 iso885913",
    "iso8859-14": "iso-8859-14 iso8859-14 iso885914",
    "iso8859-15": "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9",
    "iso8859-16": "iso-8859-16",
    "koi8-r": "cskoi8r koi koi8 koi8-r koi8_r",
    "koi8-u": "koi8-ru koi8-u",
    "mac-roman": "csmacintosh mac macintosh x-mac-roman",
    "mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "cp874": "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874",
    "cp1250": "cp1250 windows-1250 x-cp1250",
    "cp1251": "cp1251 windows-1251 x-cp1251",
    "cp1252": "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 "
    "iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252",
    "cp1253": "cp1253 windows-1253 x-cp1253",
    "cp1254": "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 "
    "windows-1254 x-cp1254",
    "cp1255": "cp1255 windows-1255 x-cp1255",
    "cp1256": "cp1256 windows-1256 x-cp1256",
    "cp1257": "cp1257 windows-1257 x-cp1257",
    "cp1258": "cp1258 windows-1258 x-cp1258",
    "gb18030": "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk gb18030",
    "big5hkscs": "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
    "euc_jp": "cseucpkdfmtjapanese euc-jp x-euc-jp",
    "iso2022_jp": "csiso2022jp iso-2022-jp",
    "cp932": "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis",
    "cp949": "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 "
    "windows-949",
    "utf-16-be": "unicodefffe utf-16be",
    "utf-16-le": "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le",
}
_CODECS = {label: codec for codec, labels in _LABELS.items() for label in labels.split()}
_DECLARED = (
    re.compile(rb"<meta[^>]{0,200}charset\s{0,9}=\s{0,9}[\"']?\s{0,9}([A-Za-z0-9._:-]{1,40})", re.IGNORECASE),
    re.compile(rb"\s{0,64}<\?xml[^>]{0,100}encoding\s{0,9}=\s{0,9}[\"']([A-Za-z0-9._:-]{1,40})"),
)
_HEAD_BYTES = 4_096
_SAMPLE_BYTES = 32_768
_ABOVE_ASCII = re.compile(rb"[\x80-\xff]")
_SINGLE_BYTE = frozenset(("cp866", "koi8-r", "koi8-u", "mac-roman", "mac-cyrillic")).union(
    codec for codec in _LABELS if codec.startswith(("iso8859", "cp125", "cp874"))
)
_LIKELY = (
    "utf_8", "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "koi8_r", "gb18030", "big5hkscs",
    "euc_jp", "cp932", "cp949", "iso2022_jp",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """Text, and the name of the encoding it was read as."""

    text: str
    charset: str


def codec_of(label: str) -> str | None:
    """Python's name for one of the encodings of the web; None for any other label."""
    return _CODECS.get(label.strip().strip("\"'").lower())


def marked(raw: bytes) -> tuple[str, bytes] | None:
    """The encoding that a byte order mark names, and the bytes behind the mark."""
    return next(((codec, raw[len(mark) :]) for mark, codec in _MARKS if raw.startswith(mark)), None)


def declared(raw: bytes) -> str | None:
    """The encoding that the text's own beginning names: a meta element, or XML's first line."""
    found = next(filter(None, (pattern.search(raw[:_HEAD_BYTES]) for pattern in _DECLARED)), None)
    codec = codec_of(found[1].decode("ascii")) if found else None
    return "utf-8" if codec and codec.startswith("utf-16") else codec  # it could be read, so it is none


def decode(raw: bytes, *, header: str | None = None) -> Decoded:
    """Never refuses: what fits no encoding has replacement characters in it."""
    if at_start := marked(raw):
        codec, rest = at_start
        return Decoded(text=rest.decode(codec, "replace"), charset=codec)
    stated = (codec_of(header) if header else None) or declared(raw)
    codec = _checked(raw, stated) if stated else _likeliest(raw)
    return Decoded(text=raw.decode(codec, "replace"), charset=codec)


def _checked(raw: bytes, stated: str) -> str:
    """What is stated, unless the bytes are UTF-8 beyond doubt."""
    if stated in _SINGLE_BYTE and _ABOVE_ASCII.search(raw) and _is(raw, "utf-8"):
        return "utf-8"
    return stated


def _is(raw: bytes, codec: str) -> bool:
    try:
        raw.decode(codec)
    except UnicodeDecodeError:
        return False
    return True


def _likeliest(raw: bytes) -> str:
    if _is(raw, "utf-8"):
        return "utf-8" if b"\x1b$" not in raw else "iso2022_jp"
    from charset_normalizer import from_bytes

    found = from_bytes(_sample(raw), cp_isolation=list(_LIKELY), preemptive_behaviour=False).best()
    return found.encoding.replace("utf_8", "utf-8").replace("koi8_", "koi8-") if found else "utf-8"


def _sample(raw: bytes) -> bytes:
    """A stretch from around the first byte that says anything; cut at a line, so that no character is cut."""
    first = _ABOVE_ASCII.search(raw)
    start = raw.rfind(b"\n", 0, first.start()) + 1 if first else 0
    start = max(start, first.start() - _SAMPLE_BYTES // 2) if first else 0
    sample = raw[start : start + _SAMPLE_BYTES]
    end = sample.rfind(b"\n")
    return sample[:end] if end > _SAMPLE_BYTES // 2 else sample
