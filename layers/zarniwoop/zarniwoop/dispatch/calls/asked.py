"""How a call of a provider instance ended, be it that nobody was asked."""

from dataclasses import dataclass

from zarniwoop.contract.failure import ProviderError
from zarniwoop.contract.hit import LoadedContent
from zarniwoop.contract.result import Attempt, Outcome, SearchResult
from zarniwoop.dispatch.candidates.credit import credits_of_a_call, dollars_of_a_call
from zarniwoop.dispatch.candidates.selection import Candidate

NO_KEY = "key_unavailable"
INTERNAL = "internal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """How a call ended: the attempt for the trace, the result or body when there was one, the error when not.

    `earlier` are those with other keys of the same endpoint, which came to nothing.
    """

    attempt: Attempt
    result: SearchResult | None = None
    content: LoadedContent | None = None
    error: ProviderError | None = None
    earlier: tuple[Attempt, ...] = ()

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        return *self.earlier, self.attempt

    @classmethod
    def skipped(
        cls,
        candidate: Candidate,
        reason: str,
        detail: str | None = None,
        retry_at: float | None = None,
        limit: float | None = None,
    ) -> "Asked":
        """Nobody was asked, and why."""
        attempt = Attempt(
            instance_id=candidate.endpoint.id,
            outcome=Outcome.SKIPPED,
            reason=reason,
            detail=detail,
            retry_at=retry_at,
            limit=limit,
        )
        return cls(attempt=attempt)

    @classmethod
    def left_running(cls, candidate: Candidate, reason: str, seconds: float = 0.0) -> "Asked":
        """The call has begun and is waited for no longer: until it has its own account, it cost what one call costs."""
        endpoint = candidate.endpoint
        attempt = Attempt(
            instance_id=endpoint.id,
            outcome=Outcome.FAILURE,
            reason=reason,
            duration_ms=round(seconds * 1000),
            cost=dollars_of_a_call(endpoint),
            credits=credits_of_a_call(endpoint),
        )
        return cls(attempt=attempt)

    @classmethod
    def without_key(cls, candidate: Candidate) -> "Asked":
        """Nobody was asked, since the store does not give the keys out."""
        return cls(attempt=Attempt(instance_id=candidate.endpoint.id, outcome=Outcome.FAILURE, reason=NO_KEY))

    @classmethod
    def broken(cls, candidate: Candidate) -> "Asked":
        """Nobody was asked, since the instance raised what it must not before it came to that."""
        return cls(attempt=Attempt(instance_id=candidate.endpoint.id, outcome=Outcome.FAILURE, reason=INTERNAL))
