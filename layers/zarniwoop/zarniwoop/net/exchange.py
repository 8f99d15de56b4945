"""One request and its answer: until when, how much of it, and what has been seen on the wire so far.

The connections of a pool outlive a request, and what bounds a request must not stay behind on them. So every operation
on a connection is handed the exchange that it is done for.
"""

from dataclasses import dataclass

from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import Cause, MalformedAnswer, ProviderUnavailable

MAX_HEAD_BYTES = 32 * 1024
MAX_HEADERS = 200
ONE_READ = 64 * 1024
MOST_HEAD_READ = MAX_HEAD_BYTES + ONE_READ
_MAX_HEAD_READS = 256
_HEAD_END = b"\r\n\r\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Seconds that one operation may take, however much time the whole exchange has left."""

    lookup: float = 3.0
    connect: float = 3.0
    handshake: float = 4.0
    write: float = 8.0
    read: float = 8.0


class Exchange:
    """What bounds one request and what its connection has seen."""

    __slots__ = (
        "_allowed_bytes",
        "_head_reads",
        "connected",
        "deadline",
        "ended",
        "head",
        "in_head",
        "last",
        "received",
    )

    def __init__(self, deadline: Deadline, max_bytes: int) -> None:
        self.deadline = deadline
        self.connected = False
        self.ended = False
        self.in_head = True
        self.head = b""
        self.last = b""
        self.received = 0
        self._head_reads = 0
        self._allowed_bytes = max_bytes + MOST_HEAD_READ

    @property
    def found_stale(self) -> bool:
        """Whether the connection was one kept from before and not a single byte came back on it."""
        return not self.connected and self.received == 0

    def allowance(self, cap: float) -> float:
        """The seconds that the next operation may take. Raises when there are none left."""
        remaining = self.deadline.remaining()
        if remaining <= 0.0:
            raise out_of_time()
        return min(cap, remaining)

    def ran_out(self, allowance: float, cap: float) -> ProviderUnavailable:
        """Why an operation that was allowed so many seconds was not done in them."""
        if allowance < cap:
            return out_of_time()
        return ProviderUnavailable("the provider took too long", cause=Cause.TIMEOUT)

    def take_in(self, data: bytes) -> None:
        """Account for what was read. Raises when nothing came, or more than may come."""
        if not data:
            self.ended = True
            if self.received == 0:
                raise ProviderUnavailable("the provider hung up without an answer", cause=Cause.RESET)
            return
        self.received += len(data)
        self.last = data
        if self.in_head:
            self._take_in_head(data)
        elif self.received > self._allowed_bytes:
            raise too_large()

    def _take_in_head(self, data: bytes) -> None:
        """Interim answers (103) count as head too, so that an endless row of them has an end."""
        self.head = self.head + data if self.head else data
        self._head_reads += 1
        if self._head_reads > _MAX_HEAD_READS or self.received > MOST_HEAD_READ:
            raise headers_too_large()

    def head_length(self) -> int | None:
        """How many bytes all heads of the answer took, or None where their lines do not end as they should."""
        end = 0
        while True:
            start, end = end, self.head.find(_HEAD_END, end) + len(_HEAD_END)
            if end < len(_HEAD_END):
                return None
            if self.head[start + 9 : start + 10] != b"1":
                return end

    def folds_a_header(self) -> bool:
        """Whether a header goes on in a second line, which parsers join in different ways."""
        end = self.head.find(_HEAD_END)
        return self.head.find(b"\n ", 0, end) >= 0 or self.head.find(b"\n\t", 0, end) >= 0

    def left_nothing_over(self, content_length: int | None) -> bool:
        """Whether the answer surely was all that came: what is left over would open the next answer."""
        if content_length is None:
            return self.last.endswith(b"0\r\n\r\n")
        head_length = self.head_length()
        return head_length is not None and self.received == head_length + content_length


def out_of_time() -> ProviderUnavailable:
    return ProviderUnavailable("there is no time left", cause=Cause.DEADLINE)


def too_large() -> MalformedAnswer:
    return MalformedAnswer("the answer is larger than is read", cause=Cause.TOO_LARGE)


def headers_too_large() -> MalformedAnswer:
    return MalformedAnswer("the answer has more headers than are read", cause=Cause.HEADERS)
