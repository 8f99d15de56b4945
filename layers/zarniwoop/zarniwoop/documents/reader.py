"""The reader: a process of its own that turns files into text, for as long as one is needed.

Parsers of other people's files run away, blow up and crash. In here they do so alone: without credentials (none of
the function's environment is handed on), within an address space of 1 GiB, and for so many seconds a file. What goes
wrong becomes a reason in the document's record, and the next file gets a new process.

It says `ready` first; one that does not is a fault of ours and of no document. Then one line of JSON in
(`{"path", "name"}`), one line of JSON out (`{"found": {…}}` or `{"refused": "damaged"}`).
"""

import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from threading import Timer
from types import TracebackType
from typing import IO, Any

import orjson

from zarniwoop.documents.kinds import DocumentRefused, Extracted, Kind, Reason

FILE_SECONDS = 30.0
MOST_MEMORY = 1 << 30
_READY = b"ready\n"


class ReaderBrokenError(Exception):
    """The process does not start."""


class Reader:
    """Keeps a process while it is needed; use it in a `with`. `variables` are what its Python needs to start."""

    def __init__(self, *, file_seconds: float = FILE_SECONDS, variables: Mapping[str, str] | None = None) -> None:
        self._file_seconds = file_seconds
        self._variables = variables or {}
        self._process: Popen[bytes] | None = None

    def __enter__(self) -> "Reader":
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._end()

    def read(self, path: Path, name: str) -> Extracted:
        """The text of the file. Raises DocumentRefused for whatever goes wrong with it, else ReaderBrokenError."""
        answer = self._answer(orjson.dumps({"path": str(path), "name": name}))
        if answer is None:
            raise DocumentRefused(Reason.TOO_SLOW)
        if "refused" in answer:
            raise DocumentRefused(Reason(answer["refused"]))
        found = answer["found"]
        return Extracted(**{**found, "kind": Kind(found["kind"]), "pages": tuple(found["pages"])})

    def _answer(self, line: bytes) -> Mapping[str, Any] | None:
        """None when the process came to an end over it, by itself or by the clock."""
        process = self._running()
        timer = Timer(self._file_seconds, process.kill)
        timer.start()
        try:
            _stream(process.stdin).write(line + b"\n")
            _stream(process.stdin).flush()
            answered = _stream(process.stdout).readline()
        except BrokenPipeError:
            answered = b""
        finally:
            timer.cancel()
        if not answered.endswith(b"\n"):
            self._end()
            return None
        answer: Mapping[str, Any] = orjson.loads(answered)
        return answer

    def _running(self) -> Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = Popen(
                [sys.executable, "-P", "-B", "-m", "zarniwoop.documents.reader"],
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                env={**self._variables, "PYTHONPATH": ":".join(filter(None, sys.path))},
            )
            if _stream(self._process.stdout).readline() != _READY:
                self._end()
                raise ReaderBrokenError("the reader's process does not start")
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        with suppress(BrokenPipeError):
            _stream(process.stdin).close()
        _stream(process.stdout).close()
        process.wait()


def serve(questions: IO[bytes], answers: IO[bytes]) -> None:
    """Answer every line until there are no more."""
    for line in questions:
        answers.write(orjson.dumps(answer_to(orjson.loads(line))) + b"\n")
        answers.flush()


def answer_to(question: Mapping[str, str]) -> dict[str, Any]:
    from zarniwoop.documents.extract import extract

    try:
        return {"found": asdict(extract(Path(question["path"]), question["name"]))}
    except DocumentRefused as refused:
        return {"refused": refused.reason.value}
    except (MemoryError, RecursionError):
        return {"refused": Reason.TOO_SLOW.value}
    except Exception:  # noqa: BLE001 - other people's parsers on other people's files: whatever they raise, it is damaged
        return {"refused": Reason.DAMAGED.value}


def _limit_memory() -> None:
    """Where the system knows no such limit, the parent's clock is what is left."""
    import resource

    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


def _stream(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise RuntimeError("the reader was started without pipes")
    return stream


def main() -> None:
    _limit_memory()
    answers, sys.stdout = sys.stdout.buffer, sys.stderr  # a library that prints must not answer
    answers.write(_READY)
    answers.flush()
    serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
