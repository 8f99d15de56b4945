"""The cascade: levels laid over each other, the innermost wins per key; and the last good copy when SSM is away.

Of a budget (`research.budget.*`) the outermost level wins, and says after what time it begins anew: nobody raises what
somebody above him has set.

Quirk: a process that is first seen when the tenant's settings have been kept for a while keeps them for as long again,
so a change may take up to twice that time to reach it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.failure import ConfigurationUnavailable
from zarniwoop.settings.levels import Level, Place
from zarniwoop.settings.names import HALF_SAVED, budget_of, is_budget_period
from zarniwoop.settings.parameter_store import Parameter, ParameterStore
from zarniwoop.stores.recent import Recent

_STALE_SECONDS = 3600.0


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
    """Lay the levels, outermost first, over each other.

    No level hides that a change further out is half saved, nor changes a budget that was set further out.
    """
    merged: dict[str, Setting] = {}
    for level, parameters in levels:
        bounded = {budget_of(key) for key in merged}
        for key, parameter in parameters.items():
            standing = merged.get(key)
            if standing is not None and (budget_of(key) is not None or _is_half_saved(standing)):
                continue
            if is_budget_period(key) and budget_of(key) in bounded:
                continue
            merged[key] = Setting(
                value=parameter.value,
                level=level,
                secure=parameter.secure,
                parameter_name=parameter.name,
                version=parameter.version,
            )
    return merged


def _is_half_saved(setting: Setting) -> bool:
    return (setting.value or "").startswith(HALF_SAVED)


class SettingsReader:
    """Reads the settings of a scope, each level once for all scopes that share it.

    `kept_seconds` tells out of the settings in force for how long a level is kept: as long as the factory keeps what it
    built of them. So the tenant's settings are not read again for each of its processes, and whoever makes up names of
    processes costs one look at a level that is not there.
    """

    def __init__(
        self, store: ParameterStore, clock: Clock, kept_seconds: Callable[[Mapping[str, Setting]], float]
    ) -> None:
        self._store = store
        self._clock = clock
        self._kept_seconds = kept_seconds
        self._levels: Recent[Place, _KeptLevel] = Recent()

    def read(self, tenant_id: str, project_id: str, process_id: str | None = None) -> EffectiveSettings:
        """Raises ConfigurationUnavailable when SSM does not answer and no copy of the last hour is there."""
        places = [Place(tenant_id=tenant_id), Place(tenant_id=tenant_id, project_id=project_id)]
        if process_id is not None:
            places.append(Place(tenant_id=tenant_id, project_id=project_id, process_id=process_id))
        kept = {place: level for place in places if (level := self._levels.get(place)) is not None}
        seconds = self._kept_seconds(merge((place.level, level.parameters) for place, level in kept.items()))
        now = self._clock.now()
        levels = {place: self._level(place, kept.get(place), now, seconds) for place in places}
        return EffectiveSettings(
            values=merge((place.level, level.parameters) for place, level in levels.items()),
            stale=any(level.stale for level in levels.values()),
        )

    def forget(self, tenant_id: str, project_id: str) -> None:
        """Read what concerns the project anew the next time; the old copies serve on only while SSM does not answer."""
        self._levels.change(
            lambda place: place.tenant_id == tenant_id and place.project_id in (None, project_id),
            lambda level: replace(level, expired=True),
        )

    def _level(self, place: Place, kept: "_KeptLevel | None", now: float, seconds: float) -> "_KeptLevel":
        """The level as it is kept, or else as it is read now; its last good copy when it cannot be."""
        if kept is not None and not kept.expired and 0 <= now - kept.read_at < seconds:
            return kept
        try:
            level = _KeptLevel(parameters=self._store.read_level(place), read_at=now)
        except ConfigurationUnavailable:
            if kept is None or now - kept.read_at > _STALE_SECONDS:
                raise
            return replace(kept, stale=True)
        self._levels.put(place, level)
        return level


@dataclass(frozen=True, slots=True, kw_only=True)
class _KeptLevel:
    """What was saved at one place, and when that was read."""

    parameters: Mapping[str, Parameter]
    read_at: float
    stale: bool = False
    expired: bool = False
