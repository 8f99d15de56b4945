"""The account that goes with every answer: who was asked, what it cost, and what it comes to when nobody answered."""

from collections.abc import Sequence
from datetime import UTC, datetime

from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.result import Attempt, DispatchFailure, Outcome, SearchResult
from zarniwoop.dispatch.candidates.gate import Skip
from zarniwoop.dispatch.candidates.selection import PINNED, Lineup

_WAITING = frozenset({Skip.COOLDOWN, Skip.PROBING, Skip.EXHAUSTED, Skip.THROTTLED, Skip.DISABLED})
_OUTCOMES = {
    DispatchFailure.ALL_COOLING: "cooldown",
    DispatchFailure.BUDGET: "budget",
    DispatchFailure.DISABLED: "disabled",
    DispatchFailure.NO_ENDPOINT: "disabled",
    DispatchFailure.ONLY_METERED: "disabled",
    DispatchFailure.NOT_CACHED: "not_cached",
}
_MESSAGES = {
    DispatchFailure.NO_ENDPOINT: "no endpoint serves this modality",
    DispatchFailure.ONLY_METERED: "the endpoints that serve this modality cost money, and none is named",
    DispatchFailure.DISABLED: "every endpoint for this modality is disabled",
    DispatchFailure.ALL_COOLING: "every provider for this modality is cooling down, used up or throttled",
    DispatchFailure.ALL_FAILED: "no provider could answer this search",
    DispatchFailure.DECLINED: "no provider takes this search",
    DispatchFailure.OUT_OF_TIME: "there was no time left to ask a provider",
}


def with_account(result: SearchResult, lineup: Lineup, attempts: Sequence[Attempt]) -> SearchResult:
    """The result with its attempts, whom the request's wish left out included, and what is to be said of settings."""
    notes = [note for note in (result.note, lineup.note, _unasked(result, attempts)) if note]
    return result.with_account((*_left_out(lineup), *attempts), "; ".join(notes) or None)


def failed(request: SearchRequest, lineup: Lineup, attempts: Sequence[Attempt]) -> SearchResult:
    """The result of a search that nobody answered, not even with nothing."""
    account = (*_left_out(lineup), *attempts)
    failure = DispatchFailure.ONLY_METERED if lineup.metered and not account else _kind(account)
    result = SearchResult(
        query=request.query,
        modality=request.modality,
        provider_instance_id=request.pinned_provider_id or "",
        tier=request.tier,
        error_message=_message(failure, account),
        calls=0,
        failure=failure,
        retry_at=min((each.retry_at for each in attempts if each.retry_at is not None), default=None),
    )
    return with_account(result, lineup, attempts)


def outcome_of(result: SearchResult) -> str:
    """The word that it is counted under."""
    if result.hits:
        return "success"
    return "empty" if result.failure is None else _OUTCOMES.get(result.failure, "error")


def unready(request: SearchRequest) -> SearchResult:
    """The result of a search that nobody waits for any longer."""
    return SearchResult(
        query=request.query,
        modality=request.modality,
        provider_instance_id="",
        tier=request.tier,
        error_message="the search was not ready at the deadline",
        calls=0,
        failure=DispatchFailure.OUT_OF_TIME,
    )


def _left_out(lineup: Lineup) -> list[Attempt]:
    detail = PINNED if lineup.only_the_pin_costs else None
    return [
        Attempt(instance_id=candidate.endpoint.id, outcome=Outcome.SKIPPED, reason=Skip.METERED, detail=detail)
        for candidate in lineup.paid
    ]


def _unasked(result: SearchResult, attempts: Sequence[Attempt]) -> str | None:
    """An empty answer, while a ceiling kept others from being asked, does not mean that there is nothing."""
    refused = [attempt for attempt in attempts if attempt.reason == Skip.BUDGET]
    if result.hits or not refused:
        return None
    ceilings = ", ".join(dict.fromkeys(attempt.detail for attempt in refused if attempt.detail))
    whom = ", ".join(dict.fromkeys(attempt.instance_id for attempt in refused))
    return f"nothing was found, but not everybody was asked: {ceilings} left no call for {whom}"


def _message(failure: DispatchFailure, attempts: Sequence[Attempt]) -> str:
    if failure is DispatchFailure.ONLY_METERED and any(attempt.detail == PINNED for attempt in attempts):
        return "the pinned endpoint costs money, and free_only leaves it out; others would answer for nothing"
    if failure is DispatchFailure.ONLY_METERED and attempts:
        return "the endpoints that serve this modality cost money, and free_only leaves them out"
    if failure is not DispatchFailure.BUDGET:
        return _MESSAGES[failure]
    refused = {attempt.detail: attempt.retry_at for attempt in attempts if attempt.reason == Skip.BUDGET}
    return "; ".join(_used_up(ceiling, resets_at) for ceiling, resets_at in refused.items() if ceiling)


def _used_up(ceiling: str, resets_at: float | None) -> str:
    if resets_at is None:
        return f"{ceiling} allows no further call of this request"
    begins = datetime.fromtimestamp(resets_at, tz=UTC)
    return f"the budget {ceiling} is used up, and begins anew at {begins:%Y-%m-%dT%H:%M:%SZ}"


def _kind(attempts: Sequence[Attempt]) -> DispatchFailure:
    """What the attempts come to, when none of them brought an answer."""
    reasons = {attempt.reason for attempt in attempts}
    if any(attempt.outcome is Outcome.FAILURE and attempt.reason != Skip.THROTTLED for attempt in attempts):
        return DispatchFailure.ALL_FAILED
    if Skip.OUT_OF_TIME in reasons:
        return DispatchFailure.OUT_OF_TIME
    if any(attempt.outcome is Outcome.SOFT_FAILURE for attempt in attempts):
        return DispatchFailure.DECLINED
    if Skip.BUDGET in reasons:
        return DispatchFailure.BUDGET
    if Skip.METERED in reasons and reasons <= {Skip.METERED, Skip.DISABLED}:
        return DispatchFailure.ONLY_METERED
    if reasons == {Skip.DISABLED}:
        return DispatchFailure.DISABLED
    return DispatchFailure.ALL_COOLING if reasons & _WAITING else DispatchFailure.NO_ENDPOINT
