"""What the settings say about fetching pages; a wrong one keeps its default and is told of.

Quirk: a wrong list is no list. A misspelt domain or endpoint must not open more than was meant.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from zarniwoop.settings.cascade import Setting
from zarniwoop.settings.fetch_names import (
    ARCHIVE,
    BROWSER_DOMAINS,
    FETCH,
    HOSTED_ORDER,
    LONGEST_INTERVAL,
    MOST_DOMAINS,
    ROBOTS,
    SITE_INTERVAL,
)
from zarniwoop.settings.misconfigured import Misconfigured
from zarniwoop.settings.names import LONGEST_VALUE
from zarniwoop.stores.keys import is_id

_DOMAIN = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}")
_NUMBER = re.compile(r"[0-9]{1,6}")
_EXPECTS = {each.name: each.expects for each in FETCH}


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchSettings:
    """`site_interval` in seconds; `hosted_order` are ids of endpoints."""

    robots: bool = True
    site_interval: float = 1.0
    browser_domains: tuple[str, ...] = ()
    hosted_order: tuple[str, ...] = ()
    archive: bool = False


def read_fetching(values: Mapping[str, Setting]) -> tuple[FetchSettings, list[Misconfigured]]:
    """Of each setting its value, or its default and what is wrong with it."""
    found: dict[str, Any] = {}
    faults: list[Misconfigured] = []
    for key, (attribute, read) in _READERS.items():
        setting = values.get(key)
        if setting is None:
            continue
        value = setting.value
        told = None if value is None or len(value.encode()) > LONGEST_VALUE else read(value.strip())
        if told is None:
            faults.append(Misconfigured(instance_id="", setting=key, reason=f"must be {_EXPECTS[key]}"))
        else:
            found[attribute] = told
    return FetchSettings(**found), faults


def _flag(value: str) -> bool | None:
    return {"true": True, "false": False}.get(value.lower())


def _seconds(value: str) -> float | None:
    milliseconds = int(value) if _NUMBER.fullmatch(value) else LONGEST_INTERVAL + 1
    return milliseconds / 1000 if milliseconds <= LONGEST_INTERVAL else None


def _domains(value: str) -> tuple[str, ...] | None:
    named = _listed(value.lower())
    return named if len(named) <= MOST_DOMAINS and all(map(_DOMAIN.fullmatch, named)) else None


def _ids(value: str) -> tuple[str, ...] | None:
    named = _listed(value)
    return named if all(map(is_id, named)) else None


def _listed(value: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in value.split(",") if name.strip()))


_READERS: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    ROBOTS: ("robots", _flag),
    SITE_INTERVAL: ("site_interval", _seconds),
    BROWSER_DOMAINS: ("browser_domains", _domains),
    HOSTED_ORDER: ("hosted_order", _ids),
    ARCHIVE: ("archive", _flag),
}
