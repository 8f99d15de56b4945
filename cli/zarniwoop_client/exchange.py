"""What the client does, without doing it: requests, pauses and news as values that a driver carries out.

A flow is a generator that yields steps and is sent what came of them; it opens no socket and never sleeps. So the
blocking and the asynchronous client are two short drivers of the same flows.
"""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Generic, TypeAlias, TypeVar

T = TypeVar("T")
_USUAL_SECONDS = 26.0
"""What the slowest tool takes when nobody hurries it."""
_WAY_BACK = 0.3
_LEAST_TOLD = 100
"""Milliseconds; the API takes no less."""
Given = TypeVar("Given", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request of the API. Its repr shows neither the query string nor the body: both may hold a question.

    `repeatable`: sending it twice is the same as sending it once. `keyed`: it bears an idempotency key, so that an
    answer which says that the run failed is the last word under that key. `spends`: carried out twice, it may be paid
    twice. `bare`: the answer is a document without an
    envelope, as long as it is none of a refusal. `tells_time`: the server is told how long its caller waits.
    """

    method: str
    path: str
    params: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: Mapping[str, Any] | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    repeatable: bool = True
    keyed: bool = False
    spends: bool = False
    bare: bool = False
    tells_time: bool = False
    project_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """An answer as it came; header names in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes = field(repr=False)


class Loss(StrEnum):
    """Why no answer came. Only after UNCONNECTED is it certain that the request never arrived."""

    UNCONNECTED = "unconnected"
    BROKEN = "broken"
    TOO_SLOW = "too_slow"
    TOO_LARGE = "too_large"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """No answer; `cause` is the name of the transport's exception, and nothing of its text."""

    loss: Loss
    cause: str = ""


Outcome: TypeAlias = Received | Lost


@dataclass(frozen=True, slots=True, kw_only=True)
class Send:
    """To be sent, and answered within so many seconds. The driver sends back an Outcome."""

    request: Request
    seconds: float

    @property
    def headers(self) -> Mapping[str, str]:
        """The request's, and how long its answer is waited for where that is less than the API would take."""
        if not self.request.tells_time or self.seconds > _USUAL_SECONDS:
            return self.request.headers
        told = max(_LEAST_TOLD, int((self.seconds - _WAY_BACK) * 1000))
        return {**self.request.headers, "X-Deadline-Ms": str(told)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sleep:
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Tell:
    """To be told to the caller's own function; the asynchronous driver awaits what that returns, if it can be."""

    listener: Callable[[Any], Any]
    news: Any


@dataclass(frozen=True, slots=True)
class Give(Generic[Given]):
    """A value that a stream gives out."""

    value: Given


Step: TypeAlias = Send | Sleep | Tell
Flow: TypeAlias = Generator[Step, Any, T]
Stream: TypeAlias = Generator[Step | Give[T], Any, None]


def next_step(stream: Stream[T], outcome: Any) -> Step | Give[T] | None:
    """The stream's next step, which is sent what came of the one before; None where it ends."""
    try:
        return stream.send(outcome)
    except StopIteration:
        return None
