"""Pages of the web as `web_fetch` read them."""

from collections.abc import Mapping

from pydantic import Field

from zarniwoop_client.results.record import Record
from zarniwoop_client.results.searches import AnswerSize, Attempt, PublishedAt


class PageStep(Record):
    """One step of the chain. `reason` says why the chain went on (`too_little_text`, `link_soup`, …).

    `name` is `fetch`, `trafilatura`, `readability`, `text`, `pdf`, `docx`, …, `browser`, `archive`, or the id of the
    endpoint that read the page for us.
    """

    name: str
    outcome: str
    reason: str | None = None
    chars: int = 0
    milliseconds: int = 0


class PageAnchor(Record):
    """Where a part of the text begins: `page=3` of a PDF, at that character of the text."""

    name: str
    start: int


class ClosestPassage(Record):
    """What stands where the wanted text would have: a stranger's words. `alike` is from 0 to 1."""

    text: str
    start: int
    end: int
    alike: float


class CheckedQuote(Record):
    """What became of the wanted quote at `index`, counted from 0.

    One that stands has the text's own words, and where they are in the stored text, in characters. Of one that does
    not, `closest` is what comes closest, if anything does.
    """

    index: int
    stands: bool
    text: str | None = None
    start: int | None = None
    end: int | None = None
    closest: ClosestPassage | None = None
    untrusted: bool = True


class PagePart(Record):
    """A part of the page at `page`, counted from 0: the characters of its text from `start` up to `end`, fenced."""

    page: int
    url: str
    start: int
    end: int
    text: str
    untrusted: bool = True


class LinkOfPage(Record):
    """A link of the page at `page`, counted from 0."""

    page: int
    url: str
    text: str
    rel: str | None = None


class FetchedPage(Record):
    """One URL. `content` is the first `content_end` of `content_chars` characters of its text, fenced.

    `not_modified`: the page is still as it was stored, and that is what is given. `source_type` says who read it;
    `archived_at` is the archive's moment (YYYYMMDDhhmmss). Offsets of `quotes` and `anchors` count in the page's
    Markdown, as it is stored. `hidden` counts what was taken out because no reader sees it, `suspicious` names what
    looks like orders to a model. `links_count` is None where it is not known: links are not stored. `not_kept` says why
    there is no evidence although there was to be. `retry_after` is in seconds. `note` says what was not as asked,
    `suggested_action` what to do about a page that was not read. All texts but these, `outcome`, `reason`, `steps` and
    `attempts` are a stranger's.
    """

    url: str
    outcome: str
    final_url: str
    reason: str | None = None
    status: int | None = None
    source_type: str | None = None
    archived_at: str | None = None
    title: str | None = None
    byline: str | None = None
    site_name: str | None = None
    published_at: PublishedAt | None = None
    modified_at: PublishedAt | None = None
    language: str | None = None
    canonical_url: str | None = None
    media_type: str | None = None
    content: str | None = None
    content_chars: int = 0
    content_end: int = 0
    links: tuple[LinkOfPage, ...] = ()
    links_count: int | None = None
    anchors: tuple[PageAnchor, ...] = ()
    hidden: Mapping[str, int] = Field(default_factory=dict)
    suspicious: tuple[str, ...] = ()
    truncated: bool = False
    quotes: tuple[CheckedQuote, ...] = ()
    evidence_id: str | None = None
    not_kept: str | None = None
    retry_after: float | None = None
    note: str | None = None
    suggested_action: str | None = None
    hops: tuple[str, ...] = ()
    steps: tuple[PageStep, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    untrusted: bool = True


class FetchedPages(Record):
    """`fence` is the nonce that ends every fence of this answer. `cost` is what providers took for reading pages."""

    format: str
    pages: tuple[FetchedPage, ...]
    fence: str
    cost: float = 0.0
    size: AnswerSize | None = None
