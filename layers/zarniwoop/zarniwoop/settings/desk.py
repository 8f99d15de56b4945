"""Where settings are changed: one editor of a tenant at a time, against the version that it saw, in an order that does
no harm when it is broken off.

Quirk: Parameter Store takes three writes a second before it throttles. So a write waits and is tried again while there
is time; what is still left then is told, and sending the same again with the new version does the rest.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace

import orjson

from zarniwoop.contract.deadline import Clock, Deadline
from zarniwoop.contract.failure import ConfigurationUnavailable
from zarniwoop.contract.problem import CallerError, Conflict, InvalidArgument, UnknownThing
from zarniwoop.observe.metrics import Metric, Metrics
from zarniwoop.settings.cascade import Setting, merge
from zarniwoop.settings.changes import Changes
from zarniwoop.settings.credentials import KnownProtocol
from zarniwoop.settings.inspection import Inspect, Levels, check, check_keys_stay, check_whole, named_by
from zarniwoop.settings.levels import Level, Place
from zarniwoop.settings.names import HALF_SAVED, PREFIX_ENDPOINT, is_secret
from zarniwoop.settings.parameter_store import Parameter, ParameterStore
from zarniwoop.settings.plan import Step, broken_off, instances, steps
from zarniwoop.settings.ssm_calls import ParameterStoreUnavailable
from zarniwoop.settings.writer import SettingsWriter
from zarniwoop.stores.editing import SettingsAction, SettingsEdits, SettingsEvent
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.state import ProjectKey, StateStore

ANY_VERSION = "*"
MOST_SETTINGS = 400
"""Of one level: less than the 500 that are read, because pages may come half empty."""
_LOCK_SECONDS = 40.0
"""Longer than a function may run: an editor that died is out after that."""
_PATIENCE_FOR_OTHERS = 5.0
_RESERVE_SECONDS = 2.0
"""What is kept of the time for reading the new version and answering."""
_FIRST_WAIT, _LONGEST_WAIT = 0.25, 2.0
_DAY = 86_400.0


class SettingsChanged(Conflict):
    slug = "settings-changed"
    title = "Somebody else has changed these settings"
    retryable = False


class SettingsBusy(Conflict):
    slug = "settings-busy"
    title = "Somebody else is changing settings of this tenant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Editor:
    """Who edits: `request_id` holds the lock, `actor` goes into the record."""

    actor: str
    request_id: str
    deadline: Deadline


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """What became of the changes. `left` is empty, or `failure` says why they could not all be saved.

    `version` None: it could not be read any more. `at_once` False: warm environments see it when their time is over.
    `named_by` lists routing that still names an endpoint that was taken away.
    """

    saved: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    version: str | None = None
    at_once: bool = True
    named_by: tuple[str, ...] = ()
    failure: CallerError | ConfigurationUnavailable | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsDesk:
    """Reads past every cache, and writes. `inspect` tells what is wrong with settings that are not saved yet."""

    parameters: ParameterStore
    writer: SettingsWriter
    edits: SettingsEdits
    state: StateStore
    inspect: Inspect
    clock: Clock
    metrics: Metrics
    protocols: Mapping[str, KnownProtocol]
    kept_days: int = field(default=90)

    def levels(self, place: Place) -> Levels:
        """What is saved at the place and at those that it lies in, outermost first. Raises ConfigurationUnavailable."""
        return {each: self.parameters.read_level(each) for each in places_of(place)}

    def save(self, place: Place, changes: Changes, version: str, editor: Editor) -> Saved:
        """When it raises, nothing was written.

        Raises InvalidArgument, SettingsChanged, SettingsBusy, ParameterLimitReached, StoreUnavailable,
        ConfigurationUnavailable.
        """
        with self._alone(place, editor):
            levels = self._as_seen(place, version)
            check_whole(instances(changes), changes, levels[place])
            _check_room(changes, levels[place])
            check(changes, place, levels, self.inspect)
            check_keys_stay(changes, place, levels, self.protocols)
            return self._carry_out(SettingsAction.SAVE, place, changes, levels, editor)

    def delete(self, place: Place, name: str, version: str, editor: Editor) -> Saved:
        """Take away a setting, or all of an endpoint, at one level. Raises as `save` does, and UnknownThing."""
        with self._alone(place, editor):
            levels = self._as_seen(place, version)
            prefix = f"{PREFIX_ENDPOINT}{name}."
            gone = [key for key in levels[place] if key == name or key.startswith(prefix)]
            if not gone:
                raise UnknownThing(
                    f"nothing of this name is saved at the {place.level} level",
                    field="name",
                    suggested_action="GET /v1/settings tells at which level a setting is saved",
                )
            changes = dict.fromkeys([*gone, *broken_off(name, levels[place])])
            check_whole(instances(changes), changes, levels[place])
            check_keys_stay(changes, place, levels, self.protocols)
            saved = self._carry_out(SettingsAction.DELETE, place, changes, levels, editor)
            return replace(saved, named_by=tuple(named_by(name, in_force(levels))))

    def record(self, action: SettingsAction, place: Place, keys: Sequence[str], editor: Editor) -> None:
        """Raises StoreUnavailable."""
        now = self.clock.now()
        event = SettingsEvent(
            tenant_id=place.tenant_id,
            project_id=place.project_id,
            action=action,
            keys=keys,
            actor=editor.actor,
            request_id=editor.request_id,
            at=now,
            expires_at=now + self.kept_days * _DAY,
        )
        self.edits.record(event)

    def _as_seen(self, place: Place, version: str) -> Levels:
        levels = self.levels(place)
        if version not in (ANY_VERSION, version_of(levels[place])):
            raise SettingsChanged(
                f"the settings of the {place.level} level are not as they were when you read them",
                field="version",
                suggested_action="GET /v1/settings, look at what is there now, and save again with its version",
            )
        return levels

    def _carry_out(
        self, action: SettingsAction, place: Place, changes: Changes, levels: Levels, editor: Editor
    ) -> Saved:
        planned = steps(changes, levels[place], in_force(levels))
        done: list[Step] = []
        failure: CallerError | ConfigurationUnavailable | None = None
        try:
            for step in planned:
                self._write(place, step, editor.deadline)
                done.append(step)
                if (step.value or "").startswith(HALF_SAVED):
                    self._announce(place)
        except (CallerError, ConfigurationUnavailable) as error:
            if not done:
                raise
            failure = error
        at_once = self._announce(place) if done else True
        with suppress(StoreUnavailable):
            self.record(action, place, [step.key for step in done], editor)
        left = dict.fromkeys(step.key for step in planned[len(done) :])
        saved = dict.fromkeys(step.key for step in done if step.key in changes and step.key not in left)
        return Saved(
            saved=tuple(saved),
            left=tuple(left),
            version=self._version(place),
            at_once=at_once,
            failure=failure,
        )

    def _write(self, place: Place, step: Step, deadline: Deadline) -> None:
        """One write, tried again while Parameter Store is throttling and time is left."""
        wait = _FIRST_WAIT
        while True:
            try:
                if step.value is None:
                    self.writer.delete(place, step.key)
                else:
                    self.writer.put(place, step.key, step.value, secure=is_secret(step.key))
            except ParameterStoreUnavailable as error:
                if not error.passing or deadline.remaining() < wait + _RESERVE_SECONDS:
                    raise
                self.clock.sleep(wait)
                wait = min(_LONGEST_WAIT, wait * 2)
            else:
                return

    def _announce(self, place: Place) -> bool:
        """Have warm environments read anew at once; without that they do when the factory's time is over."""
        try:
            if place.project_id is None:
                self.state.bump_tenant_generation(place.tenant_id)
            else:
                self.state.bump_generation(ProjectKey(tenant_id=place.tenant_id, project_id=place.project_id))
        except StoreUnavailable:
            self.metrics.count(Metric.STATE_UNAVAILABLE, operation="generation")
            return False
        return True

    def _version(self, place: Place) -> str | None:
        try:
            return version_of(self.parameters.read_level(place))
        except ConfigurationUnavailable:
            return None

    @contextmanager
    def _alone(self, place: Place, editor: Editor) -> Iterator[None]:
        give_up = editor.deadline.within(_PATIENCE_FOR_OTHERS)
        holder = editor.request_id
        while not self.edits.begin(place.tenant_id, holder, now=self.clock.now(), seconds=_LOCK_SECONDS):
            if give_up.expired:
                raise SettingsBusy(
                    "their change is not finished yet", suggested_action="save again in a moment", wait_seconds=2.0
                )
            self.clock.sleep(_FIRST_WAIT)
        try:
            yield
        finally:
            with suppress(StoreUnavailable):
                self.edits.end(place.tenant_id, holder)


