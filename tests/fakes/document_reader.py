"""The reader without a process of its own: what it reads is the same, and tests of what lies around it are quicker."""

from pathlib import Path
from types import TracebackType

from zarniwoop.documents.extract import extract
from zarniwoop.documents.kinds import Extracted
from zarniwoop.documents.reader import Reader


class ReaderInProcess(Reader):
    def __enter__(self) -> "ReaderInProcess":
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None: ...

    def read(self, path: Path, name: str) -> Extracted:
        return extract(path, name)
