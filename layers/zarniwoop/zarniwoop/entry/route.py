"""What a route of the REST API is, which problems (`entry.problems`) come with what, and bodies without envelope."""

from dataclasses import dataclass
from types import UnionType
from typing import Any, Literal, NotRequired

from pydantic import BaseModel
from typing_extensions import TypedDict

Answer = type[Any] | UnionType

TO_TOKENS = (
    *("bad-request", "invalid-argument", "no-project-scope", "unauthorized", "not-allowed", "token-without-plan"),
    *("filtered", "bad-signature", "throttled", "quota-exceeded", "internal", "unready", "config-unavailable"),
    *("stack-misconfigured", "out-of-time"),
)
"""What any route may answer that takes a token."""
TO_ANYBODY = ("filtered", "bad-signature", "throttled", "internal", "unready", "out-of-time")
TO_BODIES = ("body-too-large", "too-large", "unsupported-media-type")
_OF_SEARCHES = (
    *("no-endpoint", "only-metered", "disabled", "all-cooling", "budget", "all-failed", "declined", "not-cached"),
    *("no-page-read", "run-failed", "run-timed-out"),
)
OF_TRIALS = (
    *("query-rejected", "credentials-rejected", "quota-exhausted", "access-refused", "misconfigured", "rate-limited"),
    *("provider-unavailable", "malformed-answer", "provider-error", "declined", "exhausted", "budget"),
)
OF_TOOLS = (
    *_OF_SEARCHES,
    *("unknown", "unknown-evidence", "unknown-run", "unknown-result"),
    *("conflict", "fetcher-unavailable"),
)
OF_CHANGES = (
    *("address-refused", "masked-secret", "level-full", "version-missing", "settings-changed", "settings-busy"),
    *("half-saved", "key-needed", "parameter-limit-reached"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One operation. `name` is its id; `function` is the folder of the function that answers.

    `arguments` stand in the path where that names them, the others in the body (`in_body`) or in the query string;
    `headers` say some of them in another way. `right` is the tool, or `settings`, that a token must be good for, and
    `level` what it must be of; a `public` route takes none. `answer` is the type of the envelope's `data`, or of the
    whole body of a route without one; `media_type` is that of a body that is no JSON. `accepts`: it may be a 202.
    `rpc`: what is refused is told as an error of JSON-RPC, but by the gateway.
    """

    name: str
    method: str
    path: str
    function: str
    summary: str
    answer: Answer | None
    problems: tuple[str, ...]
    description: str = ""
    arguments: type[BaseModel] | None = None
    in_body: bool = False
    headers: tuple[str, ...] = ()
    right: str | None = None
    level: int = 0
    public: bool = False
    envelope: bool = True
    accepts: bool = False
    rpc: bool = False
    media_type: str = "application/json"

    @property
    def key(self) -> tuple[str, str]:
        return self.method, self.path


class NotStrict(TypedDict):
    """The tools that were left as they are, because the vendor takes no more strict ones in one request."""

    tools: list[str]
    reason: str


class ToolList(TypedDict):
    """Each tool in the shape that was asked for; without one, its name, its level and every shape by its name."""

    tools: list[dict[str, Any]]
    not_strict: NotRequired[NotStrict]


class RpcMessage(BaseModel):
    """A request, or a notification, which has no id. What else it holds depends on the revision of the protocol."""

    jsonrpc: Literal["2.0"]
    method: str
    id: int | str | None = None
    params: dict[str, Any] | None = None


class RpcError(TypedDict):
    code: int
    message: str
    data: NotRequired[Any]


class RpcAnswer(TypedDict):
    """What the protocol's own specification says of the method's result, or an error."""

    jsonrpc: Literal["2.0"]
    id: int | str | None
    result: NotRequired[dict[str, Any]]
    error: NotRequired[RpcError]
