"""The process that reads pages: what runs away in it ends with it, and neither the parent nor the page's rest does."""

import io
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.fakes.clock import FakeClock
from tests.fakes.hostile_pages import HOSTILE, HOSTILE_ENDS
from tests.fakes.web_pages import article
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.page import PageOutcome, PageStep
from zarniwoop.extract import page_reader as page_reader_module
from zarniwoop.extract import worker as worker_module
from zarniwoop.extract.outcome import Extraction
from zarniwoop.extract.page import extract_page
from zarniwoop.extract.page_reader import PageReader, answer_to
from zarniwoop.extract.worker import START_SECONDS, Ended, ReaderBrokenError, Worker, serve
from zarniwoop.observe.clock import SystemClock

PAGE = article("Bells of bronze", paragraphs=8).encode()
URL = "https://foundry.example/bells"
LATE = (PageOutcome.OUT_OF_TIME, "takes_too_long")
"""On a machine that has too much else to do."""


@pytest.fixture(scope="module")
def reader() -> Iterator[PageReader]:
    with PageReader() as made:
        yield made


def read(reader: PageReader, body: bytes = PAGE, *, seconds: float = 60.0) -> Extraction:
    return reader.read(
        body,
        url=URL,
        media_type="text/html",
        charset=None,
        status=200,
        want_html=True,
        deadline=Deadline.after(seconds, SystemClock()),
    )


def pid(reader: PageReader) -> int:
    return reader._running().pid


@cache
def _read_here() -> Extraction:
    return extract_page(PAGE, url=URL, want_html=True)


@pytest.mark.no_cover
@pytest.mark.parametrize("name", HOSTILE)
def test_whatever_is_sent_ends_in_its_own_outcome(reader: PageReader, name: str) -> None:
    """Nothing is expanded that is refused for it; and the next page is read as if nothing had been."""
    found = read(reader, HOSTILE[name]())
    assert (found.outcome, found.reason) in (HOSTILE_ENDS[name], LATE)
    assert found.steps
    after = read(reader)
    assert (after.outcome, after.page) == (PageOutcome.OK, _read_here().page)


def test_the_process_reads_what_the_function_reads_and_is_kept(reader: PageReader) -> None:
    """With the time that each step took."""
    first = pid(reader)
    found = read(reader)
    alone = extract_page(PAGE, url=URL, media_type="text/html", want_html=True)
    assert found.page == alone.page
    assert [step.name for step in found.steps] == [step.name for step in alone.steps]
    assert found.steps[0].milliseconds >= 0
    assert pid(reader) == first


class _Ends(Worker):
    """A worker whose process ends at the steps that it is told of, and whose seconds are written down."""

    def __init__(self, *ends_at: str, in_time: bool = False) -> None:
        super().__init__("none")
        self.ends_at = ends_at
        self.in_time = in_time
        self.asked: list[list[str]] = []
        self.seconds: dict[str, float] = {}

    def ask(
        self,
        question: Mapping[str, Any],
        body: bytes,
        seconds: Callable[[str], float],
        *,
        start_seconds: float = START_SECONDS,
    ) -> Mapping[str, Any]:
        self.asked.append(question["without"])
        for step in ("", "clean", "text", "trafilatura", "readability", "metadata"):
            if step in question["without"]:
                continue
            self.seconds[step] = seconds(step)
            if step in self.ends_at:
                raise Ended(in_time=self.in_time)
        return orjson.loads(  # type: ignore[no-any-return]
            orjson.dumps(
                {"found": Extraction(outcome=PageOutcome.OK, steps=(PageStep(name="text", outcome=PageOutcome.OK),))}
            )
        )


def steps_of(worker: Worker, *, seconds: float = 10.0) -> tuple[list[tuple[str, PageOutcome, str | None]], Extraction]:
    reading = page_reader_module._Reading(
        worker,
        {"url": URL, "media_type": None, "charset": None, "status": 200, "want_html": False},
        PAGE,
        Deadline.after(seconds, SystemClock()),
    )
    found = reading.extraction()
    return [(step.name, step.outcome, step.reason) for step in found.steps], found


@pytest.mark.parametrize("in_time", [True, False])
def test_what_was_read_with_a_step_too_few_is_told_as_such(in_time: bool) -> None:
    """By the clock or with its process: another time the page gives another text."""
    assert steps_of(_Ends("trafilatura", in_time=in_time))[1].degraded is True
    assert steps_of(_Ends("clean", in_time=in_time))[1].degraded is True
    assert steps_of(_Ends())[1].degraded is False


