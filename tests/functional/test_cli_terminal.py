"""The command in a pseudo-terminal: live progress, Ctrl-C, colours, and completion by the shell."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator

import pexpect
import pytest

from tests.fakes.http_api import FakeApi, Reply, envelope, fake_api
from tests.functional.cli_answers import RUN, found, hit, run, survivor
from tests.functional.command_line import environment, spawned, to_its_end
from zarniwoop.stores.runs import NodeProgress, RunState

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_HIDE_CURSOR, _SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with fake_api() as running:
        yield running


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """Opened at the end, whatever happens: nobody is left waiting."""
    event = threading.Event()
    yield event
    event.set()


def _under_way(api: FakeApi, *looks: Reply) -> None:
    receipt = {"run_id": RUN, "state": "queued", "status_url": f"/v1/runs/{RUN}?project_id=demo"}
    api.tool("research_investigate", envelope(receipt))
    api.script("GET", f"/v1/runs/{RUN}", *looks)


def _look(done: int, **more: object) -> Reply:
    progress = {"plan": NodeProgress(done=1, total=1), "search": NodeProgress(done=done, total=6)}
    return envelope(run(RunState.RUNNING, progress=progress, **more))


def test_a_run_is_shown_node_by_node_while_it_goes_on(api: FakeApi, gate: threading.Event) -> None:
    """On stderr, and gone when the result is there; what it has found so far is seen, and harmless."""
    looks = (_look(2, results={"hits": [survivor("Big \x1b]0;owned\x07 Ben")]}), _look(5))
    _under_way(api, *looks, Reply(body=envelope(run()).body, gate=gate))
    child = spawned("investigate", "why bells?", api=api)
    child.expect_exact("2/6")
    child.expect_exact("Big ␛]0;owned␇ Ben")
    child.expect_exact("5/6")
    gate.set()
    child.expect_exact(_SHOW_CURSOR)
    child.expect_exact("The bells of Cologne")
    rest = to_its_end(child)
    assert child.exitstatus == 0
    assert "5/6" not in rest


def test_ctrl_c_leaves_the_run_going_where_that_was_wanted_and_says_how_to_go_on(
    api: FakeApi, gate: threading.Event
) -> None:
    """With the exit code of an interrupted command, and the terminal as it was."""
    _under_way(api, _look(2), Reply(body=_look(3).body, gate=gate))
    child = spawned("investigate", "why bells?", "--keep-on-interrupt", "--project", "demo", api=api)
    child.expect_exact("2/6")
    child.sendintr()
    child.expect_exact(f"no longer watched: {RUN} goes on")
    child.expect_exact(f"zarniwoop runs watch {RUN} --project demo")
    child.expect_exact(f"zarniwoop runs stop {RUN} --project demo")
    to_its_end(child)
    assert child.exitstatus == 130
    assert api.asked_for(f"/v1/runs/{RUN}/stop") == []


@pytest.mark.parametrize(
    "words", [("investigate", "why bells?"), ("runs", "watch", RUN, "--stop-on-interrupt")], ids=["begun", "watched"]
)
def test_ctrl_c_stops_the_run_that_was_begun_here_or_where_that_was_wanted(
    words: tuple[str, ...], api: FakeApi, gate: threading.Event
) -> None:
    """And what it has found is kept."""
    _under_way(api, _look(2), Reply(body=_look(3).body, gate=gate))
    api.script("POST", f"/v1/runs/{RUN}/stop", envelope(run(RunState.STOPPING)))
    child = spawned(*words, api=api)
    child.expect_exact("2/6")
    child.sendintr()
    child.expect_exact(f"stopping {RUN}; what it found is kept")
    to_its_end(child)
    assert child.exitstatus == 130
    assert len(api.asked_for(f"/v1/runs/{RUN}/stop")) == 1


def test_a_second_ctrl_c_does_not_wait_for_the_stop(api: FakeApi, gate: threading.Event) -> None:
    """And says that the run may go on."""
    _under_way(api, _look(2), Reply(body=_look(3).body, gate=gate))
    api.script("POST", f"/v1/runs/{RUN}/stop", Reply(body=envelope(run(RunState.STOPPING)).body, gate=gate))
    child = spawned("investigate", "why bells?", api=api)
    child.expect_exact("2/6")
    child.sendintr()
    while not api.asked_for(f"/v1/runs/{RUN}/stop"):
        gate.wait(0.01)
    child.sendintr()
    child.expect_exact(f"left at once: whether {RUN} was stopped is not known")
    to_its_end(child)
    assert child.exitstatus == 130


@pytest.mark.parametrize(
    ("command", "tool", "told"),
    [
        ("search", "research_search", "interrupted"),
        ("investigate", "research_investigate", "whether the run has begun is not known: `zarniwoop runs list`"),
    ],
)
def test_ctrl_c_while_an_answer_is_waited_for_ends_it_at_once(
    command: str, tool: str, told: str, api: FakeApi, gate: threading.Event
) -> None:
    """Without a traceback; of a run it is said that it may have begun."""
    api.tool(tool, Reply(body=envelope(found()).body, gate=gate))
    child = spawned(command, "bells", api=api)
    while not api.asked:
        gate.wait(0.01)
    child.sendintr()
    child.expect_exact(told)
    rest = to_its_end(child)
    assert child.exitstatus == 130
    assert "Traceback" not in rest


@pytest.mark.parametrize("variables", [{}, {"NO_COLOR": "1"}], ids=["colours", "NO_COLOR"])
def test_a_terminal_gets_colours_unless_it_is_told_not_to(variables: dict[str, str], api: FakeApi) -> None:
    """And of a stranger's sequences none, in either case."""
    api.tool("research_search", envelope(found(hit("A\x1b[31mB"))))
    child = spawned("search", "bells", api=api, variables=variables)
    rest = to_its_end(child)
    assert "A␛[31mB" in rest
    assert "\x1b[31m" not in rest
    coloured = [each for each in _COLOUR.findall(rest) if re.search(r"[\[;](3[0-9]|9[0-9])", each)]
    assert bool(coloured) is not bool(variables)


def test_where_only_the_result_is_piped_the_progress_is_still_seen(api: FakeApi, gate: threading.Event) -> None:
    """It is on stderr, which is the terminal."""
    _under_way(api, _look(2), Reply(body=envelope(run()).body, gate=gate))
    command = f"{sys.executable} -m zarniwoop_cli runs watch {RUN} --jsonl | cat"
    child = pexpect.spawn("bash", ["-c", command], env={**environment(api), "TERM": "xterm"}, encoding="utf-8")
    child.expect_exact("2/6")
    gate.set()
    child.expect_exact('{"title": "The bells of Cologne"')
    to_its_end(child)


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("zarniwoop inv", {"investigate"}),
        ("zarniwoop runs w", {"watch"}),
        ("zarniwoop search x --modality aca", {"academic", "ACADEMIC"}),
        ("zarniwoop call web_", {"web_fetch", "web_search"}),
    ],
)
def test_the_shell_completes_commands_options_and_words(words: str, completed: set[str], api: FakeApi) -> None:
    """Without asking any stack."""
    variables = {"_ZARNIWOOP_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    ended = subprocess.run(
        [sys.executable, "-m", "zarniwoop_cli"],
        env={**os.environ, **environment(api), **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=20,
    )
    told = set(ended.stdout.split())
    assert told
    assert told <= completed
    assert api.asked == []
