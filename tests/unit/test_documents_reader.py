"""The reader's process: what it reads, and that no file takes it along for longer than one file."""

import io
import sys
import time
from pathlib import Path

import orjson
import pytest

from tests.fakes.document_files import pdf
from zarniwoop.documents.kinds import DocumentRefused, Extracted, Kind, Reason
from zarniwoop.documents.reader import Reader, answer_to
from zarniwoop.extract.worker import ReaderBrokenError, run, serve
from zarniwoop.wiring import Environment


def put(folder: Path, body: bytes) -> Path:
    path = folder / "document"
    path.write_bytes(body)
    return path


def test_a_file_is_read_in_a_process_of_its_own_that_serves_for_the_next_one_too(tmp_path: Path) -> None:
    """Starting one per file would take a second for each."""
    with Reader() as reader:
        found = reader.read(put(tmp_path, pdf(["Größe"])), "a.pdf")
        assert found == Extracted(kind=Kind.PDF, pages=("Größe",), paged=True, title="a.pdf", published="2024-01-02")
        first = reader._running().pid
        with pytest.raises(DocumentRefused, match="unknown_encoding"):
            reader.read(put(tmp_path, b"\xe4"), "a.txt")
        assert reader._running().pid == first


def test_a_file_that_takes_too_long_is_refused_and_the_next_one_is_read(tmp_path: Path) -> None:
    """The process is ended, not asked; here it has no time to even load what reads pages."""
    path = put(tmp_path, b"<html><body><p>text</p></body></html>")
    with Reader(file_seconds=0.02) as reader:
        started = time.monotonic()
        for _ in range(2):
            with pytest.raises(DocumentRefused, match="takes_too_long"):
                reader.read(path, "a.html")
        assert time.monotonic() - started < 10
        reader._file_seconds = 30.0
        assert reader.read(path, "a.html").pages == ("text",)


def test_a_process_that_does_not_start_is_no_documents_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else every document would be refused for good."""
    monkeypatch.setattr(sys, "path", [])
    with Reader() as reader, pytest.raises(ReaderBrokenError):
        reader.read(put(tmp_path, b"text"), "a.txt")


def test_a_file_over_which_the_process_dies_is_refused(tmp_path: Path) -> None:
    """A crash in a parser written in C ends no round."""
    path = put(tmp_path, b"text")
    with Reader() as reader:
        reader.read(path, "a.txt")
        process = reader._running()
        process.kill()
        process.wait()
        assert reader.read(path, "a.txt").pages == ("text",)


def test_the_process_has_no_credentials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the function's environment is handed on but where its Python finds its library."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    variables = {"LD_LIBRARY_PATH": "/var/lang/lib", "AWS_SECRET_ACCESS_KEY": "secret", "DOCUMENTS_BUCKET": "x"}
    with Environment(variables).reader() as reader:
        reader.read(put(tmp_path, b"text"), "a.txt")
        environment = Path(f"/proc/{reader._running().pid}/environ")
        if environment.exists():
            assert b"secret" not in environment.read_bytes()
            assert b"LD_LIBRARY_PATH=/var/lang/lib" in environment.read_bytes()


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (DocumentRefused(Reason.ENCRYPTED), Reason.ENCRYPTED),
        (MemoryError(), Reason.TOO_SLOW),
        (RecursionError(), Reason.TOO_SLOW),
        (KeyError("/Root"), Reason.DAMAGED),
    ],
)
def test_whatever_a_parser_raises_becomes_a_reason(
    monkeypatch: pytest.MonkeyPatch, error: Exception, reason: Reason
) -> None:
    """Its own words stay inside."""

    def fails(_path: Path, _name: str) -> Extracted:
        raise error

    monkeypatch.setattr("zarniwoop.documents.extract.extract", fails)
    assert answer_to({"path": "x", "name": "a.txt"}) == {"refused": reason.value}


def test_every_line_is_answered_by_a_line(tmp_path: Path) -> None:
    """Whatever stands in the text."""
    question = orjson.dumps({"path": str(put(tmp_path, b"two\nlines")), "name": "a.txt"})
    answers = io.BytesIO()
    serve(io.BytesIO(question + b"\n" + question + b"\n"), answers, answer_to)
    first, second = answers.getvalue().splitlines()
    assert first == second
    assert orjson.loads(first)["found"]["pages"] == ["two\nlines"]


def test_the_process_limits_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system can."""
    import resource

    limited: list[object] = []
    monkeypatch.setattr(resource, "setrlimit", lambda kind, limits: limited.append((kind, limits)))
    answers = io.BytesIO()
    spoken = io.TextIOWrapper(answers)  # held, as Python holds its own: it closes what it wraps
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    monkeypatch.setattr("sys.stdout", spoken)
    run(answer_to)
    assert limited == [(resource.RLIMIT_AS, (1 << 30, 1 << 30))]
    assert answers.getvalue() == b"ready\n"