def test_two_who_ask_at_once_are_each_given_their_own_answer(reader: PageReader) -> None:
    """A process reads one page at a time, and its pipe does not say whose answer it is."""

    def asked(number: int) -> str:
        reader.start()
        found = read(reader, article(f"Tower {number}", paragraphs=8).encode())
        return (found.page.title or "") if found.page else found.outcome.value

    with ThreadPoolExecutor(max_workers=4) as pool:
        assert list(pool.map(asked, range(16))) == [f"Tower {number}" for number in range(16)]


def test_a_step_that_takes_too_long_is_left_out_and_the_others_keep_their_time() -> None:
    """Each in a process of its own."""
    worker = _Ends("trafilatura", "readability", "metadata")
    steps, found = steps_of(worker)
    assert steps == [
        ("trafilatura", PageOutcome.OUT_OF_TIME, "takes_too_long"),
        ("readability", PageOutcome.OUT_OF_TIME, "takes_too_long"),
        ("metadata", PageOutcome.OUT_OF_TIME, "takes_too_long"),
        ("text", PageOutcome.OK, None),
    ]
    assert found.outcome is PageOutcome.OK
    assert worker.asked == [
        [],
        ["trafilatura"],
        ["trafilatura", "readability"],
        ["trafilatura", "readability", "metadata"],
    ]
    assert round(worker.seconds["trafilatura"], 1) == 3.0
    assert round(worker.seconds["readability"], 1) == 2.0


def test_a_step_over_which_the_process_dies_is_left_out_too() -> None:
    """By its memory, or a crash in C."""
    steps, found = steps_of(_Ends("trafilatura", in_time=True))
    assert steps[0] == ("trafilatura", PageOutcome.TOO_LARGE, "reader_died")
    assert found.outcome is PageOutcome.OK


def test_without_the_steps_that_must_be_there_is_an_end_and_no_page() -> None:
    """There is nothing to go on with."""
    steps, found = steps_of(_Ends("text"))
    assert steps == [("text", PageOutcome.OUT_OF_TIME, "takes_too_long")]
    assert (found.outcome, found.reason, found.page) == (PageOutcome.OUT_OF_TIME, "takes_too_long", None)
    assert steps_of(_Ends("trafilatura"), seconds=0.0)[1].outcome is PageOutcome.OUT_OF_TIME


def test_no_step_gets_more_than_what_is_left() -> None:
    """The page's own deadline is over all of them."""
    worker = _Ends()
    steps_of(worker, seconds=0.5)
    assert all(seconds <= 0.5 for seconds in worker.seconds.values())


def test_a_page_that_has_no_time_is_out_of_time_and_the_next_one_is_read(reader: PageReader) -> None:
    """The process is ended, not asked."""
    found = read(reader, HOSTILE["a flood of links"](), seconds=0.05)
    assert (found.outcome, found.page) == (PageOutcome.OUT_OF_TIME, None)
    assert read(reader).outcome is PageOutcome.OK


def test_a_process_that_died_between_two_pages_is_replaced(reader: PageReader) -> None:
    """Nobody notices."""
    read(reader)
    process = reader._running()
    process.kill()
    process.wait()
    assert read(reader).outcome is PageOutcome.OK


def test_nothing_of_the_environment_is_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever takes the process over finds no credentials in it."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    with PageReader(variables={"LD_LIBRARY_PATH": "/var/lang/lib"}) as made:
        environment = Path(f"/proc/{pid(made)}/environ")
        if environment.exists():
            assert b"secret" not in environment.read_bytes()
            assert b"LD_LIBRARY_PATH=/var/lang/lib" in environment.read_bytes()


