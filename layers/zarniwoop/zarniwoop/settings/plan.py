"""In which order settings are written, so that what is half done when Parameter Store gives up does no harm.

Parameter Store knows no transactions. A new endpoint comes to be with its last write, its `protocol`; one that is taken
away is gone with the first. One that is moved to another address, protocol or key is out for as long as that takes
(`enabled`): the old key never meets the new address, nor the new key the old one. What stands there meanwhile is
`half-saved:<what stood there before>:<suffixes that change>`. A model cannot be switched off: its key is written before
its address.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from zarniwoop.settings.cascade import Setting
from zarniwoop.settings.changes import Changes
from zarniwoop.settings.names import (
    API_KEY,
    BASE_URL,
    ENABLED,
    HALF_SAVED,
    PROTOCOL,
    endpoint_setting,
    is_secret,
    split_endpoint_setting,
)
from zarniwoop.settings.parameter_store import Parameter

_STEERING = (PROTOCOL, BASE_URL, API_KEY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One write: the new value, or None to take the setting away."""

    key: str
    value: str | None


def steps(changes: Changes, at_level: Mapping[str, Parameter], in_force: Mapping[str, Setting]) -> list[Step]:
    """The writes that the changes take, in order. What is already as it shall be takes none.

    `at_level` is what is saved at the level that changes, `in_force` what all levels come to before the change.
    """
    needed = {key: value for key, value in changes.items() if _is_needed(key, value, at_level.get(key))}
    ordered: list[Step] = []
    for instance_id in instances(changes):
        own = {key: value for key, value in needed.items() if _instance(key) == instance_id}
        ordered += _endpoint_steps(instance_id, own, at_level, in_force)
    others = [Step(key=key, value=value) for key, value in needed.items() if _instance(key) is None]
    return ordered + sorted(others, key=lambda step: not is_secret(step.key))


def instances(keys: Iterable[str]) -> list[str]:
    """The endpoints that these settings belong to."""
    return list(dict.fromkeys(filter(None, map(_instance, keys))))


def before_the_mark(value: str) -> str | None:
    """What `enabled` was before it was marked as half-saved, and will be again; the value itself without a mark."""
    return value if not value.startswith(HALF_SAVED) else value.split(":")[1] or None


def broken_off(instance_id: str, at_level: Mapping[str, Parameter]) -> set[str]:
    """The settings whose change was begun and broken off: until they are all sent again, nobody knows what is meant."""
    switch = at_level.get(endpoint_setting(instance_id, ENABLED))
    if switch is None or switch.value is None or not switch.value.startswith(HALF_SAVED):
        return set()
    return {endpoint_setting(instance_id, suffix) for suffix in switch.value.split(":")[2].split(",")}


def _endpoint_steps(
    instance_id: str,
    needed: Mapping[str, str | None],
    at_level: Mapping[str, Parameter],
    in_force: Mapping[str, Setting],
) -> Iterator[Step]:
    switch = endpoint_setting(instance_id, ENABLED)
    standing = at_level[switch].value if switch in at_level else None
    marked = bool(broken_off(instance_id, at_level))
    others = [Step(key=key, value=value) for key, value in sorted(needed.items(), key=_rank) if key != switch]
    final = needed.get(switch, before_the_mark(standing) if standing else None)
    if marked or _moves(instance_id, [step.key for step in others], in_force):
        if not marked:
            moving = ",".join(step.key.rpartition(".")[2] for step in others)
            yield Step(key=switch, value=f"{HALF_SAVED}:{standing or ''}:{moving}")
        yield from others
        yield Step(key=switch, value=final)
    elif switch in needed and final == "false":
        yield from (Step(key=switch, value=final), *others)
    else:
        yield from others
        if switch in needed:
            yield Step(key=switch, value=final)


def _moves(instance_id: str, keys: Iterable[str], in_force: Mapping[str, Setting]) -> bool:
    """Whether an endpoint that is there gets another address or key, in more than one write."""
    suffixes = {key.rpartition(".")[2] for key in keys}
    exists = endpoint_setting(instance_id, PROTOCOL) in in_force
    return exists and len(suffixes) > 1 and not suffixes.isdisjoint(_STEERING)


def _rank(change: tuple[str, str | None]) -> tuple[int, str]:
    """Taking the protocol away comes first, setting it last."""
    key, value = change
    place = 0 if not key.endswith(f".{PROTOCOL}") else -1 if value is None else 1
    return place, key


def _is_needed(key: str, value: str | None, standing: Parameter | None) -> bool:
    if standing is None:
        return value is not None
    return value is None or is_secret(key) or standing.secure or standing.value != value


def _instance(key: str) -> str | None:
    split = split_endpoint_setting(key)
    return split[0] if split else None
