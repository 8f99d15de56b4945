"""Each kind of answer as people see it: those of tools by words of this test, the others by the stack's own types."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.fakes.http_api import FakeApi, envelope, fake_api
from tests.functional.cli_answers import BEGAN, READ, found
from tests.functional.command_line import zarniwoop
from zarniwoop.contract.page import PageOutcome
from zarniwoop.evidence.verify import QuoteVerdict, Verdict, Verification, VerifiedQuote
from zarniwoop.pipelines.usage.report import Cut, ModelUse, Usage, UsageRow
from zarniwoop.settings.view import EndpointRow, ProblemRow, SettingRow, SettingsView
from zarniwoop.tools.evidence_answers import EvidenceListed, EvidenceRead


@pytest.fixture(scope="module")
def api() -> Iterator[FakeApi]:
    with fake_api() as running:
        yield running


SHOWN: dict[str, tuple[tuple[str, ...], str, Any, list[str]]] = {
    "pages": (
        ("fetch", "https://a.example"),
        "web_fetch",
        {
            "fence": "n1",
            "size": {"hits_left": 2, "handle": "h-2.1"},
            "pages": [
                {
                    "url": "https://a.example",
                    "final_url": "https://a.example/x",
                    "outcome": "ok",
                    "title": "Mills",
                    "steps": [{"name": "fetch", "outcome": "ok", "milliseconds": 3}],
                    "evidence_id": "ev-1",
                    "quotes": [
                        {"index": 0, "stands": True, "text": "a moon", "start": 5, "end": 11},
                        {"index": 1, "stands": False, "closest": {"text": "a star"}},
                    ],
                    "content": "<<<UNTRUSTED n1\n# Mills\n\x1b[31mred\nUNTRUSTED n1>>>>",
                    "links": [],
                },
                {"url": "https://b.example", "final_url": "https://b.example", "outcome": "ok", "not_kept": "no_room"},
                {"url": "https://c.example", "outcome": "gone", "note": "no markup", "suggested_action": "go on"},
            ],
        },
        [
            *("https://a.example → https://a.example/x", "  ok Mills", "  fetch ok 3 ms"),
            *("the quote stands at 5 to 11: “a moon”", "quote 2 does not stand; closest is “a star”"),
            *("not kept: no_room", "  gone\n", "  note: no markup", "  suggested action: go on"),
            *("kept as ev-1", "\n# Mills\n␛[31mred\n", "`zarniwoop more h-2.1` reads on"),
        ],
    ),
    "places": (
        ("geo", "Bonn"),
        "geo_resolve",
        {
            "attempts": [],
            "note": "several places of this name",
            "places": [{"name": "Bonn", "lat": 50.7, "lon": 7.1, "precision": "town", "country": "DE", "kind": None}],
        },
        ["Bonn", "50.7", "town", "DE", "note: several places of this name"],
    ),
    "providers": (
        ("providers",),
        "research_providers",
        {
            "providers": [
                {
                    "id": "serper-main",
                    "protocol": "serper",
                    "cost_per_call": 0.001,
                    "availability": {"WEB": "COOLDOWN", "NEWS": "READY"},
                    "cooldowns": [{"modality": "WEB", "reason": "rate_limited", "remaining_seconds": 119.7}],
                    "quota": {"remaining": 1_000_000, "unit": "credits"},
                    "seen": {},
                }
            ],
            "routing": {"WEB": ["serper-main", "wikipedia-en"], "MAP": []},
            "budgets": [{"budget": "project", "period": "day", "calls": {"left": 3, "limit": 9}, "usd": None}],
            "misconfigured": [{"id": "x", "setting": "research.endpoint.x.protocol", "reason": "unknown"}],
            "settings_are_stale": True,
        },
        [
            *("WEB COOLDOWN 120 s left, NEWS", "1,000,000 credits", "WEB: serper-main → wikipedia-en", "MAP: nobody"),
            *("budget of the project: 3 of 9 calls left this day", "misconfigured: x:", "these settings are a copy"),
        ],
    ),
    "dry run": (
        ("search", "bells", "--dry-run"),
        "research_search",
        {
            "dry_run": True,
            "tool": "research_search",
            "notes": [],
            "plans": {
                "WEB": {
                    "eligible": [{"position": 1, "instance_id": "wikipedia-en"}],
                    "skipped": [
                        {"instance_id": "serper-main", "reason": "cooldown", "detail": "rate_limited"},
                        {"instance_id": "arxiv-main", "reason": "other_modality", "detail": None},
                    ],
                }
            },
            "worst_case": {"calls": 2, "credits": 0, "usd": 0.01},
        },
        ["WEB would ask 1. wikipedia-en", "not serper-main because of cooldown", "at most 2 calls, costing $0.01"],
    ),
    "continuation": (
        ("more", "h-1.1"),
        "result_read",
        {"tool": "research_search", "size": {"hits_left": 0}, "untrusted": True, "hits": [{"title": "T", "url": "u"}]},
        ["-. T", "u"],
    ),
    "citations": (
        ("evidence", "cite", "ev-1"),
        "evidence_store",
        {"format": "markdown", "ids": ["ev-1"], "items": None, "text": "[Mills](https://a.example)"},
        ["[Mills](https://a.example)"],
    ),
    "whatever comes later": (
        ("call", "tomorrow"),
        "tomorrow",
        {"a": {"b": "\x1b[2J"}},
        ['"b": "\\u001b[2J"'],
    ),
}


@pytest.mark.parametrize("kind", SHOWN)
def test_each_kind_of_answer_is_shown(kind: str, api: FakeApi) -> None:
    """As lines and tables, nothing squeezed into a pipe."""
    words, tool, data, expected = SHOWN[kind]
    api.tool(tool, envelope(data))
    ended = zarniwoop(*words, api=api)
    assert ended.exit_code == 0, ended.stderr
    for line in expected:
        assert line in ended.stdout
    assert "\x1b" not in ended.stdout


def test_the_evidence_of_hits_is_named(api: FakeApi) -> None:
    """The first of it; where pages or evidence are shown, these name it themselves."""
    links = tuple({"id": f"ev-{number}", "href": f"/v1/evidence/ev-{number}"} for number in range(7))
    api.tool("research_search", envelope(found(), evidence=links))
    shown = zarniwoop("search", "bells", "--store-evidence", api=api).stdout
    assert "evidence: ev-0, ev-1, ev-2, ev-3, ev-4 and 2 more: `zarniwoop evidence list`" in shown
    api.tool("web_fetch", envelope({"pages": [], "fence": "n"}, evidence=links))
    assert "evidence:" not in zarniwoop("fetch", "https://a.example", api=api).stdout


_SPENT = UsageRow(asked=9, calls=12, failed=1, hits=40, credits=3, usd=0.02, kept_hits=4)
_ROUTES: dict[tuple[str, ...], tuple[str, str, Any, list[str]]] = {
    ("usage",): (
        *("GET", "/v1/usage"),
        Usage(
            date_from="2026-11-01",
            date_to="2026-11-07",
            total=_SPENT,
            providers={"serper-main": _SPENT},
            modalities={},
            days={"2026-11-02": _SPENT},
            runs=3,
            models=ModelUse(calls=2, input_tokens=50, output_tokens=7, usd=0.001),
            complete=False,
            cut=(Cut(what="records", instance_id="serper-main"),),
        ),
        [
            *("2026-11-01 to 2026-11-07", "serper-main  9", "$0.02, 3 credits", "2026-11-02"),
            *("3 runs; models: 2 calls, 50 + 7 tokens, $0.001", "not whole: records serper-main"),
        ],
    ),
    ("evidence", "list"): (
        *("GET", "/v1/evidence"),
        EvidenceListed(
            fence="0123456789abcdef",
            evidence=(replace(READ, quotes=()),),
            quote_counts={"ev-1": 2},
            next_page_token="t2",
        ),
        ["ev-1 Mills", "read 2026-11-18 11:06:40Z · score 0.75 · 2 quotes", "https://a.example/x", "--page-token t2"],
    ),
    ("evidence", "show", "ev-1"): (
        *("GET", "/v1/evidence/ev-1"),
        EvidenceRead(evidence=READ, content="<<<text\n\x1b]0;x>>>", fence="f", offset=0, next_offset=9),
        [
            *("modified 2026-11-02", "taken out, since no reader sees it: 2 comment", "orders to a model: role_play"),
            *("parts: page=1 at 0, page=2 at 700",),
            *("Mills", "by trafilatura", "quote 5 to 11: “a ␛[5mmoon”"),
            *("<<<text\n␛]0;x>>>", "goes on at --offset 9"),
        ],
    ),
    ("evidence", "verify", "ev-1"): (
        *("POST", "/v1/evidence/ev-1/verify"),
        Verification(
            evidence_id="ev-1",
            verdict=Verdict.DRIFTED,
            outcome=PageOutcome.OK,
            verified_at=BEGAN,
            retrieved_at=BEGAN,
            final_url="https://a.example/x",
            alike=0.86,
            quotes=(VerifiedQuote(verdict=QuoteVerdict.GONE, text="a moon", start=5, end=11),),
        ),
        ["ev-1 drifted (86% of its lines stand)", "gone “a moon”"],
    ),
    ("settings", "show"): (
        *("GET", "/v1/settings"),
        SettingsView(
            tenant_id="t",
            project_id="p",
            process_id=None,
            versions={"project": "v7"},
            writable=["project"],
            settings=[
                SettingRow(key="research.default.web", value="serper-main", level="project"),
                SettingRow(key="research.endpoint.x.apiKey", value=None, level="tenant", secret=True, preview="abc…"),
            ],
            endpoints=[
                EndpointRow(
                    id="x",
                    protocol="serper",
                    base_url=None,
                    enabled=False,
                    badge="configured",
                    key_from="tenant",
                    key_preview="abc…",
                    key_count=1,
                    problems=[ProblemRow(setting="research.endpoint.x.priority", reason="no number")],
                    named_by=[],
                )
            ],
            protocols={},
            problems=[],
        ),
        [
            *("research.default.web", "serper-main", "abc…", "disabled", "versions: project v7"),
            "research.endpoint.x.priority: no number",
        ],
    ),
}


@pytest.mark.parametrize("words", _ROUTES, ids=" ".join)
def test_what_stands_beside_the_tools_is_shown(words: tuple[str, ...], api: FakeApi) -> None:
    """As the stack's own types have it."""
    method, path, data, expected = _ROUTES[words]
    api.script(method, path, envelope(data))
    ended = zarniwoop(*words, api=api)
    assert (ended.exit_code, ended.stderr) == (0, "")
    for line in expected:
        assert line in ended.stdout
    assert "\x1b" not in ended.stdout