def test_a_process_that_does_not_start_is_no_page_s_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else every page would be out of time."""
    monkeypatch.setattr(sys, "path", [])
    with PageReader() as made, pytest.raises(ReaderBrokenError):
        read(made)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows a process to its children")
def test_the_environment_of_the_function_is_closed_to_its_process() -> None:
    """Nor is its memory to be had: both are one user's, and that would be enough."""
    told = subprocess.run(
        [sys.executable, "-P", "-B", "-m", "tests.fakes.prying"],
        env={"PARENT_SECRET": "of-the-function", "PYTHONPATH": ":".join(filter(None, [str(Path.cwd()), *sys.path]))},
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    assert told.split() == ["environ", "PermissionError", "mem", "PermissionError", "maps", "PermissionError"]


def test_a_process_that_is_not_ready_before_the_deadline_is_out_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long it may usually take: the page's time is over, and nothing is known to be broken."""
    waited: list[float] = []

    def never(_pipe: int, _event: int, ends_at: float) -> None:
        waited.append(ends_at - time.monotonic())
        monkeypatch.setattr(time, "monotonic", lambda: ends_at)
        raise Ended(in_time=False)

    monkeypatch.setattr(worker_module, "_wait", never)
    with PageReader() as made:
        found = made.read(
            PAGE,
            url=URL,
            media_type="text/html",
            charset=None,
            status=200,
            want_html=False,
            deadline=Deadline.after(2.0, FakeClock()),
        )
    assert found.outcome is PageOutcome.OUT_OF_TIME
    assert waited
    assert max(waited) <= 2.0


def test_it_may_be_started_before_it_is_needed() -> None:
    """While the page is on its way."""
    with PageReader() as made:
        made.start()
        first = made._process
        made.start()
        assert read(made).outcome is PageOutcome.OK
        assert made._process is first


class _Says(Worker):
    """A process that says what it is told to say."""

    def __init__(self, *said: bytes, times: int = 1) -> None:
        super().__init__("none")
        self._saying = (b"".join(said).hex(), str(times))

    def start(self) -> None:
        if self._process is None:
            from subprocess import DEVNULL, PIPE, Popen

            code = (
                "import sys; sys.stdout.buffer.write(bytes.fromhex(sys.argv[1]) * int(sys.argv[2])); "
                "sys.stdout.flush(); sys.stdin.buffer.read()"
            )
            self._process = Popen([sys.executable, "-c", code, *self._saying], stdin=PIPE, stdout=PIPE, stderr=DEVNULL)  # noqa: S603
            assert self._process.stdin
            os.set_blocking(self._process.stdin.fileno(), False)


@pytest.mark.parametrize("said", [b"no JSON\n", b"[1]\n", b'"text"\n', b"\xff\n"])
def test_what_is_no_answer_is_the_end_of_whoever_said_it(said: bytes) -> None:
    """A process that was taken over may say anything."""
    with _Says(b"ready\n", said) as worker, pytest.raises(Ended):
        worker.ask({}, b"", lambda _step: 20.0)
    with _Says(b"never\n") as worker, pytest.raises(ReaderBrokenError):
        worker.ask({}, b"", lambda _step: 20.0)


def test_an_answer_in_a_form_that_was_not_agreed_is_none() -> None:
    """Strictly, field by field."""
    with _Says(b"ready\n", b'{"found": {"outcome": "fine", "page": 7}}\n') as worker:
        assert steps_of(worker)[1].reason == "reader_died"


def test_an_answer_without_an_end_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is the parent held by a process that does not read."""
    monkeypatch.setattr("zarniwoop.extract.worker.MOST_ANSWER", 100_000)
    with _Says(b"ready\n" + b"x" * 50_000, times=6) as worker, pytest.raises(Ended) as ended:
        worker.ask({}, b"", lambda _step: 20.0)
    assert ended.value.in_time
    with _Says(b"ready\n") as worker:
        worker._running().send_signal(19)
        with pytest.raises(Ended) as stopped:
            worker.ask({}, bytes(10_000_000), lambda _step: 0.2)
    assert not stopped.value.in_time


def test_after_a_spent_memory_the_process_goes_away() -> None:
    """Another one is as good as new."""

    def spends(_question: Mapping[str, Any], _body: bytes, _begins: Callable[[str], None]) -> Mapping[str, Any]:
        raise MemoryError

    with pytest.raises(SystemExit):
        serve(io.BytesIO(b'{"size":1}\nx'), io.BytesIO(), spends)


def test_in_the_process_each_step_is_told_before_it_begins() -> None:
    """So that whoever waits knows whose time it is."""
    told: list[str] = []
    question: dict[str, Any] = {
        "url": URL,
        "media_type": None,
        "charset": None,
        "status": 200,
        "want_html": False,
        "without": [],
    }
    answer = answer_to(question, PAGE, told.append)
    assert told == ["decode", "clean", "text", "trafilatura", "judge", "metadata"]
    assert answer["found"].outcome is PageOutcome.OK


def test_a_system_that_has_no_room_for_a_process_is_no_page_s_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told when a page is to be read, and not before."""

    def refuses(*_arguments: Any, **_more: Any) -> None:
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr("zarniwoop.extract.worker.Popen", refuses)
    with PageReader() as made:
        made.start()
        with pytest.raises(ReaderBrokenError):
            read(made)
