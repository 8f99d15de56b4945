"""The simulator as a server: faults on demand, the journal, connections, pacing, and its life as a process."""

import gzip
import json
import re
import signal
import socket
import subprocess
import sys
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.simulator import Simulator
from tests.simulator.fault_delivery import FAULTS
from tests.simulator.formats import FORMATS
from tests.simulator.library import open_library

ROOT = Path(__file__).resolve().parents[2]
BOOKS = "/openlibrary/search.json"


def bells(client: httpx.Client, path: str = BOOKS) -> httpx.Response:
    return client.get(path, params={"q": "cathedral bells"})


def raw(simulator: Simulator, path: str = BOOKS, *, at_most: int = 1 << 20) -> bytes:
    """The bytes of an answer as they come off the socket, until the server closes or enough have come."""
    with socket.create_connection(("127.0.0.1", simulator.port), timeout=5) as connection:
        connection.sendall(f"GET {path}?q=bells HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        received = b""
        while len(received) < at_most and (piece := connection.recv(65_536)):
            received += piece
        return received


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 429, 500, 503])
def test_a_status_fault_answers_with_its_status_and_a_stated_wait(
    simulator: Simulator, client: httpx.Client, status: int
) -> None:
    """Every refusal can carry a Retry-After in seconds."""
    simulator.fault("openlibrary", str(status), retry_after=7)
    answer = bells(client)
    assert (answer.status_code, answer.headers["retry-after"]) == (status, "7")


def test_a_refusal_speaks_its_provider_s_words(simulator: Simulator, client: httpx.Client) -> None:
    """Where a provider's own body for a status is known, the fault sends that one."""
    for path, body in (("/arxiv/query", "Rate exceeded."), ("/pubmed/esearch.fcgi", "API rate limit exceeded")):
        simulator.fault(path, "429")
        assert body in client.get(path).text


def test_a_wait_can_be_stated_as_a_date(simulator: Simulator, client: httpx.Client) -> None:
    """429-date gives an HTTP date that lies so many seconds ahead."""
    simulator.fault("/", "429-date", retry_after=100)
    moment = parsedate_to_datetime(bells(client).headers["retry-after"])
    assert 90 < moment.timestamp() - time.time() <= 101


def test_the_rules_that_the_operations_page_shows_are_taken(client: httpx.Client) -> None:
    """As they stand there."""
    shown = re.findall(r"/_control/faults\" -d '(.+)'", (ROOT / "docs/operations.md").read_text())
    assert len(shown) == 2
    for rule in shown:
        answer = client.post("/_control/faults", content=rule)
        assert (answer.status_code, answer.json()["fault"]) == (201, json.loads(rule)["fault"])


def test_a_hanging_provider_never_answers(simulator: Simulator, client: httpx.Client) -> None:
    """The client's own patience ends the wait."""
    simulator.fault("/", "hang", seconds=30)
    with pytest.raises(httpx.ReadTimeout):
        client.get(BOOKS, timeout=0.1)


def test_a_slow_provider_answers_late(simulator: Simulator, client: httpx.Client) -> None:
    """The answer is the ordinary one."""
    simulator.fault("/", "slow", delay_ms=60)
    before = time.monotonic()
    assert bells(client).json()["numFound"] == 3
    assert time.monotonic() - before >= 0.06


@pytest.mark.parametrize("name", ["drip", "drip-headers"])
def test_a_dripping_provider_sends_byte_by_byte(simulator: Simulator, client: httpx.Client, name: str) -> None:
    """Each byte resets a read timeout, so only a deadline over the whole ends it; patience gets a whole answer."""
    simulator.fault("/", name, times=1, interval=0.0002)
    assert bells(client).json()["numFound"] == 3
    simulator.fault("/", name, interval=0.05)
    begun = raw(simulator, at_most=5)
    assert len(begun if name == "drip-headers" else begun.partition(b"\r\n\r\n")[2]) <= 8


def test_a_truncated_answer_ends_before_its_declared_length(simulator: Simulator, client: httpx.Client) -> None:
    """Once the connection breaks off, once the JSON is cut although the length is right."""
    simulator.fault("/", "truncated", times=1)
    with pytest.raises(httpx.RemoteProtocolError):
        bells(client)
    simulator.fault("/", "truncated-json", times=1)
    with pytest.raises(json.JSONDecodeError):
        bells(client).json()


@pytest.mark.parametrize(("name", "status"), [("html", 200), ("wall", 403)])
def test_a_page_for_people_comes_instead_of_an_answer(
    simulator: Simulator, client: httpx.Client, name: str, status: int
) -> None:
    """A login page is a 200, a bot wall a 403 that names no key."""
    simulator.fault("/", name)
    answer = bells(client)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "text/html; charset=utf-8")
    assert "key" not in answer.text


