"""A transport that answers from a script, remembers what it was asked, and refuses what was not scripted."""

from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import ProviderError
from zarniwoop.contract.transport import Authentication, HttpAnswer, HttpRequest, Secret


@dataclass(frozen=True)
class Sent:
    """One request as the transport got it."""

    request: HttpRequest
    authentication: Authentication | None
    secret: Secret | None


def answer(
    body: bytes | str | object = b"",
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    url: str = "https://provider.test/",
) -> HttpAnswer:
    """An answer with a body of bytes, text, or anything that JSON can say."""
    raw = body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else orjson.dumps(body)
    return HttpAnswer(status=status, headers=dict(headers or {}), body=raw, url=url)


class ScriptedTransport:
    """`contract.transport.Transport` that hands out its script in order; an exception in the script is raised."""

    def __init__(self, *script: HttpAnswer | ProviderError) -> None:
        self._script = list(script)
        self.sent: list[Sent] = []

    def send(
        self,
        request: HttpRequest,
        *,
        deadline: Deadline,
        authentication: Authentication | None = None,
        secret: Secret | None = None,
    ) -> HttpAnswer:
        self.sent.append(Sent(request, authentication, secret))
        if not self._script:
            raise AssertionError(f"request {len(self.sent)} was not scripted: {request.method} {request.url}")
        step = self._script.pop(0)
        if isinstance(step, ProviderError):
            raise step
        return step
