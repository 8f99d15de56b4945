"""Pages that a search engine reads for us: Markdown that came along with a hit, or is to be had on demand."""

from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import Cause, ProviderUnavailable, QueryRejected
from zarniwoop.contract.hit import ContentInline, ContentReference, LoadedContent
from zarniwoop.contract.transport import PublicAddresses
from zarniwoop.text.urls import http_url

MARKDOWN = "text/markdown"


def page_of(text: str | None, url: str, *, on_demand: bool) -> ContentReference | None:
    """What hangs on a hit: its page where one came along, else a reference to it where pages are offered."""
    if isinstance(text, str) and text.strip():
        return ContentReference(inline=ContentInline.EMBED_TEXT, media_type=MARKDOWN, text=text)
    if on_demand:
        return ContentReference(inline=ContentInline.STASH_ON_DEMAND, media_type=MARKDOWN, reference=url)
    return None


def check_public(reference: ContentReference, addresses: PublicAddresses | None, deadline: Deadline) -> None:
    """Before an address is named to whoever reads pages: raises QueryRejected unless it is public.

    The provider is not at fault. A reference that is no address passes: it means something to its provider alone.
    """
    url = http_url(reference.reference)
    if url is None:
        return
    if addresses is None:
        raise QueryRejected("nobody can tell whether this page is public")
    try:
        addresses.check(url, deadline=deadline)
    except ProviderUnavailable as failure:
        if failure.cause is Cause.DEADLINE:
            raise
        raise QueryRejected("this page is not on the public internet", cause=failure.cause) from failure


def page_asked(reference: ContentReference) -> str:
    """The address of the page behind a reference. Raises QueryRejected for what is none."""
    url = http_url(reference.reference)
    if url is None:
        raise QueryRejected("the reference is no address of a page")
    return url


def page_read(text: str | None, source: object, url: str, *, reader: str) -> LoadedContent:
    """The page as it was read, of the address that it had in the end. Raises QueryRejected for one without text."""
    if not text or not text.strip():
        raise QueryRejected(f"{reader} cannot read this page")
    return LoadedContent(body=text.encode(), media_type=MARKDOWN, source_url=http_url(source) or url)
