"""A tool's answer within its bound: what was asked for, and what carries it. Hits that do not fit are put aside.

The bound is that of `data`; `evidence` links to the hits that are shown, and the others take their links along.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.request import SearchScope
from zarniwoop.contract.result import SearchResult
from zarniwoop.entry.answers import Weigh
from zarniwoop.stores.continuations import KEPT_SECONDS, Entry, Rest, handle_of
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.state import ProjectKey
from zarniwoop.text.as_json import as_json, json_chars
from zarniwoop.tools.arguments import MAX_CHARS, MIN_CHARS
from zarniwoop.tools.bounding import ANY_KEPT, SHARE_OF_LINKS, Keep, bound, entries_of, links_within
from zarniwoop.tools.linked_hits import Link, links_to_shown
from zarniwoop.tools.research_rich import RichResult
from zarniwoop.tools.result_read import Page
from zarniwoop.wiring import Environment

_LONGEST_BODY = MAX_CHARS * 9 // 10
"""With one that is longer a hit fits into no page."""


class Bounding:
    """One answer on its way out. Nothing is written for one that fits."""

    def __init__(self, tool: str, environment: Environment, *, kept_seconds: float = KEPT_SECONDS) -> None:
        self._tool = tool
        self._environment = environment
        self._kept_seconds = kept_seconds
        self._scope: SearchScope | None = None
        self._whole: Any = None
        self._links: Sequence[Link] = ()
        self._page = MAX_CHARS
        self._begun_at = environment.clock.now()

    @classmethod
    def unawaited(cls, tool: str, environment: Environment) -> "Bounding":
        """Of an answer that nobody waits for: read tomorrow or after a weekend, its handle still reads on."""
        return cls(tool, environment, kept_seconds=environment.content_seconds)

    def within(self, result: ToolResult, max_chars: int | None, scope: SearchScope) -> ToolResult:
        """By the caller's wish."""
        self._scope, self._whole, self._links = scope, result.data, result.evidence
        if max_chars is None:
            return result
        self._page = max_chars
        bounded = self._bounded(result, result.data, max_chars, self._keeping(scope))
        return _with_fewer_links(bounded, max_chars)

    def shorten(self, result: ToolResult, limit: int, weigh: Weigh) -> ToolResult:
        """Because it is too heavy: to as much as can be sent, in steps.

        What has no hits to put aside is left as it is. A hit that no page could hold goes without its inline body.
        The other pages are as long as the caller wishes: they go another way, which takes more.
        """
        scope, recut = self._scope, self._recutting(result)
        if scope is None or recut is None:
            return result
        for max_chars in _steps(limit):
            if weigh(as_json(recut(max_chars, lambda _entries: ANY_KEPT))) <= limit:
                return recut(max_chars, self._keeping(scope))
        return result

    def _recutting(self, result: ToolResult) -> Callable[[int, Keep], ToolResult] | None:
        """How to have less of the same answer; None for what cannot be shortened."""
        whole = self._whole
        if isinstance(whole, Page):
            return lambda max_chars, _keep: replace(result, data=whole.shorter(max_chars))
        readable = _readable(whole)
        if entries_of(readable) is None:
            return None
        return lambda max_chars, keep: self._bounded(result, readable, max_chars, keep)

    def _bounded(self, result: ToolResult, whole: Any, max_chars: int, keep: Keep) -> ToolResult:
        data = bound(whole, max_chars, keep, self._links)
        links = links_to_shown(self._links, entries_of(whole) or (), entries_of(data) or ())
        return replace(result, data=data, evidence=links)

    def _keeping(self, scope: SearchScope) -> Keep:
        expires_at = self._environment.clock.now() + self._kept_seconds

        def keep(entries: tuple[Entry, ...]) -> tuple[str, float] | None:
            rest = Rest(
                tool=self._tool,
                max_chars=self._page,
                begun_at=self._begun_at,
                expires_at=expires_at,
                entries=entries,
            )
            try:
                token = self._environment.continuations.keep(ProjectKey.of(scope), rest)
            except StoreUnavailable:  # the hits that fit have been paid for, and are given out all the same
                return None
            return handle_of(token, 0), expires_at

        return keep


def _steps(limit: int) -> Iterator[int]:
    while limit >= MIN_CHARS:
        yield limit
        limit = limit * 3 // 4


def _with_fewer_links(result: ToolResult, max_chars: int) -> ToolResult:
    """What is left out of `evidence` is told where the answer tells its size."""
    count = links_within(result.evidence, max_chars // SHARE_OF_LINKS)
    if count == len(result.evidence) or entries_of(result.data) is None:
        return result
    size = replace(result.data.size, evidence_left=len(result.evidence) - count)
    return replace(result, data=replace(result.data, size=size), evidence=result.evidence[:count])


def _readable(data: Any) -> Any:
    if isinstance(data, RichResult):
        return replace(data, results={name: _readable(each) for name, each in data.results.items()})
    if not isinstance(data, SearchResult) or not any(map(_is_endless, data.hits)):
        return data
    hits = tuple(replace(hit, content=None) if _is_endless(hit) else hit for hit in data.hits)
    return replace(data, hits=hits, truncated=True)


def _is_endless(hit: SearchHit) -> bool:
    return hit.content is not None and hit.content.text is not None and json_chars(hit.content.text) > _LONGEST_BODY
