"""Files to text: each kind as its owner sees it, each fault by its reason."""

import io
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pypdf import PdfReader
from pypdf.errors import DependencyError

from tests.fakes.document_files import STRICT_WORD, docx, pdf, zipped
from zarniwoop.documents import extract as extract_module
from zarniwoop.documents.decode import decoded
from zarniwoop.documents.extract import check_size, extract
from zarniwoop.documents.kinds import (
    EXPLANATIONS,
    MOST_BYTES,
    DocumentRefused,
    Extracted,
    Kind,
    Reason,
    kind_of,
)
from zarniwoop.extract import docx as docx_module
from zarniwoop.extract.html_text import day
from zarniwoop.extract.tidy import tidied

ARTICLE = """<!doctype html><html lang="en"><head><title>Bells of bronze</title>
<meta name="date" content="2023-05-06"></head><body><nav>Home Contact</nav><article><h1>Bells of bronze</h1>
<p>The notice period of the contract is three months to the end of a quarter, unless both sides agree otherwise.</p>
<p>Bells are cast in pits, and every founder keeps the alloy to himself for as long as he lives.</p></article>
<footer>Imprint</footer></body></html>"""


@pytest.fixture
def read(tmp_path: Path) -> "Read":
    return Read(tmp_path)


class Read:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self, name: str, body: bytes) -> Extracted:
        path = self._folder / "document"
        path.write_bytes(body)
        return extract(path, name)

    def refused(self, name: str, body: bytes) -> Reason:
        with pytest.raises(DocumentRefused) as caught:
            self(name, body)
        return caught.value.reason


def test_plain_text_is_tidied_and_named_after_its_file(read: Read) -> None:
    """Line ends, form feeds and invisible characters are nobody's words."""
    found = read("folder/notes.TXT", "Gr\u00f6\u00dfe\r\nzwei\u200b\x0c\n\n\n\nEnde  \n".encode())
    assert found == Extracted(kind=Kind.TXT, pages=("Größe\nzwei\n\nEnde",), title="notes.TXT")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_names_the_encoding(read: Read, encoding: str) -> None:
    """As editors on Windows write it."""
    assert read("a.txt", "Größe 鐘".encode(encoding)).pages == ("Größe 鐘",)


def test_markdown_is_called_by_its_first_heading(read: Read) -> None:
    """And stays as it was written."""
    found = read("a.md", b"intro\n\n## Bells *of* bronze ##\n\ntext\n")
    assert (found.kind, found.title, found.pages[0][:5]) == (Kind.MD, "Bells *of* bronze", "intro")


def test_a_page_is_its_article_with_title_and_date(read: Read) -> None:
    """Navigation and imprint are not what anybody searches for."""
    found = read("a.html", ARTICLE.encode())
    assert (found.title, found.published) == ("Bells of bronze", "2023-05-06")
    assert "notice period" in found.pages[0]
    assert "Imprint" not in found.pages[0]


def test_a_page_too_short_for_an_article_is_all_of_its_text(read: Read) -> None:
    """Better a little too much than nothing."""
    assert read("a.htm", b"<html><body><p>Three months.</p></body></html>").pages == ("Three months.",)


def test_a_page_may_declare_its_encoding(read: Read) -> None:
    """In a meta element, within its first bytes."""
    page = '<html><head><meta charset="iso-8859-1"></head><body><p>Größe der Glocke</p></body></html>'
    assert "Größe" in read("a.html", page.encode("latin-1")).pages[0]
    assert read.refused("a.html", page.replace("iso-8859-1", "x-unheard-of").encode("latin-1")) is (
        Reason.UNKNOWN_ENCODING
    )


def test_a_pdf_has_pages_a_title_and_a_date(read: Read) -> None:
    """Of its last change."""
    found = read("a.pdf", pdf(["First page", "Second page"], title="Contract"))
    assert found == Extracted(
        kind=Kind.PDF, pages=("First page", "Second page"), paged=True, title="Contract", published="2024-01-02"
    )


def test_a_word_file_has_paragraphs_cells_and_pages_where_it_broke_them(read: Read) -> None:
    """Deleted text under revision is not in it."""
    found = read("a.docx", docx("Erste Zeile", "zweite\fdritte", title="Vertrag"))
    assert found.pages == ("Erste Zeile\n\nzweite", "dritte")
    assert (found.paged, found.title, found.published) == (True, "Vertrag", "2025-03-04")
    run = "<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:delText>gone</w:delText><w:t>c</w:t></w:r>"
    assert read("b.docx", docx(body=f"<w:p>{run}</w:p>")).pages == ("a\tb\nc",)


