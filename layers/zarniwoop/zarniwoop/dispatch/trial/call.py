"""What the one call of a trial came to, before it is known how long it took."""

from dataclasses import dataclass

from zarniwoop.contract.failure import ProviderError
from zarniwoop.contract.problem import Problem
from zarniwoop.contract.quota import QuotaStatus
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.contract.result import Outcome
from zarniwoop.dispatch.calls.call import calls_before
from zarniwoop.dispatch.candidates.selection import Candidate
from zarniwoop.dispatch.trial.words import broken, failed, soft_failure

QUOTA, SEARCH = "quota", "search"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialCall:
    """`asked` is `quota` or `search`; `calls` is how many requests count as the endpoint's."""

    asked: str
    outcome: Outcome
    message: str
    reason: str | None = None
    hit_count: int = 0
    calls: int = 1
    quota: QuotaStatus | None = None
    note: str | None = None
    problem: Problem | None = None

    @classmethod
    def of_quota(cls, quota: QuotaStatus) -> "TrialCall":
        return cls(asked=QUOTA, outcome=Outcome.SUCCESS, message="the key is good", calls=0, quota=quota)

    @classmethod
    def of_failure(cls, candidate: Candidate, error: ProviderError, asked: str) -> "TrialCall":
        problem = failed(candidate, error)
        return cls(
            asked=asked,
            outcome=Outcome.FAILURE,
            message=problem.detail,
            reason=error.reason,
            calls=calls_before(error) if asked == SEARCH else 0,
            problem=problem,
        )

    @classmethod
    def of_bug(cls, candidate: Candidate, error: Exception, asked: str, *, calls: int) -> "TrialCall":
        """An instance raised what it must not."""
        problem = broken(candidate, error)
        return cls(
            asked=asked,
            outcome=Outcome.FAILURE,
            message=problem.detail,
            reason="internal",
            calls=calls,
            problem=problem,
        )


def searched(candidate: Candidate, request: SearchRequest, scope: SearchScope) -> TrialCall:
    """Raises what the instance does."""
    result = candidate.instance.search(request, scope)
    if result.error_message is not None or (result.degraded and not result.hits):
        problem = soft_failure(candidate, result.error_message or result.degraded or "")
        return TrialCall(
            asked=SEARCH,
            outcome=Outcome.SOFT_FAILURE if result.error_message is not None else Outcome.DEGRADED_EMPTY,
            message=problem.detail,
            reason="declined" if result.error_message is not None else "degraded",
            calls=result.calls,
            problem=problem,
        )
    found = len(result.hits)
    return TrialCall(
        asked=SEARCH,
        outcome=Outcome.SUCCESS if found else Outcome.EMPTY,
        message="it answers and finds something" if found else "it answers, and finds nothing for this query",
        hit_count=found,
        calls=result.calls,
        quota=result.quota,
        note=result.note,
    )
