"""What a wire format is to the server: a function from request to answer, and how its provider says no."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.simulator.library import Library
from tests.simulator.messages import Answer, Request, json_answer


class Credits:
    """A balance that metered providers draw on, shared by all connections."""

    def __init__(self, balance: int) -> None:
        self.limit = balance
        self._balance = balance
        self._lock = threading.Lock()

    @property
    def balance(self) -> int:
        return self._balance

    def spend(self, count: int) -> int:
        """Take `count` off, never below zero; what is left."""
        with self._lock:
            self._balance = max(0, self._balance - count)
            return self._balance


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What a format answers from. `openalex` counts in credits of 0.0001 USD; `metered` has the others' balances."""

    library: Library
    serper: Credits
    openalex: Credits
    metered: Mapping[str, Credits] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """`answer` gets the request with its path below `/<name>`. `refusals`: the provider's own bodies, by status.

    `credits` is the balance of a fresh account, for a provider that counts: `world.metered[name]`.
    """

    name: str
    answer: Callable[[Request, World], Answer]
    refusals: Mapping[int, Answer] = field(default_factory=dict)
    credits: int | None = None

    def refusal(self, status: int) -> Answer:
        return self.refusals.get(status) or plain_refusal(status)


def plain_refusal(status: int) -> Answer:
    """A refusal in nobody's format."""
    return json_answer({"error": _WORDS.get(status, "Error"), "status": status}, status=status)


_WORDS = {
    400: "Bad request",
    401: "Unauthorized",
    402: "Payment required",
    403: "Forbidden",
    404: "Not found",
    429: "Too many requests",
    500: "Internal server error",
    503: "Service unavailable",
}