RELATIONSHIPS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="{base}/metadata/thumbnail" Target="docProps/thumbnail.jpeg"/>'
    '<Relationship Id="r2" Type="{base}/officeDocument" Target="{target}"/></Relationships>'
)
TRANSITIONAL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
STRICT = "http://purl.oclc.org/ooxml/officeDocument/relationships"


@pytest.mark.parametrize(("base", "target"), [(TRANSITIONAL, "/word/document2.xml"), (STRICT, "word/document2.xml")])
def test_the_main_part_of_a_word_file_is_the_one_its_relationships_name(read: Read, base: str, target: str) -> None:
    """Some writers call it otherwise, and then the usual name may be another part's."""
    named = {"_rels/.rels": RELATIONSHIPS.format(base=base, target=target).encode()}
    assert read("a.docx", docx("Vertrag", main="word/document2.xml", extra=named)).pages == ("Vertrag",)
    workbook = {"_rels/.rels": RELATIONSHIPS.format(base=base, target="xl/workbook.xml").encode()}
    assert read.refused("a.docx", docx("x", main="y.xml", extra=workbook)) is Reason.WRONG_EXTENSION
    assert read.refused("a.docx", docx("x", extra=workbook | {"xl/workbook.xml": b"<x/>"})) is Reason.WRONG_EXTENSION


def test_a_word_file_in_the_strict_namespace_is_read_like_any_other(read: Read) -> None:
    """Word saves so when it is asked for `Strict Open XML Document`."""
    assert read("a.docx", docx("eins\fzwei", "drei", namespace=STRICT_WORD)).pages == ("eins", "zwei\n\ndrei")


def test_a_text_box_of_a_word_file_is_read_once(read: Read) -> None:
    """It stands in it a second time for readers that do not know the first form."""
    text = "<w:r><w:t>{}</w:t></w:r>"
    boxes = f"<mc:Choice>{text.format('box')}</mc:Choice><mc:Fallback>{text.format('box')}</mc:Fallback>"
    body = f"<w:p><mc:AlternateContent>{boxes}</mc:AlternateContent>{text.format(' and more')}</w:p>"
    assert read("a.docx", docx(body=body)).pages == ("box and more",)


