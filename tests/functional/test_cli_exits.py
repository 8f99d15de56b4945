"""What the command's exit codes say, and that every failure says the next step."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict

import pytest

from tests.fakes.http_api import REQUEST_ID, TOKEN, FakeApi, Reply, envelope, fake_api, problem
from tests.fakes.template import ROOT
from tests.functional.cli_answers import RUN, found, hit, run
from tests.functional.command_line import environment, zarniwoop
from zarniwoop.stores.runs import RunState
from zarniwoop_cli.exits import Exit

SEARCH = ("search", "bells", "--timeout", "0.5")


@pytest.fixture(scope="module")
def serving() -> Iterator[FakeApi]:
    with fake_api() as running:
        yield running


@pytest.fixture
def api(serving: FakeApi) -> FakeApi:
    serving.asked.clear()
    return serving


REFUSALS = {
    "an argument that is wrong": (problem(400), Exit.USAGE),
    "a body that is too large": (problem(413), Exit.USAGE),
    "no valid token": (problem(401, "unauthorized"), Exit.REFUSED),
    "a tool that the token may not use": (problem(403, "not-allowed"), Exit.REFUSED),
    "something that is not there": (problem(404), Exit.NOT_ANSWERED),
    "nobody could answer": (problem(200, "all-failed"), Exit.NOT_ANSWERED),
    "all are cooling": (problem(200, "all-cooling", retryable=True, wait_seconds=90), Exit.NOT_NOW),
    "throttled": (problem(429, "throttled", retryable=True, wait_seconds=60), Exit.NOT_NOW),
    "out of time": (problem(504, "out-of-time", retryable=True, wait_seconds=30), Exit.NOT_NOW),
    "a table that is away": (problem(503, "unready", retryable=True, wait_seconds=30), Exit.NOT_NOW),
    "a bug": (problem(500, "internal"), Exit.NOT_ANSWERED),
    "somebody else's page": (Reply(body=b"<html>It works!</html>"), Exit.UNREACHABLE),
    "a gateway without a stage": (Reply(body=b'{"message": "Forbidden"}', status=403), Exit.UNREACHABLE),
    "a proxy whose server is down": (Reply(body=b"<html>", status=502), Exit.UNREACHABLE),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_a_failure_has_its_exit_code_and_says_the_next_step(case: str, api: FakeApi) -> None:
    """On stderr; stdout stays empty."""
    reply, code = REFUSALS[case]
    api.tool("research_search", reply)
    ended = zarniwoop(*SEARCH, api=api)
    assert (ended.exit_code, ended.stdout) == (code, ""), ended.stderr
    if b"suggested_action" in reply.body:
        assert "  → " in ended.stderr
        assert f"request {REQUEST_ID}" in ended.stderr
    assert TOKEN not in ended.stderr
    assert "bells" not in ended.stderr


WAYS_OUT = {
    "no-project-scope": (400, "`--project NAME`, or ZARNIWOOP_PROJECT"),
    "unknown-run": (404, "`zarniwoop runs list`"),
    "unknown-evidence": (404, "`zarniwoop evidence list`"),
    "unauthorized": (401, "set ZARNIWOOP_TOKEN or --token"),
    "not-allowed": (403, 'do something else; one of level 4, for settings: make token ARGS="--level 4 --project demo"'),
    "all-failed": (200, "do something else"),
}


@pytest.mark.parametrize("slug", WAYS_OUT)
def test_a_way_out_names_what_is_typed(slug: str, api: FakeApi) -> None:
    """A command, an option or a variable, not the routes and arguments that the API speaks of."""
    status, told = WAYS_OUT[slug]
    api.tool("research_search", problem(status, slug))
    (line,) = [each for each in zarniwoop(*SEARCH, api=api).stderr.splitlines() if each.startswith("  → ")]
    assert told in line


def test_a_refusal_of_a_field_keeps_its_own_way_out(api: FakeApi) -> None:
    """Of a project that is not the token's, say: a higher level would not help."""
    api.tool("research_search", problem(403, "not-allowed", field="project_id"))
    assert "  → do something else\n" in zarniwoop(*SEARCH, api=api).stderr


def test_a_tool_that_there_is_not_is_guessed_at(api: FakeApi) -> None:
    """The API says that there is no such route."""
    api.tool("web_fetsh", problem(404, "unknown-route"))
    ended = zarniwoop("call", "web_fetsh", "urls=x", api=api)
    assert ended.exit_code == Exit.NOT_ANSWERED
    assert "There is no such tool: there is no tool of this name; did you mean web_fetch?" in ended.stderr
    assert "→ `zarniwoop tools` lists them" in ended.stderr


def test_nobody_there_is_told_apart_from_a_refusal() -> None:
    """With the way out."""
    ended = zarniwoop(*SEARCH, variables={"ZARNIWOOP_URL": "http://127.0.0.1:9/live", "ZARNIWOOP_TOKEN": TOKEN})
    assert ended.exit_code == Exit.UNREACHABLE
    assert "No connection" in ended.stderr
    assert "→" in ended.stderr


@pytest.mark.parametrize("words", [SEARCH, ("doctor",)], ids=["search", "doctor"])
@pytest.mark.parametrize("url", ["http://stack.example", "ftp://stack.example", "https://me@stack.example", "http://["])
def test_a_url_that_is_not_asked_is_told_with_what_to_type(url: str, words: tuple[str, ...]) -> None:
    """And never in Python's words."""
    ended = zarniwoop(*words, variables={"ZARNIWOOP_URL": url, "ZARNIWOOP_TOKEN": TOKEN})
    told = ended.stdout + ended.stderr
    assert ended.exit_code == Exit.USAGE
    assert "ZARNIWOOP_URL is " in told
    assert "  → " in told
    assert "allow_plain_http" not in told


