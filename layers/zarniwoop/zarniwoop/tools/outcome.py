"""Search results into envelopes: what was found, or a problem that says what to do about it."""

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.problem import Problem
from zarniwoop.contract.result import DispatchFailure, SearchResult
from zarniwoop.dispatch.protocols import Protocols

_RETRYABLE = frozenset({DispatchFailure.ALL_COOLING, DispatchFailure.ALL_FAILED, DispatchFailure.OUT_OF_TIME})


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
    retryable = failure in _RETRYABLE
    wait = max(0.0, round(result.retry_at - now, 3)) if retryable and result.retry_at is not None else None
    return Problem(
        type=f"urn:zarniwoop:problem:{failure.replace('_', '-')}",
        title="The search was not answered",
        status=200,
        detail=result.error_message or "no provider answered",
        field="modality" if failure is DispatchFailure.NO_ENDPOINT else None,
        retryable=retryable,
        wait_seconds=wait,
        suggested_action=_action(failure, result.modality, protocols),
    )


def _action(failure: DispatchFailure, modality: SearchModality, protocols: Protocols) -> str:
    if failure is DispatchFailure.NO_ENDPOINT:
        serving = sorted(name for name, each in protocols.by_id.items() if modality in each.modalities_supported())
        choice = " or ".join(serving) or "an add-on's id (no built-in serves it yet)"
        return f"add the setting research.endpoint.<id>.protocol = {choice}"
    if failure is DispatchFailure.DISABLED:
        return "set research.endpoint.<id>.enabled = true, or give the endpoint a baseUrl"
    if failure is DispatchFailure.DECLINED:
        return "drop the filters that the providers declined, or pin another instance"
    if failure is DispatchFailure.OUT_OF_TIME:
        return "ask again with fewer modalities or a longer deadline"
    return "ask again after wait_seconds; research_providers shows what each provider is waiting for"
