"""Providers that answer from memory, for what a search asks of AWS: `Transport` without a socket."""

import hashlib
import threading
from typing import Final, NoReturn

import orjson

from tests.benchmarks import answers
from tests.benchmarks.features import Meets
from tests.fakes.clock import FakeClock
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import Cause, ProviderUnavailable
from zarniwoop.contract.transport import Authentication, HttpAnswer, HttpRequest, Secret

_LONGEST_WAIT = 30.0
_FIRST = "https://google.serper.dev/"
_HEADERS = {"content-type": "application/json"}


def _told_apart(page: bytes) -> bytes:
    """Every snippet another: kept answers are packed, and hexadecimal digits shrink by half, as prose does."""
    body = orjson.loads(page)
    for item in body["organic"]:
        item["snippet"] = " ".join(hashlib.sha256(f"{item['link']}{n}".encode()).hexdigest()[:40] for n in range(5))
    return orjson.dumps(body)


class Scripted:
    """The next request to Serper meets what `first_meets` says; all others get ten hits, after so many seconds."""

    _bodies: Final = {
        "google.serper.dev/search": _told_apart(answers.serper("search")),
        "api.search.brave.com/res/v1/web/search": answers.brave(),
        "hn.algolia.com/api/v1/search": answers.hackernews(),
        "eutils.ncbi.nlm.nih.gov/entrez/eutils/esearch.fcgi": answers.esearch(),
        "eutils.ncbi.nlm.nih.gov/entrez/eutils/esummary.fcgi": answers.esummary(),
        "export.arxiv.org/api/query": answers.arxiv(),
    }

    def __init__(self, clock: FakeClock) -> None:
        self.first_meets = Meets.AN_ANSWER
        self.takes = 0.0
        self._clock = clock
        self._hangs = threading.Event()

    def send(
        self,
        request: HttpRequest,
        *,
        deadline: Deadline,
        authentication: Authentication | None = None,
        secret: Secret | None = None,
    ) -> HttpAnswer:
        meets = self._met(request)
        if meets is Meets.NOTHING:
            self._hang(deadline)
        self._clock.advance(self.takes)
        status = {Meets.THROTTLED: 429, Meets.DOWN: 503}.get(meets, 200)
        body = b"" if status != 200 else self._bodies[request.url.removeprefix("https://")]
        return HttpAnswer(status=status, headers=_HEADERS, body=body, url=request.url)

    def _met(self, request: HttpRequest) -> Meets:
        """Whoever is asked beside one that hangs answers when that one does hang, however busy the machine is."""
        if not request.url.startswith(_FIRST):
            if self.first_meets is Meets.NOTHING:
                self._hangs.wait(_LONGEST_WAIT)
            return Meets.AN_ANSWER
        meets, self.first_meets = self.first_meets, Meets.AN_ANSWER
        return meets

    def _hang(self, deadline: Deadline) -> NoReturn:
        """Until it is broken off."""
        if deadline.break_off is None:
            raise AssertionError("nobody could break this off")
        let_go = threading.Event()
        deadline.break_off.lend(let_go.set)
        self._hangs.set()
        let_go.wait(_LONGEST_WAIT)
        raise ProviderUnavailable("hung up on", cause=Cause.RESET)
