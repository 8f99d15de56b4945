"""What can be done to settings, each as one function: arguments in, an envelope out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.failure import ConfigurationUnavailable
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.problem import CallerError, InvalidArgument, NotAllowed, Problem, UnknownThing
from zarniwoop.contract.transport import Secret
from zarniwoop.entry.settings_access import SettingsAccess, SettingsPlaced
from zarniwoop.settings.changes import Changes, check_key, read_changes
from zarniwoop.settings.desk import Saved
from zarniwoop.settings.draft import draft_of
from zarniwoop.settings.levels import Place
from zarniwoop.settings.names import endpoint_setting, is_secret, split_endpoint_setting
from zarniwoop.stores.editing import SettingsAction
from zarniwoop.stores.keys import is_id
from zarniwoop.tools.arguments import MAX_QUERY_CHARS, Id, ToolArguments, Words, parse_arguments

_AT_ONCE = "at once"
_LATER = "when the time of research.factory.cache.ttlMinutes is over"


class _Versioned(SettingsPlaced):
    version: str | None = Field(
        default=None, max_length=64, description="The level's version out of GET /v1/settings, or * for whichever."
    )


class SettingsSaved(_Versioned):
    """`settings` by their whole keys: null takes one away, an empty key (`….apiKey`) keeps what is saved."""

    settings: dict[str, Any] = Field(description="New values by key; null takes one away at this level.")


class SettingsDeleted(_Versioned):
    name: str = Field(max_length=512, description="A setting by its whole key, or an endpoint by its id.")


class SecretRevealed(SettingsPlaced):
    key: str = Field(max_length=512, description="The setting by its whole key.")


class DraftTested(SettingsPlaced):
    endpoint_id: Id = Field(description="The endpoint, saved or not.")
    settings: dict[str, Any] = Field(default={}, description="The draft, laid over what is saved: values by key.")
    query: Words | None = Field(default=None, max_length=MAX_QUERY_CHARS, description="What to search for.")
    modality: SearchModality | None = Field(default=None, description="Which modality to search.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsTold:
    """What became of a change: by their keys what was `saved` and what is `left`, and the level's new `version`.

    `takes_effect` says when searches know of it; `named_by` lists the routing that still names a deleted endpoint.
    """

    level: str
    saved: tuple[str, ...]
    left: tuple[str, ...]
    version: str | None
    takes_effect: str
    named_by: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretShown:
    """A saved key, whole."""

    key: str
    level: str
    value: str


def _read(given: Mapping[str, Any], access: SettingsAccess) -> ToolResult:
    place = access.seen(parse_arguments(ToolArguments, given))
    levels = access.services.settings_desk.levels(place)
    view = access.services.settings_viewer.view(levels, access.writable(place), access.editor.deadline)
    return ToolResult(ok=True, data=view)


def _form(given: Mapping[str, Any], access: SettingsAccess) -> ToolResult:
    parse_arguments(ToolArguments, given)
    return ToolResult(ok=True, data=access.services.settings_form())


def _save(given: Mapping[str, Any], access: SettingsAccess) -> ToolResult:
    arguments = parse_arguments(SettingsSaved, given)
    place = access.edited(arguments)
    version = _stated(arguments)
    changes = _changes(arguments.settings, access)
    return _told(access.services.settings_desk.save(place, changes, version, access.editor), place)


def _delete(given: Mapping[str, Any], access: SettingsAccess) -> ToolResult:
    arguments = parse_arguments(SettingsDeleted, given)
    place = access.edited(arguments)
    if not is_id(arguments.name):
        check_key(arguments.name)
    desk = access.services.settings_desk
    return _told(desk.delete(place, arguments.name, _stated(arguments), access.editor), place)


def _test(given: Mapping[str, Any], access: SettingsAccess) -> ToolResult:
    """Read-only, but for the records of it. A failed test is an answer: 200 with what to change."""
    arguments = parse_arguments(DraftTested, given)
    place, scope, services = access.edited(arguments), access.scope(arguments), access.services
    changes = _changes(_whole_keys(arguments), access) if arguments.settings else {}
    levels = services.settings_desk.levels(place)
    draft = draft_of(arguments.endpoint_id, changes, place, levels, services.judge_settings, services.known_protocols)
    trial = services.trials.run(
        draft.endpoint,
        draft.secrets,
        scope,
        budgets=draft.budgets,
        query=arguments.query,
        modality=arguments.modality,
        note=draft.note,
    )
    return ToolResult(ok=trial.problem is None, data=trial.report, error=trial.problem)


def _reveal(given: Mapping[str, Any], access: SettingsAccess) -> ToolResult:
    arguments = parse_arguments(SecretRevealed, given)
    place, services = access.edited(arguments), access.services
    if not services.reveals_secrets:
        raise NotAllowed(
            "saved keys are not shown by this stack",
            slug="reveal-off",
            suggested_action="replace the key, or ask the operator for the stack parameter AllowSecretReveal",
        )
    parameter = services.settings_desk.levels(place)[place].get(arguments.key)
    if parameter is not None and not parameter.secure:
        raise InvalidArgument("this is no secret", field="key", suggested_action="GET /v1/settings shows its value")
    if parameter is not None:
        services.settings_desk.record(SettingsAction.REVEAL, place, [arguments.key], access.editor)
        value = services.reveal_setting(parameter.name)
        if value is not None:
            services.redactor.learn(Secret(value))
            return ToolResult(ok=True, data=SecretShown(key=arguments.key, level=place.level.value, value=value))
    raise UnknownThing(
        f"no such key is saved at the {place.level} level",
        field="key",
        suggested_action="GET /v1/settings tells at which level a setting is saved",
    )


Operation = Callable[[Mapping[str, Any], SettingsAccess], ToolResult]

OPERATIONS: Mapping[str, Operation] = {
    "read": _read,
    "form": _form,
    "save": _save,
    "delete": _delete,
    "test": _test,
    "reveal": _reveal,
}


def _changes(given: Mapping[str, Any], access: SettingsAccess) -> Changes:
    """The changes, and from now on no log line has one of their keys in it."""
    services = access.services
    for key, value in given.items():
        if isinstance(value, str) and is_secret(key):
            services.redactor.learn(Secret(value.strip()))
    return read_changes(given, lambda: services.allowed_networks)


def _whole_keys(arguments: DraftTested) -> dict[str, Any]:
    """The draft's settings by their whole keys; a form may send an endpoint's own by suffix."""
    whole = {
        key if "." in key else endpoint_setting(arguments.endpoint_id, key): value
        for key, value in arguments.settings.items()
    }
    for key in whole:
        split = split_endpoint_setting(key)
        if split is None or split[0] != arguments.endpoint_id:
            raise InvalidArgument(
                "the draft has a setting that is not this endpoint's",
                field="settings",
                suggested_action=f"send only research.endpoint.{arguments.endpoint_id}.…",
            )
    return whole


def _stated(arguments: _Versioned) -> str:
    if arguments.version:
        return arguments.version
    raise InvalidArgument(
        "'version' is missing: without it another editor's change could be lost",
        status=428,
        slug="version-missing",
        field="version",
        suggested_action="send the level's version out of GET /v1/settings, here or as If-Match, or * for whichever",
    )


def _told(saved: Saved, place: Place) -> ToolResult:
    data = SettingsTold(
        level=place.level.value,
        saved=tuple(saved.saved),
        left=tuple(saved.left),
        version=saved.version,
        takes_effect=_AT_ONCE if saved.at_once else _LATER,
        named_by=tuple(saved.named_by),
    )
    if saved.failure is None:
        return ToolResult(ok=True, data=data)
    return ToolResult(ok=False, data=data, error=_half_saved(saved, saved.failure))


def _half_saved(saved: Saved, failure: CallerError | ConfigurationUnavailable) -> Problem:
    """What was saved stays; what an endpoint misses keeps it from being asked until the same is sent again."""
    why = failure.detail if isinstance(failure, CallerError) else "Parameter Store does not take more right now"
    before = failure.suggested_action if isinstance(failure, CallerError) else "wait for wait_seconds"
    return Problem(
        type="urn:zarniwoop:problem:half-saved",
        title="Not all of it was saved",
        status=failure.status if isinstance(failure, CallerError) else 503,
        detail=f"{len(saved.left)} of {len(saved.left) + len(saved.saved)} settings are left: {why}",
        field=saved.left[0],
        retryable=not isinstance(failure, CallerError),
        wait_seconds=None if isinstance(failure, CallerError) else 5.0,
        suggested_action=f"{before}; then send the same again with the version in data",
    )
