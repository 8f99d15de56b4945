"""A value as JSON, as well as JSON can say it: what an add-on has put into a hit need not be anything that it knows."""

import json
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

import orjson


def as_json(value: Any) -> bytes:
    """Data classes and enumerations as what they hold; what JSON does not know as its text."""
    try:
        return orjson.dumps(value, default=str)
    except TypeError:  # an add-on's half surrogate pair, endless integer or odd key
        return json.dumps(value, ensure_ascii=False, default=_plain, skipkeys=True, separators=(",", ":")).encode(
            errors="replace"
        )


def sort_key(value: Any) -> bytes:
    """The same for the same value, in whatever order its parts came: to put things in an order that is never chance."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return json.dumps(_sorted(value), ensure_ascii=False).encode(errors="replace")


def json_chars(value: Any) -> int:
    """How many characters the value takes as JSON."""
    encoded = as_json(value)
    return len(encoded) if encoded.isascii() else len(encoded.decode())


def is_deeper(value: Any, limit: int) -> bool:
    """Whether lists and objects nest in more than so many levels."""
    level = [value]
    for _ in range(limit):
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node if isinstance(node, list) else ())
            if isinstance(child, (dict, list))
        ]
        if not level:
            return False
    return True


def _plain(value: Any) -> Any:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)


def _sorted(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        return sorted(
            ([str(key), _sorted(each)] for key, each in value.items()), key=lambda pair: (pair[0], json.dumps(pair[1]))
        )
    if isinstance(value, (set, frozenset)):
        return sorted(json.dumps(_sorted(each)) for each in value)
    if isinstance(value, (list, tuple)):
        return [_sorted(each) for each in value]
    return value if value is None or isinstance(value, (str, bool, int, float)) else type(value).__name__
