"""Bytes to text: what they are is seen from themselves, and how they are written by the rules of the web."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.document_files import docx, pdf
from zarniwoop.extract.charset import codec_of, declared, decode
from zarniwoop.extract.language import language_of
from zarniwoop.extract.sniff import Kind, binary_kind, text_kind
from zarniwoop.extract.tidy import tidied

JAPANESE = "これは鐘の歴史についてのページです。青銅の鐘は穴の中で鋳造されます。"
RUSSIAN = "Это страница об истории колоколов, отлитых из бронзы в старой мастерской."


@pytest.mark.parametrize(
    ("body", "header", "charset"),
    [
        ("Größe".encode("utf-8-sig"), "iso-8859-1", "utf-8"),
        ("\ufeffGröße".encode("utf-16-le"), "utf-8", "utf-16-le"),
        ("\ufeffGröße".encode("utf-32-be"), None, "utf-32-be"),
        ("Größe".encode("latin-1"), "ISO-8859-1", "cp1252"),
        ("“Größe”".encode("cp1252"), "latin1", "cp1252"),
        (JAPANESE.encode("cp932"), "Shift_JIS", "cp932"),
        (JAPANESE.encode("cp932"), "x-sjis", "cp932"),
        (f'<meta charset="euc-jp"><p>{JAPANESE}'.encode("euc_jp"), None, "euc_jp"),
        (f"<meta http-equiv='Content-Type' content='text/html; charset=koi8-r'><p>{RUSSIAN}".encode(
            "koi8-r"), None, "koi8-r"),
        (f'<?xml version="1.0" encoding="windows-1251"?><a>{RUSSIAN}</a>'.encode("cp1251"), None, "cp1251"),
        (f'<meta charset="utf-16"><p>{RUSSIAN}'.encode(), None, "utf-8"),
        (f"<p>{JAPANESE}</p>".encode("euc_jp"), None, "euc_jp"),
        (f"<p>{JAPANESE}</p>".encode("iso2022_jp"), None, "iso2022_jp"),
        (f"<p>{RUSSIAN}</p>".encode("cp1251"), "x-unheard-of", "cp1251"),
        ("这是一个关于铜钟历史的中文网页，介绍了铸造的方法".encode("gb18030"), "gb2312", "gb18030"),
        (f"<p>{RUSSIAN}</p>".encode(), "iso-8859-1", "utf-8"),
        (b"plain", None, "utf-8"),
    ],
)  # fmt: skip
def test_a_text_is_decoded_by_mark_then_header_then_itself_then_likelihood(
    body: bytes, header: str | None, charset: str
) -> None:
    """And UTF-8 that is called Latin by a server's default is UTF-8."""
    found = decode(body, header=header)
    assert found.charset == charset
    assert "\ufffd" not in found.text
    assert any(word in found.text for word in ("Größe", "鐘", "колокол", "铜钟", "plain"))


@pytest.mark.parametrize(
    "label", ["zlib", "hex", "rot13", "idna", "punycode", "utf-7", "unicode_escape", "base64", "utf_8_sig", "", "mbcs"]
)
def test_what_is_no_encoding_of_the_web_is_never_looked_up(label: str) -> None:
    """Python's own table knows codecs that are none, and some that are slow on purpose-made input."""
    assert codec_of(label) is None
    assert decode(b"+ADw-script+AD4-", header=label).text == "+ADw-script+AD4-"


def test_a_declaration_of_utf_8_that_does_not_hold_leaves_marks() -> None:
    """One bad byte makes no other language of a page."""
    found = decode("Größe der Glocke".encode() + b"\xff", header="utf-8")
    assert (found.charset, found.text) == ("utf-8", "Größe der Glocke\ufffd")
    assert declared(b"<meta charset=utf-16be>") == "utf-8"


@given(st.binary(max_size=400), st.one_of(st.none(), st.text(max_size=20)))
def test_whatever_the_bytes_are_a_text_comes_of_them(raw: bytes, header: str | None) -> None:
    """Without half a surrogate in it, or nobody could store it."""
    decode(raw, header=header).text.encode("utf-8")


HTML = "<!doctype html><html><body><p>text</p></body></html>"


