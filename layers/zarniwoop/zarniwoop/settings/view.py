"""Settings as an editor is shown them: what is in force, at which level it stands, and secrets by a prefix alone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import ConfigurationUnavailable
from zarniwoop.contract.transport import Secret, keys_in
from zarniwoop.settings.cascade import EffectiveSettings, Setting
from zarniwoop.settings.credentials import ENVIRONMENT, KnownProtocol
from zarniwoop.settings.desk import in_force, version_of
from zarniwoop.settings.endpoints import EndpointSettings, ResearchSettings
from zarniwoop.settings.fetch_names import FETCH, NO_DEFAULT
from zarniwoop.settings.inspection import Levels, named_by, setting_of
from zarniwoop.settings.masking import MASK, masked
from zarniwoop.settings.misconfigured import Misconfigured
from zarniwoop.settings.names import (
    API_KEY,
    BASE_URL,
    KNOBS,
    PROTOCOL,
    endpoint_setting,
)
from zarniwoop.settings.plan import instances

CONFIGURED, NOT_CONFIGURED = "configured", "not_configured"
_RESERVE_SECONDS = 3.0
"""What is kept of the time for the rest of the view: no key is read for its mask any more."""
DEFAULT = "default"
"""The level of what is in force without having been saved."""


class _Preview(NamedTuple):
    mask: str | None = None
    keys: int | None = None


_UNREAD = _Preview(MASK)
_NO_PREVIEW = _Preview()


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingRow:
    """One setting in force. Of a secret `value` is None and `preview` its mask; the whole key is never in here.

    `key_count` is how many keys a secret holds, the first of which is the preview's; None where it was not read.
    """

    key: str
    value: str | None
    level: str
    secret: bool = False
    preview: str | None = None
    key_count: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemRow:
    setting: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointRow:
    """One endpoint, saved or there without a setting.

    `badge` tells whether it has what it takes to be asked; `key_from` a level, a variable, or None. `named_by` lists
    the routing that names it.
    """

    id: str
    protocol: str | None
    base_url: str | None
    enabled: bool
    badge: str
    key_from: str | None
    key_preview: str | None
    key_count: int | None
    problems: list[ProblemRow]
    named_by: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsView:
    """`versions` by level; that of the level to be changed belongs into the change. `writable` names those levels.

    `protocols` has the badge of every protocol: configured when one of its endpoints is.
    """

    tenant_id: str
    project_id: str | None
    process_id: str | None
    versions: Mapping[str, str]
    writable: Sequence[str]
    settings: list[SettingRow]
    endpoints: list[EndpointRow]
    protocols: Mapping[str, str]
    problems: list[ProblemRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsViewer:
    """Makes the view. `judge` reads settings as a search does; `inspect` adds what only making an instance finds."""

    judge: Callable[[EffectiveSettings], ResearchSettings]
    inspect: Callable[[EffectiveSettings], Sequence[Misconfigured]]
    protocols: Mapping[str, KnownProtocol]
    reveal: Callable[[str], str | None]
    learn: Callable[[Secret], None]

    def view(self, levels: Levels, writable: Sequence[str], deadline: Deadline) -> SettingsView:
        """Keys that there is no time to read are shown by the bare mask."""
        values = in_force(levels)
        effective = EffectiveSettings(values=values)
        faults = self.inspect(effective)
        previews = {key: self._preview(setting, deadline) for key, setting in values.items() if setting.secure}
        usable = {endpoint.id: endpoint for endpoint in self.judge(effective).endpoints}
        endpoints = [
            self._endpoint_row(instance_id, values, usable.get(instance_id), faults, previews)
            for instance_id in sorted({*instances(values), *usable})
        ]
        place = tuple(levels)[-1]
        configured = {row.protocol for row in endpoints if row.badge == CONFIGURED}
        return SettingsView(
            tenant_id=place.tenant_id,
            project_id=place.project_id,
            process_id=place.process_id,
            versions={each.level.value: version_of(parameters) for each, parameters in levels.items()},
            writable=writable,
            settings=_rows(values, previews),
            endpoints=endpoints,
            protocols={name: CONFIGURED if name in configured else NOT_CONFIGURED for name in sorted(self.protocols)},
            problems=[_problem(fault) for fault in faults if not fault.instance_id],
        )

    def _endpoint_row(
        self,
        instance_id: str,
        values: Mapping[str, Setting],
        usable: EndpointSettings | None,
        faults: Sequence[Misconfigured],
        previews: Mapping[str, _Preview],
    ) -> EndpointRow:
        problems = [_problem(fault) for fault in faults if fault.instance_id == instance_id]
        protocol = usable.protocol if usable is not None else _value(values, instance_id, PROTOCOL)
        base_url = _value(values, instance_id, BASE_URL)
        preview = previews.get(endpoint_setting(instance_id, API_KEY), _NO_PREVIEW)
        if protocol is None:
            problems.append(ProblemRow(setting=endpoint_setting(instance_id, PROTOCOL), reason="is missing"))
        return EndpointRow(
            id=instance_id,
            protocol=protocol,
            base_url=base_url,
            enabled=usable is not None and usable.enabled,
            badge=CONFIGURED if usable is not None and not problems and self._has_key(usable) else NOT_CONFIGURED,
            key_from=_key_from(usable, values),
            key_preview=preview.mask,
            key_count=preview.keys,
            problems=problems,
            named_by=named_by(instance_id, values),
        )

    def _has_key(self, endpoint: EndpointSettings) -> bool:
        return endpoint.credential_key is not None or not self.protocols[endpoint.protocol].key_required

    def _preview(self, setting: Setting, deadline: Deadline) -> _Preview:
        """The mask; without a prefix when Parameter Store does not give the key out right now, or time runs out."""
        if deadline.remaining() < _RESERVE_SECONDS:
            return _UNREAD
        try:
            value = self.reveal(setting.parameter_name)
        except ConfigurationUnavailable:
            return _UNREAD
        if value is None:
            return _UNREAD
        self.learn(Secret(value))
        keys = keys_in(value)
        return _Preview(masked(keys[0] if keys else ""), len(keys))


def _rows(values: Mapping[str, Setting], previews: Mapping[str, _Preview]) -> list[SettingRow]:
    saved = [
        SettingRow(
            key=key,
            value=setting.value,
            level=setting.level.value,
            secret=setting.secure,
            preview=previews.get(key, _NO_PREVIEW).mask,
            key_count=previews.get(key, _NO_PREVIEW).keys,
        )
        for key, setting in values.items()
    ]
    known = {knob.key: str(knob.default) for knob in KNOBS}
    known |= {each.name: each.default for each in FETCH if each.default != NO_DEFAULT}
    defaults = [SettingRow(key=key, value=value, level=DEFAULT) for key, value in known.items() if key not in values]
    return sorted(saved + defaults, key=lambda row: row.key)


def _key_from(endpoint: EndpointSettings | None, values: Mapping[str, Setting]) -> str | None:
    if endpoint is None or endpoint.credential_key is None:
        return None
    if endpoint.credential_key.startswith(ENVIRONMENT):
        return endpoint.credential_key.removeprefix(ENVIRONMENT)
    return values[endpoint_setting(endpoint.id, API_KEY)].level.value


def _value(values: Mapping[str, Setting], instance_id: str, suffix: str) -> str | None:
    setting = values.get(endpoint_setting(instance_id, suffix))
    return setting.value if setting else None


def _problem(fault: Misconfigured) -> ProblemRow:
    return ProblemRow(setting=setting_of(fault), reason=fault.reason)
