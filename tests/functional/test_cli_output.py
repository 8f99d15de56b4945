"""What the command writes: for people, as JSON, a line a hit; and never a stranger's orders to the terminal."""

import io
import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

import pytest

from tests.fakes.http_api import FakeApi, Reply, envelope, fake_api
from tests.functional.cli_answers import READ, RUN, bounded, found, hit, run
from tests.functional.command_line import zarniwoop
from zarniwoop.contract.problem import Problem
from zarniwoop.contract.result import AnswerSize, DispatchFailure
from zarniwoop.stores.runs import RunState
from zarniwoop.tools.research_rich import RichResult
from zarniwoop_cli import safe
from zarniwoop_cli.printer import Printer
from zarniwoop_cli.show.shapes import show

LONG = replace(READ, id=f"ev-{'0123456789abcdef' * 2}", title="M", final_url=f"https://a.example/{'x' * 70}", quotes=())
HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp.exe\r\x08\x7f"


@pytest.fixture(scope="module")
def serving() -> Iterator[FakeApi]:
    with fake_api() as running:
        yield running


@pytest.fixture
def api(serving: FakeApi) -> FakeApi:
    serving.asked.clear()
    return serving


def test_people_see_each_hit_and_who_was_asked(api: FakeApi) -> None:
    """Title, address, facts, words; then the account of the search."""
    api.tool("research_search", envelope(found()))
    assert zarniwoop("search", "bells", api=api).stdout.splitlines() == [
        "1. Cologne Cathedral",
        "     https://en.example.org/wiki/Cologne_Cathedral",
        "     2017-06-12 · Ada, Bea, Cyd, and 1 more · doi 10.1000/bells",
        "     A cathedral with bells.",
        "asked: serper-main failure (rate_limited) 3 ms, wikipedia-en success 20 ms · $0.002",
    ]


def test_what_is_missing_is_said(api: FakeApi) -> None:
    """Filters that nobody applied, and where the rest is."""
    api.tool("research_search", envelope(bounded()))
    told = zarniwoop("search", "bells", api=api).stdout
    assert "ignored: site (not supported)" in told
    assert "note: served from afar" in told
    assert "7 more did not fit into the bound; `zarniwoop more h-1.1` has them" in told


def test_a_bound_that_lets_no_hit_through_is_not_told_as_nothing_found(api: FakeApi) -> None:
    """With the bound that would."""
    size = AnswerSize(max_chars=2000, hits=0, hit_chars=0, hits_left=4, handle="h-0", least_max_chars=3456)
    api.tool("research_search", envelope(replace(_empty(), size=size)))
    told = zarniwoop("search", "bells", api=api).stdout
    assert "nothing" not in told
    assert "4 more did not fit into the bound; `zarniwoop more h-0` has them; --max-chars 3456 would let the" in told


def test_an_id_is_never_cut_and_a_url_never_shortened() -> None:
    """However narrow the terminal is: they are there to be copied."""
    stream = io.StringIO()
    stream.isatty = lambda: True  # type: ignore[method-assign] # a terminal of so many columns
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("COLUMNS", "60")
        patched.setenv("NO_COLOR", "1")
        show({"evidence": [asdict(LONG)], "quote_counts": {}}, Printer(stream))
        show({"runs": [asdict(run())], "next_page_token": None}, Printer(stream))
    told = stream.getvalue()
    assert LONG.id in told
    assert RUN in told
    assert LONG.final_url in told
    assert "…" not in told


def test_json_is_the_envelope_as_it_came(api: FakeApi) -> None:
    """With what this command knows nothing of."""
    reply = envelope(found())
    newer = {**json.loads(reply.body), "of_tomorrow": {"a": [1, None, "ä"]}}
    api.tool("research_search", Reply(body=json.dumps(newer).encode()))
    assert json.loads(zarniwoop("search", "bells", "--json", api=api).stdout) == newer