def places_of(place: Place) -> list[Place]:
    """The place and those that it lies in, the outermost first."""
    found = [Place(tenant_id=place.tenant_id)]
    if place.project_id is not None:
        found.append(Place(tenant_id=place.tenant_id, project_id=place.project_id))
    return found if place.level is not Level.PROCESS else [*found, place]


def in_force(levels: Levels) -> dict[str, Setting]:
    return merge((place.level, parameters) for place, parameters in levels.items())


def version_of(parameters: Mapping[str, Parameter]) -> str:
    """Another one after every change of the level, whoever made it."""
    stamps = sorted((key, parameter.version) for key, parameter in parameters.items())
    return hashlib.sha256(orjson.dumps(stamps)).hexdigest()[:16]


def _check_room(changes: Changes, at_level: Mapping[str, Parameter]) -> None:
    """A level that is too long to be read would stop every search under it."""
    added = [key for key, value in changes.items() if value is not None and key not in at_level]
    gone = [key for key, value in changes.items() if value is None and key in at_level]
    if added and len(at_level) + len(added) - len(gone) > MOST_SETTINGS:
        raise InvalidArgument(
            f"a level holds at most {MOST_SETTINGS} settings",
            field=added[0],
            slug="level-full",
            suggested_action="delete endpoints that nobody uses, or save some of them for single projects",
        )
