"""What commands ask of the API, checked by the very models that the tools check it with."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from tests.fakes.http_api import FakeApi, envelope, fake_api
from tests.functional import command_line
from tests.functional.cli_answers import found
from tests.functional.command_line import zarniwoop
from zarniwoop.tools.arguments import parse_arguments
from zarniwoop.tools.registry import TOOLS
from zarniwoop_cli import catalogue
from zarniwoop_cli.app import made
from zarniwoop_cli.commands.tools import TOOL_COMMANDS


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with fake_api() as running:
        yield running


COMMANDS = {
    "search": (
        "graphene -m academic -n 3 -l en-GB --strategy fanout --min-results 2 --cache no-store --max-calls 4 "
        "--max-cost 0.5 --free-only --store-evidence --max-chars 3000 --dry-run --process p1"
    ),
    "expert": (
        "graphene --modality NEWS --site example.com/docs --domain nature.com --filetype pdf --date-from 2020-01-01 "
        "--date-to 2021-01-01 --freshness-days 3000 --pin arxiv-main --max-results 2"
    ),
    "rich": "solar -n 1 --free-only",
    "web": "solar --domain nature.com --domain arxiv.org --freshness-days 7 --no-store-evidence",
    "fetch": (
        "https://a.example/x https://b.example/y -f text -q bells -q moons --no-store --refresh --task-id t1 "
        "--free-only --max-chars 9000"
    ),
    "geo": "Bonn -n 2 --locale de --cache only",
    "providers": "--id serper-main --detail",
    "more": "h-1.1 --max-chars 4000",
}


def test_every_command_of_a_tool_is_tried_below() -> None:
    """A new one is missing here until it is."""
    assert COMMANDS.keys() == {each.name for each in TOOL_COMMANDS}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_a_command_sends_is_what_its_tool_takes(name: str, api: FakeApi) -> None:
    """Under the tool's own names, and nothing of what was not given."""
    (spec,) = [each for each in TOOL_COMMANDS if each.name == name]
    (tool,) = [each for each in TOOLS if each.name == spec.tool]
    api.tool(tool.name, envelope({"anything": 1}))

    ended = zarniwoop(name, *COMMANDS[name].split(), "--project", "demo", api=api)

    assert ended.exit_code == 0, ended.stderr
    (asked,) = api.asked
    parse_arguments(tool.arguments, asked.body)
    assert asked.body["project_id"] == "demo"
    words = " ".join(str(value) for value in asked.body.values())
    assert COMMANDS[name].split()[0] in words or "serper-main" in words


@pytest.mark.parametrize("tool", [tool.name for tool in TOOLS] + ["a_tool_of_tomorrow"])
def test_every_tool_can_be_called_by_its_name(tool: str, api: FakeApi) -> None:
    """Those of the registry, and those that come after this command."""
    api.tool(tool, envelope(found()))
    given = json.dumps({"query": "bells", "max_results": 3})

    ended = zarniwoop("call", tool, "--json-arguments", given, api=api)

    assert ended.exit_code == 0, ended.stderr
    assert "Cologne Cathedral" in ended.stdout
    assert api.asked[0].body == {"query": "bells", "max_results": 3}


def test_arguments_are_given_as_words_as_a_file_or_on_stdin(tmp_path: Path, api: FakeApi) -> None:
    """Words are text unless `:=` says that they are JSON, and win over the object."""
    api.tool("x", envelope({}))
    file = tmp_path / "arguments.json"
    file.write_text('{"query": "a = b", "max_results": 1}')
    calls: list[tuple[tuple[str, ...], str]] = [
        (("query=a = b", "max_results:=1"), ""),
        (("--json-arguments", f"@{file}"), ""),
        (("--json-arguments", "-"), file.read_text()),
        (("--json-arguments", '{"query": "c", "max_results": 1}', "query=a = b"), ""),
    ]
    for words, stdin in calls:
        assert zarniwoop("call", "x", *words, api=api, stdin=stdin).exit_code == 0
    assert [each.body for each in api.asked] == [{"query": "a = b", "max_results": 1}] * len(calls)


@pytest.mark.parametrize(
    "words",
    [
        ("query",),
        ("=graphene",),
        ("max_results:=three",),
        ("--json-arguments", "{"),
        ("--json-arguments", "[1]"),
        ("--json-arguments", "@/nowhere/at/all"),
        ("--json", "--jsonl"),
    ],
)
def test_arguments_that_cannot_be_read_are_refused(words: tuple[str, ...], api: FakeApi) -> None:
    """With the exit code of a wrong command, before anybody is asked."""
    ended = zarniwoop("call", "x", *words, api=api)
    assert ended.exit_code == 2
    assert "Error" in ended.stderr
    assert api.asked == []


