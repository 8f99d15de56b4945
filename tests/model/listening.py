"""A transport to the model that keeps what went through it: what was asked, what it took, and how long."""

import time
from dataclasses import dataclass
from typing import Any

from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.transport import Authentication, HttpAnswer, HttpRequest, Secret, Transport


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """An exchange; `body` is what was asked."""

    body: Any
    status: int
    seconds: float


class Listening:
    """`contract.transport.Transport` through another one."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner
        self.heard: list[Heard] = []

    def send(
        self,
        request: HttpRequest,
        *,
        deadline: Deadline,
        authentication: Authentication | None = None,
        secret: Secret | None = None,
    ) -> HttpAnswer:
        started = time.monotonic()
        answer = self._inner.send(request, deadline=deadline, authentication=authentication, secret=secret)
        self.heard.append(Heard(body=request.json, status=answer.status, seconds=time.monotonic() - started))
        return answer

    @property
    def answers(self) -> list[Heard]:
        """The exchanges in which the model answered."""
        return [each for each in self.heard if each.status == 200]
