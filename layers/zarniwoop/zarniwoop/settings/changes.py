"""What somebody wants changed, checked value by value before anything is looked up.

An empty secret means "keep what is saved"; any other empty value, like null, means "take it away at this level".
Quirk: a value never stands in a refusal: somebody may have pasted a key into the wrong field.
"""

from collections.abc import Callable, Mapping
from typing import Any

from zarniwoop.contract.failure import ProviderUnavailable
from zarniwoop.contract.problem import InvalidArgument
from zarniwoop.contract.transport import MOST_IN_A_POOL, Secret, keys_in
from zarniwoop.net.address import AllowedNetworks
from zarniwoop.net.url import parse
from zarniwoop.settings.endpoints import plain_base_url
from zarniwoop.settings.fetch_names import FETCH, PREFIX_FETCH
from zarniwoop.settings.levels import is_key
from zarniwoop.settings.masking import is_masked
from zarniwoop.settings.names import (
    BASE_URL,
    BUDGETS,
    ENABLED,
    HALF_SAVED,
    KNOBS,
    PREFIX_CACHE,
    PREFIX_DEFAULT,
    PREFIX_ENDPOINT,
    PREFIX_FALLBACK,
    PREFIX_MODEL,
    RERANK_RECIPE,
    is_secret,
    split_endpoint_setting,
)
from zarniwoop.settings.writer import check_setting
from zarniwoop.stores.keys import is_id

MOST_CHANGES = 100
Changes = Mapping[str, str | None]
"""The new value of each setting, None where it is to go."""

_OTHERS = frozenset((*(knob.key for knob in KNOBS), *(each.name for each in (*BUDGETS, *FETCH)), RERANK_RECIPE))
_PREFIXES = (PREFIX_CACHE, PREFIX_ENDPOINT, PREFIX_DEFAULT, PREFIX_FALLBACK, PREFIX_MODEL)


def read_changes(given: Mapping[str, Any], allowed: Callable[[], AllowedNetworks]) -> dict[str, str | None]:
    """The changes in what was sent. Raises InvalidArgument, naming the setting and the way out."""
    if not given:
        raise InvalidArgument("there is nothing to save", field="settings", suggested_action="send at least one")
    if len(given) > MOST_CHANGES:
        raise InvalidArgument(
            f"these are more than {MOST_CHANGES} settings", field="settings", suggested_action="save them in parts"
        )
    changes: dict[str, str | None] = {}
    for key, value in given.items():
        check_key(key)
        text = _text(key, value)
        if is_secret(key):
            if text is None or text:
                changes[key] = None if text is None else _checked_secret(key, text)
        else:
            changes[key] = _checked(key, text, allowed) if text else None
    return changes


def check_key(key: str) -> None:
    """Raises InvalidArgument for what is no setting of ours."""
    endpoint = split_endpoint_setting(key)
    if endpoint is not None and not is_id(endpoint[0]):
        raise InvalidArgument(
            "an endpoint's id has 1 to 63 characters out of a-z, 0-9, '_' and '-', and starts with a letter or digit",
            field=_shown(key),
            suggested_action="give the endpoint another id",
        )
    known = key in _OTHERS or (key.startswith(_PREFIXES) and (endpoint is not None) is key.startswith(PREFIX_ENDPOINT))
    if not is_key(key) or not known:
        raise InvalidArgument(
            "there is no such setting",
            field=_shown(key),
            suggested_action="GET /v1/settings/form lists all that there are",
        )


def check_base_url(key: str, value: str, allowed: AllowedNetworks) -> None:
    """Refuse what the guard would refuse at the first call. A name's addresses are looked at when they are dialled."""
    if "@" in value.partition("://")[2].partition("/")[0]:
        raise InvalidArgument(
            f"'{key}' must hold neither user name nor password",
            field=key,
            suggested_action="leave them out; a key is saved in a setting of its own",
        )
    try:
        parse(plain_base_url(value), allowed=allowed)
    except ValueError:
        raise InvalidArgument(
            f"'{key}' must be an http or https URL without query or fragment",
            field=key,
            suggested_action="send scheme, host and path, like https://search.example.org/api",
        ) from None
    except ProviderUnavailable as refusal:
        raise InvalidArgument(
            f"'{key}': {refusal.message}",
            field=key,
            slug="address-refused",
            suggested_action=(
                "use a public https address, or ask the operator to name this one in the stack parameter"
                " AllowedPrivateNetworks"
            ),
        ) from None


def _text(key: str, value: Any) -> str | None:
    """A value of a form as it is saved: stripped, `true` and `false` in words, a list with commas."""
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case str():
            return value.strip()
        case int() | float():
            return str(value)
        case list() if all(isinstance(each, str) for each in value):
            return ",".join(each.strip() for each in value)
    raise InvalidArgument(
        f"'{key}' must be a text, a number, true, false, a list of texts, or null",
        field=key,
        suggested_action="send the value as a text",
    )


def _checked_secret(key: str, value: str) -> str:
    if is_masked(value):
        raise InvalidArgument(
            f"'{key}' is the mask of a key and no key",
            field=key,
            slug="masked-secret",
            suggested_action="send an empty text to keep the key that is saved, or the whole new key",
        )
    keys = keys_in(value)
    if len(keys) > MOST_IN_A_POOL:
        raise InvalidArgument(
            f"'{key}' may hold at most {MOST_IN_A_POOL} keys, and these are {len(keys)}",
            field=key,
            suggested_action=f"leave out {len(keys) - MOST_IN_A_POOL} of them, or add another endpoint for these",
        )
    if not keys or not all(Secret(each).is_sendable() for each in keys):
        raise InvalidArgument(
            f"'{key}' must be up to {MOST_IN_A_POOL} keys, one a line, each of 8 to 512 printable ASCII characters",
            field=key,
            suggested_action="copy the key again, without what stands around it",
        )
    check_setting(key, value)
    return value


def _checked(key: str, value: str, allowed: Callable[[], AllowedNetworks]) -> str:
    if not value.isprintable():
        raise InvalidArgument(
            f"'{key}' must hold no control characters", field=key, suggested_action="type the value on one line"
        )
    check_setting(key, value)
    suffix = key.rpartition(".")[2]
    if suffix == BASE_URL:
        check_base_url(key, value, allowed())
    if suffix == ENABLED and value.startswith(HALF_SAVED):
        raise InvalidArgument(f"'{key}' must be true or false", field=key, suggested_action="send true or false")
    return value


def _shown(key: str) -> str:
    """A key that is none may be anything, a secret in the wrong place included."""
    return key if is_key(key) and key.startswith(("research.", PREFIX_MODEL, PREFIX_FETCH)) else "settings"
