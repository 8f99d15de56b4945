"""What `doctor` finds when something is missing or wrong, each fault by itself, with its way out."""

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import pytest

from tests.fakes.http_api import TOKEN, FakeApi, Reply, envelope, fake_api, problem
from tests.functional.command_line import zarniwoop
from zarniwoop.contract.modality import SearchModality
from zarniwoop.tools.provider_rows import CooldownRow

CATALOGUE = {"tools": [{"name": "research_search"}, {"name": "web_fetch"}]}


@pytest.fixture(scope="module")
def serving() -> Iterator[FakeApi]:
    with fake_api() as running:
        yield running


@pytest.fixture
def api(serving: FakeApi) -> FakeApi:
    """A stack that lacks nothing."""
    serving.script("GET", "/v1/tools", _catalogue())
    serving.tool("research_providers", envelope(_report()))
    return serving


def _catalogue(tools: Any = None, date: float | None = None) -> Reply:
    return Reply(body=json.dumps(CATALOGUE if tools is None else tools).encode(), date=date)


def _row(**more: Any) -> dict[str, Any]:
    usual = {"id": "wiki", "protocol": "wikipedia", "availability": {"WEB": "READY"}, "cooldowns": []}
    return {**usual, "seen": {"reachable": True}, **more}


def _cooldown(reason: str, seconds: float | None, modality: str = "WEB") -> dict[str, Any]:
    return asdict(CooldownRow(subject="s", modality=modality, reason=reason, remaining_seconds=seconds, failures=1))


