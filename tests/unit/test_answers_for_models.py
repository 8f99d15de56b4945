"""No tool's answer passes 25,000 tokens within the bound that models are given, however much there is to tell."""

from collections.abc import Callable, Mapping
from typing import Any

import orjson
import pytest

from tests.contract.test_run_store import run
from tests.fakes.answer_schemas import check_answer
from tests.fakes.cloud import LambdaContext
from tests.fakes.environment import FakeEnvironment
from tests.fakes.evidence import FakePages, page, read
from tests.fakes.research import PROJECT
from zarniwoop.contract.hit import ContentInline, ContentReference, SearchHit
from zarniwoop.contract.page import PageLink
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.result import SearchResult
from zarniwoop.entry.tool import tool
from zarniwoop.stores.continuations import Rest, handle_of
from zarniwoop.stores.run_files import RESULT
from zarniwoop.text.tokens import most_tokens
from zarniwoop.tools.arguments import MOST_BYTES, MOST_TOKENS, USUAL_CHARS
from zarniwoop.tools.registry import TOOLS

SCOPE = {"tenant_id": "acme", "project_id": "demo"}
MANY = 60
URLS = [f"https://example.com/{number}" for number in range(10)]
PLACE = {"latitude": 50.9, "longitude": 6.9, "address": {"road": "b" * 300}, "type": "house"}


def _heavy(request: SearchRequest) -> SearchResult:
    """Fifty hits with long bodies."""
    hits = tuple(
        SearchHit(
            title="b" * 200,
            url=f"https://example.com/{request.modality}/{rank}/{'b' * 300}",
            modality=request.modality,
            snippet="b" * 500,
            rank=rank,
            content=ContentReference(inline=ContentInline.EMBED_TEXT, text="b" * 5_000),
            extras=PLACE,
        )
        for rank in range(1, request.max_results + 1)
    )
    return SearchResult(
        query=request.query,
        modality=request.modality,
        provider_instance_id="main",
        tier=request.tier,
        hits=hits,
        returned_count=len(hits),
    )


@pytest.fixture
def environment() -> FakeEnvironment:
    """With many instances, and pages that are books."""
    made = FakeEnvironment({f"instance-{number:02}": [_heavy] * 4 for number in range(MANY)})
    text = "A bell is a bell. " * 12_000
    links = tuple(PageLink(url=f"{url}/{number}/{'b' * 200}", text="b") for url in URLS for number in range(60))
    made.__dict__["page_fetcher"] = FakePages({url: read(url, page(text + url, links=links)) for url in URLS})
    return made


def _link(at: int, url: str) -> dict[str, Any]:
    told = {"id": f"ev-{at}", "href": f"/v1/evidence/ev-{at}", "source_type": "search_hit", "url": url}
    return {**told, "title": f"Hit {at}", "credibility_score": 0.5, "untrusted": True}


def _run_with_result(environment: FakeEnvironment) -> str:
    found = [{"title": f"Hit {at}", "url": f"https://bells.example/{at}", "snippet": "b" * 2_000} for at in range(200)]
    links = [_link(at, str(hit["url"])) for at, hit in enumerate(found[:10])]
    long = ["b" * 100_000]
    records: Mapping[str, Any] = {"searches": long, "evaluation": long, "mode": "builtin", "evidence": links}
    environment.fake_runs.create(run())
    survivors = [{"rank": at, "hit": hit} for at, hit in enumerate(found)]
    document = orjson.dumps({"survivors": survivors, "dropped": found, **records})
    environment.fake_files.put(PROJECT, run().run_id, RESULT, document)
    return run().run_id


def _investigated(environment: FakeEnvironment) -> dict[str, Any]:
    _run_with_result(environment)
    told = environment.run_watcher.report(run())

    class Ready:
        def investigate(self, _arguments: Any, _scope: Any) -> Any:
            return told

    environment.__dict__["investigations"] = Ready()
    return {"question": "how are bells tuned", "wait": 5}


def _rest(environment: FakeEnvironment) -> dict[str, Any]:
    now = environment.clock.now()
    entries = tuple(("hits", {"title": "b" * 1_000}) for _ in range(500))
    rest = Rest(tool="web_search", max_chars=900_000, begun_at=now, expires_at=now + 60, entries=entries)
    return {"handle": handle_of(environment.fake_continuations.keep(PROJECT, rest), 0)}


def _listed(environment: FakeEnvironment) -> dict[str, Any]:
    """A shelf full of evidence, and how all of it is asked for."""
    _call(environment, "web_search", {"query": "bells", "max_results": 50})
    _call(environment, "web_fetch", {"urls": URLS})
    return {"limit": 100}


def _shelf(environment: FakeEnvironment) -> list[str]:
    """The ids of evidence, that of the longest text first."""
    listed = _call(environment, "evidence_store", _listed(environment))["data"]["evidence"]
    return [each["id"] for each in sorted(listed, key=lambda each: -each["body_chars"])]


