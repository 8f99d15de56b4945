"""Where browsers come from: a Chromium that the browser's process starts itself, or a session of Amazon Bedrock
AgentCore Browser, started for one page and stopped after it.

API: https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/browser-resource-session-management.html
Quirk: a start whose answer gets lost cannot be stopped; every session ends by itself after a minute.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from zarniwoop.contract.deadline import Clock, Deadline
from zarniwoop.contract.failure import Cause, MalformedAnswer, ProviderError
from zarniwoop.contract.transport import AwsCall, AwsCaller

SERVICE = "bedrock-agentcore"
_MANAGED = "aws.browser.v1"
_SESSION_SECONDS = 60
_STOP_SECONDS = 3.0
_ENDPOINT = re.compile(r"wss://bedrock-agentcore\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?/[A-Za-z0-9._~/-]{1,500}")


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerFiles:
    """Where the add-on layer's packed files are, and where there is room to unpack them once."""

    packed: str | None
    room: str

    def told(self) -> Mapping[str, Any]:
        return {"packed": self.packed, "room": self.room} if self.packed else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalChromium:
    """`pages.browser.Browsers`: the layer's own, or another executable where that is named."""

    files: LayerFiles
    executable: str | None = None

    @contextmanager
    def session(self, deadline: Deadline) -> Iterator[Mapping[str, Any]]:  # noqa: ARG002 - the protocol's
        yield {**self.files.told(), "chromium": self.executable}


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCoreBrowsers:
    """`pages.browser.Browsers`: `sign` makes the headers with which one WebSocket may be opened, and nothing else."""

    aws: AwsCaller
    sign: Callable[[str], Mapping[str, str]]
    clock: Clock
    files: LayerFiles

    @contextmanager
    def session(self, deadline: Deadline) -> Iterator[Mapping[str, Any]]:
        parameters = {
            "browserIdentifier": _MANAGED,
            "name": "zarniwoop",
            "sessionTimeoutSeconds": _SESSION_SECONDS,
        }
        started = self._call("StartBrowserSession", parameters, deadline)
        session_id = started.get("sessionId")
        try:
            endpoint = _endpoint_of(started)
            yield {**self.files.told(), "endpoint": endpoint, "headers": self.sign(endpoint)}
        finally:
            with suppress(ProviderError):  # it ends by itself
                stopping = {"browserIdentifier": _MANAGED, "sessionId": session_id}
                self._call("StopBrowserSession", stopping, Deadline.after(_STOP_SECONDS, self.clock))

    def _call(self, operation: str, parameters: Mapping[str, Any], deadline: Deadline) -> Mapping[str, Any]:
        call = AwsCall(service=SERVICE, operation=operation, parameters=parameters)
        return self.aws.call(call, tenant_id="", deadline=deadline)


def _endpoint_of(started: Mapping[str, Any]) -> str:
    """AWS's own and no other host is sent what we sign."""
    stream = started.get("streams", {}).get("automationStream", {})
    endpoint = stream.get("streamEndpoint", "")
    if not _ENDPOINT.fullmatch(endpoint):
        raise MalformedAnswer("the session has no stream of AWS's own", cause=Cause.SHAPE)
    return str(endpoint)
