"""A process of its own for parsers of other people's bytes: they run away, blow up and crash, and in here they do so
alone. Without credentials (none of the function's environment is handed on, and the function closes its own to it),
within an address space of 1 GiB, and for so many seconds a step. It serves for the next question, too; where it came to
an end, the next one gets a new process.

    parent → {"size": 5, …}⏎ and 5 bytes        child → {"begins": "trafilatura"}⏎ … {"found": {…}}⏎

It says `ready` first; one that does not is a fault of ours and of no document. What it says is read within a bound:
whoever took it over may say anything.
"""

import os
import select
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from subprocess import DEVNULL, PIPE, Popen
from types import TracebackType
from typing import IO, Any, Self

import orjson

MOST_MEMORY = 1 << 30
MOST_ANSWER = 64_000_000
START_SECONDS = 30.0
_READY = b"ready"
_CHUNK = 1 << 16
_PR_SET_DUMPABLE = 4
_EXIT_SPENT = 3


class ReaderBrokenError(Exception):
    """The process does not start."""


class Ended(Exception):  # noqa: N818 - named by what happened
    """The process came to an end over the question: by the clock, by its memory, or by a crash."""

    def __init__(self, *, in_time: bool) -> None:
        super().__init__("the reader's process came to an end")
        self.in_time = in_time


class Worker:
    """Keeps a process while it is needed; use it in a `with`. `variables` are what its Python needs to start.

    `with_family`: it starts processes of its own, which end with it.
    """

    def __init__(self, module: str, *, variables: Mapping[str, str] | None = None, with_family: bool = False) -> None:
        self._module = module
        self._variables = variables or {}
        self._with_family = with_family
        self._process: Popen[bytes] | None = None
        self._said = bytearray()
        self._ready = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.end()

    def start(self) -> None:
        """Begin to start it, without waiting: it loads its parsers while the page is on its way."""
        if self._process is None or self._process.poll() is not None:
            self.end()
            with suppress(OSError):  # no memory for it, or no descriptor: whoever asks is told
                self._process = self._started()

    def _started(self) -> Popen[bytes]:
        _close_to_children()
        process = Popen(  # noqa: S603 - our own module, by our own interpreter
            [sys.executable, "-P", "-B", "-m", self._module],
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            env={**self._variables, "PYTHONPATH": ":".join(filter(None, sys.path))},
            start_new_session=self._with_family,
        )
        os.set_blocking(_stream(process.stdin).fileno(), False)
        return process

    def ask(
        self,
        question: Mapping[str, Any],
        body: bytes,
        seconds: Callable[[str], float],
        *,
        start_seconds: float = START_SECONDS,
    ) -> Mapping[str, Any]:
        """The answer. `seconds` says how long a step may take, when it begins; the first one is called `""`.

        A process that is not ready within `start_seconds` is only late where these are fewer than it usually has.
        Raises Ended, and ReaderBrokenError.
        """
        process = self._running_within(min(START_SECONDS, start_seconds))
        try:
            ends_at = time.monotonic() + seconds("")
            self._write(process, orjson.dumps({**question, "size": len(body)}) + b"\n" + body, ends_at)
            while True:
                said = self._line(process, ends_at)
                answer = _object(said)
                if "begins" not in answer:
                    return answer
                ends_at = time.monotonic() + seconds(str(answer["begins"]))
        except BaseException:
            self.end()
            raise

    def talk(
        self,
        question: Mapping[str, Any],
        answer: Callable[[Mapping[str, Any]], tuple[Mapping[str, Any], bytes]],
        seconds: float,
    ) -> Mapping[str, Any]:
        """The answer of a process that may ask back: `{"asks": {…}}`, to which `answer` gives a line and a body.

        Raises Ended, and ReaderBrokenError.
        """
        ends_at = time.monotonic() + seconds
        process = self._running(seconds)
        line, body = question, b""
        try:
            while True:
                self._write(process, orjson.dumps({**line, "size": len(body)}) + b"\n" + body, ends_at)
                said = _object(self._line(process, ends_at))
                if not isinstance(said.get("asks"), dict):
                    return said
                line, body = answer(said["asks"])
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        process, self._process = self._process, None
        self._ready = False
        self._said.clear()
        if process is None:
            return
        if self._with_family:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        with suppress(BrokenPipeError):
            _stream(process.stdin).close()
        _stream(process.stdout).close()
        process.wait()

    def _running_within(self, seconds: float) -> Popen[bytes]:
        """Raises Ended when the asker has no more time, and ReaderBrokenError."""
        ends_at = time.monotonic() + seconds
        try:
            return self._running(seconds)
        except ReaderBrokenError:
            if seconds < START_SECONDS and time.monotonic() >= ends_at:
                raise Ended(in_time=False) from None
            raise

    def _running(self, seconds: float = START_SECONDS) -> Popen[bytes]:
        """Raises ReaderBrokenError."""
        self.start()
        process = self._process
        if process is None:
            raise ReaderBrokenError("the reader's process does not start")
        if not self._ready:
            try:
                self._ready = self._line(process, time.monotonic() + seconds) == _READY
            except Ended:
                self._ready = False
            if not self._ready:
                self.end()
                raise ReaderBrokenError("the reader's process does not start")
        return process

    def _write(self, process: Popen[bytes], data: bytes, ends_at: float) -> None:
        """All of it, or Ended: a process that does not read must not hold its parent."""
        pipe, left = _stream(process.stdin).fileno(), memoryview(data)
        while left:
            _wait(pipe, select.POLLOUT, ends_at)
            try:
                left = left[os.write(pipe, left[:_CHUNK]) :]
            except BlockingIOError:
                continue
            except BrokenPipeError as error:
                raise Ended(in_time=True) from error

    def _line(self, process: Popen[bytes], ends_at: float) -> bytes:
        pipe = _stream(process.stdout).fileno()
        searched = 0
        while (end := self._said.find(b"\n", searched)) < 0:
            searched = len(self._said)
            _wait(pipe, select.POLLIN, ends_at)
            piece = os.read(pipe, _CHUNK)
            if not piece or searched > MOST_ANSWER:
                raise Ended(in_time=True)
            self._said += piece
        line = bytes(self._said[:end])
        del self._said[: end + 1]
        return line


