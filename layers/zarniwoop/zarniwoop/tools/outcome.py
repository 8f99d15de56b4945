"""Search results into envelopes: what was found, or a problem that says what to do about it.

Whether to ask again is read off the attempts: only what time heals is worth it. A query that was rejected, a key that
was refused and a credit that is spent for good stay as they are until somebody changes something.
"""

from collections.abc import Callable, Iterator, Sequence

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.problem import Problem
from zarniwoop.contract.result import Attempt, DispatchFailure, SearchResult
from zarniwoop.dispatch.candidates.gate import Skip, to_raise
from zarniwoop.dispatch.candidates.protocols import Protocols
from zarniwoop.dispatch.candidates.selection import PINNED
from zarniwoop.dispatch.spending.purse import MAX_CALLS, MAX_COST
from zarniwoop.settings.names import API_KEY, endpoint_setting

_HEALED_BY_TIME = frozenset(
    (
        *("probing", "throttled", "out_of_time", "key_unavailable"),
        *("rate_limited", "provider_unavailable", "malformed_answer"),
    )
)
"""Reasons that pass by themselves. The others do only when it is known when."""


def envelope(result: SearchResult, protocols: Protocols, now: float) -> ToolResult:
    """`ok` with the result, also an empty one; else the problem beside the result with its attempts."""
    if result.failure is None:
        return ToolResult(ok=True, data=result)
    return ToolResult(ok=False, data=result, error=problem_of(result, protocols, now))


def problem_of(result: SearchResult, protocols: Protocols, now: float) -> Problem | None:
    """Why a search brought nothing, in RFC 9457's members; None when it did not fail."""
    failure = result.failure
    if failure is None:
        return None
    passing = [attempt for attempt in result.attempts if _passes(attempt)]
    retryable = bool(passing) or failure is DispatchFailure.OUT_OF_TIME
    wait = _wait(passing, now)
    return Problem(
        type=f"urn:zarniwoop:problem:{failure.replace('_', '-')}",
        title="The search was not answered",
        status=200,
        detail=result.error_message or "no provider answered",
        field=_field(result),
        retryable=retryable,
        wait_seconds=wait,
        suggested_action=_again(result, wait) if retryable else _change(result, protocols),
    )


def _field(result: SearchResult) -> str | None:
    """The argument at fault, where it is one: a ceiling may be the request's own."""
    if result.failure is DispatchFailure.NO_ENDPOINT:
        return "modality"
    if _costs_by_its_pin(result):
        return PINNED
    if result.failure is DispatchFailure.ONLY_METERED and result.attempts:
        return "free_only"
    refusing = (attempt.detail for attempt in result.attempts if attempt.reason == Skip.BUDGET)
    return next((name for name in refusing if name in (MAX_CALLS, MAX_COST)), None)


def _costs_by_its_pin(result: SearchResult) -> bool:
    """Whether the pinned instance alone keeps a search that may cost nothing from being answered."""
    metered = result.failure is DispatchFailure.ONLY_METERED
    return metered and any(attempt.detail == PINNED for attempt in result.attempts)


def _passes(attempt: Attempt) -> bool:
    return attempt.reason in _HEALED_BY_TIME or attempt.retry_at is not None


def _wait(passing: Sequence[Attempt], now: float) -> float | None:
    """Until the first of them may be asked; None when one may be asked as soon as there is time for it."""
    moments = [attempt.retry_at for attempt in passing]
    known = [moment for moment in moments if moment is not None]
    return max(0.0, round(min(known) - now, 3)) if known and len(known) == len(moments) else None


def _again(result: SearchResult, wait: float | None) -> str:
    failure = result.failure
    if failure is DispatchFailure.BUDGET:
        return ", or ".join([*_raises(result), "ask again after wait_seconds"])
    if failure is DispatchFailure.OUT_OF_TIME:
        return "ask again with fewer modalities or a longer deadline"
    if wait is None:
        return "ask again, with a longer deadline if there is one"
    return "ask again after wait_seconds; research_providers shows what each provider is waiting for"


def _change(result: SearchResult, protocols: Protocols) -> str:
    """What somebody must change before asking again makes sense."""
    if result.failure is DispatchFailure.NO_ENDPOINT:
        return f"add the setting research.endpoint.<id>.protocol = {_serving(result, protocols)}"
    if _costs_by_its_pin(result):
        return f"leave out {PINNED}: others answer for nothing; or leave out free_only"
    if result.failure is DispatchFailure.ONLY_METERED and result.attempts:
        return "leave out free_only, or add an endpoint without a costPerCall"
    if result.failure is DispatchFailure.ONLY_METERED:
        name = f"research.default.{result.modality.lower()}"
        return f"name one in {name}, pin it, or set research.endpoint.<id>.autoAllow = true"
    if result.failure is DispatchFailure.NOT_CACHED:
        name = f"research.cache.ttlSeconds.{result.modality.lower()}"
        return f"ask without cache: only; answers are kept where {name} is set"
    remedies = dict.fromkeys([*_remedies(result.attempts), *_raises(result)])
    return "; or ".join(remedies) or "research_providers shows the state of each provider"


def _raises(result: SearchResult) -> list[str]:
    """Each ceiling that kept somebody from being asked, with what it is now."""
    refusing = (each for each in result.attempts if each.reason == Skip.BUDGET and each.detail)
    return list(dict.fromkeys(to_raise(each.detail, each.limit) for each in refusing))


def _serving(result: SearchResult, protocols: Protocols) -> str:
    serving = sorted(
        name
        for name, each in protocols.by_id.items()
        if result.modality in each.modalities_supported() and result.tier in each.tiers_supported()
    )
    return " or ".join(serving) or "an add-on's id (no built-in serves it yet)"


def _remedies(attempts: Sequence[Attempt]) -> Iterator[str]:
    for attempt in attempts:
        reason = attempt.detail if attempt.reason == "cooldown" else attempt.reason
        if reason in _REMEDIES:
            yield _REMEDIES[reason](attempt.instance_id)


_REMEDIES: dict[str, Callable[[str], str]] = {
    "query_rejected": lambda name: f"change the query: '{name}' does not take it as it is",
    "credentials_rejected": lambda name: f"save a key that '{name}' accepts as {endpoint_setting(name, API_KEY)}",
    "exhausted": lambda name: f"raise {endpoint_setting(name, 'creditLimit')}, or add another endpoint",
    "declined": lambda _name: "drop the filters that the providers declined, or pin another instance",
    "disabled": lambda _name: "set research.endpoint.<id>.enabled = true, or give the endpoint a baseUrl",
    "internal": lambda name: f"pin another instance: '{name}' is broken, and the log says how",
}
