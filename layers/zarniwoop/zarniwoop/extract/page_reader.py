"""Reads pages in a process of its own, each step within its own share of the time.

A step that runs away is ended with its process; the page is read again without it, in a new process and in the time
that is left, so that what one step takes is never another one's. https://docs.python.org/3/library/resource.html
"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import orjson

from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.page import PageOutcome, PageStep
from zarniwoop.extract.outcome import Extraction, Fault
from zarniwoop.extract.worker import START_SECONDS, Ended, Worker, run

if TYPE_CHECKING:
    from pydantic import TypeAdapter

MOST_SECONDS = 20.0
_SHARES = {
    "trafilatura": 0.3,
    "readability": 0.2,
    "pdf": 0.8,
    "docx": 0.8,
    "json": 0.6,
    "markdown": 0.6,
    "feed": 0.6,
    "xml": 0.6,
}
_SHARE = 0.15
_DISPENSABLE = ("trafilatura", "readability", "metadata")


class PageReader(Worker):
    """One process for one page at a time: its pipe does not say whose answer comes through it, so that a second asker
    would be given the first one's page. `start` may be called while the page is still on its way.
    """

    def __init__(self, *, variables: Mapping[str, str] | None = None) -> None:
        super().__init__("zarniwoop.extract.page_reader", variables=variables)
        self._turn = threading.RLock()

    def start(self) -> None:
        if not self._turn.acquire(blocking=False):
            return  # it is reading, and so has started
        try:
            super().start()
        finally:
            self._turn.release()

    def read(
        self,
        body: bytes,
        *,
        url: str,
        media_type: str | None,
        charset: str | None,
        status: int,
        want_html: bool,
        deadline: Deadline,
    ) -> Extraction:
        """What the page is, also when reading it ran away. Raises ReaderBrokenError alone."""
        question = {
            "url": url,
            "media_type": media_type,
            "charset": charset,
            "status": status,
            "want_html": want_html,
        }
        with self._turn:
            return _Reading(self, question, body, deadline.within(MOST_SECONDS)).extraction()


class _Reading:
    """One page, with the steps that were given up."""

    def __init__(self, worker: Worker, question: Mapping[str, Any], body: bytes, deadline: Deadline) -> None:
        self._worker = worker
        self._question = question
        self._body = body
        self._deadline = deadline
        self._whole = deadline.remaining()
        self._step = ""
        self._begun = 0.0
        self._took: dict[str, int] = {}
        self._failed: list[PageStep] = []

    def extraction(self) -> Extraction:
        for _try in range(1 + len(_DISPENSABLE)):
            try:
                answer = self._worker.ask(
                    {**self._question, "without": [step.name for step in self._failed]},
                    self._body,
                    self._seconds,
                    start_seconds=min(START_SECONDS, self._deadline.remaining()),
                )
                self._time()
                return self._completed(answer)
            except Ended as ended:
                self._time()
                self._failed.append(_ended_step(self._step or "read", ended))
                if self._step not in _DISPENSABLE or self._deadline.expired:
                    break
        last = self._failed[-1]
        return Extraction(outcome=last.outcome, reason=last.reason, steps=tuple(self._failed), degraded=True)

    def _seconds(self, step: str) -> float:
        """For the step that begins now: its share of the whole, and never more than is left."""
        self._time()
        self._step, self._begun = step, time.perf_counter()
        return min(self._whole * _SHARES.get(step, _SHARE), self._deadline.remaining())

    def _time(self) -> None:
        if self._begun:
            self._took[self._step] = round((time.perf_counter() - self._begun) * 1000)

    def _completed(self, answer: Mapping[str, Any]) -> Extraction:
        """With the time that each step took. Raises Ended for what is no answer."""
        from pydantic import ValidationError

        try:
            found = _adapter().validate_json(orjson.dumps(answer.get("found")), strict=True)
        except ValidationError as error:
            self._worker.end()
            raise Ended(in_time=True) from error
        steps = (*self._failed, *found.steps)
        timed = tuple(replace(step, milliseconds=self._took.get(step.name, 0)) for step in steps)
        return replace(found, steps=timed, degraded=bool(self._failed))


def _ended_step(name: str, ended: Ended) -> PageStep:
    if ended.in_time:
        return PageStep(name=name, outcome=PageOutcome.TOO_LARGE, reason="reader_died")
    return PageStep(name=name, outcome=PageOutcome.OUT_OF_TIME, reason=Fault.TOO_SLOW.value)


@cache
def _adapter() -> "TypeAdapter[Extraction]":
    from pydantic import TypeAdapter

    return TypeAdapter(Extraction)


def answer_to(question: Mapping[str, Any], body: bytes, begins: Callable[[str], None]) -> Mapping[str, Any]:
    """In the process: the page's extraction."""
    from zarniwoop.extract.page import extract_page

    found = extract_page(
        body,
        url=question["url"],
        media_type=question["media_type"],
        charset=question["charset"],
        status=question["status"],
        want_html=question["want_html"],
        without=frozenset(question["without"]),
        begins=begins,
    )
    return {"found": found}


def _load() -> None:
    """What takes long to load belongs to no page's time."""
    import readability
    import trafilatura

    import zarniwoop.extract.page

    del readability, trafilatura, zarniwoop.extract.page


if __name__ == "__main__":
    _load()
    run(answer_to)
