"""What `evidence_store` and the routes of evidence answer: all but ids, moments and scores is a stranger's words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from zarniwoop.contract.evidence import Evidence
from zarniwoop.contract.result import AnswerSize
from zarniwoop.evidence.citation import CitationFormat


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceListed:
    """A page of the list; `next_page_token` is None where it ends.

    Quotes are only counted here, by id, and anchors are left out. Each `snippet` is fenced, with the nonce `fence`.
    `size` is there when the page was bounded: its handle leads on in the page, the token behind it. `note` says what to
    do where nothing is listed.
    """

    evidence: tuple[Evidence, ...]
    fence: str
    quote_counts: Mapping[str, int]
    next_page_token: str | None
    size: AnswerSize | None = None
    note: str | None = None
    untrusted: bool = field(default=True, init=False)

    def entries(self) -> tuple[tuple[str, Any], ...]:
        return tuple(("evidence", each) for each in self.evidence)

    def with_entries(self, entries: Sequence[tuple[str, Any]], size: AnswerSize) -> "EvidenceListed":
        return replace(self, evidence=tuple(each for _, each in entries), size=size)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceRead:
    """Evidence with `content`, its text from `offset` on, fenced as its `snippet`; `next_offset` is None at its end.

    Offsets count characters of the stored text, as those of `quotes` do, and never those of the fence, which ends with
    the nonce `fence`.
    """

    evidence: Evidence
    content: str
    fence: str
    offset: int
    next_offset: int | None
    untrusted: bool = field(default=True, init=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Citations:
    """References in the order in which they were asked for: `items` of csl-json, else `text`."""

    format: CitationFormat
    ids: tuple[str, ...]
    items: Sequence[Mapping[str, Any]] | None = None
    text: str | None = None
    untrusted: bool = field(default=True, init=False)