@pytest.mark.parametrize(
    ("name", "body", "reason"),
    [
        ("a.txt", b"", Reason.EMPTY),
        ("a.txt", b" \n\t", Reason.NO_TEXT),
        ("a.exe", b"MZ", Reason.UNSUPPORTED),
        ("README", b"text", Reason.UNSUPPORTED),
        ("a.pdf", b"just text", Reason.WRONG_EXTENSION),
        ("a.txt", pdf(["text"]), Reason.WRONG_EXTENSION),
        ("a.md", docx("text"), Reason.WRONG_EXTENSION),
        ("a.txt", ARTICLE.encode(), Reason.WRONG_EXTENSION),
        ("a.txt", b"\x89PNG\r\n\x1a\n", Reason.WRONG_EXTENSION),
        ("a.html", b"\x1f\x8b\x08\x00", Reason.WRONG_EXTENSION),
        ("a.docx", b"text", Reason.WRONG_EXTENSION),
        ("a.docx", zipped({"xl/workbook.xml": b"<x/>"}), Reason.WRONG_EXTENSION),
        ("a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1rest", Reason.ENCRYPTED),
        ("a.docx", b"PK\x03\x04 and then nothing", Reason.DAMAGED),
        ("a.docx", docx(body="<w:p>"), Reason.DAMAGED),
        ("a.docx", docx("x", extra={"word/document.xml": b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'}), Reason.BOMB),
        ("a.pdf", pdf(["secret"], password="secret"), Reason.ENCRYPTED),
        ("a.pdf", b"%PDF-1.7 and then nothing", Reason.DAMAGED),
        ("a.pdf", pdf([""]), Reason.NO_TEXT),
        ("a.txt", "Größe".encode("latin-1"), Reason.UNKNOWN_ENCODING),
        ("a.txt", b"\xff\xfea", Reason.UNKNOWN_ENCODING),
        ("a.txt", b"a\x00b\x00c\x00", Reason.UNKNOWN_ENCODING),
        ("a.html", b"<html><body><script>x</script></body></html>", Reason.NO_TEXT),
    ],
)
def test_a_file_that_cannot_be_indexed_is_refused_with_its_reason(
    read: Read, name: str, body: bytes, reason: Reason
) -> None:
    """One word of a closed set, which has an explanation for people."""
    assert read.refused(name, body) is reason
    assert EXPLANATIONS[reason]


def test_a_pdf_with_an_owners_password_alone_is_read(read: Read) -> None:
    """Every viewer opens it."""
    assert read("a.pdf", pdf(["open"], password="")).pages == ("open",)


def test_a_pdf_whose_encryption_nobody_here_can_undo_is_encrypted(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    """AES takes a library that the layer has not."""

    def cannot(_self: PdfReader, _password: str) -> None:
        raise DependencyError("cryptography is missing")

    monkeypatch.setattr(PdfReader, "decrypt", cannot)
    assert read.refused("a.pdf", pdf(["open"], password="")) is Reason.ENCRYPTED


def test_a_date_that_cannot_be_read_is_none(read: Read) -> None:
    """The day of the upload stands for it."""
    assert read("a.pdf", pdf(["text"], changed="yesterday")).published is None
    assert read("a.docx", docx("text", extra={"docProps/core.xml": b"<x/>"})).published is None
    page = ARTICLE.replace("2023-05-06", "2023-13-45")
    assert read("a.html", page.encode()).published != "2023-13-45"
    assert day("2023-13-45") is None


def test_a_method_of_compression_that_word_does_not_use_is_damage(read: Read) -> None:
    """Each has bombs of its own."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("word/document.xml", b"<x/>")
    assert read.refused("a.docx", made.getvalue()) is Reason.DAMAGED


def test_every_reason_has_an_explanation() -> None:
    """And none is explained that does not exist."""
    assert set(EXPLANATIONS) == set(Reason)


def test_two_hundred_megabytes_are_refused_before_anything_is_read() -> None:
    """Out of the bucket's list."""
    check_size(MOST_BYTES)
    with pytest.raises(DocumentRefused, match="too_large"):
        check_size(200_000_000)


def test_a_zip_bomb_is_refused_by_its_directory_and_by_what_really_comes_out(
    read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A directory may lie."""
    assert read.refused("a.docx", docx("x", extra={"word/media/zeros": bytes(20_000_000)})) is Reason.BOMB
    assert read.refused("a.docx", docx("x", extra={f"{number}": b"" for number in range(10_001)})) is Reason.BOMB
    monkeypatch.setattr(docx_module, "_MOST_XML", 100)
    assert read.refused("a.docx", docx("x" * 200)) is Reason.BOMB


def test_a_part_with_a_password_is_encrypted(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some tools encrypt parts instead of the whole."""
    entries = zipfile.ZipFile.infolist

    def locked(self: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
        found = entries(self)
        found[0].flag_bits |= 1
        return found

    monkeypatch.setattr(zipfile.ZipFile, "infolist", locked)
    assert read.refused("a.docx", docx("x")) is Reason.ENCRYPTED


def test_a_text_beyond_all_measure_is_refused(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its characters or its pages."""
    monkeypatch.setattr(extract_module, "MOST_CHARS", 10)
    assert read.refused("a.txt", b"eleven chars") is Reason.TOO_LONG
    assert read.refused("a.docx", docx("eleven chars")) is Reason.TOO_LONG
    assert read.refused("a.pdf", pdf(["eleven chars"])) is Reason.TOO_LONG
    monkeypatch.setattr(extract_module, "MOST_PAGES", 1)
    assert read.refused("a.pdf", pdf(["a", "b"])) is Reason.TOO_LONG


@given(st.binary(max_size=300))
def test_whatever_the_bytes_are_a_text_comes_of_them_or_a_refusal(raw: bytes) -> None:
    """Never another exception."""
    try:
        tidied(decoded(raw, declares=True))
    except DocumentRefused as refused:
        assert refused.reason is Reason.UNKNOWN_ENCODING


@given(st.text(), st.binary(max_size=64))
def test_every_name_and_head_has_a_kind_or_a_refusal(name: str, head: bytes) -> None:
    """Names come from anybody."""
    try:
        assert kind_of(name, head) in Kind
    except DocumentRefused as refused:
        assert refused.reason in (Reason.UNSUPPORTED, Reason.WRONG_EXTENSION, Reason.ENCRYPTED)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(st.integers(min_value=8), st.binary(min_size=1, max_size=8))
def test_a_spoilt_word_file_is_read_or_refused(read: Read, place: int, bytes_: bytes) -> None:
    """zipfile raises more than it says."""
    body = bytearray(docx("text of the document"))
    start = 4 + place % (len(body) - 4)
    body[start : start + len(bytes_)] = bytes_
    try:
        read("a.docx", bytes(body))
    except DocumentRefused as refused:
        assert refused.reason in Reason