@pytest.mark.parametrize(
    ("body", "media_type", "url", "kind"),
    [
        (HTML, "text/html", "/", Kind.HTML),
        (HTML, "text/plain", "/a.txt", Kind.HTML),
        (HTML, "application/pdf", "/a.pdf", Kind.HTML),
        (HTML, None, "/", Kind.HTML),
        ("\n <!-- c --> <HTML>", None, "/", Kind.HTML),
        (
            '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"></html>',
            "application/xhtml+xml",
            "/",
            Kind.HTML,
        ),
        ("just words <b>with</b> a tag", "text/html", "/", Kind.HTML),
        ("just words <b>with</b> a tag", "text/plain", "/", Kind.TEXT),
        ("if a < b then c", "text/html", "/", Kind.TEXT),
        ('<?xml version="1.0"?><rss version="2.0"></rss>', "text/html", "/", Kind.FEED),
        ('<feed xmlns="http://www.w3.org/2005/Atom"></feed>', "text/xml", "/", Kind.FEED),
        ("<rdf:RDF></rdf:RDF>", "text/xml", "/", Kind.FEED),
        ('<?xml version="1.0"?><catalogue/>', "text/html", "/", Kind.XML),
        ("<note/>", "application/xml", "/", Kind.XML),
        ("<note/>", "text/plain", "/", Kind.TEXT),
        ('{"a": 1}', "text/html", "/", Kind.JSON),
        ("[1, 2]", None, "/", Kind.JSON),
        ("[1] a footnote", None, "/", Kind.TEXT),
        ("{broken", "application/json", "/", Kind.TEXT),
        ("# Title", "text/markdown", "/", Kind.MARKDOWN),
        ("# Title", "text/plain", "/README.md?raw=1", Kind.MARKDOWN),
        ("<p align=center>x</p>\n\n# Title", "text/markdown", "/", Kind.MARKDOWN),
        ("# Title", "text/plain", "/", Kind.TEXT),
    ],
)
def test_text_is_what_it_looks_like(body: str, media_type: str | None, url: str, kind: Kind) -> None:
    """The header decides only between things that look alike."""
    assert text_kind(body, media_type=media_type, url=f"https://foundry.example{url}") is kind


@pytest.mark.parametrize(
    ("body", "media_type", "charset", "kind"),
    [
        (pdf(["x"]), "text/html", None, Kind.PDF),
        (b"\n\n" + pdf(["x"]), None, None, Kind.PDF),
        (docx("x"), "application/octet-stream", None, Kind.DOCX),
        (b"\x89PNG\r\n\x1a\n", "text/html", None, Kind.BINARY),
        (b"\x1f\x8b\x08", "text/html", None, Kind.BINARY),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", None, None, Kind.BINARY),
        (b"abc" + bytes(40), "text/plain", None, Kind.BINARY),
        (b"perhaps an image", "image/webp", None, Kind.BINARY),
        (b"<svg></svg>", "image/svg+xml", None, None),
        ("wide".encode("utf-16-le"), "text/plain", "utf-16le", None),
        ("\ufeffwide".encode("utf-16-be"), "text/plain", None, None),
        (b"text", "application/pdf", None, None),
    ],
)
def test_bytes_are_what_their_beginning_says(
    body: bytes, media_type: str | None, charset: str | None, kind: Kind | None
) -> None:
    """A PDF behind any name is one, and what is called one is not."""
    assert binary_kind(body, media_type=media_type, charset=charset) is kind


@pytest.mark.parametrize(
    ("stated", "text", "language"),
    [
        ("de-AT", "irgendein Text", "de"),
        ("en", JAPANESE, "ja"),
        (None, JAPANESE, "ja"),
        (None, RUSSIAN, "ru"),
        ("uk", RUSSIAN, "uk"),
        (None, "Історія дзвонів, відлитих із бронзи в майстернї", "uk"),
        (None, "این صفحه دربارهٔ تاریخ ناقوس‌های برنزی است و چگونگی ساخت", "fa"),
        (None, "هذه صفحة عن تاريخ الأجراس البرونزية", "ar"),
        (None, "这是关于铜钟历史的网页", "zh"),
        (None, "The history of the bells that are cast in bronze for the towers of the city", "en"),
        (None, "Die Geschichte der Glocken, die in der Stadt aus Bronze für den Turm gegossen sind", "de"),
        (None, "L'histoire des cloches qui sont dans la tour et que les hommes ont faites pour la ville", "fr"),
        ("xx", "Bells", None),
        ("english", "Bells", None),
        (None, "", None),
    ],
)
def test_the_language_is_what_is_stated_unless_the_letters_say_otherwise(
    stated: str | None, text: str, language: str | None
) -> None:
    """Many pages state the one of the template that they were made from."""
    assert language_of(stated, text=text) == language


def test_a_text_is_tidied_into_the_form_in_which_offsets_count() -> None:
    """Composed, plain line ends, no trailing blanks, nothing unseen; in time that does not grow with blanks."""
    assert tidied("Gro\u0308\u00dfe \r\n\r\n\r\n\r\nEnde\u200b\x0c ") == "Größe\n\nEnde"
    assert tidied("a" + " " * 400_000 + "b").endswith(" b")
