"""Whether settings that are not saved yet would do: the judgement is the same that every search makes of saved ones."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from zarniwoop.contract.problem import InvalidArgument
from zarniwoop.settings.cascade import EffectiveSettings, Setting, merge
from zarniwoop.settings.changes import Changes
from zarniwoop.settings.credentials import KnownProtocol, address_of
from zarniwoop.settings.fetch_names import BROWSER_DOMAINS, HOSTED_ORDER
from zarniwoop.settings.levels import Place
from zarniwoop.settings.misconfigured import Misconfigured
from zarniwoop.settings.names import (
    API_KEY,
    ENABLED,
    PREFIX_DEFAULT,
    PREFIX_FALLBACK,
    PREFIX_MODEL,
    PROTOCOL,
    endpoint_setting,
    is_secret,
    split_endpoint_setting,
)
from zarniwoop.settings.parameter_store import Parameter
from zarniwoop.settings.plan import before_the_mark, broken_off, instances

Levels = Mapping[Place, Mapping[str, Parameter]]
"""What is saved at a place and at those that it lies in, outermost first."""

Inspect = Callable[[EffectiveSettings], Sequence[Misconfigured]]
"""Everything that is wrong with settings, endpoints made of them included."""

UNSAVED = "unsaved:"
"""How the name of a parameter starts that is not there yet."""


def laid_over(levels: Levels, changes: Changes, place: Place) -> dict[str, Setting]:
    """The settings as they would be with the changes at that place, and as if no change of it had been broken off."""
    own = {key: parameter for key, parameter in _without_marks(levels[place]) if key not in changes}
    for key, value in changes.items():
        if value is not None:
            secret = is_secret(key)
            own[key] = Parameter(
                value=None if secret else value, secure=secret, name=UNSAVED + key, version=UNSAVED + place.level
            )
    return merge((each.level, own if each == place else parameters) for each, parameters in levels.items())


def check(changes: Changes, place: Place, levels: Levels, inspect: Inspect) -> None:
    """Raises InvalidArgument for the first thing that is wrong with what is changed; what is not touched is let be.

    An endpoint can always be switched off, and a setting always be taken away.
    """
    after = laid_over(levels, changes, place)
    for instance_id in instances(key for key, value in changes.items() if value is not None):
        if endpoint_setting(instance_id, PROTOCOL) not in after:
            raise _refusal(
                Misconfigured(instance_id=instance_id, setting=PROTOCOL, reason="is missing: it says who is asked")
            )
    touched = _to_be_right(changes)
    for fault in inspect(EffectiveSettings(values=after)) if touched else ():
        if _concerns(fault, touched):
            raise _refusal(fault)


def check_whole(instance_ids: Iterable[str], changes: Changes, at_level: Mapping[str, Parameter]) -> None:
    """Raises InvalidArgument unless the changes say all that a change which was broken off left open."""
    pending = {key for instance_id in instance_ids for key in broken_off(instance_id, at_level)}
    missing = sorted(pending - set(changes))
    if missing:
        raise InvalidArgument(
            "a change of this endpoint was broken off, and this one does not finish it",
            field=missing[0],
            slug="half-saved",
            status=409,
            suggested_action=f"send these along, keys included: {', '.join(missing)}; or delete the endpoint",
        )


def check_keys_stay(changes: Changes, place: Place, levels: Levels, protocols: Mapping[str, KnownProtocol]) -> None:
    """Raises InvalidArgument where a saved key would go to a new protocol or address without being sent along.

    Keys are written and never read: whoever may change an address could otherwise have the saved key sent to himself.
    """
    before = merge((each.level, parameters) for each, parameters in levels.items())
    after = laid_over(levels, changes, place)
    for key in [key for key in levels[place] if is_secret(key) and key not in changes]:
        stem = key.removesuffix(API_KEY)
        protocol, base_url = address_of(stem, after, protocols)
        if protocol is not None and address_of(stem, before, protocols) != (protocol, base_url):
            raise InvalidArgument(
                "the saved key is not sent to another protocol or base URL",
                field=key,
                slug="key-needed",
                status=409,
                suggested_action=f"send {API_KEY} along: the key for that address, or null where it takes none",
            )


def named_by(instance_id: str, values: Mapping[str, Setting]) -> list[str]:
    """The routing settings that name an endpoint."""
    return sorted(
        key
        for key, setting in values.items()
        if key.startswith((PREFIX_DEFAULT, PREFIX_FALLBACK))
        and instance_id in [name.strip() for name in (setting.value or "").split(",")]
    )


def setting_of(fault: Misconfigured) -> str:
    """The whole key of what is wrong."""
    return endpoint_setting(fault.instance_id, fault.setting) if fault.instance_id else fault.setting


def _to_be_right(changes: Changes) -> list[str]:
    switched_off = {
        instance_id
        for instance_id in instances(changes)
        if {key for key in changes if _belongs(key, instance_id)} == {endpoint_setting(instance_id, ENABLED)}
        and changes[endpoint_setting(instance_id, ENABLED)] == "false"
    }
    return [
        key
        for key, value in changes.items()
        if value is not None and not any(_belongs(key, instance_id) for instance_id in switched_off)
    ]


def _belongs(key: str, instance_id: str) -> bool:
    split = split_endpoint_setting(key)
    return split is not None and split[0] == instance_id


def _concerns(fault: Misconfigured, touched: Iterable[str]) -> bool:
    if fault.instance_id:
        return any(_belongs(key, fault.instance_id) for key in touched)
    if fault.setting.startswith(PREFIX_MODEL):
        return any(key.startswith(PREFIX_MODEL) for key in touched)
    return fault.setting in touched


def _refusal(fault: Misconfigured) -> InvalidArgument:
    key = setting_of(fault)
    return InvalidArgument(f"'{key}': {fault.reason}", field=key, suggested_action=_WAYS_OUT.get(fault.setting, _OTHER))


_WAYS_OUT = {
    PROTOCOL: "send the id of a protocol along; GET /v1/settings/form lists them",
    API_KEY: "send the key along, or enabled = false",
    HOSTED_ORDER: "GET /v1/settings lists endpoints by their ids; save one first where there is none",
    BROWSER_DOMAINS: "let the operator deploy the stack with Browser = chromium or agentcore first",
}
_OTHER = "GET /v1/settings/form tells how it is written"


def _without_marks(parameters: Mapping[str, Parameter]) -> Iterator[tuple[str, Parameter]]:
    for key, parameter in parameters.items():
        value = parameter.value
        before = before_the_mark(value) if value is not None and key.endswith(f".{ENABLED}") else value
        if before == value:
            yield key, parameter
        elif before is not None:
            yield key, replace(parameter, value=before)
