"""The audit trail in memory."""

from collections.abc import Sequence

from tests.fakes.outage import Outage
from zarniwoop.stores.audit import CallRecord, RecordPage
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.state import ProjectKey


class InMemoryAuditStore(Outage):
    """`stores.audit.AuditStore`; `records` holds what was written, `lose` is how many of the next batch get lost."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[CallRecord] = []
        self.lose = 0

    def write(self, records: Sequence[CallRecord], *, time_limit: float) -> int:
        with self._lock:
            try:
                self._called("write")
            except StoreUnavailable:
                return len(records)
            if time_limit <= 0:
                return len(records)
            lost, self.lose = min(self.lose, len(records)), 0
            self.records += records[: len(records) - lost]
            return lost

    def count_since(self, project: ProjectKey, instance_id: str, since: float, *, at_most: int) -> int:
        with self._lock:
            self._called("count_since")
            found = [
                record
                for record in self.records
                if (record.tenant_id, record.project_id) == (project.tenant_id, project.project_id)
                and record.instance_id == instance_id
                and record.started_at >= since
            ]
            return min(sum(record.calls for record in found), at_most)

    def instances(self, project: ProjectKey, *, at_most: int) -> tuple[str, ...]:
        with self._lock:
            self._called("instances")
            return tuple(sorted({record.instance_id for record in self._of(project)})[:at_most])

    def between(self, project: ProjectKey, instance_id: str, since: float, until: float, *, at_most: int) -> RecordPage:
        with self._lock:
            self._called("between")
            found = [
                record
                for record in self._of(project)
                if record.instance_id == instance_id and since <= record.started_at < until
            ]
            newest = sorted(found, key=lambda record: -record.started_at)
            return RecordPage(records=tuple(newest[:at_most]), more=len(found) > at_most)

    def _of(self, project: ProjectKey) -> list[CallRecord]:
        return [
            record
            for record in self.records
            if (record.tenant_id, record.project_id) == (project.tenant_id, project.project_id)
        ]
