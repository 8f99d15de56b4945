"""What a search means, and its answer in the form in which it is kept.

Two searches mean the same when the same providers would be asked for the same: query, modality, filters, count, locale
and strategy, and which endpoints stand in line under which settings, asked and read by which version of our code. A pin
and `free_only` are not part of it, since they act through who stands in line. Whatever else a request comes to have is
part of it until somebody lists it here.
Quirk: letter case is kept. Some indexes tell `OR` from `or`, and code is searched as it is spelt.
"""

import zlib
from dataclasses import fields, replace
from functools import cache
from typing import TYPE_CHECKING

import orjson
from pydantic import ValidationError

from zarniwoop.contract.request import SearchRequest, Strategy
from zarniwoop.contract.result import Attempt, Outcome, SearchResult
from zarniwoop.dispatch.candidates.gate import Skip
from zarniwoop.dispatch.candidates.selection import Lineup
from zarniwoop.text.normal_form import normal_form

if TYPE_CHECKING:
    from pydantic import TypeAdapter

FORM_VERSION = 1
"""Raised when what is kept changes its form."""
EMPTY_SECONDS = 60.0
"""How long nothing, and the answer of a stand-in, are kept at most: whoever failed may be back any moment."""

_NOT_MEANT = frozenset(("query", "cache", "pinned_provider_id", "free_only", "max_calls", "max_cost"))
_STANDING = frozenset((Skip.DISABLED, Skip.EXHAUSTED, "metered"))
"""Why instances are passed over for as long as settings and periods stand: no accident of this one search."""
_OF_NO_HARM = frozenset(("superseded",))


def meaning(request: SearchRequest, lineup: Lineup) -> bytes:
    """Equal for searches that mean the same."""
    asked = {field.name: getattr(request, field.name) for field in fields(request) if field.name not in _NOT_MEANT}
    in_line = [
        (each.endpoint.id, each.endpoint.protocol, each.endpoint.fingerprint, each.instance.answer_version())
        for each in lineup.candidates
        if each.endpoint.enabled
    ]
    return orjson.dumps(
        {
            "form": FORM_VERSION,
            "query": normalised(request.query),
            "asked": asked,
            "in_line": in_line,
            "note": lineup.note,
        },
        option=orjson.OPT_SORT_KEYS,
    )


def normalised(query: str) -> str:
    """Composed, and with single blanks."""
    return " ".join(normal_form("NFC", query).split())


def kept_seconds(result: SearchResult, strategy: Strategy, longest: float) -> float:
    """How long an answer may be kept; 0 for one that is failed, degraded, or only part of what there may be."""
    if result.failure is not None or result.error_message is not None or result.degraded is not None:
        return 0.0
    if result.truncated:
        return 0.0
    troubled = any(map(_is_trouble, result.attempts))
    if troubled and (not result.hits or strategy is Strategy.FANOUT):
        return 0.0
    return min(longest, EMPTY_SECONDS) if troubled or not result.hits else longest


def packed(result: SearchResult) -> bytes | None:
    """Without the query and the account of how it was come by; None for what JSON cannot say (of an add-on)."""
    try:
        plain = replace(result, query="", attempts=(), quota=None, upstream_headers={}, calls=0, cost=0.0, credits=0.0)
        return zlib.compress(orjson.dumps(plain))
    except TypeError:
        return None


def unpacked(body: bytes, request: SearchRequest, age_seconds: float) -> SearchResult | None:
    """The answer for who asks now; None when it is illegible."""
    try:
        kept = _reader().validate_json(zlib.decompress(body))
    except (zlib.error, ValidationError):
        return None
    return replace(kept, query=request.query, cached=True, age_seconds=round(age_seconds, 3))


@cache
def _reader() -> "TypeAdapter[SearchResult]":
    from pydantic import TypeAdapter

    return TypeAdapter(SearchResult)


def _is_trouble(attempt: Attempt) -> bool:
    if attempt.outcome in (Outcome.SUCCESS, Outcome.EMPTY) or attempt.reason in _OF_NO_HARM:
        return False
    return not (attempt.outcome is Outcome.SKIPPED and attempt.reason in _STANDING)
