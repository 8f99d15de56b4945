"""Continuations: what a bounded answer left for later."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from zarniwoop_client.results.evidence import Evidence
from zarniwoop_client.results.pages import LinkOfPage, PagePart
from zarniwoop_client.results.providers import ProviderSummary
from zarniwoop_client.results.record import Record
from zarniwoop_client.results.searches import AnswerSize, SearchHit


class Continued(Record):
    """What did not fit into a bounded answer of `tool`: hits under the paths that their lists have there.

    Of a search they are `hits`, of research_rich `results[modality]["hits"]`, of a run `results["survivors"]` and
    `results["dropped"]`, of web_fetch `parts` and `links`, of lists their rows.
    """

    tool: str
    size: AnswerSize
    untrusted: bool = True
    hits: tuple[SearchHit, ...] = ()
    results: Mapping[str, Any] = Field(default_factory=dict)
    parts: tuple[PagePart, ...] = ()
    links: tuple[LinkOfPage, ...] = ()
    providers: tuple[ProviderSummary, ...] = ()
    evidence: tuple[Evidence, ...] = ()
