"""What commands ask of the API, checked by the very models that the tools check it with."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.http_api import FakeApi, envelope, fake_api
from tests.functional.cli_answers import found
from tests.functional.command_line import zarniwoop
from zarniwoop.tools.arguments import parse_arguments
from zarniwoop.tools.registry import TOOLS
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
