"""Bodies that are made to take a reader's time, its memory or its life; each is small enough to be sent."""

import io
import zlib
from collections.abc import Callable, Mapping

from pypdf import PdfWriter
from pypdf.generic import ArrayObject, DictionaryObject, IndirectObject, NameObject, NumberObject

from tests.fakes.document_files import docx
from zarniwoop.contract.page import PageOutcome

_LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))


def _looping_pdf() -> bytes:
    """A tree of pages that is its own child."""
    writer = PdfWriter()
    writer.add_blank_page(width=100, height=100)
    pages = writer._root_object["/Pages"].get_object()
    assert isinstance(pages, DictionaryObject)
    pages[NameObject("/Kids")] = ArrayObject([writer._root_object.raw_get("/Pages")] * 2)
    pages[NameObject("/Count")] = NumberObject(1_000_000_000)
    return _made(writer)


def _pdf_that_draws_itself() -> bytes:
    """A form that draws itself, twice."""
    writer = PdfWriter()
    page = writer.add_blank_page(width=100, height=100)
    form = writer._add_object(_stream(b"/X Do /X Do", {"/Type": "/XObject", "/Subtype": "/Form"}))
    own = DictionaryObject({NameObject("/XObject"): DictionaryObject({NameObject("/X"): form})})
    found = form.get_object()
    assert isinstance(found, DictionaryObject)
    found[NameObject("/Resources")] = own
    page[NameObject("/Resources")] = own
    page[NameObject("/Contents")] = writer._add_object(_stream(b"/X Do", {}))
    return _made(writer)


def _pdf_bomb() -> bytes:
    """Fifty megabytes of operators in fifty kilobytes."""
    writer = PdfWriter()
    page = writer.add_blank_page(width=100, height=100)
    page[NameObject("/Contents")] = _packed(writer, b"BT (x) Tj ET\n" * 4_000_000)
    return _made(writer)


def _packed(writer: PdfWriter, data: bytes) -> IndirectObject:
    from pypdf.generic import EncodedStreamObject

    stream = EncodedStreamObject()
    stream._data = zlib.compress(data, 9)
    stream[NameObject("/Filter")] = NameObject("/FlateDecode")
    return writer._add_object(stream)


def _stream(data: bytes, names: Mapping[str, str]) -> DictionaryObject:
    from pypdf.generic import DecodedStreamObject

    stream = DecodedStreamObject()
    stream.set_data(data)
    stream.update({NameObject(name): NameObject(value) for name, value in names.items()})
    return stream


def _made(writer: PdfWriter) -> bytes:
    made = io.BytesIO()
    writer.write(made)
    return made.getvalue()