def test_jsonl_has_a_hit_on_each_line(api: FakeApi) -> None:
    """And nothing else on stdout."""
    api.tool("research_search", envelope(found(hit("one"), hit("two"))))
    lines = zarniwoop("search", "bells", "--jsonl", api=api).stdout.splitlines()
    assert [json.loads(line)["title"] for line in lines] == ["one", "two"]


@pytest.mark.parametrize("form", ["--jsonl", "--json", None])
def test_nothing_found_is_an_answer(form: str | None, api: FakeApi) -> None:
    """Exit code 0, and no line."""
    api.tool("research_search", envelope(_empty()))
    ended = zarniwoop("search", "bells", *([form] if form else []), api=api)
    assert ended.exit_code == 0
    assert ("nothing was found" in ended.stdout) == (form is None)


def _empty() -> Any:
    return replace(found(), hits=())


@pytest.mark.parametrize("form", ["--jsonl", "--json", "people"])
def test_no_stranger_commands_the_terminal(form: str, api: FakeApi) -> None:
    """In whatever field it stands: controls become visible, and JSON spells them out."""
    api.tool("research_search", envelope(found(hit(f"A{HOSTILE}B", url=f"https://x/{HOSTILE}", snippet=HOSTILE))))
    told = zarniwoop("search", "bells", *([] if form == "people" else [form]), api=api).stdout
    assert not {char for char in told if ord(char) < 32 or 0x7F <= ord(char) < 0xA0} - {"\n"}
    assert "\u202e" not in told
    if form == "people":
        assert "A␛]0;owned␇␛[2J�31m�gnp.exe" in told
    else:
        assert "\\u009b31m\\u202egnp" in told
        values = [json.loads(told)["data"]["hits"][0]] if form == "--json" else [json.loads(told)]
        assert values[0]["title"] == f"A{HOSTILE}B"


UNSEEN = (
    "\u061c",
    "\u200e",
    "\u200f",
    "\u202a",
    "\u202e",
    "\u2066",
    "\u2069",
    "\ufeff",
    "\U000e0000",
    "\U000e0041",
    "\U000e007f",
)


@pytest.mark.parametrize("letter", UNSEEN, ids=lambda each: f"{ord(each):x}")
def test_what_turns_text_round_or_is_not_shown_is_made_visible(letter: str) -> None:
    """Marks of direction, and tags, by which a text says to a model what no person sees. JSON keeps its meaning."""
    assert (safe.line(f"a{letter}b"), safe.lines(f"a{letter}b")) == ("a�b", "a�b")
    document = json.dumps({"title": f"a{letter}b 🔔é"}, ensure_ascii=False)
    assert letter not in safe.escaped(document)
    assert json.loads(safe.escaped(document)) == json.loads(document)
    assert "🔔é" in safe.escaped(document)


def test_a_problem_is_no_stranger_either(api: FakeApi) -> None:
    """An API that is not who it seems writes on stderr."""
    error = Problem(type="urn:x:y", title=HOSTILE, status=404, detail=HOSTILE, suggested_action=HOSTILE)
    api.tool("research_search", envelope(None, ok=False, error=error))
    told = zarniwoop("search", "bells", api=api).stderr
    assert "\x1b" not in told
    assert "\x9b" not in told
    assert "␛]0;owned" in told


def test_who_was_asked_is_shown_although_nobody_could_answer(api: FakeApi) -> None:
    """On stdout, with the problem and its way out on stderr."""
    error = Problem(
        type="urn:zarniwoop:problem:all-failed",
        title="The search was not answered",
        status=200,
        detail="no provider answered",
        suggested_action="save a key that 'serper-main' accepts",
    )
    data = _failed()
    api.tool("research_search", envelope(data, ok=False, error=error))
    ended = zarniwoop("search", "bells", api=api)
    assert ended.exit_code == 1
    assert "serper-main failure (rate_limited)" in ended.stdout
    assert ended.stderr.splitlines()[:2] == [
        "The search was not answered: no provider answered",
        "  → save a key that 'serper-main' accepts",
    ]
    assert json.loads(zarniwoop("search", "bells", "--json", api=api).stdout)["error"]["status"] == 200
    assert zarniwoop("search", "bells", "--jsonl", api=api).stdout == ""


