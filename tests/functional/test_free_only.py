"""`free_only`: whatever the tool and whatever its way, nobody is asked whose calls cost money.

Endpoint `paid` costs money and is as tempting as settings can make it: allowed, named first, allowed as a hedge; `free`
does what brings others into play: it fails, finds nothing, hangs or finds too little.
"""

from typing import Any

import pytest

from tests.fakes.cloud import LambdaContext
from tests.fakes.environment import FakeEnvironment
from tests.fakes.investigation import MODEL, Investigation, hits
from tests.fakes.providers import After, Hang, Step, found
from zarniwoop.contract.failure import ProviderUnavailable
from zarniwoop.contract.hit import LoadedContent
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.request import Strategy
from zarniwoop.entry.tool import tool
from zarniwoop.tools.geo_resolve import GEO_RESOLVE
from zarniwoop.tools.registry import TOOLS
from zarniwoop.tools.research_rich import RESEARCH_RICH
from zarniwoop.tools.research_search import RESEARCH_SEARCH, RESEARCH_SEARCH_EXPERT
from zarniwoop.tools.tool import Tool
from zarniwoop.tools.web_search import WEB_SEARCH

SCOPE = {"tenant_id": "acme", "project_id": "demo"}
TEMPTING = {
    "research.endpoint.paid.costPerCall": "0.5",
    "research.endpoint.paid.autoAllow": "true",
    "research.endpoint.paid.hedgeMetered": "true",
    "research.hedge.afterMs": "1",
    **{f"research.default.{name}": "paid,free" for name in ("web", "image", "video", "news", "map")},
    **{f"research.fallback.{name}": "paid" for name in ("web", "image", "video", "news", "map")},
}
PAGE = LoadedContent(body=b"Cathedral bells ring.", media_type="text/plain", source_url="https://paid.test/1")
TROUBLES: dict[str, Step] = {
    "fails": ProviderUnavailable("503", status=503),
    "finds nothing": found(0),
    "finds too little": found(1),
}
QUERYING: dict[str, tuple[Tool[Any], dict[str, Any]]] = {
    "research_search": (RESEARCH_SEARCH, {"modality": "WEB"}),
    "research_search_expert": (RESEARCH_SEARCH_EXPERT, {"modality": "WEB", "site": "example.com"}),
    "research_rich": (RESEARCH_RICH, {}),
}

OF_ONE_SEARCH: dict[str, Tool[Any]] = {"web_search": WEB_SEARCH, "geo_resolve": GEO_RESOLVE}
"""`web_fetch` has a hosted reader that costs money in `test_web_fetch_fallbacks`."""


def asked(environment: FakeEnvironment, spec: Tool[Any], **arguments: Any) -> dict[str, Any]:
    handler = tool(spec, environment=lambda: environment)
    return handler({"scope": SCOPE, "arguments": {"query": "cathedral bells", **arguments}}, LambdaContext())


def nothing_was_spent(environment: FakeEnvironment) -> None:
    assert "paid" not in environment.protocol.asked_ids
    assert "paid" not in [name for name, _ in environment.protocol.loaded]
    assert [record.instance_id for record in environment.fake_calls.records if record.instance_id == "paid"] == []
    assert environment.fake_state.calls["reserve"] == 0, "there is nothing to hold"


def test_every_tool_that_spends_takes_it() -> None:
    """And each of them is put to the test in here."""
    spending = {each.name for each in TOOLS if each.spends}
    assert {each.name for each in TOOLS if "free_only" in each.arguments.model_fields} == spending
    assert spending == {*QUERYING, *OF_ONE_SEARCH, "research_investigate", "web_fetch"}


