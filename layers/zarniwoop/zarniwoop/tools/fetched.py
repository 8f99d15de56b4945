"""What `web_fetch` answers with: a page for each URL, in whole or in parts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

from zarniwoop.contract.evidence import SourceType
from zarniwoop.contract.hit import PublishedAt
from zarniwoop.contract.page import PageAnchor, PageFormat, PageLink, PageOutcome, PageStep
from zarniwoop.contract.result import AnswerSize, Attempt
from zarniwoop.dispatch.plan import WorstCase
from zarniwoop.pages.foreseen import ForeseenPage
from zarniwoop.pages.keeping import CheckedQuote
from zarniwoop.tools.text_parts import parts_of
from zarniwoop.tools.untrusted import fenced

Entry = tuple[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePart:
    """A part of the page at `page`, counted from 0: the characters of its text from `start` up to `end`, fenced."""

    page: int
    url: str
    start: int
    end: int
    text: str
    untrusted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkOfPage:
    """A link of the page at `page`, counted from 0."""

    page: int
    url: str
    text: str
    rel: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedPage:
    """One URL. `content` is the first `content_end` of `content_chars` characters of its text, fenced.

    `not_modified`: the page is still as it was stored, and that is what is given. `source_type` says who read it;
    `archived_at` is the archive's moment (YYYYMMDDhhmmss). Offsets of `quotes` and `anchors` count in the page's
    Markdown, as it is stored. `hidden` counts what was taken out because no reader sees it, `suspicious` names what
    looks like orders to a model. `links_count` is None where it is not known: links are not stored. `not_kept` says why
    there is no evidence although there was to be. `retry_after` is in seconds. `note` says why a page that was read
    has no content in this format, `suggested_action` what to do about one that was not read. All texts but these two,
    `outcome`, `reason`, `steps` and `attempts` are a stranger's.
    """

    url: str
    outcome: PageOutcome
    final_url: str
    reason: str | None = None
    status: int | None = None
    source_type: SourceType | None = None
    archived_at: str | None = None
    title: str | None = None
    byline: str | None = None
    site_name: str | None = None
    published_at: PublishedAt | None = None
    modified_at: PublishedAt | None = None
    language: str | None = None
    canonical_url: str | None = None
    media_type: str | None = None
    content: str | None = field(default=None, repr=False)
    content_chars: int = 0
    content_end: int = 0
    links: tuple[LinkOfPage, ...] = ()
    links_count: int | None = None
    anchors: tuple[PageAnchor, ...] = ()
    hidden: Mapping[str, int] = field(default_factory=dict)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedPages:
    """`fence` is the nonce that ends every fence of this answer. `cost` is what providers took for reading pages."""

    format: PageFormat
    pages: tuple[FetchedPage, ...]
    fence: str
    cost: float = 0.0
    size: AnswerSize | None = None

    def entries(self) -> tuple[Entry, ...]:
        """The first part of every page, then the second of every one: each page shows its beginning."""
        rows = zip_longest(*(_entries(number, page, self.fence) for number, page in enumerate(self.pages)))
        return tuple(entry for row in rows for entry in row if entry is not None)

    def with_entries(self, entries: Sequence[Entry], size: AnswerSize) -> "FetchedPages":
        """The parts are the first of each page."""
        parts = [part for _, part in entries]
        ends = {part.page: part.end for part in parts if isinstance(part, PagePart)}
        links = [part for part in parts if isinstance(part, LinkOfPage)]
        pages = tuple(
            replace(
                _up_to(page, ends.get(number, 0), self.fence),
                links=tuple(link for link in links if link.page == number),
            )
            for number, page in enumerate(self.pages)
        )
        return replace(self, pages=pages, size=size)


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchPlan:
    """The dry run: which steps would be taken for each URL. Steps behind the first are taken only if they must be."""

    tool: str
    pages: tuple[ForeseenPage, ...]
    worst_case: WorstCase
    dry_run: bool = field(default=True, init=False)


def _entries(number: int, page: FetchedPage, nonce: str) -> list[Entry]:
    text = _text(page, nonce)
    parts: list[Entry] = [
        ("parts", PagePart(page=number, url=page.url, start=start, end=end, text=fenced(text[start:end], nonce)))
        for start, end in parts_of(text)
    ]
    return parts + [("links", link) for link in page.links]


def _up_to(page: FetchedPage, end: int, nonce: str) -> FetchedPage:
    content = fenced(_text(page, nonce)[:end], nonce) if end else None
    return replace(page, content=content, content_end=end)


def _text(page: FetchedPage, nonce: str) -> str:
    """What is within the fence."""
    begin = fenced("", nonce).index("\n") + 1
    return page.content[begin:-begin] if page.content else ""


def link_of(number: int, link: PageLink) -> LinkOfPage:
    return LinkOfPage(page=number, url=link.url, text=link.text, rel=link.rel)
