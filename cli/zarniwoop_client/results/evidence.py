"""Evidence: what the project has read, and what became of it since."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from zarniwoop_client.results.pages import PageAnchor
from zarniwoop_client.results.record import Record
from zarniwoop_client.results.searches import AnswerSize, PublishedAt


class Quote(Record):
    """A passage that stands verbatim in the stored body: its characters from `start` up to `end`."""

    text: str
    start: int
    end: int


class Signal(Record):
    """One named reason why a source is more or less credible, and what it adds to the score."""

    name: str
    value: str
    points: float


class Evidence(Record):
    """One source as it was read: where it was found, how it was read, and what is quoted.

    `url` is what was asked for, `final_url` where it was found; `content_hash` is the SHA-256 of the stored body;
    `status` is the page's outcome; `retrieved_at` is in seconds since 1970, when it was last read like this;
    `credibility_score` is from 0 to 1, the sum of `signals` clamped. `authors` are those that a provider named,
    `byline` is the page's own; `modality` is that of the search that found it; `expires_at` is when it is forgotten.
    `anchors`, the first 200, `hidden` and `suspicious` are as `FetchedPage` has them.
    `degraded`: a reader ran out of time or died, so that it may be more than what was read.
    All texts but `extractor`, `status` and `signals` are a stranger's.
    """

    id: str
    source_type: str
    title: str
    url: str
    final_url: str
    snippet: str
    content_hash: str
    retrieved_at: float
    credibility_score: float
    extractor: str
    status: str
    task_id: str | None = None
    language: str | None = None
    canonical_url: str | None = None
    byline: str | None = None
    authors: tuple[str, ...] = ()
    site_name: str | None = None
    published_at: PublishedAt | None = None
    modified_at: PublishedAt | None = None
    anchors: tuple[PageAnchor, ...] = ()
    identifiers: Mapping[str, str] = Field(default_factory=dict)
    signals: tuple[Signal, ...] = ()
    quotes: tuple[Quote, ...] = ()
    media_type: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    instance_id: str | None = None
    body_chars: int = 0
    truncated: bool = False
    degraded: bool = False
    hidden: Mapping[str, int] = Field(default_factory=dict)
    suspicious: tuple[str, ...] = ()
    modality: str | None = None
    retracted: bool = False
    expires_at: float | None = None


class EvidenceListed(Record):
    """A page of the list; `next_page_token` is None where it ends. Quotes are only counted here, by id.

    Each `snippet` is fenced; the fence ends with the nonce `fence`. `note` says what to do where nothing is listed.
    """

    evidence: tuple[Evidence, ...]
    fence: str
    quote_counts: Mapping[str, int]
    next_page_token: str | None
    size: AnswerSize | None = None
    note: str | None = None
    untrusted: bool = True


class EvidenceRead(Record):
    """Evidence with `content`, its text from `offset` on, fenced as its `snippet`; `next_offset` is None at its end.

    Offsets count characters of the stored text, as those of `quotes` do, and never those of the fence, which ends with
    the nonce `fence`.
    """

    evidence: Evidence
    content: str
    fence: str
    offset: int
    next_offset: int | None
    untrusted: bool = True


class Citations(Record):
    """References in the order in which they were asked for: `items` of csl-json, else `text`."""

    format: str
    ids: tuple[str, ...]
    items: tuple[Mapping[str, Any], ...] | None = None
    text: str | None = None
    untrusted: bool = True


class VerifiedQuote(Record):
    """A quote, where it stood, and where it stands now."""

    verdict: str
    text: str
    start: int
    end: int
    now_start: int | None = None
    now_end: int | None = None


class Verification(Record):
    """What was seen at `verified_at`. `outcome` is the fetch's, `reason` says why more is not known.

    `alike` is the part of the stored text's lines that still stand in the page, from 0 to 1. Quotes are other people's
    words.
    """

    evidence_id: str
    verdict: str
    outcome: str
    verified_at: float
    retrieved_at: float
    final_url: str
    reason: str | None = None
    alike: float | None = None
    quotes: tuple[VerifiedQuote, ...] = ()
    untrusted: bool = True
