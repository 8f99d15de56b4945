"""`web_search` and the evidence that searches leave, through the deployed handlers and the provider simulator."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.fakes.functions import posted, sample
from tests.functional.deployed import Deployed, deployed, with_canary
from tests.simulator import Simulator
from zarniwoop.stores.failure import StoreUnavailable

ASKED = {"query": "asyncio", "max_results": 5}


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with Simulator() as running:
        yield running


@pytest.fixture
def stack(simulator: Simulator, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployed]:
    with deployed(simulator, monkeypatch, with_canary(simulator, "serper-main", "brave-main", "openalex-main")) as made:
        yield made


def _asked(stack: Deployed, tool: str = "web_search", **arguments: Any) -> Any:
    return stack.envelope(tool, posted({**ASKED, **arguments}, tool=tool))


def _kept(stack: Deployed) -> list[dict[str, Any]]:
    return [item for item in stack.cloud.items("EVIDENCE_TABLE") if item["sk"]["S"].startswith("EV#")]


def test_every_hit_is_kept_and_linked_to(stack: Deployed) -> None:
    """As a search hit, under the URL that it has."""
    answer = _asked(stack)
    hits, evidence = answer["data"]["hits"], answer["evidence"]
    assert answer["ok"] is True
    assert answer["data"]["untrusted"] is True
    assert {each["url"] for each in evidence} == {hit["url"].partition("#")[0] for hit in hits}
    assert {each["source_type"] for each in evidence} == {"search_hit"}
    assert len(_kept(stack)) == len(evidence)
    read = stack.envelope("evidence", sample("evidence.get") | {"pathParameters": {"evidence_id": evidence[0]["id"]}})
    assert read["ok"] is True


def test_the_same_search_again_keeps_nothing_twice(stack: Deployed) -> None:
    """The same hit is the same evidence."""
    first, second = _asked(stack)["evidence"], _asked(stack)["evidence"]
    assert [each["id"] for each in first] == [each["id"] for each in second]
    assert len(_kept(stack)) == len(first)


def test_nothing_is_kept_where_nothing_is_to_be(stack: Deployed) -> None:
    """`store_evidence: false`; other searches keep nothing by themselves. It costs no call of AWS more than ever."""
    for tool, arguments in (("web_search", {"store_evidence": False}), ("research_search", {"modality": "WEB"})):
        _asked(stack, tool, **arguments)
        stack.forget_calls()
        answer = _asked(stack, tool, **arguments)
        assert answer["ok"] is True
        assert answer["evidence"] == []
        assert stack.aws_calls == [("dynamodb", "BatchGetItem"), ("dynamodb", "BatchWriteItem")]
    assert stack.cloud.items("EVIDENCE_TABLE") == []


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("research_search", {"modality": "WEB"}),
        ("research_search_expert", {"modality": "WEB", "strategy": "fanout"}),
        ("research_rich", {}),
    ],
)
def test_other_searches_keep_their_hits_when_asked_to(stack: Deployed, tool: str, arguments: dict[str, Any]) -> None:
    """`store_evidence: true`."""
    answer = _asked(stack, tool, store_evidence=True, **arguments)
    assert answer["evidence"] != []
    assert len(_kept(stack)) == len({each["id"] for each in answer["evidence"]})


def test_only_the_domains_are_found_whatever_the_query_says(stack: Deployed) -> None:
    """One or several: nothing of elsewhere comes through, and the query is told as it was asked."""
    found = list[str]()
    for query in ("asyncio", "asyncio OR", "asyncio OR site:github.com", '(asyncio "'):
        for domains in (["python.org"], ["python.org", "RealPython.com"]):
            data = _asked(stack, query=query, domains=domains, max_results=10)["data"]
            hosts = [hit["url"].split("/")[2] for hit in data["hits"]]
            assert all(host.endswith(tuple(map(str.lower, domains))) for host in hosts)
            assert data["query"] == query
            found += hosts if query == "asyncio" else []
    assert {".".join(host.split(".")[-2:]) for host in found} == {"python.org", "realpython.com"}


def test_freshness_is_a_window_of_days(stack: Deployed) -> None:
    """It is asked for as an expert search does, and told as applied."""
    data = _asked(stack, freshness_days=30)["data"]
    assert "freshness_days" in {each["name"] for each in data["applied"]}
    assert data["tier"] == "EXPERT"


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"domains": [f"example{number}.org" for number in range(11)]}, "domains"),
        ({"domains": ["not a domain"]}, "domains.0"),
        ({"freshness_days": 0}, "freshness_days"),
        ({"query": " "}, "query"),
    ],
)
def test_wrong_arguments_are_refused_and_the_field_named(
    stack: Deployed, arguments: dict[str, Any], field: str
) -> None:
    """Before anybody is asked."""
    answer = _asked(stack, **arguments)
    assert (answer["error"]["status"], answer["error"]["field"]) == (400, field)
    assert stack.simulator.requests() == []


def test_a_dry_run_asks_nobody_and_keeps_nothing(stack: Deployed) -> None:
    """The plan of the one search."""
    stack.forget_calls()
    data = _asked(stack, dry_run=True)["data"]
    assert data["worst_case"]["calls"] >= 1
    assert stack.simulator.requests() == []
    assert stack.writes() == []


def test_hits_are_given_out_although_the_store_of_evidence_is_down(
    stack: Deployed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They were paid for; that they are not kept is said."""

    def down(*_arguments: object, **_named: object) -> None:
        raise StoreUnavailable("down")

    monkeypatch.setattr(stack.environment.evidence, "put", down)
    for tool, arguments in (("web_search", {}), ("research_rich", {"store_evidence": True})):
        answer = _asked(stack, tool, **arguments)
        assert answer["ok"] is True
        assert answer["evidence"] == []
        data = answer["data"] if tool == "web_search" else answer["data"]["results"]["WEB"]
        assert "hits are not kept as evidence: the store of evidence did not answer" in data["note"]


@pytest.mark.parametrize("case", ["invoke", "event", "queue"])
def test_it_is_asked_directly_by_event_and_by_queue(stack: Deployed, case: str) -> None:
    """As every tool is."""
    answer = stack.call("web_search", sample(f"web_search.{case}"))
    assert answer == {"batchItemFailures": []} if case == "queue" else answer["ok"] is True
