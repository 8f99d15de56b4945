"""Which key an endpoint uses, and the rule that a key only goes where its owner wants it.

In this order: the key saved for the endpoint, the operator's variable of the protocol, the operator's generic variable.
A key is never used with a protocol or base URL that was set at a less trusted level than the key: whoever may set a
project's base URL could otherwise have the tenant's key sent to himself. The operator's keys therefore go to the
protocol's own base URL only.
"""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass

from zarniwoop.settings.cascade import Setting
from zarniwoop.settings.levels import Level
from zarniwoop.settings.names import API_KEY, BASE_URL, GENERIC_KEY_VARIABLE, PROTOCOL

ENVIRONMENT = "env:"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownProtocol:
    """What settings must know of a protocol. `key_variable` is the operator's (`TAVILY_API_KEY`)."""

    default_base_url: str | None = None
    key_required: bool = False
    key_variable: str | None = None
    takes_generic_key: bool = False

    def variables(self) -> tuple[str, ...]:
        own = (self.key_variable,) if self.key_variable else ()
        return (*own, GENERIC_KEY_VARIABLE) if self.takes_generic_key else own


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """Where the key is (`key` None: there is none), and a mark that changes with it."""

    key: str | None = None
    version: str | None = None


def marks_of(variables: Mapping[str, str], stack: str) -> dict[str, str]:
    """A mark for each variable that is set, changing with its value: 32 bits of an HMAC give nothing of it away.

    It makes an endpoint's cooldown end when the operator corrects a key. `stack` is the root of its settings and no
    secret: every environment of the stack must come to the same marks, whether or not it could read the hash key.
    """
    return {
        name: hmac.digest(stack.encode(), value.encode(), "sha256").hex()[:8]
        for name, value in variables.items()
        if value
    }


def choose_credential(
    settings: Mapping[str, Setting],
    base_url: str | None,
    protocol: KnownProtocol,
    environment: Mapping[str, str],
    *,
    required: bool,
) -> Credential | str:
    """The endpoint's credential, or the reason why there is none. `required` False asks for no key to be there."""
    is_own = base_url is None or base_url == (protocol.default_base_url or "").rstrip("/")
    saved = settings.get(API_KEY)
    if saved is not None:
        steering = (PROTOCOL,) if is_own else (PROTOCOL, BASE_URL)
        return _saved(saved, [(name, settings[name].level) for name in steering])
    variable = next((name for name in protocol.variables() if name in environment), None)
    if variable is not None and is_own:
        return Credential(key=ENVIRONMENT + variable, version=environment[variable])
    if not (protocol.key_required and required):
        return Credential()
    if variable is not None:
        level = settings[BASE_URL].level
        return f"the operator's {variable} is not sent to another {BASE_URL}: save a key at the {level} level too"
    hint = f", or set {protocol.key_variable}" if protocol.key_variable else ""
    return f"the protocol needs a key: save one{hint}"


def _saved(saved: Setting, steering: list[tuple[str, Level]]) -> Credential | str:
    """The saved key, unless a setting that decides where it goes comes from a less trusted level."""
    for name, level in steering:
        if level.is_less_trusted_than(saved.level):
            return (
                f"the key saved at the {saved.level} level is not sent where a {name} set at the {level} level says:"
                f" save a key at the {level} level too"
            )
    return Credential(key=saved.parameter_name, version=saved.version)
