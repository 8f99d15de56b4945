"""Who is editing settings, and what was done to them, in memory."""

from tests.fakes.outage import Outage
from zarniwoop.stores.editing import SettingsEvent


class InMemorySettingsEdits(Outage):
    """`stores.editing.SettingsEdits`; `events` holds what was recorded."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[SettingsEvent] = []
        self._held: dict[str, tuple[str, float]] = {}

    def begin(self, tenant_id: str, holder: str, *, now: float, seconds: float) -> bool:
        with self._lock:
            self._called("begin")
            held_by, until = self._held.get(tenant_id, (holder, 0.0))
            if held_by != holder and until > now:
                return False
            self._held[tenant_id] = (holder, now + seconds)
            return True

    def end(self, tenant_id: str, holder: str) -> None:
        with self._lock:
            self._called("end")
            if self._held.get(tenant_id, ("", 0.0))[0] == holder:
                del self._held[tenant_id]

    def record(self, event: SettingsEvent) -> None:
        with self._lock:
            self._called("record")
            self.events.append(event)
