"""A page's bytes to what can be read of them. Pure: the same bytes come to the same end, warm or cold.

Runs in a process of its own (`worker`): parsers of strangers' bytes run away, blow up and crash.
"""

from collections import Counter
from collections.abc import Callable, Set
from dataclasses import replace

from zarniwoop.contract.page import ExtractedPage, PageOutcome, PageStep
from zarniwoop.extract.charset import decode
from zarniwoop.extract.files import read_docx_page, read_pdf_page, read_text_page
from zarniwoop.extract.html_page import read_html_page
from zarniwoop.extract.invisible import seen
from zarniwoop.extract.limits import MOST_MARKDOWN, MOST_MARKDOWN_BYTES
from zarniwoop.extract.outcome import Extraction, Fault, Unreadable
from zarniwoop.extract.sniff import Kind, binary_kind, text_kind
from zarniwoop.extract.verdicts import verdict_of_status
from zarniwoop.text.normal_form import normal_form

_OUTCOMES = {
    Fault.EMPTY: PageOutcome.EMPTY,
    Fault.SCANNED: PageOutcome.EMPTY,
    Fault.ENCRYPTED: PageOutcome.UNSUPPORTED,
    Fault.WRONG_KIND: PageOutcome.UNSUPPORTED,
    Fault.BOMB: PageOutcome.TOO_LARGE,
    Fault.TOO_LONG: PageOutcome.TOO_LARGE,
    Fault.TOO_SLOW: PageOutcome.OUT_OF_TIME,
}
_STEPS = {
    Kind.PDF: "pdf",
    Kind.DOCX: "docx",
    Kind.JSON: "json",
    Kind.FEED: "feed",
    Kind.XML: "xml",
    Kind.MARKDOWN: "markdown",
    Kind.TEXT: "plain",
    Kind.HTML: "html",
    Kind.BINARY: "sniff",
}


def extract_page(
    body: bytes,
    *,
    url: str,
    media_type: str | None = None,
    charset: str | None = None,
    status: int = 200,
    want_html: bool = False,
    without: Set[str] = frozenset(),
    begins: Callable[[str], None] = lambda _step: None,
) -> Extraction:
    """Never raises for what the bytes are, but MemoryError. `media_type` and `charset` are the header's: hints.

    `without` are steps that are not tried (they ran away before); `begins` is told of each step before it starts.
    """
    kind = Kind.TEXT
    try:
        if not body.strip():
            return _unreadable(Fault.EMPTY, kind, status)
        binary = binary_kind(body, media_type=media_type, charset=charset)
        if binary is not None:
            kind = binary
            return _of_status(status, kind) or _of_binary(body, kind, url, begins)
        begins("decode")
        decoded = decode(body, header=charset)
        kind = text_kind(decoded.text, media_type=media_type, url=url)
        if kind is Kind.HTML:
            found = read_html_page(
                decoded.text, url=url, status=status, want_html=want_html, without=without, begins=begins
            )
            return _finished(replace(found, media_type=kind.value, charset=decoded.charset))
        begins(_STEPS[kind])
        return _of_status(status, kind) or _read(read_text_page(decoded.text, kind, url), kind, decoded.charset)
    except Unreadable as unreadable:
        return _unreadable(unreadable.fault, kind, status)
    except MemoryError:  # the process is spent: whoever keeps it ends it
        raise
    except Exception:  # noqa: BLE001 - other people's parsers on other people's bytes: whatever they raise, they are damaged
        return _unreadable(Fault.DAMAGED, kind, status)


def _of_binary(body: bytes, kind: Kind, url: str, begins: Callable[[str], None]) -> Extraction:
    begins(_STEPS[kind])
    if kind is Kind.BINARY:
        raise Unreadable(Fault.WRONG_KIND)
    return _read(read_pdf_page(body) if kind is Kind.PDF else read_docx_page(body, url), kind, None)


def _of_status(status: int, kind: Kind) -> Extraction | None:
    """An error stays one in whatever form it is told."""
    judged = verdict_of_status(status)
    if judged is None:
        return None
    step = PageStep(name=_STEPS[kind], outcome=judged.outcome, reason=judged.reason)
    return Extraction(outcome=judged.outcome, reason=judged.reason, steps=(step,), media_type=kind.value)


def _read(page: ExtractedPage, kind: Kind, charset: str | None) -> Extraction:
    if not page.markdown.strip():
        raise Unreadable(Fault.EMPTY)
    step = PageStep(name=page.extractor, outcome=PageOutcome.OK, chars=len(page.markdown))
    return _finished(
        Extraction(outcome=PageOutcome.OK, page=page, steps=(step,), media_type=kind.value, charset=charset)
    )


def _unreadable(fault: Fault, kind: Kind, status: int) -> Extraction:
    judged = verdict_of_status(status)
    outcome = judged.outcome if judged else _OUTCOMES.get(fault, PageOutcome.MALFORMED)
    reason = judged.reason if judged else "unsupported_type" if kind is Kind.BINARY else fault.value
    step = PageStep(name=_STEPS[kind], outcome=outcome, reason=reason)
    return Extraction(outcome=outcome, reason=reason, steps=(step,), media_type=kind.value)


def _finished(extraction: Extraction) -> Extraction:
    """The text in the one form in which it is stored: composed, plain line ends, nothing unseen, not too long."""
    page = extraction.page
    if page is None:
        return extraction
    counts = Counter(page.hidden)
    text = normal_form("NFC", seen(page.markdown, counts))
    kept = text[:MOST_MARKDOWN].encode()[:MOST_MARKDOWN_BYTES].decode("utf-8", "ignore")
    page = replace(
        page,
        markdown=kept,
        title=normal_form("NFC", page.title) if page.title else None,
        hidden=dict(sorted(counts.items())),
        truncated=page.truncated or len(kept) < len(text),
    )
    return replace(extraction, page=page)
