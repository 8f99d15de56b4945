"""Pages in a real Chromium: read after their scripts, kept from everybody but the guard, ended with all they started.

The browser is the layer's own, as `make test` builds it for this machine, or the Chromium that the variable CHROMIUM
names. Where there is neither, these tests are skipped: no npm, or another processor.
"""

import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.browser_pages import APP, TEXT, breakout, shell
from tests.fakes.fetching import environment_on, with_browser
from tests.fakes.origin import Act, Origin
from tests.fakes.template import ROOT
from tests.fakes.web import PUBLIC, Names, Web, moved, page
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.page import PageAnswer, PageOutcome, PageQuestion
from zarniwoop.pages import browser_requests
from zarniwoop.pages.browser import Browsers
from zarniwoop.pages.browsers import LayerFiles, LocalChromium
from zarniwoop.wiring import Environment
from zarniwoop_browser import chromium, unpacked

LAYER = ROOT / ".local" / "browser"
NAMED = os.environ.get("CHROMIUM")
URL = "http://www.bells.com/"
_BARE = (
    "--headless",
    "--no-sandbox",
    "--no-zygote",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--remote-debugging-port=0",
)
SCRIPT = {"Content-Type": "text/javascript"}

pytestmark = pytest.mark.skipif(
    not NAMED and not (LAYER / ".ready").exists(),
    reason="no Chromium: make test builds one where npm reaches a registry, on x86_64",
)


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the layer's files are unpacked."""
    return tmp_path_factory.mktemp("room")


@pytest.fixture
def variables(room: Path, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, str]:
    """Of a function that has the browser's layer; a machine that tests is slower than that."""
    monkeypatch.setattr("zarniwoop.pages.rendering._MOST_SECONDS", 40.0)
    if NAMED:
        return {"BROWSER": "chromium"}
    monkeypatch.syspath_prepend(LAYER / "python")
    monkeypatch.setattr("zarniwoop.wiring_pages.BROWSER_ROOM", str(room))
    return {"BROWSER": "chromium", "BROWSER_FILES": str(LAYER / "browser")}


@contextmanager
def _browsing(web: Web, variables: Mapping[str, str]) -> Iterator[Environment]:
    with web, environment_on(web, None, variables) as environment:
        if NAMED:
            files = LayerFiles(packed=None, room="")
            environment.__dict__["_browsers"] = LocalChromium(files=files, executable=NAMED)
        try:
            yield environment
        finally:
            environment._page_reader.end()