def test_a_charset_can_be_a_lie(simulator: Simulator, client: httpx.Client) -> None:
    """The body is what it always is; the label is `zlib`, or what the rule says."""
    simulator.fault("/", "wrong-charset", times=1)
    assert bells(client).headers["content-type"] == "application/json; charset=zlib"
    simulator.fault("/", "wrong-charset", charset="utf-16")
    answer = bells(client)
    assert answer.headers["content-type"].endswith("utf-16") and json.loads(answer.content)["numFound"] == 3


def test_gzip_comes_whole_twice_or_cut(simulator: Simulator, client: httpx.Client) -> None:
    """A sound gzip body, one packed twice and declared so, and one that ends in the middle."""
    simulator.fault("/", "gzip", times=1)
    assert bells(client).json()["numFound"] == 3
    for name, check in (("double-encoding", _unpacks_twice), ("truncated-gzip", _breaks_off)):
        simulator.fault("/", name, times=1)
        head, _, body = raw(simulator).partition(b"\r\n\r\n")
        assert check(head, body)


def _unpacks_twice(head: bytes, body: bytes) -> bool:
    return b"Content-Encoding: gzip, gzip" in head and b"numFound" in gzip.decompress(gzip.decompress(body))


def _breaks_off(head: bytes, body: bytes) -> bool:
    unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS)
    unpacker.decompress(body)
    return b"Content-Encoding: gzip" in head and not unpacker.eof


def test_a_gzip_bomb_is_one_small_body_of_many_megabytes(simulator: Simulator) -> None:
    """It is a sound gzip member, checksum included, a thousandth of what it unpacks to."""
    simulator.fault("/", "gzip-bomb", megabytes=20)
    _, _, body = raw(simulator).partition(b"\r\n\r\n")
    assert len(body) < 40_000
    assert len(gzip.decompress(body)) == 20 * 1024 * 1024


def test_a_big_body_is_as_big_as_asked(simulator: Simulator, client: httpx.Client) -> None:
    """It is sound JSON all the way."""
    simulator.fault("/", "big-body", megabytes=2)
    assert len(bells(client).json()["filler"]) == 2 * 1024 * 1024


def test_redirects_loop_or_lead_out(simulator: Simulator, client: httpx.Client) -> None:
    """One points at itself, the other wherever the rule says, by default at an instance's metadata."""
    simulator.fault("/", "redirect-loop", times=1)
    loop = bells(client)
    assert (loop.status_code, loop.headers["location"]) == (302, loop.request.url.raw_path.decode())
    simulator.fault("/", "redirect-out", times=1, location="https://example.org/", status=307)
    assert (out := bells(client)).status_code == 307 and out.headers["location"] == "https://example.org/"
    simulator.fault("/", "redirect-out")
    assert bells(client).headers["location"].startswith("http://169.254.169.254/")


def test_a_connection_can_be_reset_after_the_request_was_read(simulator: Simulator, client: httpx.Client) -> None:
    """The client sees a reset instead of an answer."""
    simulator.fault("/", "reset")
    with pytest.raises(httpx.ReadError):
        bells(client)


def test_a_kept_connection_can_close_without_a_word(simulator: Simulator, client: httpx.Client) -> None:
    """The answer promises nothing of it; the next request needs a new connection."""
    simulator.fault("/", "close-idle", times=1)
    assert "connection" not in bells(client).headers
    time.sleep(0.05)
    assert bells(client).status_code == 200 and simulator.connections() == 2


def test_early_hints_never_end(simulator: Simulator) -> None:
    """Nothing but 103 comes."""
    simulator.fault("/", "early-hints", interval=0)
    received = raw(simulator, at_most=10_000)
    assert received.startswith(b"HTTP/1.1 103 Early Hints\r\n") and b"HTTP/1.1 200" not in received


def test_heads_grow_beyond_measure(simulator: Simulator) -> None:
    """A thousand headers, or one of a quarter of a megabyte, before an ordinary body."""
    simulator.fault("/", "many-headers", times=1)
    assert raw(simulator).count(b"\r\nX-Filler-") == 1000
    simulator.fault("/", "big-header", times=1)
    assert b"X-Filler: " + b"x" * 256 * 1024 in raw(simulator)


def test_a_body_can_be_of_another_shape(simulator: Simulator, client: httpx.Client) -> None:
    """Sound JSON that is no answer of this provider, or whatever the rule says."""
    simulator.fault("/", "wrong-type", times=1)
    assert "surprise" in bells(client).json()
    simulator.fault("/", "wrong-type", body=[])
    assert bells(client).json() == []