@pytest.mark.parametrize("name", QUERYING)
@pytest.mark.parametrize("strategy", Strategy)
@pytest.mark.parametrize("trouble", TROUBLES)
def test_nobody_who_costs_money_stands_in(name: str, strategy: Strategy, trouble: str) -> None:
    """Neither in a cascade nor in a fan-out that wants more; and with the others allowed again somebody does."""
    spec, arguments = QUERYING[name]
    more = {"strategy": strategy, **({"min_results": 9} if strategy is Strategy.FANOUT else {})}
    environment = FakeEnvironment({"paid": [found(5)], "free": [TROUBLES[trouble]]}, TEMPTING)
    answer = asked(environment, spec, **arguments, **more, free_only=True)
    assert answer["ok"] == (trouble != "fails")
    assert set(environment.protocol.asked_ids) == {"free"}
    nothing_was_spent(environment)
    asked(environment, spec, **arguments, **more)
    assert "paid" in environment.protocol.asked_ids


@pytest.mark.parametrize("name", OF_ONE_SEARCH)
def test_a_tool_that_stands_on_one_search_asks_nobody_who_costs_money(name: str) -> None:
    """Not when the only one for nothing finds nothing either."""
    environment = FakeEnvironment({"paid": [found(5)], "free": [found(0)]}, TEMPTING)
    assert asked(environment, OF_ONE_SEARCH[name], free_only=True)["ok"]
    assert set(environment.protocol.asked_ids) == {"free"}
    nothing_was_spent(environment)
    asked(environment, OF_ONE_SEARCH[name])
    assert "paid" in environment.protocol.asked_ids


@pytest.mark.parametrize("name", QUERYING)
def test_nobody_who_costs_money_is_a_hedge(name: str) -> None:
    """One that hangs is joined by the next that is free, and by no other."""
    spec, arguments = QUERYING[name]
    hang = Hang()
    other = After((hang,), found(2))
    scripts: dict[str, list[Step]] = {"free": [hang, *[found(1)] * 9], "paid": [found(5)], "other": [other]}
    environment = FakeEnvironment(scripts, TEMPTING | {"research.default.web": "free,paid,other"})
    answer = asked(environment, spec, **arguments, free_only=True)
    assert answer["ok"]
    assert hang.let_go.is_set(), "it hung until it was overtaken"
    assert "other" in environment.protocol.asked_ids
    nothing_was_spent(environment)


@pytest.mark.parametrize("name", QUERYING)
def test_where_everybody_costs_money_it_says_so(name: str) -> None:
    """In an answer that names the way out, and not as an outage."""
    spec, arguments = QUERYING[name]
    environment = FakeEnvironment({"paid": [found(5)]}, TEMPTING)
    answer = asked(environment, spec, **arguments, free_only=True)
    assert (answer["ok"], answer["error"]["retryable"]) == (False, False)
    assert "free_only" in str(answer)
    nothing_was_spent(environment)


def test_a_pin_is_no_way_around_it() -> None:
    """The one instance that may answer costs money, so nobody does."""
    environment = FakeEnvironment({"paid": [found(5)], "free": [found(1)]}, TEMPTING)
    answer = asked(environment, RESEARCH_SEARCH_EXPERT, modality="WEB", pinned_provider_id="paid", free_only=True)
    assert (answer["ok"], answer["error"]["type"]) == (False, "urn:zarniwoop:problem:only-metered")
    nothing_was_spent(environment)


def test_an_answer_that_was_paid_for_before_is_no_answer_to_it() -> None:
    """What is kept of a search with others in line is another search's; what the free one said is shared."""
    keeping = TEMPTING | {"research.cache.ttlSeconds.web": "600"}
    environment = FakeEnvironment({"paid": [found(5)], "free": [found(1)]}, keeping)
    assert len(asked(environment, RESEARCH_SEARCH, modality="WEB")["data"]["hits"]) == 5
    answer = asked(environment, RESEARCH_SEARCH, modality="WEB", free_only=True)
    assert (len(answer["data"]["hits"]), environment.protocol.asked_ids) == (1, ["paid", "free"])