HOSTILE: Mapping[str, Callable[[], bytes]] = {
    "100 000 nested elements": lambda: b"<!doctype html>" + b"<div>" * 100_000 + b"x",
    "nested lists": lambda: b"<!doctype html>" + b"<ul><li>x" * 20_000,
    "nested tables": lambda: b"<!doctype html>" + b"<table><tr><td>x" * 12_000,
    "a hundred thousand paragraphs": lambda: b"<!doctype html>" + b"<p>" * 100_000 + b"x",
    "as many tags as are allowed": lambda: b"<!doctype html><body>" + b"<p>x<br><a>y</a>" * 6_000,
    "one line of five megabytes": lambda: b"<!doctype html><p>" + b"word " * 1_000_000,
    "five megabytes without a blank": lambda: b"<!doctype html><p>" + b"x" * 5_000_000,
    "a flood of attributes": lambda: b"<!doctype html><p " + b" ".join(b"a%d=1" % n for n in range(200_000)) + b">x",
    "one attribute of megabytes": lambda: b'<!doctype html><p title="' + b"x" * 4_000_000 + b'">x',
    "tags that are never closed": lambda: b"<!doctype html>" + b'<a href="x' * 200_000,
    "a flood of entities": lambda: b"<!doctype html><p>" + b"&amp;" * 320_000,
    "a flood of brackets": lambda: b"<!doctype html><p>" + b"<" * 1_000_000,
    "comments in comments": lambda: b"<!doctype html><p>" + b"<!--" * 500_000,
    "a flood of styles": lambda: b"<!doctype html><style>" + b"@a{/*b{" * 60_000 + b".x{a:b}" * 20_000 +
        b"</style><p class=x>x",
    "a flood of links": lambda: b"<!doctype html>" + b"<a href=/x>word</a> " * 20_000,
    "a flood of linked data": lambda: b"<!doctype html>" + b'<script type="application/ld+json">' +
        b"[" * 150_000 + b"</script><p>x",
    "billion laughs": lambda: f'<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY l0 '
                              f'"lol">{_LAUGHS}]><rss>&l11;</rss>'.encode(),
    "an entity of a file": lambda: b'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY x SYSTEM '
                                   b'"file:///etc/passwd">]><rss><channel><title>&x;</title></channel></rss>',
    "a deep feed": lambda: b'<?xml version="1.0"?><rss>' + b"<a>" * 300_000 + b"</a>" * 300_000 + b"</rss>",
    "deep JSON": lambda: b"[" * 2_000_000 + b"]" * 2_000_000,
    "wide JSON": lambda: b"[" + b"[]," * 400_000 + b"1]",
    "a PDF whose pages are its pages": _looping_pdf,
    "a PDF that draws itself": _pdf_that_draws_itself,
    "a PDF that expands": _pdf_bomb,
    "a Word file that expands": lambda: docx("x", extra={"word/media/zeros": bytes(100_000_000)}),
    "a Word file whose text expands": lambda: docx("x" * 50_000_000),
    "a Word file of depth": lambda: docx(body="<w:p>" * 100_000 + "</w:p>" * 100_000),
    "every byte": lambda: bytes(range(256)) * 8_000,
    "text in no encoding": lambda: b"<!doctype html><p>" + bytes(range(128, 256)) * 20_000,
}  # fmt: skip
_EMPTY = (PageOutcome.EMPTY, "too_little_text")
_TAGS = (PageOutcome.OK, "too_many_tags")
_LONG = (PageOutcome.OK, "too_long")
_EXPANDS = (PageOutcome.TOO_LARGE, "expands_too_much")
HOSTILE_ENDS: Mapping[str, tuple[PageOutcome, str | None]] = {
    "100 000 nested elements": _EMPTY,
    "nested lists": _TAGS,
    "nested tables": _TAGS,
    "a hundred thousand paragraphs": _EMPTY,
    "as many tags as are allowed": (PageOutcome.OK, None),
    "one line of five megabytes": _LONG,
    "five megabytes without a blank": _LONG,
    "a flood of attributes": _EMPTY,
    "one attribute of megabytes": _EMPTY,
    "tags that are never closed": _EMPTY,
    "a flood of entities": _LONG,
    "a flood of brackets": _LONG,
    "comments in comments": _EMPTY,
    "a flood of styles": _EMPTY,
    "a flood of links": _TAGS,
    "a flood of linked data": (PageOutcome.NEEDS_JAVASCRIPT, "script_shell"),
    "billion laughs": _EXPANDS,
    "an entity of a file": _EXPANDS,
    "a deep feed": (PageOutcome.EMPTY, "empty"),
    "deep JSON": (PageOutcome.OK, None),
    "wide JSON": (PageOutcome.OK, None),
    "a PDF whose pages are its pages": (PageOutcome.MALFORMED, "damaged"),
    "a PDF that draws itself": (PageOutcome.EMPTY, "scanned"),
    "a PDF that expands": (PageOutcome.EMPTY, "scanned"),
    "a Word file that expands": _EXPANDS,
    "a Word file whose text expands": _EXPANDS,
    "a Word file of depth": _EXPANDS,
    "every byte": (PageOutcome.UNSUPPORTED, "unsupported_type"),
    "text in no encoding": _LONG,
}
"""How each ends, read with time enough."""