@pytest.mark.parametrize("name", ["empty", "degraded-empty"])
def test_an_empty_answer_is_a_sound_one(simulator: Simulator, client: httpx.Client, name: str) -> None:
    """Every format says in its own way that nothing was found."""
    simulator.fault("/", name)
    assert bells(client).json()["docs"] == []
    serper = client.post("/serper/news", json={"q": "climate"}, headers={"X-API-KEY": "k"})
    assert serper.json()["news"] == []
    assert "<entry>" not in client.get("/arxiv/query", params={"search_query": "all:graphene"}).text


def test_every_fault_is_known_by_name_and_none_is_left_out() -> None:
    """The list of faults that tests and documentation rely on."""
    refusals = {"400", "401", "402", "403", "404", "429", "429-date", "500", "503", "wall"}
    late = {"hang", "slow", "drip", "drip-headers", "early-hints"}
    bodies = {"truncated", "truncated-json", "html", "wrong-charset", "wrong-type", "big-body", "empty"}
    codings = {"gzip", "gzip-bomb", "truncated-gzip", "double-encoding"}
    others = {"redirect-loop", "redirect-out", "reset", "close-idle", "many-headers", "big-header", "degraded-empty"}
    assert set(FAULTS) == refusals | late | bodies | codings | others


def test_rules_are_used_in_order_and_used_up(simulator: Simulator, client: httpx.Client) -> None:
    """The first that matches counts; `times` ends it; other paths are left alone."""
    simulator.fault("/openlibrary", "429", times=1)
    simulator.fault("/openlibrary/search", "500", times=2)
    assert client.get("/hackernews/search").status_code == 200
    assert [bells(client).status_code for _ in range(4)] == [429, 500, 500, 200]


def test_a_base_url_alone_can_carry_a_fault(simulator: Simulator, client: httpx.Client) -> None:
    """Name and options stand in the path; what follows is the provider's own; a rule is not needed or consulted."""
    assert simulator.url("openlibrary", fault="429", retry_after=5).endswith("/fault/429;retry_after=5/openlibrary")
    refused = bells(client, simulator.url("openlibrary", fault="429", retry_after=5) + "/search.json")
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "5")
    assert bells(client, f"/fault/gzip{BOOKS}").json()["numFound"] == 3
    assert bells(client, f"/fault/nonsense{BOOKS}").status_code == 404


def test_rules_are_set_listed_and_cleared_over_http(client: httpx.Client) -> None:
    """The control endpoint takes options beside the rule's own fields and refuses unknown faults."""
    rule = {"prefix": "/openlibrary", "fault": "503", "times": None, "retry_after": 3}
    assert client.post("/_control/faults", json=rule).status_code == 201
    assert client.get("/_control/faults").json() == [rule]
    assert bells(client).status_code == 503
    assert client.request("DELETE", "/_control/faults").json() == {"cleared": True}
    assert bells(client).status_code == 200
    bad_rules: list[Any] = [{"fault": "flood"}, {"fault": "429", "times": 0}, []]
    for bad in bad_rules:
        assert client.post("/_control/faults", json=bad).status_code == 400
    assert client.get("/_control/nonsense").status_code == 404


def test_the_journal_counts_requests_and_never_holds_a_key(simulator: Simulator, client: httpx.Client) -> None:
    """Query and header names are kept, values of keys are not, and looking leaves no trace."""
    client.get("/openalex/works", params={"search": "bells", "api_key": "s3cret"}, headers={"X-API-KEY": "s3cret"})
    (seen,) = client.get("/_control/requests").json()
    assert (seen["method"], seen["path"]) == ("GET", "/openalex/works")
    assert seen["query"] == {"search": "bells", "api_key": "***"} and "x-api-key" in seen["header_names"]
    assert "s3cret" not in json.dumps(seen) and seen["at"] <= time.monotonic()
    assert len(simulator.requests()) == 1
    client.request("DELETE", "/_control/requests")
    assert simulator.requests() == []


def test_a_connection_is_kept_for_many_requests(simulator: Simulator, client: httpx.Client) -> None:
    """Ten requests of one client need one connection; a client that says close gets a new one each time."""
    for _ in range(10):
        bells(client)
    assert (len(simulator.requests()), simulator.connections()) == (10, 1)
    client.get(BOOKS, headers={"Connection": "close"})
    bells(client)
    assert simulator.connections() == 2


def test_the_journal_tells_how_long_each_connection_was_there(simulator: Simulator, client: httpx.Client) -> None:
    """From its opening to its end; one that is kept has none yet."""
    bells(client)
    httpx.get(simulator.url("openlibrary"), headers={"Connection": "close"}, trust_env=False)
    kept, gone = simulator.requests()
    while gone.closed is None:
        kept, gone = simulator.requests()
    assert gone.ended is not None
    assert gone.opened <= gone.at <= gone.ended <= gone.closed
    assert kept.closed is None


