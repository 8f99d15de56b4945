"""The audit trail (seed 1, section 11): one record per provider call, without the query's text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from zarniwoop.contract.modality import SearchModality, SearchTier
from zarniwoop.stores.state import ProjectKey


class CallRecord(NamedTuple):
    """`research_call_records`: `query_hash` is an HMAC-SHA-256 under the stack's key, `error_message` a reason word.

    `operation` is `search`, or `load` for a body; then the reference stands in for the query. `calls` is how many
    requests the provider got, and `credits` or `usd` what they cost, as the endpoint's `creditKind` says.
    `diagnostics`: the call tested an endpoint's settings and answered nobody's question.
    """

    tenant_id: str
    project_id: str
    instance_id: str
    protocol: str
    modality: SearchModality
    tier: SearchTier
    query_hash: str
    hit_count: int
    ok: bool
    error_message: str | None
    started_at: float
    duration_ms: int
    expires_at: float
    request_id: str = ""
    operation: str = "search"
    diagnostics: bool = False
    calls: int = 1
    credits: float = 0.0
    usd: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordPage:
    """Records, the newest first; `more`: there are older ones that were not read."""

    records: tuple[CallRecord, ...]
    more: bool


class AuditStore(Protocol):
    def write(self, records: Sequence[CallRecord], *, time_limit: float) -> int:
        """Write within `time_limit` seconds, 25 a BatchWriteItem; return how many were lost. Never raises."""
        ...

    def count_since(self, project: ProjectKey, instance_id: str, since: float, *, at_most: int) -> int:
        """Requests that an instance's provider got since an epoch second, counted up to `at_most` of them or of calls.

        Raises StoreUnavailable.
        """
        ...

    def instances(self, project: ProjectKey, *, at_most: int) -> tuple[str, ...]:
        """The ids of all instances that have records, in their order: one look for each. Raises StoreUnavailable."""
        ...

    def between(self, project: ProjectKey, instance_id: str, since: float, until: float, *, at_most: int) -> RecordPage:
        """The instance's calls that began from `since` on and before `until`, as far as their time is not over.

        Raises StoreUnavailable.
        """
        ...