def test_an_investigation_is_started_with_what_its_tool_takes(api: FakeApi) -> None:
    """Under an idempotency key, since asking twice must not start two."""
    (tool,) = [each for each in TOOLS if each.name == "research_investigate"]
    receipt = {"run_id": "run-1", "state": "queued", "status_url": "/v1/runs/run-1?project_id=demo"}
    api.tool(tool.name, envelope(receipt))

    ended = zarniwoop(
        *("investigate", "why bells?", "--detach", "-m", "web", "-m", "BOOK", "--no-refine", "--insights"),
        *("--max-searches", "3", "-n", "2", "--max-concurrency", "2", "--refine-depth", "1", "--wall-seconds", "60"),
        *("--max-model-tokens", "5000", "--max-cost", "0.1", "--max-calls", "9", "--free-only"),
        api=api,
    )

    assert ended.exit_code == 0, ended.stderr
    assert "runs watch run-1" in ended.stdout
    (asked,) = api.asked
    parse_arguments(tool.arguments, asked.body)
    assert asked.body["modalities"] == ["WEB", "BOOK"]
    assert asked.headers["idempotency-key"]


LISTS: dict[tuple[str, ...], tuple[str, str, dict[str, str], Any]] = {
    ("runs", "list", "-n", "2"): ("GET", "/v1/runs", {"limit": "2"}, None),
    ("runs", "stop", "run-1"): ("POST", "/v1/runs/run-1/stop", {}, None),
    ("usage", "--from", "2026-11-01", "-m", "web"): (
        *("GET", "/v1/usage", {"date_from": "2026-11-01", "modality": "WEB"}),
        None,
    ),
    ("evidence", "list", "--task-id", "t"): ("GET", "/v1/evidence", {"task_id": "t"}, None),
    ("evidence", "show", "ev-1", "--offset", "9"): ("GET", "/v1/evidence/ev-1", {"offset": "9"}, None),
    ("evidence", "verify", "ev-1"): ("POST", "/v1/evidence/ev-1/verify", {}, None),
    ("evidence", "cite", "ev-1", "-f", "bibtex"): (
        *("POST", "/v1/tools/evidence_store", {}),
        {"action": "cite", "ids": ["ev-1"], "format": "bibtex"},
    ),
    ("settings", "set", "a.b=c", "--version", "v1"): (
        *("PUT", "/v1/settings", {}),
        {"settings": {"a.b": "c"}, "version": "v1"},
    ),
    ("settings", "unset", "a.b", "--version", "*"): ("DELETE", "/v1/settings/a.b", {"version": "*"}, None),
    ("settings", "test", "x", "timeoutSeconds=3"): (
        *("POST", "/v1/settings/endpoints/x/test", {}),
        {"settings": {"timeoutSeconds": "3"}},
    ),
    ("tools", "-f", "openai"): ("GET", "/v1/tools", {"format": "openai"}, None),
}


@pytest.mark.parametrize("words", LISTS, ids=" ".join)
def test_the_apis_beside_the_tools_are_asked_by_their_routes(words: tuple[str, ...], api: FakeApi) -> None:
    """Here they refuse: what is looked at is the question."""
    zarniwoop(*words, api=api)
    method, path, query, body = LISTS[words]
    (asked,) = api.asked
    assert (asked.method, asked.path, dict(asked.query), asked.body) == (method, path, query, body)


def test_a_change_of_settings_names_the_version_that_stands_there(api: FakeApi) -> None:
    """Unless somebody says which one they have seen; a key comes out of a file, which no list of processes shows."""
    lists: dict[str, Any] = {name: [] for name in ("writable", "settings", "endpoints", "problems")}
    placed = {"tenant_id": "t", "project_id": "p", "process_id": None, "versions": {"project": "v7"}}
    view = {**lists, **placed, "protocols": {}}
    api.script("GET", "/v1/settings", envelope(view))
    api.script("PUT", "/v1/settings", envelope({"saved": ["a"], "left": [], "version": "v8", "in_force": "at once"}))
    zarniwoop("settings", "set", "a=b", api=api)
    assert api.asked_for("/v1/settings")[-1].body["version"] == "v7"


