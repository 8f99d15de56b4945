"""Answers with a bound: as many whole hits (or parts of a text) as fit, the rest under a handle, the sizes of both.

The bound counts the characters of `data` as JSON. Hits are taken from the front, and none is ever cut; of a rich search
the best of every kind come first, of a run what was kept before what was dropped. What tells of the search itself (its
attempts, its filters) is always whole, and may by itself be larger than a bound that is very small: `least_max_chars`
is the bound to ask with then. Only a run has records of any length beside its hits: the longest are left out by name.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from zarniwoop.contract.result import AnswerSize, SearchResult
from zarniwoop.stores.continuations import Entry
from zarniwoop.text.as_json import json_chars
from zarniwoop.tools.arguments import MIN_CHARS
from zarniwoop.tools.in_parts import InParts
from zarniwoop.tools.linked_hits import Link, with_links
from zarniwoop.tools.research_rich import RichResult
from zarniwoop.tools.run_report import RunReport

Keep = Callable[[tuple[Entry, ...]], tuple[str, float] | None]
"""Puts hits aside; the handle that they are found by and until when, or None when that could not be done."""

SHARE_OF_LINKS = 5
"""Beside `data`, the links of `evidence` take no more than its bound divided by that."""
_WIDEST = 9_999_999
_ROOM_FOR_TIMES = 8
"""The share of an answer without hits that its numbers may grow by, the bound's own digits included."""
_LISTS_OF_A_RUN = ("hits", "dropped")
_CUT = "truncated"
"""Names what was cut or left out of a run's results."""
ANY_KEPT = ("0" * 38, 9_999_999_999.999_999)
"""As wide as any handle and its end can be."""


def bound(data: Any, max_chars: int, keep: Keep, links: Sequence[Link] = ()) -> Any:
    """The same answer within its bound; what has no hits is left as it is. `links` to evidence go along with hits."""
    data = _without_long_records(data, max_chars // 2)
    entries = entries_of(data)
    if entries is None:
        return data
    shell = json_chars(with_entries(data, (), _widest(max_chars)))
    count, sizes = fitting(entries, max_chars - shell)
    rest = with_links(entries[count:], links)
    if rest and links:
        sizes = sizes[:count] + fitting(rest, 0)[1]
    kept = keep(rest) if rest else None
    return with_entries(data, entries[:count], size_of(max_chars, count, sizes, kept, shell))


def fitting(entries: Sequence[Entry], room: int) -> tuple[int, tuple[int, ...]]:
    """How many of the first hits fit into so many characters, and what each of all takes, its comma included."""
    sizes = tuple(json_chars(hit) + 1 for _, hit in entries)
    count = 0
    for size in sizes:
        room -= size
        if room < 0:
            break
        count += 1
    return count, sizes


def size_of(max_chars: int, count: int, sizes: Sequence[int], kept: tuple[str, float] | None, shell: int) -> AnswerSize:
    """The account of an answer with the first `count` of hits of these sizes, which takes `shell` besides them.

    Whoever asks the tool again meets other times and ages, so the least bound leaves them room.
    """
    left = sizes[count:]
    return AnswerSize(
        max_chars=max_chars,
        hits=count,
        hit_chars=sum(sizes[:count]),
        hits_left=len(left),
        chars_left=sum(left),
        next_hit_chars=left[0] if left else None,
        least_max_chars=max(MIN_CHARS, shell + shell // _ROOM_FOR_TIMES + left[0]) if left else None,
        handle=kept[0] if kept else None,
        expires_at=kept[1] if kept else None,
    )


def links_within(links: Sequence[Any], most: int) -> int:
    """How many of the first links of `evidence` fit into so many characters."""
    return fitting([("evidence", link) for link in links], most)[0]


def nested(entries: Sequence[Entry]) -> dict[str, Any]:
    """Hits under the paths of their lists, as in the answer that they continue."""
    answer: dict[str, Any] = {}
    for path, hit in entries:
        *outer, name = path.split("/")
        place = answer
        for part in outer:
            place = place.setdefault(part, {})
        place.setdefault(name, []).append(hit)
    return answer


def shell_chars(paths: Sequence[str], tool: str, max_chars: int) -> int:
    """What a continued answer with hits in these lists takes besides its hits."""
    lists = nested([(path, "") for path in paths])
    return json_chars({**lists, "tool": tool, "size": _widest(max_chars), "untrusted": True})


def entries_of(data: Any) -> tuple[Entry, ...] | None:
    """Every hit of an answer, in the order in which they are given out; None for an answer that is no list of hits."""
    if isinstance(data, SearchResult):
        return tuple(("hits", hit) for hit in data.hits)
    if isinstance(data, RichResult):
        rows = zip_longest(
            *([(f"results/{name}/hits", hit) for hit in each.hits] for name, each in data.results.items())
        )
        return tuple(entry for row in rows for entry in row if entry is not None)
    if isinstance(data, InParts):
        return data.entries()
    if isinstance(data, RunReport) and data.results is not None:
        return tuple((f"results/{name}", hit) for name in _LISTS_OF_A_RUN for hit in data.results.get(name, ()))
    return None


def with_entries(data: Any, entries: Sequence[Entry], size: AnswerSize) -> Any:
    """The answer with these of its hits."""
    if isinstance(data, SearchResult):
        return replace(_search_with(data, "hits", entries), size=size)
    if isinstance(data, RichResult):
        results = {name: _search_with(each, f"results/{name}/hits", entries) for name, each in data.results.items()}
        return replace(data, results=results, size=size)
    if isinstance(data, InParts):
        return data.with_entries(entries, size)
    lists = {name: [hit for path, hit in entries if path == f"results/{name}"] for name in _LISTS_OF_A_RUN}
    return replace(data, results={**data.results, **lists}, size=size)


def _search_with(result: SearchResult, path: str, entries: Sequence[Entry]) -> SearchResult:
    hits = tuple(hit for found, hit in entries if found == path)
    truncated = result.truncated or len(hits) < len(result.hits)
    return replace(result, hits=hits, returned_count=len(hits), truncated=truncated)


def _without_long_records(data: Any, most: int) -> Any:
    """Of a run: the longest of what stands beside its hits is left out until the rest takes so little."""
    if not isinstance(data, RunReport) or data.results is None:
        return data
    sizes = {name: json_chars(each) for name, each in data.results.items() if name not in (*_LISTS_OF_A_RUN, _CUT)}
    over = json_chars(replace(data, results=None)) + sum(sizes.values()) - most
    left_out: list[str] = []
    for name in sorted(sizes, key=lambda each: -sizes[each]):
        if over <= 0:
            break
        over -= sizes[name]
        left_out.append(name)
    if not left_out:
        return data
    kept = {name: each for name, each in data.results.items() if name not in left_out}
    return replace(data, results={**kept, _CUT: [*data.results.get(_CUT, ()), *left_out]})


def _widest(max_chars: int) -> AnswerSize:
    """As wide as any account can be."""
    wide = size_of(max_chars, 0, (_WIDEST,), ANY_KEPT, 0)
    return replace(wide, hits=_WIDEST, hit_chars=_WIDEST, hits_left=_WIDEST, chars_left=_WIDEST, evidence_left=_WIDEST)
