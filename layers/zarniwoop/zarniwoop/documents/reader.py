"""Reads documents in a process of its own (`extract.worker`), for as long as one is needed.

What goes wrong becomes a reason in the document's record, and the next file gets a new process. One line of JSON in
(`{"path", "name"}`), one line of JSON out (`{"found": {…}}` or `{"refused": "damaged"}`).
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from zarniwoop.documents.kinds import DocumentRefused, Extracted, Kind, Reason
from zarniwoop.extract.worker import Ended, Worker, run

FILE_SECONDS = 30.0


class Reader(Worker):
    """Keeps a process while it is needed; use it in a `with`. `variables` are what its Python needs to start."""

    def __init__(self, *, file_seconds: float = FILE_SECONDS, variables: Mapping[str, str] | None = None) -> None:
        super().__init__("zarniwoop.documents.reader", variables=variables)
        self._file_seconds = file_seconds

    def read(self, path: Path, name: str) -> Extracted:
        """The text of the file. Raises DocumentRefused for whatever goes wrong with it, else ReaderBrokenError."""
        try:
            answer = self.ask({"path": str(path), "name": name}, b"", lambda _step: self._file_seconds)
        except Ended as ended:
            raise DocumentRefused(Reason.TOO_SLOW) from ended
        if "refused" in answer:
            raise DocumentRefused(Reason(answer["refused"]))
        found = answer["found"]
        return Extracted(**{**found, "kind": Kind(found["kind"]), "pages": tuple(found["pages"])})


def answer_to(
    question: Mapping[str, str], _body: bytes = b"", _begins: Callable[[str], None] = lambda _step: None
) -> dict[str, Any]:
    """In the process: the document, or why it is refused. What only memory forbids ends the process."""
    from zarniwoop.documents.extract import extract

    try:
        return {"found": asdict(extract(Path(question["path"]), question["name"]))}
    except DocumentRefused as refused:
        return {"refused": refused.reason.value}
    except (MemoryError, RecursionError):
        return {"refused": Reason.TOO_SLOW.value}
    except Exception:  # noqa: BLE001 - other people's parsers on other people's files: whatever they raise, it is damaged
        return {"refused": Reason.DAMAGED.value}


if __name__ == "__main__":
    run(answer_to)