def _failed() -> Any:
    return replace(found(), hits=(), failure=DispatchFailure.ALL_FAILED)


def test_a_rich_answer_is_shown_by_its_modalities(api: FakeApi) -> None:
    """With those that could not be answered named."""
    error = Problem(type="urn:x", title="t", status=200, detail="no endpoint serves IMAGE")
    rich = RichResult(
        query="bells", results={"WEB": found(), "IMAGE": _empty()}, problems={"IMAGE": error}, partial=True, cost=0
    )
    api.tool("research_rich", envelope(rich))
    told = zarniwoop("rich", "bells", api=api).stdout
    assert told.index("WEB") < told.index("Cologne Cathedral") < told.index("IMAGE")
    assert "not answered: no endpoint serves IMAGE" in told
    assert len(zarniwoop("rich", "bells", "--jsonl", api=api).stdout.splitlines()) == 1


def test_a_run_is_shown_with_what_it_found_and_what_is_missing(api: FakeApi) -> None:
    """Each survivor with its judgement."""
    results = {
        "hits": [{"rank": 1, "score": 0.83, "reason": "speaks of it", "hit": {"title": "Bells", "url": "https://x"}}],
        "dropped": [{"title": "Doorbells", "reason": "other bells"}],
        "gaps": ["search 3 (NEWS) was not made"],
        "notes": ["no second wave"],
        "mode": "builtin",
    }
    api.script("GET", f"/v1/runs/{RUN}", envelope(run(results=results)))
    listed = {"artifacts": [{"name": "result.json", "size": 9, "url": "http://x"}], "run_id": RUN, "expires_in": 900}
    api.script("GET", f"/v1/runs/{RUN}/artifacts", envelope(listed))
    told = zarniwoop("runs", "open", RUN, api=api).stdout
    for line in ("1. Bells", "0.83: speaks of it", "Doorbells (other bells)", "gap: search 3", "note: no second wave"):
        assert line in told
    assert f"{RUN} succeeded success · 3.0 s · $0.004 · mode builtin" in told
    assert "result.json" in told


def test_runs_are_listed_with_their_state(api: FakeApi) -> None:
    """And where the list goes on."""
    page = {"runs": [run(RunState.FAILED, error="lost")], "next_page_token": "t2"}
    api.script("GET", "/v1/runs", envelope(page))
    told = zarniwoop("runs", "list", api=api).stdout
    assert RUN in told
    assert "failed" in told
    assert "--page-token t2" in told
    assert "2026-11-18 " in told


def test_a_file_of_a_run_is_written_as_it_is(api: FakeApi) -> None:
    """Into a pipe to the last byte; its link is sent no token."""
    listed = {
        "artifacts": [{"name": "result.json", "size": 9, "url": f"{api.url}/bucket/result.json?signed=1"}],
        "run_id": RUN,
        "expires_in": 900,
    }
    api.script("GET", f"/v1/runs/{RUN}/artifacts", envelope(listed))
    ended = zarniwoop("runs", "open", RUN, "result.json", api=api)
    assert ended.exit_code == 4  # the fake refuses what bears no token
    assert "authorization" not in api.asked[-1].headers
    assert zarniwoop("runs", "open", RUN, "other.json", api=api).exit_code == 1


def test_the_tools_of_the_token_are_listed(api: FakeApi) -> None:
    """What is needed is marked."""
    schema = {"type": "object", "properties": {"query": {}, "n": {}, "dry_run": {}}, "required": ["query"]}
    catalogue = {"tools": [{"name": "web_search", "level": 1, "json_schema": {"schema": schema}}]}
    api.script("GET", "/v1/tools", Reply(body=json.dumps(catalogue).encode()))
    assert "web_search  1      query* n  " in zarniwoop("tools", api=api).stdout
    assert json.loads(zarniwoop("tools", "--json", api=api).stdout) == catalogue
    assert json.loads(zarniwoop("tools", "--jsonl", api=api).stdout) == catalogue["tools"][0]
