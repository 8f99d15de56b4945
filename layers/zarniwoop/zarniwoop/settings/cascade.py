"""The cascade: levels laid over each other, the innermost wins per key; and the last good copy when SSM is away."""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.failure import ConfigurationUnavailable
from zarniwoop.settings.levels import Level, Place
from zarniwoop.settings.parameter_store import Parameter, ParameterStore

_STALE_SECONDS = 3600.0
_MOST_COPIES = 256

Scope = tuple[str, str, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A setting in force, and where it comes from. `value` is None for a secret."""

    value: str | None
    level: Level
    secure: bool
    parameter_name: str
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectiveSettings:
    """All settings of a scope by key; `stale` when they are a copy from before SSM went away."""

    values: Mapping[str, Setting] = field(default_factory=dict)
    stale: bool = False


def merge(levels: Iterable[tuple[Level, Mapping[str, Parameter]]]) -> dict[str, Setting]:
    """Lay the levels, outermost first, over each other."""
    return {
        key: Setting(
            value=parameter.value,
            level=level,
            secure=parameter.secure,
            parameter_name=parameter.name,
            version=parameter.version,
        )
        for level, parameters in levels
        for key, parameter in parameters.items()
    }


class SettingsReader:
    """Reads the settings of a scope each time it is asked; the factory decides how often that is."""

    def __init__(self, store: ParameterStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._lock = threading.Lock()
        self._copies: dict[Scope, tuple[float, EffectiveSettings]] = {}

    def read(self, tenant_id: str, project_id: str, process_id: str | None = None) -> EffectiveSettings:
        """Raises ConfigurationUnavailable when SSM does not answer and no copy of the last hour is there."""
        scope = (tenant_id, project_id, process_id)
        try:
            settings = self._read(scope)
        except ConfigurationUnavailable:
            copy = self._copy(scope)
            if copy is None:
                raise
            return replace(copy, stale=True)
        self._keep(scope, settings)
        return settings

    def _read(self, scope: Scope) -> EffectiveSettings:
        tenant_id, project_id, process_id = scope
        places = [Place(tenant_id=tenant_id), Place(tenant_id=tenant_id, project_id=project_id)]
        if process_id is not None:
            places.append(Place(tenant_id=tenant_id, project_id=project_id, process_id=process_id))
        return EffectiveSettings(values=merge((place.level, self._store.read_level(place)) for place in places))

    def _copy(self, scope: Scope) -> EffectiveSettings | None:
        with self._lock:
            read_at, settings = self._copies.get(scope, (float("-inf"), EffectiveSettings()))
        return settings if self._clock.now() - read_at <= _STALE_SECONDS else None

    def _keep(self, scope: Scope, settings: EffectiveSettings) -> None:
        with self._lock:
            self._copies.pop(scope, None)
            self._copies[scope] = (self._clock.now(), settings)
            while len(self._copies) > _MOST_COPIES:
                self._copies.pop(next(iter(self._copies)))
