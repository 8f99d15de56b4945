"""Routing and service-wide knobs out of the settings (seed 1, sections 8.2 and 8.3)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from zarniwoop.contract.modality import SearchModality
from zarniwoop.settings.cascade import Setting
from zarniwoop.settings.misconfigured import Misconfigured
from zarniwoop.settings.names import (
    KNOBS,
    LONGEST_CACHE_SECONDS,
    LONGEST_VALUE,
    PREFIX_CACHE,
    PREFIX_DEFAULT,
    PREFIX_FALLBACK,
    RERANK_RECIPE,
    RERANK_RECIPES,
    Knob,
)
from zarniwoop.stores.keys import is_id

_WHOLE_NUMBER = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Knobs:
    """The knobs of `names.KNOBS` by attribute."""

    quota_cache_ttl_minutes: int = 5
    factory_cache_ttl_minutes: int = 5
    log_retention_days: int = 30
    hedge_after_ms: int = 2500


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """Which endpoint is asked first, and which next, per modality."""

    defaults: dict[SearchModality, str] = field(default_factory=dict)
    fallbacks: dict[SearchModality, tuple[str, ...]] = field(default_factory=dict)
    misconfigured: list[Misconfigured] = field(default_factory=list)


def read_routing(values: Mapping[str, Setting]) -> Routing:
    """What is wrong in a list is left out of it and told of; the rest of the list counts."""
    routing = Routing()
    for key, setting in values.items():
        prefix = next((each for each in (PREFIX_DEFAULT, PREFIX_FALLBACK) if key.startswith(each)), None)
        if prefix is None:
            continue
        modality = _modality(key.removeprefix(prefix))
        if modality is None:
            routing.misconfigured.append(_wrong(key, "must end in a modality in lower case"))
            continue
        names = _names(setting)
        usable = tuple(name for name in names if is_id(name))
        if not usable or len(usable) < len(names):
            routing.misconfigured.append(_wrong(key, "must name endpoints by their ids, separated by commas"))
        if prefix == PREFIX_FALLBACK:
            routing.fallbacks[modality] = usable
        elif len(usable) == 1:
            routing.defaults[modality] = usable[0]
        elif usable:
            routing.misconfigured.append(_wrong(key, "must name one endpoint"))
    return routing


def read_knobs(values: Mapping[str, Setting]) -> tuple[Knobs, list[Misconfigured]]:
    """A malformed knob keeps its default and is told of."""
    numbers: dict[str, int] = {}
    faults: list[Misconfigured] = []
    for knob in KNOBS:
        setting = values.get(knob.key)
        number = _number(setting, knob) if setting else knob.default
        if number is None:
            faults.append(_wrong(knob.key, f"must be a whole number from {knob.least} to {knob.most}"))
        else:
            numbers[knob.attribute] = number
    return Knobs(**numbers), faults


def read_cache_seconds(values: Mapping[str, Setting]) -> tuple[dict[SearchModality, int], list[Misconfigured]]:
    """How long answers are kept, for the modalities whose answers are; a malformed time keeps none and is told of."""
    seconds: dict[SearchModality, int] = {}
    faults: list[Misconfigured] = []
    for key, setting in values.items():
        if not key.startswith(PREFIX_CACHE):
            continue
        modality = _modality(key.removeprefix(PREFIX_CACHE))
        value = (setting.value or "").strip()
        if modality is None:
            faults.append(_wrong(key, "must end in a modality in lower case"))
        elif not _WHOLE_NUMBER.fullmatch(value) or int(value) > LONGEST_CACHE_SECONDS:
            faults.append(_wrong(key, f"must be a whole number from 0 to {LONGEST_CACHE_SECONDS}"))
        elif int(value):
            seconds[modality] = int(value)
    return seconds, faults


def factory_seconds(values: Mapping[str, Setting]) -> float:
    """How long what was made of these settings is kept before they are read again."""
    return read_knobs(values)[0].factory_cache_ttl_minutes * 60.0


def read_rerank_recipe(values: Mapping[str, Setting]) -> tuple[str | None, list[Misconfigured]]:
    """The recipe that re-ranks survivors, or None where nobody wants that."""
    setting = values.get(RERANK_RECIPE)
    wanted = (setting.value or "").strip() if setting else ""
    if not wanted or wanted in RERANK_RECIPES:
        return wanted or None, []
    return None, [_wrong(RERANK_RECIPE, f"must be {' or '.join(RERANK_RECIPES)}")]


def _modality(name: str) -> SearchModality | None:
    return SearchModality.__members__.get(name.upper()) if name == name.lower() else None


def _names(setting: Setting) -> list[str]:
    if setting.value is None or len(setting.value.encode()) > LONGEST_VALUE:
        return []
    return list(dict.fromkeys(name.strip() for name in setting.value.split(",") if name.strip()))


def _number(setting: Setting, knob: Knob) -> int | None:
    value = (setting.value or "").strip()
    if not _WHOLE_NUMBER.fullmatch(value):
        return None
    return int(value) if knob.least <= int(value) <= knob.most else None


def _wrong(key: str, reason: str) -> Misconfigured:
    return Misconfigured(instance_id="", setting=key, reason=reason)
