"""Files of every kind that documents come in, made here: a PDF of pages, a Word file, and the harmful ones."""

import io
import zipfile
from collections.abc import Sequence

from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT_WORD = "http://purl.oclc.org/ooxml/wordprocessingml/main"
_COMPATIBILITY = "http://schemas.openxmlformats.org/markup-compatibility/2006"
_CORE = """<?xml version="1.0"?><cp:coreProperties
 xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">
 <dc:title>{title}</dc:title><dcterms:modified>2025-03-04T10:00:00Z</dcterms:modified></cp:coreProperties>"""


def pdf(
    pages: Sequence[str],
    *,
    title: str | None = None,
    password: str | None = None,
    owner: str = "owner",
    changed: str = "D:20240102030405Z",
) -> bytes:
    """One line of text a page. `password` is the user's; an empty one protects from nothing but the owner's rights."""
    writer = PdfWriter()
    for text in pages:
        page = writer.add_blank_page(width=600, height=800)
        stream = DecodedStreamObject()
        shown = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        stream.set_data(f"BT /F1 12 Tf 50 700 Td ({shown}) Tj ET".encode("latin-1"))
        page[NameObject("/Contents")] = writer._add_object(stream)
        font = DictionaryObject(
            {
                NameObject("/Type"): NameObject("/Font"),
                NameObject("/Subtype"): NameObject("/Type1"),
                NameObject("/BaseFont"): NameObject("/Helvetica"),
            }
        )
        fonts = DictionaryObject({NameObject("/F1"): font})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
    writer.add_metadata({"/ModDate": changed, **({"/Title": title} if title else {})})
    if password is not None:
        writer.encrypt(password, owner, algorithm="RC4-128")
    made = io.BytesIO()
    writer.write(made)
    return made.getvalue()


def docx(
    *paragraphs: str,
    title: str = "",
    body: str | None = None,
    extra: dict[str, bytes] | None = None,
    main: str = "word/document.xml",
    namespace: str = _WORD,
) -> bytes:
    """Paragraphs, where `\\f` is a page break; or a body of one's own. `main` is what its main part is called."""
    if body is None:
        body = "".join(f"<w:p>{_run(paragraph)}</w:p>" for paragraph in paragraphs)
    spaces = f'xmlns:w="{namespace}" xmlns:mc="{_COMPATIBILITY}"'
    document = f'<?xml version="1.0"?><w:document {spaces}><w:body>{body}</w:body></w:document>'
    parts = {
        "[Content_Types].xml": b"<Types/>",
        main: document.encode(),
        "docProps/core.xml": _CORE.format(title=title).encode(),
        **(extra or {}),
    }
    return zipped(parts)


def zipped(parts: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return made.getvalue()


def _run(text: str) -> str:
    pieces = [f"<w:r><w:t>{piece}</w:t></w:r>" for piece in text.split("\f")]
    return '<w:r><w:br w:type="page"/></w:r>'.join(pieces)
