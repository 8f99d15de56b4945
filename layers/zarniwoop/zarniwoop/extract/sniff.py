"""What bytes are, out of the bytes. The header and the URL decide only between things that look alike.

The order is the one of https://mimesniff.spec.whatwg.org: marks of binary formats, then markup, then text.
"""

import re
from enum import StrEnum
from urllib.parse import urlsplit

import orjson

from zarniwoop.extract.charset import codec_of, marked
from zarniwoop.extract.limits import MOST_JSON_BYTES

HEAD_BYTES = 4_096
_BINARY = (
    b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"Rar!",
        b"\x7fELF", b"MZ\x90",
    b"RIFF", b"OggS", b"ID3", b"{\\rtf", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"wOFF", b"wOF2", b"\x00asm", b"%!PS",
)  # fmt: skip
_ZIP = b"PK\x03\x04"
_CONTROLS = bytes((*range(0x09), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)))
_MOST_CONTROLS = 0.1
_MARKUP = re.compile(
    r"(?:\s|<!--[^>]{0,2000}-->|<\?xml[^>]{0,200}\?>|<\?xml-stylesheet[^>]{0,400}\?>)*"
    r"<(!doctype\s+)?(?:[a-z]{1,12}:)?([a-z][a-z0-9]{0,20})",
    re.IGNORECASE,
)
_FEED = frozenset(("rss", "feed", "rdf"))
_ELEMENTS = frozenset(
    [
        "html",
        "head",
        "title",
        "body",
        "meta",
        "link",
        "script",
        "style",
        "base",
        "div",
        "p",
        "a",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "table",
        "ul",
        "ol",
        "li",
        "dl",
        "br",
        "hr",
        "img",
        "span",
        "section",
        "article",
        "main",
        "nav",
        "header",
        "footer",
        "form",
        "iframe",
        "noscript",
        "font",
        "center",
        "b",
        "i",
        "em",
        "strong",
        "pre",
        "blockquote",
        "input",
        "button",
    ]
)
_ANY_TAG = re.compile(
    r"<!--|<!doctype|<(?:p|div|br|a|h[1-6]|ul|ol|li|table|td|span|b|i|strong|em|img|html|body)\b[^<>]{0,400}>",
    re.IGNORECASE,
)
_MARKDOWN_TYPES = frozenset(("text/markdown", "text/x-markdown"))
_MARKDOWN_NAMES = (".md", ".markdown", ".mdown")
_PERHAPS_HTML = ("", "text/html", "application/xhtml+xml")
_NOT_TEXT = re.compile(r"(?:image|audio|video|font)/(?!svg)")


class Kind(StrEnum):
    """By media type, as it is reported."""

    HTML = "text/html"
    PDF = "application/pdf"
    DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    JSON = "application/json"
    FEED = "application/feed+xml"
    XML = "application/xml"
    MARKDOWN = "text/markdown"
    TEXT = "text/plain"
    BINARY = "application/octet-stream"


def binary_kind(raw: bytes, *, media_type: str | None, charset: str | None) -> Kind | None:
    """PDF, DOCX or something unreadable; None for what is text."""
    if b"%PDF-" in raw[:1_024]:
        return Kind.PDF
    if raw.startswith(_ZIP):
        return Kind.DOCX
    if raw.startswith(_BINARY) or (media_type and _NOT_TEXT.match(media_type.lower())):
        return Kind.BINARY
    wide = marked(raw) or (codec_of(charset or "") or "").startswith("utf-16")
    head = raw[:HEAD_BYTES]
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return Kind.BINARY if not wide and controls > len(head) * _MOST_CONTROLS else None


def text_kind(text: str, *, media_type: str | None, url: str) -> Kind:
    essence = (media_type or "").partition(";")[0].strip().lower()
    markup = _MARKUP.match(text[:HEAD_BYTES])
    if markup:
        return _kind_of_markup(markup, essence)
    if _is_json(text):
        return Kind.JSON
    if essence in _MARKDOWN_TYPES or urlsplit(url).path.lower().endswith(_MARKDOWN_NAMES):
        return Kind.MARKDOWN
    return Kind.HTML if essence in _PERHAPS_HTML and _ANY_TAG.search(text) else Kind.TEXT


def _kind_of_markup(markup: re.Match[str], essence: str) -> Kind:
    element = markup[2].lower()
    if element in _FEED:
        return Kind.FEED
    if element in _ELEMENTS:
        plain = essence in _MARKDOWN_TYPES and element != "html"
        return Kind.MARKDOWN if plain else Kind.HTML
    if "<?xml" in markup[0] or essence.endswith(("/xml", "+xml")):
        return Kind.XML
    return Kind.TEXT if essence == "text/plain" else Kind.HTML


def _is_json(text: str) -> bool:
    if text.lstrip("\ufeff \t\r\n")[:1] not in ("{", "[") or len(text) > MOST_JSON_BYTES:
        return False
    try:
        orjson.loads(text)
    except ValueError:
        return False
    return True
