"""Evidence: what an answer stands on, as it was read at a moment (seed 2, `ai_evidence`)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from zarniwoop.contract.hit import PublishedAt
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.page import PageAnchor

MOST_ANCHORS = 200


class SourceType(StrEnum):
    """How a source was read; `HOSTED`: a provider read the page for us."""

    PAGE = "page"
    PDF = "pdf"
    SEARCH_HIT = "search_hit"
    HOSTED = "hosted"
    ARCHIVE = "archive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A passage that stands verbatim in the stored body: its characters from `start` up to `end`."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One named reason why a source is more or less credible, and what it adds to the score."""

    name: str
    value: str
    points: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One source as it was read. The seed's fields, and where it was found, how it was read, and what is quoted.

    `url` is what was asked for, `final_url` where it was found; `content_hash` is the SHA-256 of the stored body;
    `status` is the page's outcome; `retrieved_at` is in seconds since 1970, when it was last read like this;
    `credibility_score` is from 0 to 1, the sum of `signals` clamped. `authors` are those that a provider named,
    `byline` is the page's own; `modality` is that of the search that found it; `expires_at` is when it is forgotten.
    `anchors`, `hidden`, `suspicious` and `degraded` are as `contract.page` has them; of anchors, the first 200.
    All texts but `extractor`, `status` and `signals` are a stranger's.
    """

    id: str
    source_type: SourceType
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
    identifiers: Mapping[str, str] = field(default_factory=dict)
    signals: tuple[Signal, ...] = ()
    quotes: tuple[Quote, ...] = ()
    media_type: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    instance_id: str | None = None
    body_chars: int = 0
    truncated: bool = False
    degraded: bool = False
    hidden: Mapping[str, int] = field(default_factory=dict)
    suspicious: tuple[str, ...] = ()
    modality: SearchModality | None = None
    retracted: bool = False
    expires_at: float | None = None
