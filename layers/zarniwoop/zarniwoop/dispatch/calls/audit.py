"""The audit trail of one environment: buffered, written once per invocation, never in the way of an answer."""

import hmac
import threading
from collections.abc import Callable
from functools import lru_cache

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.contract.result import Attempt, Outcome
from zarniwoop.dispatch.candidates.selection import Candidate
from zarniwoop.observe.metrics import Metric, Metrics
from zarniwoop.stores.audit import AuditStore, CallRecord

WRITE_SECONDS = 0.15
_DAY = 86_400.0
_ANSWERED = (Outcome.SUCCESS, Outcome.EMPTY)


class AuditTrail:
    """One record per provider call (the seed's ZarniwoopUsageCounter). `hash_key` returns the stack's HMAC key."""

    def __init__(self, *, store: AuditStore, hash_key: Callable[[], bytes], clock: Clock, metrics: Metrics) -> None:
        self._store = store
        self._hash_key = hash_key
        self._clock = clock
        self._metrics = metrics
        self._lock = threading.Lock()
        self._pending: list[CallRecord] = []

    def record(
        self,
        candidate: Candidate,
        request: SearchRequest,
        scope: SearchScope,
        attempt: Attempt,
        *,
        hit_count: int,
        retention_days: int,
        operation: str = "search",
        diagnostics: bool = False,
        calls: int = 1,
    ) -> None:
        """`calls` is how many requests the provider got; the attempt tells what they cost."""
        now = self._clock.now()
        record = CallRecord(
            tenant_id=scope.tenant_id,
            project_id=scope.project_id,
            instance_id=candidate.endpoint.id,
            protocol=candidate.endpoint.protocol,
            modality=request.modality,
            tier=request.tier,
            query_hash=_hashed(self._hash_key(), request.query),
            hit_count=hit_count,
            ok=attempt.outcome in _ANSWERED,
            error_message=attempt.reason,
            started_at=now - attempt.duration_ms / 1000,
            duration_ms=attempt.duration_ms,
            expires_at=now + retention_days * _DAY,
            request_id=scope.request_id,
            operation=operation,
            diagnostics=diagnostics,
            calls=calls,
            credits=attempt.credits,
            usd=attempt.cost,
        )
        with self._lock:
            self._pending.append(record)

    def flush(self) -> None:
        """Write what is pending in one go; what is lost is counted, and nobody waits longer than 150 ms for it."""
        with self._lock:
            records, self._pending = self._pending, []
        if not records:
            return
        lost = self._store.write(records, time_limit=WRITE_SECONDS)
        if lost:
            self._metrics.count(Metric.AUDIT_LOST, lost)


def _hashed(key: bytes, query: str) -> str:
    begun = _begun(key).copy()
    begun.update(query.encode())
    return begun.hexdigest()


@lru_cache(maxsize=4)
def _begun(key: bytes) -> hmac.HMAC:
    """How every hash under a key begins: to work that out each time takes as long as the rest of it."""
    return hmac.new(key, digestmod="sha256")
