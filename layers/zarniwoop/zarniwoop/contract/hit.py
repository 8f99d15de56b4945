"""One shape of hit for every provider, with its provenance, and the bodies that may hang on it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from zarniwoop.contract.modality import SearchModality


class ContentInline(StrEnum):
    """Where the body of a hit is: in the reference itself, or at the provider until somebody asks."""

    EMBED_TEXT = "EMBED_TEXT"
    STASH_ON_DEMAND = "STASH_ON_DEMAND"


class DatePrecision(StrEnum):
    YEAR = "year"
    MONTH = "month"
    DAY = "day"
    SECOND = "second"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedAt:
    """A date no more exact than the provider said: `2017`, `2017-06`, `2017-06-12` or an RFC 3339 instant."""

    value: str
    precision: DatePrecision


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentReference:
    """A body: `text` for EMBED_TEXT (abstract, lead), `reference` for STASH_ON_DEMAND (what `load_content` needs).

    An embedded abstract may have a `reference` as well, to the full text behind it.
    """

    inline: ContentInline
    media_type: str = "text/plain"
    text: str | None = None
    reference: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedContent:
    """A body fetched through `load_content`, at most as large as the transport's byte cap.

    `calls` is how many requests the provider was sent for it.
    """

    body: bytes
    media_type: str
    source_url: str
    calls: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Contributor:
    """Who named a hit of a fan-out, at which rank of its own list (from 1), under which URL.

    `contribution` is its share of the hit's `score`: nothing where another instance on the same `index_family` named
    the hit at a better rank, since one index has one vote.
    """

    instance_id: str
    index_family: str
    rank: int
    contribution: float
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """One hit (seed 1, section 4.4).

    `rank` is the provider's order, from 1. `identifiers` uses the keys `doi`, `arxiv_id`, `pmid`, `pmcid`, `isbn`,
    `openalex_id`, … in their bare form (a DOI in lower case without `https://doi.org/`). `extras` holds what only one
    modality or provider has. Of a fan-out, `contributors` says who named it, and `score` is the sum of their
    contributions; otherwise there are none.
    """

    title: str
    url: str
    modality: SearchModality
    snippet: str | None = None
    source: str | None = None
    content: ContentReference | None = None
    rank: int = 0
    authors: tuple[str, ...] = ()
    published_at: PublishedAt | None = None
    language: str | None = None
    identifiers: Mapping[str, str] = field(default_factory=dict)
    extras: Mapping[str, Any] = field(default_factory=dict)
    contributors: tuple[Contributor, ...] = ()
    score: float | None = None

    def ranked(self, rank: int) -> "SearchHit":
        """The hit at that rank."""
        return self if rank == self.rank else self._with(rank, self.extras)

    def with_extras(self, more: Mapping[str, Any]) -> "SearchHit":
        """The hit with more extras; theirs win."""
        return self._with(self.rank, {**self.extras, **more})

    def _with(self, rank: int, extras: Mapping[str, Any]) -> "SearchHit":
        """Spelt out: `dataclasses.replace` costs as much as reading the hit did."""
        return SearchHit(
            title=self.title,
            url=self.url,
            modality=self.modality,
            snippet=self.snippet,
            source=self.source,
            content=self.content,
            rank=rank,
            authors=self.authors,
            published_at=self.published_at,
            language=self.language,
            identifiers=self.identifiers,
            extras=extras,
            contributors=self.contributors,
            score=self.score,
        )