def _report(*rows: Mapping[str, Any], unserved: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    routing = {str(each): [] if each in unserved else ["wiki"] for each in SearchModality}
    usual = {"providers": rows or (_row(),), "routing": routing, "budgets": [], "misconfigured": []}
    return {**usual, "settings_are_stale": False, **more}


def test_a_stack_that_lacks_nothing_is_told_so(api: FakeApi) -> None:
    """Line by line, what was looked at."""
    ended = zarniwoop("doctor", api=api)
    assert ended.exit_code == 0
    assert ended.stdout.splitlines() == [
        f"✓ asking {api.url} (from ZARNIWOOP_URL)",
        "✓ it is there, and it is Zarniwoop",
        "✓ the token is valid, and good for 2 tools",
        "✓ this clock agrees with the stack's",
        "✓ 1 providers serve 12 of 12 modalities",
    ]
    assert [each.body for each in api.asked if each.method == "POST"][-1] == {"detail": True}


FAULTS: dict[str, tuple[dict[str, Any], int, str, str]] = {
    "modalities without an endpoint": (
        _report(unserved=("IMAGE", "MAP")),
        0,
        "! nobody serves IMAGE, MAP",
        "research.endpoint.<id>.protocol",
    ),
    "no endpoint at all": (
        _report(routing=dict.fromkeys(map(str, SearchModality), ())),
        1,
        "✗ there is no endpoint at all",
        "wikipedia",
    ),
    "a provider that cools down": (
        _report(_row(cooldowns=[_cooldown("rate_limited", 125), _cooldown("rate_limited", 60, "NEWS")])),
        0,
        "! wiki (NEWS, WEB): rate_limited, left alone for 2 min yet",
        "wait; others are asked meanwhile",
    ),
    "a key that is refused": (
        _report(_row(id="serper-main", cooldowns=[_cooldown("credentials_rejected", None)])),
        1,
        "✗ serper-main (WEB): credentials_rejected, left alone until its settings change",
        "research.endpoint.serper-main.apiKey",
    ),
    "a SearXNG that gives no JSON": (
        _report(_row(id="sx", protocol="searxng", cooldowns=[_cooldown("access_refused", 280)])),
        0,
        "! sx (WEB): access_refused, left alone for 5 min yet",
        "`search.formats: [html, json]`",
    ),
    "a SearXNG that nobody has asked": (
        _report(_row(id="sx", protocol="searxng", seen={"reachable": None})),
        0,
        "! nobody has asked sx yet",
        'zarniwoop settings test sx` tries it, with a token of level 4: make token ARGS="--level 4 --project demo"',
    ),
    "a quota that is used up": (
        _report(_row(availability={"WEB": "EXHAUSTED", "NEWS": "READY"})),
        0,
        "! wiki has nothing left (WEB)",
        "add another endpoint",
    ),
    "an endpoint that is misconfigured": (
        _report(misconfigured=[{"id": "x", "setting": "research.endpoint.x.protocol", "reason": "unknown protocol"}]),
        1,
        "✗ x is misconfigured: research.endpoint.x.protocol: unknown protocol",
        "zarniwoop settings show",
    ),
    "a budget that is spent": (
        _report(budgets=[{"budget": "tenant", "period": "day", "calls": {"limit": 5, "used": 5, "left": 0}}]),
        0,
        "! the budget of the tenant is spent",
        "research.budget.tenant.*",
    ),
    "settings that are a copy": (
        _report(settings_are_stale=True),
        0,
        "! the settings are a copy: Parameter Store does not answer",
        "wait",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_with_its_way_out(fault: str, api: FakeApi) -> None:
    """What is wrong ends with 1; what passes by itself, or is merely not there, with 0."""
    report, code, line, way_out = FAULTS[fault]
    api.tool("research_providers", envelope(report))
    ended = zarniwoop("doctor", api=api)
    assert ended.exit_code == code
    told = ended.stdout.splitlines()
    (place,) = [number for number, each in enumerate(told) if each.startswith(line)]
    assert way_out in told[place + 1]


@pytest.mark.parametrize(
    ("off", "code", "line"),
    [
        (90, 0, "! this clock is 90 s ahead of"),
        (-4_000, 1, "✗ this clock is 4000 s behind"),
        (5, 0, "✓ this clock agrees"),
    ],
)
def test_a_clock_that_differs_is_told(off: float, code: int, line: str, api: FakeApi) -> None:
    """By the answer's Date, which has whole seconds."""
    api.script("GET", "/v1/tools", _catalogue(date=time.time() - off))
    ended = zarniwoop("doctor", api=api)
    assert ended.exit_code == code
    seconds = {line.replace(str(abs(off)), str(abs(off) + slip)) for slip in (-1, 0, 1, 2)}
    assert any(each in ended.stdout for each in seconds)


def test_a_token_that_is_good_for_nothing_is_told(api: FakeApi) -> None:
    """Level 0 may ask, and has no tool."""
    api.script("GET", "/v1/tools", _catalogue({"tools": []}))
    assert "✗ the token is valid, but good for no tool" in zarniwoop("doctor", api=api).stdout


@pytest.mark.parametrize(
    ("reply", "code", "told"),
    [
        (problem(401, "unauthorized"), 3, "✗ It did not work"),
        (Reply(body=b"<html>", status=200), 4, "✗ Something else than the API answered"),
    ],
)
def test_a_stack_that_refuses_ends_the_examination(reply: Reply, code: int, told: str, api: FakeApi) -> None:
    """With the exit code of any other command."""
    api.script("GET", "/v1/tools", reply)
    ended = zarniwoop("doctor", api=api)
    assert ended.exit_code == code
    assert told in ended.stdout
    assert "clock" not in ended.stdout


@pytest.mark.parametrize(
    ("variables", "code", "told"),
    [
        ({"ZARNIWOOP_URL": "https://api.example.org"}, 2, "✗ no token for https://api.example.org"),
        ({"ZARNIWOOP_URL": "http://127.0.0.1:9/live", "ZARNIWOOP_TOKEN": TOKEN}, 4, "✗ No connection"),
    ],
)
def test_without_a_token_or_a_stack_it_says_what_to_do(variables: dict[str, str], code: int, told: str) -> None:
    """The first thing that a newcomer lacks."""
    ended = zarniwoop("doctor", "--timeout", "0.3", variables=variables)
    assert ended.exit_code == code
    assert told in ended.stdout
    assert "→" in ended.stdout


def test_findings_can_be_read_by_scripts(api: FakeApi) -> None:
    """Whole, or a line each."""
    findings = json.loads(zarniwoop("doctor", "--json", api=api).stdout)["findings"]
    assert findings[1] == {"weight": "ok", "what": "it is there, and it is Zarniwoop", "way_out": None}
    lines = zarniwoop("doctor", "--jsonl", api=api).stdout.splitlines()
    assert [json.loads(line) for line in lines] == findings
