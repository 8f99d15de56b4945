"""Which key an endpoint uses, and the rule that a key only goes where its owner wants it.

In this order: the key saved for the endpoint, the operator's variable of the protocol, the operator's generic variable.
A key is never used with a protocol or base URL that was set at a less trusted level than the key: whoever may set a
project's base URL could otherwise have the tenant's key sent to himself. The operator's keys therefore go to the
protocol's own base URL only. The same holds for settings that say what of a provider is searched (`steers`); where the
stack's role is the key, they must not come from a less trusted level than the endpoint itself.
"""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass

from zarniwoop.settings.cascade import Setting
from zarniwoop.settings.levels import Level
from zarniwoop.settings.names import API_KEY, BASE_URL, GENERIC_KEY_VARIABLE, PREFIX_MODEL, PROTOCOL

ENVIRONMENT = "env:"
_PRIMARY = f"{PREFIX_MODEL}primary."


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownProtocol:
    """What settings must know of a protocol. `key_variable` is the operator's (`TAVILY_API_KEY`).

    `steering` names the settings that say what its key opens; `by_role`: that key is the stack's own role.
    """

    default_base_url: str | None = None
    key_required: bool = False
    key_variable: str | None = None
    takes_generic_key: bool = False
    steering: tuple[str, ...] = ()
    by_role: bool = False

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
        address = (PROTOCOL,) if is_own else (PROTOCOL, BASE_URL)
        steering = (*address, *(name for name in protocol.steering if name in settings))
        return _saved(saved, [(name, settings[name].level) for name in steering])
    if protocol.by_role:
        return _by_role(settings, protocol)
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


def address_of(
    stem: str, values: Mapping[str, Setting], protocols: Mapping[str, KnownProtocol]
) -> tuple[str | None, str | None]:
    """Protocol and base URL, the protocol's own where none is saved.

    `stem` is how the settings' keys start, up to the last dot. A model that says neither is reached as the primary one.
    """
    names = (PROTOCOL, BASE_URL)
    inherits = stem.startswith(PREFIX_MODEL) and not any(stem + each in values for each in names)
    protocol, base_url = (values.get((_PRIMARY if inherits else stem) + each) for each in names)
    name = protocol.value.strip() if protocol and protocol.value else None
    known = protocols.get(name) if name else None
    stated = base_url.value.strip() if base_url and base_url.value else known.default_base_url if known else None
    return name, stated.rstrip("/") if stated else None


def _by_role(settings: Mapping[str, Setting], protocol: KnownProtocol) -> Credential | str:
    level = settings[PROTOCOL].level
    for name in protocol.steering:
        if name in settings and settings[name].level.is_less_trusted_than(level):
            return (
                f"the endpoint of the {level} level is not asked as a {name} set at the {settings[name].level} level"
                " says: save an endpoint of its own there"
            )
    return Credential()


def _saved(saved: Setting, steering: list[tuple[str, Level]]) -> Credential | str:
    """The saved key, unless a setting that decides where it goes comes from a less trusted level."""
    for name, level in steering:
        if level.is_less_trusted_than(saved.level):
            return (
                f"the key saved at the {saved.level} level is not sent where a {name} set at the {level} level says:"
                f" save a key at the {level} level too"
            )
    return Credential(key=saved.parameter_name, version=saved.version)