def test_many_clients_are_served_at_once(simulator: Simulator, client: httpx.Client) -> None:
    """Sixteen waits of a tenth of a second take far less than sixteen tenths, and every answer is right."""
    simulator.fault("/", "slow", delay_ms=100)
    before = time.monotonic()
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda _: bells(client).json()["numFound"], range(16)))
    assert found == [3] * 16 and time.monotonic() - before < 1.2


def test_what_is_no_http_is_refused(simulator: Simulator) -> None:
    """A broken request gets a 400 and the connection ends."""
    for broken in (
        b"HELLO\r\n\r\n",
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
    ):
        with socket.create_connection(("127.0.0.1", simulator.port), timeout=5) as connection:
            connection.sendall(broken)
            assert connection.recv(1000).startswith(b"HTTP/1.1 400 ")


def test_unknown_places_are_not_found(client: httpx.Client) -> None:
    """Outside the seven providers, and outside what each of them serves, there is a 404."""
    paths = ["/", "/bing/search", *(f"/{name}/nowhere" for name in FORMATS)]
    answers = [client.get(path, headers={"X-API-KEY": "k"}) for path in paths]
    assert {answer.status_code for answer in answers} == {404}


def test_strict_pacing_refuses_who_asks_too_often() -> None:
    """arXiv takes one request in three seconds, NCBI three a second, or ten with a key."""
    with Simulator(strict_pacing=True) as strict, httpx.Client(trust_env=False) as client:
        arxiv = [client.get(f"{strict.url('arxiv')}/query").status_code for _ in range(2)]
        pubmed = [client.get(f"{strict.url('pubmed')}/esearch.fcgi").status_code for _ in range(4)]
        strict.reset()
        keyed = [
            client.get(f"{strict.url('pubmed')}/esearch.fcgi", params={"api_key": "k"}).status_code for _ in range(11)
        ]
    assert (arxiv, pubmed, keyed) == ([200, 429], [200, 200, 200, 429], [200] * 10 + [429])


def test_a_stopped_simulator_wakes_whoever_waits_and_can_start_again() -> None:
    """Stopping ends a hanging request at once; the same object serves anew afterwards."""
    simulator = Simulator()
    with simulator, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(httpx.get, simulator.url("arxiv", fault="hang", seconds=60) + "/query", timeout=30)
        while not simulator.requests():
            time.sleep(0.01)
        before = time.monotonic()
        simulator.stop()
        assert isinstance(waiting.exception(), httpx.RemoteProtocolError) and time.monotonic() - before < 2
    with pytest.raises(RuntimeError):
        _ = simulator.port
    with simulator:
        assert httpx.get(simulator.url("hackernews") + "/search", trust_env=False).status_code == 200


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_runs_as_a_process_of_its_own_and_ends_on_a_signal(tmp_path: Path, number: signal.Signals) -> None:
    """The ready file names port and URL once it listens; a signal ends it with status 0 and without a word."""
    ready = tmp_path / "ready.json"
    command = [sys.executable, "-m", "tests.simulator", "--port", "0", "--ready-file", str(ready)]
    with subprocess.Popen(  # noqa: S603 - our own module
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        until = time.monotonic() + 10
        while not ready.exists() and time.monotonic() < until:
            time.sleep(0.02)
        place: dict[str, Any] = json.loads(ready.read_text())
        assert place["url"] == f"http://127.0.0.1:{place['port']}"
        assert httpx.get(f"{place['url']}{BOOKS}", params={"q": "bells"}, trust_env=False).json()["numFound"] > 0
        process.send_signal(number)
        output, _ = process.communicate(timeout=10)
    assert (process.returncode, output) == (0, b"")


def test_the_corpus_is_as_large_as_promised_and_its_isbns_are_sound() -> None:
    """Enough of every kind for paging, and no ISBN with a wrong check digit."""
    library = open_library()
    works, posts = library.works.items, library.posts.items
    assert len(works) >= 25 and len([work for work in works if work.arxiv]) >= 8
    assert len([work for work in works if work.pmid and work.doi]) >= 8
    assert len([page for page in library.pages.items if page.link.endswith(".pdf")]) >= 8
    assert len(library.pages.items) >= 33 and len(library.news.items) >= 12 and len(library.images.items) >= 12
    assert len(library.videos.items) >= 8 and len(library.books.items) >= 12
    assert len(library.articles["en"].items) >= 15 and len(library.articles["de"].items) >= 6
    assert len(posts) >= 18
    digits = [[int(digit) for digit in isbn] for book in library.books.items for isbn in book.isbn]
    assert all(len(isbn) == 13 and sum(isbn[::2] + [3 * digit for digit in isbn[1::2]]) % 10 == 0 for isbn in digits)
    library.close()
