"""The seam between what speaks a provider's format and what owns the sockets."""

import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from zarniwoop.contract.deadline import Deadline

_SENDABLE = re.compile(r"[\x21-\x7e]{8,512}")


class Secret:
    """A key that does not show itself: only the transport calls `reveal`."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def is_sendable(self) -> bool:
        """Whether it may stand in a header or an address: 8 to 512 printable characters of ASCII, none a space."""
        return _SENDABLE.fullmatch(self._value) is not None

    def __repr__(self) -> str:
        return "Secret(…)"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)


MOST_IN_A_POOL = 16


def keys_in(value: str) -> list[str]:
    """The keys of a setting, each once, in their order: one per line, or separated by blanks or commas.

    A password may have a comma in it, so a text with a colon (`user:password`) is not cut at one that no blank follows.
    """
    words = [word.strip(",") for word in value.split()]
    cut = words if ":" in value else [key for word in words for key in word.split(",")]
    return list(dict.fromkeys(key for key in cut if key))


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderKey:
    """The provider reads its key from a header; `prefix` is put before it ("Bearer ").

    `encoded`: in base64, as HTTP's Basic wants `user:password` (RFC 7617).
    """

    name: str
    prefix: str = ""
    encoded: bool = False

    def value_of(self, key: str) -> str:
        """What stands in the header."""
        return self.prefix + (b64encode(key.encode()).decode() if self.encoded else key)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryKey:
    """The provider insists on its key in the query string. It is appended last, after everything was logged."""

    name: str


Authentication = HeaderKey | QueryKey


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """One request, without its key. `params` are percent-encoded by the transport; `json` makes the body of a POST.

    `max_redirects` is 0 for an API call: a 3xx of an API is a failure, and a key never follows it. `is_paced`: it is
    one of those whose rate the instance's `pacing` states.
    """

    url: str
    method: str = "GET"
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    json: Any = None
    form: Mapping[str, str] | None = None
    max_redirects: int = 0
    max_bytes: int | None = None
    is_paced: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """A whole answer: header names in lower case, the body decoded of its content coding and within the byte cap.

    `received` is how many bytes it took on the wire, its head included.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str
    received: int = 0


class Transport(Protocol):
    """The only way out. Raises ProviderUnavailable (DNS, TLS, reset, time) or MalformedAnswer (size, coding)."""

    def send(
        self,
        request: HttpRequest,
        *,
        deadline: Deadline,
        authentication: Authentication | None = None,
        secret: Secret | None = None,
    ) -> HttpAnswer: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsCall:
    """One operation of an AWS service, asked with the role of the function, which takes the place of a key.

    `operation` as AWS spells it ("Retrieve"). `region` None: the stack's own. `resource_setting` is the setting that
    names what may not be there, and `resource` what it names.
    """

    service: str
    operation: str
    parameters: Mapping[str, Any]
    region: str | None = None
    resource_setting: str = "region"
    resource: str | None = None


class AwsCaller(Protocol):
    """The way to AWS's services. Raises ProviderError."""

    def call(self, call: AwsCall, *, tenant_id: str, deadline: Deadline) -> Mapping[str, Any]:
        """The members of the answer, of the types that the service's model gives them."""
        ...


class PublicAddresses(Protocol):
    """What tells whether an address may be named to others, who would fetch it for us."""

    def check(self, url: str, *, deadline: Deadline) -> None:
        """Raises ProviderUnavailable for a URL that does not lead to the public internet, or if nobody can tell.

        Unlike for `Transport`, what the operator opened is closed here.
        """
        ...


class KeyRing(Protocol):
    """Where keys come from, one at a time, when their endpoint is about to be called."""

    def secret(self, credential_key: str, *, fresh: bool = False, index: int = 1) -> Secret | None:
        """The key behind a credential setting, or None; of several the one at `index`. `fresh` bypasses every cache.

        Raises ConfigurationUnavailable when the store does not answer and nothing is cached.
        """
        ...


class KeyPools(KeyRing, Protocol):
    """A key ring that tells where a setting holds several keys."""

    def count(self, credential_key: str) -> int:
        """How many keys the setting holds, as far as that is known without asking the store; 1 where it is not."""
        ...

    def most(self, credential_key: str) -> int:
        """How many it may hold: MOST_IN_A_POOL where that is not known."""
        ...