Asked = Callable[[FakeEnvironment], dict[str, Any]]
CASES: dict[str, tuple[str, Asked]] = {
    "search": ("research_search", lambda _: {"query": "bells", "modality": "WEB", "max_results": 50}),
    "kept": (
        "research_search",
        lambda _: {"query": "bells", "modality": "WEB", "max_results": 50, "store_evidence": True},
    ),
    "expert": ("research_search_expert", lambda _: {"query": "bells", "modality": "WEB", "max_results": 50}),
    "rich": ("research_rich", lambda _: {"query": "bells", "max_results": 50, "store_evidence": True}),
    "plan": ("research_rich", lambda _: {"query": "bells", "max_results": 50, "dry_run": True}),
    "investigated": ("research_investigate", _investigated),
    "providers": ("research_providers", lambda _: {"detail": True}),
    "web": ("web_search", lambda _: {"query": "bells", "max_results": 50}),
    "pages": ("web_fetch", lambda _: {"urls": URLS}),
    "links": ("web_fetch", lambda _: {"urls": URLS, "format": "links"}),
    "listed": ("evidence_store", _listed),
    "text": ("evidence_store", lambda on: {"action": "get", "ids": _shelf(on)[:1], "text_chars": 200_000}),
    "cited": ("evidence_store", lambda on: {"action": "cite", "ids": _shelf(on)[:50], "format": "csl-json"}),
    "places": ("geo_resolve", lambda _: {"query": "Cologne", "max_results": 20}),
    "run": ("run_status", lambda on: {"run_id": _run_with_result(on)}),
    "rest": ("result_read", _rest),
}


def _call(environment: FakeEnvironment, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    spec = next(each for each in TOOLS if each.name == name)
    return tool(spec, lambda: environment)({"scope": SCOPE, "arguments": arguments}, LambdaContext())


def _bounded(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """As MCP asks for it."""
    spec = next(each for each in TOOLS if each.name == name)
    usual = spec.arguments.model_fields.get("max_chars")
    return arguments if usual is None else {**arguments, "max_chars": usual.default or USUAL_CHARS}


@pytest.mark.parametrize("case", CASES)
def test_an_answer_is_within_what_models_take(environment: FakeEnvironment, case: str) -> None:
    """And fits its schema, and leads on where it was cut."""
    name, asked = CASES[case]
    answer = _call(environment, name, _bounded(name, asked(environment)))
    assert answer["ok"], answer["error"]
    assert len(orjson.dumps(answer)) <= MOST_BYTES
    check_answer(name, answer)
    size = answer["data"].get("size")
    assert size is None or size["hits_left"] == 0 or (size["handle"] and size["hits"] > 0), size


DENSE = {
    "numbers": "\n".join(f"| {at} | {at * 7919 % 1000} | 0.{at * 104729 % 1000} | -{at % 97} |" for at in range(6_000)),
    "hexadecimal": "\n".join(f"{at * 2654435761 % 2**64:016x}" for at in range(9_000)),
    "Amharic": "የገዳሙ ትልቅ ደወል በበጋ የተሠራው ቅይጡን በምስጢር በጠበቀ አንጥረኛ ነው። " * 1_500,
    "Japanese": "修道院の大きな鐘は、合金の秘密を守った鋳物師によって鋳造されました。" * 2_000,
    "signs": "│ ─ ┼ █ ░ • → ★ № ° ± × … — " * 3_000,
}
BOUNDS = {"bytes": MOST_BYTES, "tokens": MOST_TOKENS}


@pytest.mark.parametrize("kind", DENSE)
def test_a_dense_page_is_bounded_by_its_tokens_and_read_on_to_its_end(environment: FakeEnvironment, kind: str) -> None:
    """Bytes alone would let twice as many through."""
    url, text = URLS[0], DENSE[kind]
    environment.__dict__["page_fetcher"] = FakePages({url: read(url, page(text))})
    answer, whole = _for_models(environment, "web_fetch", {"urls": [url], "max_chars": USUAL_CHARS}), 0
    while True:
        assert answer["ok"], answer["error"]
        encoded = orjson.dumps(answer).decode()
        assert most_tokens(encoded) <= MOST_TOKENS
        data = answer["data"]
        whole += sum(
            len(each.get("content") or each.get("text") or "")
            for each in (*data.get("pages", ()), *data.get("parts", ()))
        )
        if not data["size"]["handle"]:
            break
        answer = _for_models(environment, "result_read", {"handle": data["size"]["handle"], "max_chars": USUAL_CHARS})
    assert whole >= len(text)


def _for_models(environment: FakeEnvironment, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    spec = next(each for each in TOOLS if each.name == name)
    message = {"scope": SCOPE, "arguments": arguments, "bounds": BOUNDS}
    return tool(spec, lambda: environment)(message, LambdaContext())


def test_every_tool_has_a_case() -> None:
    """A later tool is measured too."""
    assert {name for name, _ in CASES.values()} == {each.name for each in TOOLS}


def test_of_a_run_s_evidence_that_of_the_hits_in_sight_is_linked(environment: FakeEnvironment) -> None:
    """A hit of a run stands beside its rank and reason; the links of the others go where they go."""
    asked = {"run_id": _run_with_result(environment), "max_chars": 12_000}
    answer = _call(environment, "run_status", asked)
    assert 0 < len(answer["data"]["results"]["hits"]) < 10
    shown = [each["hit"]["url"] for each in answer["data"]["results"]["hits"]]
    assert [each["url"] for each in answer["evidence"]] == shown
    rest = _call(environment, "result_read", {"handle": answer["data"]["size"]["handle"]})["data"]
    first = rest["results"]["hits"][0]
    assert [each["id"] for each in first["evidence"]] == [f"ev-{first['rank']}"]


def test_a_run_s_longest_records_are_left_out_by_name(environment: FakeEnvironment) -> None:
    """So that there is room for hits; short ones stay."""
    asked = {"run_id": _run_with_result(environment), "max_chars": 8_000}
    results = _call(environment, "run_status", asked)["data"]["results"]
    assert set(results["truncated"]) >= {"searches", "evaluation"}
    assert (results["mode"], len(results["hits"]) > 0) == ("builtin", True)