def serve(
    questions: IO[bytes],
    answers: IO[bytes],
    answer: Callable[[Mapping[str, Any], bytes, Callable[[str], None]], Mapping[str, Any]],
) -> None:
    """Answer every question until there are no more. After a MemoryError nothing in the process is to be relied on."""

    def say(line: Mapping[str, Any] | bytes) -> None:
        answers.write((line if isinstance(line, bytes) else orjson.dumps(line)) + b"\n")
        answers.flush()

    for line in questions:
        question = orjson.loads(line)
        body = questions.read(question.get("size", 0))
        try:
            found = answer(question, body, lambda step: say({"begins": step}))
        except MemoryError:
            sys.exit(_EXIT_SPENT)
        say(found)


def run(answer: Callable[[Mapping[str, Any], bytes, Callable[[str], None]], Mapping[str, Any]]) -> None:
    """The process's life. What a library prints is nobody's answer."""
    _limit_memory()
    answers, sys.stdout = sys.stdout.buffer, sys.stderr
    answers.write(_READY + b"\n")
    answers.flush()
    serve(sys.stdin.buffer, answers, answer)


def _limit_memory() -> None:
    """Where the system knows no such limit, the parent's clock is what is left."""
    import resource

    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


def _close_to_children() -> None:
    """Else whatever takes a child over opens `/proc/<parent>/environ`, or its memory: same user, same right.

    https://man7.org/linux/man-pages/man2/PR_SET_DUMPABLE.2const.html Only Linux has it; a new program begins anew.
    """
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, *(ctypes.c_ulong(0),) * 4)


def _wait(pipe: int, event: int, ends_at: float) -> None:
    """Until the pipe can be used. Raises Ended when that takes too long."""
    waiting = select.poll()
    waiting.register(pipe, event)
    left = ends_at - time.monotonic()  # one that never stops talking would always be ready
    if left <= 0.0 or not waiting.poll(left * 1000):
        raise Ended(in_time=False)


def _object(line: bytes) -> Mapping[str, Any]:
    try:
        said = orjson.loads(line)
    except ValueError as error:
        raise Ended(in_time=True) from error
    if not isinstance(said, dict):
        raise Ended(in_time=True)
    return said


def _stream(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise RuntimeError("the reader was started without pipes")
    return stream