@contextmanager
def _somebody_elses(variables: Mapping[str, str], room: Path, profile: Path) -> Iterator[Browsers]:
    """A browser with no flag of ours that is there already, as a session of AgentCore's is."""
    files = LayerFiles(packed=variables.get("BROWSER_FILES"), room=str(room))
    executable = NAMED or unpacked.chromium(LAYER / "browser", room)
    command = [executable, *_BARE, f"--user-data-dir={profile}", "about:blank"]
    process = subprocess.Popen(  # noqa: S603
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    written, until = profile / "DevToolsActivePort", time.monotonic() + 20.0
    while not (written.exists() and "\n" in written.read_text()) and time.monotonic() < until:
        time.sleep(0.05)
    port, path = written.read_text().split()
    try:
        yield _Session({**files.told(), "endpoint": f"ws://127.0.0.1:{port}{path}", "headers": {}})
    finally:
        process.kill()
        process.wait()


class _Session:
    def __init__(self, told: Mapping[str, Any]) -> None:
        self._told = told

    @contextmanager
    def session(self, deadline: Deadline) -> Iterator[Mapping[str, Any]]:
        yield self._told


def _web(body: bytes, more: Mapping[str, Act] | None = None) -> Web:
    names: Names = {"www.bells.com": [(PUBLIC,)], "cdn.com": [(PUBLIC,)], "inside.bells.com": [("10.0.0.8",)]}
    pages = {
        "/": page(body),
        "/app.js": page(APP, headers=SCRIPT),
        "/text.json": page(TEXT, headers={"Content-Type": "application/json"}),
    }
    return Web(names=names, pages={**pages, **(more or {})})


def _ask(environment: Environment, *, seconds: float = 40.0, max_bytes: int = 5_000_000) -> PageAnswer:
    question = PageQuestion(url=URL, seconds=seconds, browser_domains=("bells.com",), max_bytes=max_bytes)
    return with_browser(environment, question)


def _rendered(found: PageAnswer) -> tuple[str, str | None]:
    (step,) = [step for step in found.steps if step.name == "browser"]
    return step.outcome.value, step.reason


def _processes() -> set[int]:
    """Every process on this machine that a browser of ours could have left behind."""
    left = set()
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                command = (folder / "cmdline").read_bytes()
            except OSError:  # it ended meanwhile
                continue
            if any(
                name in command for name in (b"DevTools", b"--user-data-dir", b"run-driver", b"-m\0zarniwoop_browser")
            ):
                left.add(int(folder.name))
    return left


def test_a_page_that_shows_nothing_without_scripts_is_read(variables: Mapping[str, str]) -> None:
    """Its text comes by a script that asks for more; the trace tells it step by step."""
    web = _web(shell())
    with _browsing(web, variables) as environment:
        found = _ask(environment)
    assert found.outcome is PageOutcome.OK, found.steps
    assert found.page is not None
    assert found.page.markdown.count("last foundry in the valley") == 6
    assert [each.target for each in web.requests] == ["/", "/", "/app.js", "/text.json"]
    assert [step.name for step in found.steps].count("browser") == 1
    assert found.steps[-1].outcome is PageOutcome.OK


def test_a_page_that_tries_every_way_out_reaches_nobody(variables: Mapping[str, str]) -> None:
    """Sockets, workers, windows, downloads, forms, frames, files, redirects: nothing but the guard's own requests.

    It is read all the same: what a page tries and does not get is no fault.
    """
    before = _processes()
    with Origin(page()) as canary:
        web = _web(shell(breakout(canary.port)), {"/to-loopback": moved(f"http://127.0.0.1:{canary.port}/")})
        with _browsing(web, variables) as environment:
            found = _ask(environment)
        assert canary.connections == 0
    assert (web.canary_connections, web.forbidden) == (0, [])
    assert found.outcome is PageOutcome.OK, found.steps
    assert found.page is not None
    assert found.page.markdown.count("last foundry in the valley") == 6
    assert {each.target for each in web.requests} == {"/", "/app.js", "/text.json", "/to-loopback"}
    assert {each.method for each in web.requests} == {"GET"}
    assert _processes() == before


def test_a_browser_with_no_flag_of_ours_reaches_nobody_either(
    variables: Mapping[str, str], room: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AgentCore's is started by AWS: what holds there is what CDP can set, and the policy before the page."""
    for name in ("LD_LIBRARY_PATH", "FONTCONFIG_PATH"):
        monkeypatch.setenv(name, "")  # `unpacked` sets them
    with Origin(page()) as canary, _somebody_elses(variables, room, tmp_path) as browsers:
        web = _web(shell(breakout(canary.port)), {"/to-loopback": moved(f"http://127.0.0.1:{canary.port}/")})
        with _browsing(web, variables) as environment:
            environment.__dict__["_browsers"] = browsers
            found = _ask(environment)
        assert canary.connections == 0
    assert (web.canary_connections, web.forbidden) == (0, [])
    assert found.outcome is PageOutcome.OK, found.steps
    assert {each.target for each in web.requests} == {"/", "/app.js", "/text.json", "/to-loopback"}


@pytest.mark.parametrize("held", [True, False])
def test_chromium_by_itself_reaches_nobody(
    held: bool, variables: Mapping[str, str], room: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its flags alone hold, with nobody who answers for it and no policy; without them the canary sings."""
    for name in ("LD_LIBRARY_PATH", "FONTCONFIG_PATH"):
        monkeypatch.setenv(name, "")  # `unpacked` sets them
    executable = NAMED or unpacked.chromium(LAYER / "browser", room)
    flags = chromium.arguments(executable, tmp_path)[1:-1] if held else ("--headless", "--no-sandbox")
    wanted = [flag for flag in flags if "remote-debugging" not in flag]
    with Origin(page()) as canary:
        tries = tmp_path / "tries.html"
        tries.write_bytes(b"<script>%s</script>" % breakout(canary.port))
        for url in (f"http://127.0.0.1:{canary.port}/", tries.as_uri()):
            command = [executable, *wanted, f"--user-data-dir={tmp_path}", "--timeout=2000", "--dump-dom", url]
            with suppress(subprocess.TimeoutExpired):  # it waits for a dialog that nobody closes
                subprocess.run(command, check=False, capture_output=True, timeout=4)  # noqa: S603
        assert (canary.connections == 0) is held


def test_a_browser_that_is_killed_in_the_middle_of_a_page_is_an_outcome(variables: Mapping[str, str]) -> None:
    """The page stays what it was without one, and nothing is left behind."""
    before = _processes()
    web = _web(shell(b"fetch('http://killer.com/')"))
    resolve = web.resolve

    def kill(host: str, port: int) -> tuple[str, ...]:
        if host == "killer.com":
            for process in _processes() - before:
                if b"--user-data-dir" in Path(f"/proc/{process}/cmdline").read_bytes():
                    os.kill(process, 9)
            return (PUBLIC,)
        return tuple(resolve(host, port))

    web.resolve = kill  # type: ignore[method-assign]
    with _browsing(web, variables) as environment:
        found = _ask(environment)
    assert (found.outcome, _rendered(found)) == (PageOutcome.NEEDS_JAVASCRIPT, ("unavailable", "browser_failed"))
    assert _processes() == before


def test_a_page_whose_scripts_never_end_is_ended(variables: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """With the whole browser, in its share of the time."""
    before = _processes()
    monkeypatch.setattr("zarniwoop.pages.browser.MOST_SECONDS", 8.0)
    with _browsing(_web(shell(b"for (;;) {}")), variables) as environment:
        found = _ask(environment)
    assert (found.outcome, _rendered(found)) == (PageOutcome.NEEDS_JAVASCRIPT, ("out_of_time", "browser_too_slow"))
    assert _processes() == before


def test_a_page_that_never_stops_asking_is_read_within_its_limits(
    variables: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So many requests and no more."""
    monkeypatch.setattr(browser_requests, "MOST_REQUESTS", 10)
    monkeypatch.setattr("zarniwoop.pages.browser.MOST_SECONDS", 10.0)
    web = _web(shell(b"let n = 0; setInterval(() => fetch('/text.json?' + n++).catch(() => 0), 5)"))
    with _browsing(web, variables) as environment:
        found = _ask(environment)
    assert found.outcome in (PageOutcome.OK, PageOutcome.NEEDS_JAVASCRIPT)
    assert len(web.requests) <= 1 + 10


def test_a_page_that_blows_itself_up_is_too_large(variables: Mapping[str, str]) -> None:
    """Its markup has the bound of every page."""
    script = b"addEventListener('load', () => document.body.append('x'.repeat(3e6)))"
    with _browsing(_web(shell(script)), variables) as environment:
        found = _ask(environment, max_bytes=1_000_000)
    assert (found.outcome, _rendered(found)) == (PageOutcome.NEEDS_JAVASCRIPT, ("too_large", "too_large"))


def test_half_a_character_in_a_page_is_no_fault(variables: Mapping[str, str]) -> None:
    """Scripts can make texts that no encoding knows."""
    with _browsing(_web(shell(b"document.body.append('\\ud83d')")), variables) as environment:
        assert _ask(environment).outcome is PageOutcome.OK


def test_no_page_finds_what_another_one_left(variables: Mapping[str, str]) -> None:
    """Each has a browser of its own: no cookie, no storage."""
    script = (
        b"if (document.cookie || localStorage.length) { fetch('/found'); }"
        b"document.cookie = 'a=b'; localStorage.setItem('a', 'b');"
    )
    web = _web(shell(script))
    with _browsing(web, variables) as environment:
        for _ in range(2):
            assert _ask(environment).outcome is PageOutcome.OK
    assert "/found" not in {each.target for each in web.requests}
    assert not any("cookie" in each.headers for each in web.requests)


def test_what_a_page_logs_and_throws_is_nobodys_answer(variables: Mapping[str, str]) -> None:
    """Nor does it stop the page."""
    script = b"console.log('{\"html\": \"forged\"}'); setTimeout(() => { throw new Error('x') }); Promise.reject('y')"
    with _browsing(_web(shell(script)), variables) as environment:
        found = _ask(environment)
    assert found.outcome is PageOutcome.OK
    assert found.page is not None
    assert "forged" not in found.page.markdown