def test_doctor_says_a_failure_once() -> None:
    """With what to do."""
    ended = zarniwoop("doctor", variables={"ZARNIWOOP_URL": "http://127.0.0.1:9/live", "ZARNIWOOP_TOKEN": TOKEN})
    assert ended.stdout.count("No connection to the API") == 1
    assert "→" in ended.stdout


@pytest.mark.parametrize("hits", [None, 3, ["x"], [{"title": 4}]], ids=["null", "number", "texts", "poor"])
def test_an_answer_of_another_shape_is_told_without_a_traceback(hits: object, api: FakeApi) -> None:
    """With the exit code of somebody who is no Zarniwoop."""
    api.tool("research_search", envelope({**asdict(found()), "hits": hits}))
    ended = zarniwoop(*SEARCH, api=api)
    assert ended.exit_code == Exit.UNREACHABLE
    assert "  → `--json` writes it as it came" in ended.stderr


def test_the_version_is_told_without_a_stack() -> None:
    """Before any command."""
    ended = zarniwoop("--version")
    assert (ended.exit_code, ended.stdout) == (Exit.ANSWERED, "zarniwoop 0.1.0\n")


def test_the_pin_has_the_name_that_the_api_gives_it(api: FakeApi) -> None:
    """And its short one."""
    api.tool("research_search_expert", envelope(found(hit("x"))))
    for flag in ("--pin", "--pinned-provider-id"):
        zarniwoop("expert", "bells", flag, "wiki", api=api)
        assert api.asked[-1].body["pinned_provider_id"] == "wiki"


@pytest.mark.parametrize("state", [RunState.FAILED, RunState.TIMED_OUT, RunState.STOPPED])
def test_a_run_that_did_not_come_to_its_end_has_not_answered(state: RunState, api: FakeApi) -> None:
    """What it found until then is shown all the same."""
    api.script("GET", f"/v1/runs/{RUN}", envelope(run(state, error="lost")))
    ended = zarniwoop("runs", "watch", RUN, api=api)
    assert ended.exit_code == Exit.NOT_ANSWERED
    assert "The bells of Cologne" in ended.stdout
    assert f"the run ended as {state}: lost" in ended.stderr


def test_a_run_is_watched_no_longer_than_wanted(api: FakeApi) -> None:
    """It goes on, and may be watched again: exit code 5, and nobody stops it."""
    api.script("GET", f"/v1/runs/{RUN}", envelope(run(RunState.RUNNING)))
    ended = zarniwoop("runs", "watch", RUN, "--timeout", "0.3", "--project", "demo", api=api)
    assert ended.exit_code == Exit.NOT_NOW
    assert "the run goes on after the 0.3 seconds that it was waited for" in ended.stderr
    assert f"→ zarniwoop runs watch {RUN} --project demo" in ended.stderr
    assert {each.method for each in api.asked} == {"GET"}


def test_an_investigation_is_watched_to_its_end(api: FakeApi) -> None:
    """Into a pipe nothing is written but the result."""
    receipt = {"run_id": RUN, "state": "queued", "status_url": f"/v1/runs/{RUN}?project_id=demo"}
    api.tool("research_investigate", envelope(receipt))
    api.script("GET", f"/v1/runs/{RUN}", envelope(run(RunState.RUNNING)), envelope(run()))
    ended = zarniwoop("investigate", "why bells?", "--jsonl", api=api)
    assert (ended.exit_code, ended.stderr) == (0, "")
    (line,) = ended.stdout.splitlines()
    assert json.loads(line)["score"] == 0.83


@pytest.mark.parametrize(
    "words",
    [("sarch",), ("search",), ("search", "x", "--max-results", "three"), ("search", "x", "-m", "SMELL"), ("runs",)],
)
def test_a_wrong_command_is_a_usage_error(words: tuple[str, ...]) -> None:
    """And never reaches a stack."""
    assert zarniwoop(*words).exit_code == Exit.USAGE


def test_a_pipe_that_is_closed_early_is_no_fault(api: FakeApi) -> None:
    """`| head -1`: quiet, for people and for scripts alike."""
    api.tool("research_search", envelope(found(*(hit(f"{number} {'x' * 5_000}") for number in range(200)))))
    for form in ("", "--jsonl"):
        piped = f"{sys.executable} -m zarniwoop_cli search bells {form} | head -c 10; exit ${{PIPESTATUS[0]}}"
        ended = subprocess.run(  # noqa: S603
            ["bash", "-c", piped], env=environment(api), capture_output=True, text=True, timeout=30, check=False
        )
        assert (ended.returncode, ended.stderr, len(ended.stdout)) == (0, "", 10)


def test_help_imports_neither_the_layer_nor_what_speaks_http() -> None:
    """What a person waits for at every key of the shell's completion; and nothing of the functions ever."""
    code = (
        "import sys, runpy\n"
        "sys.argv = ['zarniwoop', '--help']\n"
        "try: runpy.run_module('zarniwoop_cli', run_name='__main__')\n"
        "except SystemExit: pass\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)\n"
    )
    variables = {"PYTHONPATH": str(ROOT / "cli")}
    ended = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=True)  # noqa: S603
    assert "'zarniwoop_cli'" in ended.stderr
    for name in ("httpx", "pydantic", "zarniwoop", "zarniwoop_client", "boto3", "stack"):
        assert f"'{name}'" not in ended.stderr
