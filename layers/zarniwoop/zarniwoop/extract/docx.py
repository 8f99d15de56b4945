"""DOCX by zipfile and defusedxml: paragraphs and table cells in reading order, pages where Word last broke them.

Format: ECMA-376, WordprocessingML, in its transitional and its strict namespace. `_rels/.rels` names the main part,
which most writers call `word/document.xml`. Text boxes stand there twice: the copy for old readers is passed over.
Quirk: a page break is only in the file where Word rendered or somebody set one; without any there are no pages.
"""

import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from posixpath import normpath
from typing import IO, TYPE_CHECKING

from zarniwoop.extract.outcome import Fault, Unreadable

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_RELATIONSHIPS = "_rels/.rels"
_RELATIONSHIP = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_TO_MAIN = "/relationships/officeDocument"
_MAIN = "word/document.xml"
_STYLES = "styles.xml"
"""Beside the main part, where every writer puts them."""
_CORE = "docProps/core.xml"
_MOST_ENTRIES = 10_000
_MOST_EXPANDED = 300_000_000
"""What all parts together may expand to; pictures count, though they are never read."""
_MOST_XML = 64_000_000
_MOST_RATIO = 200
_SMALL = 1_000_000
_ENCRYPTED = 0x1
_KNOWN_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_SPOILT = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, OSError, ValueError)
_WORDS = (
    "{http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "{http://purl.oclc.org/ooxml/wordprocessingml/main",
)
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_TERMS = "{http://purl.org/dc/terms/}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_ROOTS = tuple(f"{namespace}}}document" for namespace in _WORDS)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_SPACES = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}


@dataclass(frozen=True, slots=True, kw_only=True)
class WordFile:
    """The main part's root and its styles', and what the file says of itself. Dates are days."""

    root: "Element"
    styles: "Element | None" = None
    title: str | None = None
    author: str | None = None
    created: str | None = None
    modified: str | None = None


def open_docx(source: Path | IO[bytes]) -> WordFile:
    """Raises Unreadable."""
    try:
        with zipfile.ZipFile(source) as archive:
            _check(archive)
            main = _main_part(archive)
            root = _parsed(archive, main)
            if root is None or root.tag not in _ROOTS:
                raise Unreadable(Fault.WRONG_KIND)
            styles = _parsed(archive, f"{main.rpartition('/')[0]}/{_STYLES}".lstrip("/"))
            core = _parsed(archive, _CORE)
    except _SPOILT as error:
        raise Unreadable(Fault.DAMAGED) from error
    return WordFile(
        root=root,
        styles=styles,
        title=_stated(core, f"{_DC}title"),
        author=_stated(core, f"{_DC}creator"),
        created=_day(_stated(core, f"{_TERMS}created")),
        modified=_day(_stated(core, f"{_TERMS}modified")),
    )


def plain_pages(root: "Element", *, most_chars: int) -> tuple[str, ...]:
    """The text as it is read, page by page. Raises Unreadable."""
    pages: list[str] = []
    current: list[str] = []
    length = 0
    for piece in _pieces(root):
        if piece is None:
            pages.append("".join(current))
            current = []
            continue
        length += len(piece)
        if length > most_chars:
            raise Unreadable(Fault.TOO_LONG)
        current.append(piece)
    return (*pages, "".join(current))


def word_elements(root: "Element") -> "Iterator[tuple[str, Element]]":
    """In the document's order, by local name. Not by recursion: how deep a file nests is its own choice."""
    waiting = [root]
    while waiting:
        element = waiting.pop()
        if is_repeated(element):
            continue
        waiting.extend(reversed(element))
        name = local_name(element)
        if name is not None:
            yield name, element


def local_name(element: "Element") -> str | None:
    """`p` of `{…}p`; None for what is not of WordprocessingML."""
    namespace, _, name = element.tag.rpartition("}")
    return name if namespace in _WORDS else None


def is_repeated(element: "Element") -> bool:
    """Whether it says for old readers what stands beside it."""
    return element.tag == _FALLBACK


def _check(archive: zipfile.ZipFile) -> None:
    entries = archive.infolist()
    if any(entry.flag_bits & _ENCRYPTED for entry in entries):
        raise Unreadable(Fault.ENCRYPTED)
    if any(entry.compress_type not in _KNOWN_METHODS for entry in entries):
        raise Unreadable(Fault.DAMAGED)
    expanded = sum(entry.file_size for entry in entries)
    if len(entries) > _MOST_ENTRIES or expanded > _MOST_EXPANDED:
        raise Unreadable(Fault.BOMB)
    if any(entry.file_size > max(_SMALL, entry.compress_size * _MOST_RATIO) for entry in entries):
        raise Unreadable(Fault.BOMB)


def _main_part(archive: zipfile.ZipFile) -> str:
    relationships = _parsed(archive, _RELATIONSHIPS)
    for each in relationships.iter(_RELATIONSHIP) if relationships is not None else ():
        if each.get("Type", "").endswith(_TO_MAIN):
            return normpath(each.get("Target", "")).lstrip("/")
    return _MAIN


def _parsed(archive: zipfile.ZipFile, name: str) -> "Element | None":
    """A part; None when it is not there. What the directory says of its size is not believed."""
    from xml.etree.ElementTree import ParseError

    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    try:
        with archive.open(name) as part:
            raw = part.read(_MOST_XML + 1)
    except KeyError:
        return None
    if len(raw) > _MOST_XML:
        raise Unreadable(Fault.BOMB)
    try:
        parsed: Element = fromstring(raw, forbid_dtd=True)
    except DefusedXmlException as error:
        raise Unreadable(Fault.BOMB) from error
    except (ParseError, ValueError) as error:
        raise Unreadable(Fault.DAMAGED) from error
    return parsed


def _pieces(root: "Element") -> Iterator[str | None]:
    """Text in reading order; None where a page ends. What was deleted under revision is `delText` and left out."""
    begun = False
    for name, element in word_elements(root):
        if name == "p":
            if begun:
                yield "\n\n"
            begun = True
        elif name == "t":
            yield element.text or ""
        elif name == "lastRenderedPageBreak" or (name == "br" and "page" in element.attrib.values()):
            yield None
        elif name in _SPACES:
            yield _SPACES[name]


def _stated(core: "Element | None", tag: str) -> str | None:
    return (core.findtext(tag) or "").strip() or None if core is not None else None


def _day(moment: str | None) -> str | None:
    found = _DAY.match(moment or "")
    return found[0] if found else None