TOMORROW: dict[str, Any] = {
    "name": "tool_of_tomorrow",
    "title": "Tomorrow",
    "description": "Look into tomorrow.",
    "arguments": [
        {"name": "query", "type": "text", "description": "What to look for in [brackets].", "required": True},
        {"name": "max_results", "type": "integer", "description": "How many.", "default": 3},
        {"name": "kind", "type": "text", "choices": ["near", "far-off"], "description": "Which kind."},
        {"name": "words", "type": "text", "many": True, "description": "Some words."},
        {"name": "deep", "type": "boolean", "description": "Whether it goes deep."},
        {"name": "url", "type": "text", "description": "Named as an option of every command."},
        {"name": "from", "type": "text", "description": "Named as a word of Python."},
        {"name": "filter", "type": "json", "description": "An object."},
        {"name": "days", "type": "integer", "description": "How many days.", "required": True},
        {"name": "project_id", "type": "text", "description": "Every command's --project."},
    ],
}


@pytest.fixture
def tomorrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command with one tool more in its data file."""
    known = tmp_path / "tools.json"
    known.write_text(json.dumps([*catalogue.catalogue(), TOMORROW]), "utf-8")
    monkeypatch.setattr(catalogue, "FILE", known)
    with_it = typer.main.get_command(made())
    monkeypatch.setattr(command_line, "_command", lambda: with_it)


@pytest.mark.usefixtures("tomorrow")
def test_a_tool_without_a_command_made_by_hand_has_one_by_its_arguments(api: FakeApi) -> None:
    """Typed, sent under the tool's own names, and its answer shown as any other."""
    api.tool("tool_of_tomorrow", envelope(found()))
    words = "bells --days 4 --max-results 2 --kind far-off --words a --words b --no-deep --from x --project demo"

    ended = zarniwoop(
        *("tool-of-tomorrow", *words.split(), "--argument-url", "https://u.example", "--filter", '{"a": [1]}'), api=api
    )

    assert ended.exit_code == 0, ended.stderr
    assert "Cologne Cathedral" in ended.stdout
    plain = {"query": "bells", "days": 4, "max_results": 2, "kind": "far-off", "words": ["a", "b"], "deep": False}
    odd = {"from": "x", "url": "https://u.example", "filter": {"a": [1]}, "project_id": "demo"}
    assert [each.body for each in api.asked] == [{**plain, **odd}]
    assert "tool_of_tomorrow" in catalogue.known_tools("tool_")


@pytest.mark.usefixtures("tomorrow")
def test_what_was_not_given_to_such_a_command_is_left_to_the_tool(api: FakeApi) -> None:
    """Defaults are told in the help and not sent."""
    api.tool("tool_of_tomorrow", envelope(found()))
    ended = zarniwoop("tool-of-tomorrow", "bells", "--days", "4", "--json", api=api)
    assert json.loads(ended.stdout)["ok"] is True
    assert [each.body for each in api.asked] == [{"query": "bells", "days": 4}]


@pytest.mark.usefixtures("tomorrow")
@pytest.mark.parametrize(
    "words",
    [
        "",
        "bells",
        "bells --days x",
        "bells --days 1 --kind no",
        "bells --days 1 --filter {",
        "bells --days 1 --json --jsonl",
    ],
)
def test_such_a_command_refuses_what_its_tool_cannot_take(words: str, api: FakeApi) -> None:
    """Before anybody is asked."""
    assert zarniwoop("tool-of-tomorrow", *words.split(), api=api).exit_code == 2
    assert api.asked == []


@pytest.mark.usefixtures("tomorrow")
def test_such_a_command_tells_what_its_tool_says_of_itself() -> None:
    """Brackets are no markup."""
    told = zarniwoop("tool-of-tomorrow", "--help", variables={"COLUMNS": "160"}).stdout
    for words in ("Look into tomorrow.", "What to look for in [brackets].", "near|far-off", "Usually 3.", "--no-deep"):
        assert words in told


TODAY = {
    "evidence-store": ("evidence_store", "--action cite --ids ev-" + "0" * 32 + " --format bibtex --argument-url u"),
    "run-status": ("run_status", "r-1 --wait 2"),
}


@pytest.mark.parametrize("name", TODAY)
def test_commands_by_default_send_what_their_tools_take(name: str, api: FakeApi) -> None:
    """Of the registry as it is."""
    (tool,) = [each for each in TOOLS if each.name == TODAY[name][0]]
    api.tool(tool.name, envelope({"anything": 1}))
    ended = zarniwoop(name, *TODAY[name][1].split(), api=api)
    assert ended.exit_code == 0, ended.stderr
    parse_arguments(tool.arguments, api.asked[0].body)
