"""Pages that are no markup: PDF, Word files, plain text, Markdown, JSON, feeds and other XML."""

import re
from collections import Counter
from io import BytesIO

from zarniwoop.contract.page import ExtractedPage, PageAnchor
from zarniwoop.extract.docx import open_docx
from zarniwoop.extract.docx_hidden import without_hidden
from zarniwoop.extract.docx_markup import docx_markup
from zarniwoop.extract.feed import read_feed, read_xml
from zarniwoop.extract.hygiene import cleaned
from zarniwoop.extract.invisible import seen, smuggled
from zarniwoop.extract.json_text import read_json
from zarniwoop.extract.language import language_of
from zarniwoop.extract.limits import LONGEST_FIELD, LONGEST_TITLE, MOST_MARKDOWN, MOST_PDF_PAGES
from zarniwoop.extract.lines import without_pictures
from zarniwoop.extract.links import Resolver
from zarniwoop.extract.markdown import written
from zarniwoop.extract.markdown_file import shown
from zarniwoop.extract.metadata import read_date
from zarniwoop.extract.outcome import Fault, Unreadable
from zarniwoop.extract.pdf import read_pdf
from zarniwoop.extract.signs import signs
from zarniwoop.extract.sniff import Kind
from zarniwoop.extract.tidy import tidied
from zarniwoop.text.plain import clip, is_blank, one_line

PAGE_GAP = "\n\n"
_BROKEN_WORD = re.compile(r"(?<=[a-zà-öø-ÿ])-\n(?=[a-zà-öø-ÿ])")
_HEADING = re.compile(r"^#{1,2}\s+(.{1,300}?)\s*#*$", re.MULTILINE)


def read_pdf_page(raw: bytes) -> ExtractedPage:
    """Raises Unreadable. Pages without any text are a scan's."""
    found = read_pdf(BytesIO(raw), most_chars=MOST_MARKDOWN, most_pages=MOST_PDF_PAGES, cut=True)
    counts: Counter[str] = Counter()
    pages = [_BROKEN_WORD.sub("", without_pictures(tidied(seen(page, counts)))) for page in found.pages]
    if all(map(is_blank, pages)):
        raise Unreadable(Fault.SCANNED if pages else Fault.EMPTY)
    markdown = PAGE_GAP.join(pages)
    return ExtractedPage(
        markdown=markdown,
        extractor="pdf",
        title=_short(found.title, LONGEST_TITLE),
        byline=_short(found.author, LONGEST_FIELD),
        published_at=read_date(found.created),
        modified_at=read_date(found.modified),
        language=language_of(text=markdown[:20_000]),
        anchors=_anchors(pages),
        hidden=dict(counts),
        suspicious=signs(markdown),
        truncated=not found.whole,
    )


def _anchors(pages: list[str]) -> tuple[PageAnchor, ...]:
    anchors, start = [], 0
    for number, page in enumerate(pages, 1):
        anchors.append(PageAnchor(name=f"page={number}", start=start))
        start += len(page) + len(PAGE_GAP)
    return tuple(anchors)


def read_docx_page(raw: bytes, url: str) -> ExtractedPage:
    """Raises Unreadable."""
    found = open_docx(BytesIO(raw))
    hidden = without_hidden(found)
    markup, whole = docx_markup(found.root, most_chars=2 * MOST_MARKDOWN)
    text = written(markup, Resolver(url).absolute)
    if is_blank(text.text):
        raise Unreadable(Fault.EMPTY)
    return ExtractedPage(
        markdown=text.text,
        extractor="docx",
        title=_short(found.title, LONGEST_TITLE) or _headline(text.text),
        byline=_short(found.author, LONGEST_FIELD),
        published_at=read_date(found.created),
        modified_at=read_date(found.modified),
        language=language_of(text=text.text[:20_000]),
        hidden=dict(hidden.counts),
        suspicious=signs(text.text, hidden=hidden.text),
        truncated=text.cut or not whole,
    )


def read_text_page(text: str, kind: Kind, url: str) -> ExtractedPage:
    """Everything that is text already. Raises Unreadable."""
    if kind is Kind.FEED:
        return read_feed(text, Resolver(url).absolute)
    if kind is Kind.JSON:
        markdown, title, whole = read_json(text)
        return ExtractedPage(
            markdown=markdown, extractor="json", title=title, suspicious=signs(markdown), truncated=not whole
        )
    if kind is Kind.XML:
        return _plain(read_xml(text), "xml")
    return _markdown(text, url) if kind is Kind.MARKDOWN else _plain(text, "plain")


def _markdown(text: str, url: str) -> ExtractedPage:
    counts: Counter[str] = Counter()
    page = shown(seen(text[: MOST_MARKDOWN * 2], counts))
    clean = cleaned(page.markup)
    read = written(clean.markup, Resolver(url).absolute)
    counts += clean.counts + Counter({"comment": len(page.remarks)})
    concealed = "\n".join((clean.facts.concealed, *page.remarks, smuggled(text)))
    markdown = tidied(read.text)
    return ExtractedPage(
        markdown=markdown,
        extractor="markdown",
        title=_headline(markdown),
        language=language_of(text=markdown[:20_000]),
        hidden=dict(counts),
        suspicious=signs(markdown, hidden=concealed),
        truncated=read.cut or clean.full or len(text) > MOST_MARKDOWN * 2,
    )


def _plain(text: str, extractor: str) -> ExtractedPage:
    """As it stands, but for what no reader sees of any text."""
    counts: Counter[str] = Counter()
    shown = without_pictures(tidied(seen(text[: MOST_MARKDOWN * 2], counts)))
    return ExtractedPage(
        markdown=shown[:MOST_MARKDOWN],
        extractor=extractor,
        language=language_of(text=shown[:20_000]),
        hidden=dict(counts),
        suspicious=signs(shown[:MOST_MARKDOWN], hidden=smuggled(text)),
        truncated=len(shown) > MOST_MARKDOWN or len(text) > MOST_MARKDOWN * 2,
    )


def _headline(markdown: str) -> str | None:
    heading = _HEADING.search(markdown[:10_000])
    return _short(heading[1], LONGEST_TITLE) if heading else None


def _short(text: str | None, limit: int) -> str | None:
    line = one_line(text)
    return clip(line, limit) if line else None