PRICED = {**MODEL, "llm.primary.costPerMillionInput": "1", "llm.primary.costPerMillionOutput": "1"}
EVERYTHING: dict[str, Any] = {
    "modalities": [SearchModality.WEB],
    "refine": True,
    "refine_depth": 1,
    "insights": True,
    "max_searches": 4,
}


@pytest.mark.parametrize("trouble", ["fails", "finds nothing", "has bodies"])
def test_a_run_asks_nobody_who_costs_money_and_no_model_that_does(trouble: str) -> None:
    """Planning, searching, deepening, judging, a second wave, ranking and insights: what is free does it, or none."""
    bells = hits("Cathedral bells ring", "Cathedral bells", host="free.test", reference="7")
    step = bells if trouble == "has bodies" else TROUBLES[trouble]
    settings = TEMPTING | PRICED | {"research.rerank.recipe": "zarniwoop-research-rerank"}
    inv = Investigation({"paid": [bells], "free": [step]}, settings)
    inv.protocol.bodies["paid"] = inv.protocol.bodies["free"] = [PAGE]
    run = inv.start(**EVERYTHING, free_only=True)
    inv.carry_out(run)
    assert set(inv.protocol.asked_ids) == {"free"}
    assert inv.model_transport.sent == []
    assert (inv.run_of(run).cost, inv.run_of(run).usage.cost) == (0.0, 0.0)
    nothing_was_spent(inv)
    if trouble == "has bodies":
        assert {name for name, _ in inv.protocol.loaded} == {"free"}
        notes = inv.result(run)["notes"]
        assert "planned without a model: free_only leaves out what costs money" in notes
        assert "judged without a model: free_only leaves out what costs money" in " ".join(notes)
        assert inv.result(run)["modes"] == {"plan": ["builtin"], "evaluate": ["builtin"]}


def test_bodies_of_those_who_cost_money_are_not_loaded() -> None:
    """A free index may know a work that a paid one has, too; what is loaded is the free one's."""
    bells = hits("Cathedral bells ring", host="paid.test", reference="7")
    inv = Investigation({"paid": [bells], "free": [bells]}, TEMPTING)
    inv.protocol.bodies["paid"] = [PAGE]
    run = inv.start(**EVERYTHING, free_only=True)
    inv.carry_out(run)
    assert {name for name, _ in inv.protocol.loaded} <= {"free"}
    nothing_was_spent(inv)


def test_a_model_without_a_price_is_asked_all_the_same() -> None:
    """What its settings do not say costs money is free, as with endpoints."""
    inv = Investigation(
        {"free": [hits("Cathedral bells ring")]}, MODEL, model_script=[ProviderUnavailable("503", status=503)] * 9
    )
    run = inv.start(modalities=[SearchModality.WEB], free_only=True)
    with pytest.raises(Exception, match="the model's endpoint failed"):
        inv.step("plan", run)
    assert len(inv.model_transport.sent) == 1


def test_a_dry_run_of_a_run_plans_without_the_model_too() -> None:
    """It tells what would be done: by rules, at no cost."""
    inv = Investigation({"paid": [found(5)], "free": [found(1)]}, TEMPTING | PRICED)
    by_name = {each.name: each for each in TOOLS}
    handler = tool(by_name["research_investigate"], environment=lambda: inv)
    arguments = {"question": "How do bells ring?", "modalities": ["WEB"], "dry_run": True}
    told = handler({"scope": SCOPE, "arguments": {**arguments, "free_only": True}}, LambdaContext())["data"]
    assert (told["forecast"]["planner"], told["forecast"]["most_model_calls"]) == ("builtin", 0)
    assert told["worst_case"]["usd"] == 0.0
    charged = handler({"scope": SCOPE, "arguments": arguments}, LambdaContext())["data"]
    assert (charged["forecast"]["planner"], charged["forecast"]["most_model_calls"] > 0) == ("openai", True)
