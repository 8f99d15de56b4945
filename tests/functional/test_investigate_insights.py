"""Insights through the whole path: asked for, drawn by a scripted model, checked, merged, and told in every ending."""

from typing import Any

import defusedxml.ElementTree as DefusedTree
import orjson
import pytest

from tests.fakes.cloud import LambdaContext
from tests.fakes.investigation import MODEL, PROJECT, Investigation, hits
from tests.fakes.models import completion, json_completion, refusal
from zarniwoop.contract.modality import SearchModality
from zarniwoop.entry.project_stop import project_stop
from zarniwoop.llm.recipes import INSIGHTS, RecipeBook
from zarniwoop.observe.metrics import Metric
from zarniwoop.pipelines.investigate.insights_graph import ProjectGraph
from zarniwoop.pipelines.investigate.services import ModelThrottled
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.runs import RunState

WEB: dict[str, Any] = {"modalities": [SearchModality.WEB], "refine": False, "insights": True}
BELLS = hits("Cathedral bells ring", "Bells of iron", "Soup recipes", host="alpha.com")
PLAN = json_completion({"searches": [{"query": "bells", "modality": "WEB"}], "rationale": ""})


def kept(*keys: str, dropped: tuple[str, ...] = ()) -> Any:
    said = [(key, "keep") for key in keys] + [(key, "drop") for key in dropped]
    return json_completion(
        {"verdicts": [{"key": key, "verdict": word, "relevanceScore": 0.5, "reason": "r"} for key, word in said]}
    )


JUDGED = kept("h001", "h002", dropped=("h003",))


def entity(name: str, key: str = "h001", span: str = "Cathedral bells") -> dict[str, Any]:
    return {"name": name, "type": "object", "key": key, "span": span}


def relation(key: str = "h001", span: str = "Cathedral bells ring") -> dict[str, Any]:
    return {"subject": "Bells", "relation": "hang in", "object": "Cathedral", "key": key, "span": span}


def said(*relations: dict[str, Any], entities: list[dict[str, Any]] | None = None) -> Any:
    both = [entity("Bells"), entity("Cathedral")]
    return json_completion({"entities": both if entities is None else entities, "relations": list(relations)})


def investigation(*answers: Any, **settings: str) -> Investigation:
    named = {name.replace("__", "."): value for name, value in settings.items()}
    return Investigation({"alpha": [BELLS]}, {**MODEL, **named}, model_script=[PLAN, JUDGED, *answers])


def project_graph(inv: Investigation) -> ProjectGraph | None:
    standing = inv.fake_insights.read(PROJECT)
    return ProjectGraph.decoded(standing.body) if standing else None


def test_entities_and_relations_of_the_survivors_are_drawn_and_kept(capsys: pytest.CaptureFixture[str]) -> None:
    """In the result, in three files, in the project's graph; with their hits and spans, and paid for."""
    inv = investigation(said(relation()))
    run = inv.start(**WEB)
    assert inv.carry_out(run)["outcome"] == "success"
    told = inv.result(run)["insights"]
    assert (told["state"], told["reason"], told["mode"]) == ("done", None, "openai")
    assert (told["entities"], told["relations"], told["refused"]) == (2, 1, {})
    assert told["project"] == {"entities": 2, "relations": 1, "cut": {}}
    assert inv.result(run)["modes"]["insights"] == ["openai"]
    graph = project_graph(inv)
    assert graph is not None
    (stated,) = graph.insights.relations
    assert (stated.type, stated.evidence[0].run_id, stated.evidence[0].key) == ("hang_in", run.run_id, "h001")
    assert stated.evidence[0].span == "Cathedral bells ring"
    assert len(inv.file(run, "insights.jsonld")["@graph"]) == 3
    graph_ml = inv.fake_files.get(PROJECT, run.run_id, "insights.graphml")
    assert graph_ml is not None
    assert DefusedTree.fromstring(graph_ml)[-1].get("id") == "insights"
    standing = inv.run_of(run)
    assert (standing.progress["insights"].done, standing.progress["insights"].total) == (2, 2)
    assert (standing.counts["entities"], standing.counts["relations"], standing.usage.calls) == (2, 1, 3)
    assert f'"{Metric.CURATED_INSIGHTS}":[1.0]' in capsys.readouterr().out


def test_only_survivors_are_shown_to_the_model() -> None:
    """What was dropped is not read."""
    inv = investigation(said())
    inv.carry_out(inv.start(**WEB))
    shown = orjson.dumps(inv.model_transport.sent[-1].request.json).decode()
    assert "Bells of iron" in shown
    assert "Soup recipes" not in shown


def test_a_relation_whose_span_is_not_verbatim_in_its_hit_is_refused_and_counted() -> None:
    """Invented, of another hit, of one that was dropped, or of none: it reaches neither file nor graph."""
    wrong = [
        relation(span="Cathedral bells sing"),
        relation(key="h002", span="Cathedral bells ring"),
        relation(key="h003", span="Soup recipes"),
        relation(key="h999"),
    ]
    inv = investigation(said(*wrong))
    run = inv.start(**WEB)
    inv.carry_out(run)
    told = inv.result(run)["insights"]
    assert (told["state"], told["entities"], told["relations"]) == ("done", 2, 0)
    assert told["refused"] == {"not_verbatim": 2, "unknown_key": 2}
    assert inv.run_of(run).counts["refused_insights"] == 4
    graph = project_graph(inv)
    assert graph is not None
    assert graph.insights.relations == ()
    assert "hang_in" not in orjson.dumps(inv.file(run, "insights.jsonld")).decode()


OWN = """+++
role = "harvest"
version = "2"
schema = "research_insights"
internal = true
max_tokens = 500
+++
## system
Name the bells alone.
## user
{{ fence }}
"""


def tenants_own(inv: Investigation, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    book = RecipeBook(lambda tenant_id, name: text if (tenant_id, name) == ("acme", INSIGHTS) else None)
    monkeypatch.setattr(inv.models, "_recipes", book)


def test_a_tenants_own_recipe_is_what_the_model_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with every recipe; what it answers is checked all the same."""
    inv = investigation(said(relation(), relation(span="made up")))
    tenants_own(inv, OWN, monkeypatch)
    run = inv.start(**WEB)
    inv.carry_out(run)
    assert "Name the bells alone." in orjson.dumps(inv.model_transport.sent[-1].request.json).decode()
    assert inv.result(run)["insights"]["refused"] == {"not_verbatim": 1}


def test_runs_of_a_project_merge() -> None:
    """The second adds to what the first had found."""
    inv = Investigation(
        {"alpha": [BELLS]},
        MODEL,
        model_script=[
            *(PLAN, JUDGED, said(relation())),
            *(PLAN, JUDGED, said(entities=[entity("Bells"), entity("Iron", "h002", "iron")])),
        ],
    )
    for _ in range(2):
        run = inv.start(**WEB)
        inv.carry_out(run)
        inv.hands.advance(1)
    assert inv.result(run)["insights"]["project"] == {"entities": 3, "relations": 1, "cut": {}}
    graph = project_graph(inv)
    assert graph is not None
    assert {each.name: len(each.evidence) for each in graph.insights.entities} == {
        "Bells": 2,
        "Cathedral": 1,
        "Iron": 1,
    }


def test_nobody_draws_insights_who_was_not_asked_to() -> None:
    """They are off by default, and the result says nothing of them."""
    inv = investigation()
    run = inv.start(**{**WEB, "insights": False})
    inv.carry_out(run)
    assert inv.result(run)["insights"] is None
    assert "insights" not in inv.run_of(run).progress
    assert project_graph(inv) is None


def test_without_a_model_they_are_not_available_and_it_is_said() -> None:
    """Nothing built in pretends to it; the run is a success."""
    inv = Investigation({"alpha": [BELLS]})
    run = inv.start(**WEB)
    assert inv.carry_out(run)["outcome"] == "success"
    result = inv.result(run)
    assert (result["insights"]["state"], result["insights"]["reason"]) == ("not_available", "no_model")
    assert result["notes"] == ["no insights: not available, no model is configured"]
    standing = inv.run_of(run)
    assert standing.counts["insights_not_available"] == 1
    assert (standing.progress["insights"].done, standing.progress["insights"].total) == (1, 1)
    assert project_graph(inv) is None
    assert inv.file(run, "insights.jsonld") is None


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ([completion("no json"), completion("again none")], "invalid_output"),
        ([completion("")], "empty_answer"),
        ([completion(None, refusal="I cannot help with that.")], "refused"),
        ([refusal(401, "Incorrect API key provided")], "credentials_rejected"),
    ],
)
def test_a_model_without_a_usable_answer_fails_the_insights_and_not_the_run(answers: list[Any], reason: str) -> None:
    """Nothing of it is used, and the word for it is told."""
    inv = investigation(*answers)
    run = inv.start(**WEB)
    assert inv.carry_out(run) == {"state": "succeeded", "outcome": "success", "webhook": False}
    result = inv.result(run)
    assert (result["insights"]["state"], result["insights"]["reason"]) == ("failed", reason)
    assert f"no insights: {reason}" in result["notes"]
    assert len(result["survivors"]) == 2
    assert project_graph(inv) is None


def test_a_misconfigured_model_fails_them() -> None:
    """Its settings were changed while the run was under way."""
    inv = investigation()
    run = inv.start(**WEB, wall_seconds=900)
    inv.carry_out(run, until="insights")
    inv.save({"llm.harvest.protocol": "telepathy"})
    inv.hands.advance(600)
    inv.step("insights", run)
    inv.step("keep_insights", run)
    inv.step("finish", run)
    told = inv.result(run)["insights"]
    assert (told["state"], told["reason"]) == ("failed", "misconfigured")


def test_what_time_heals_is_left_to_the_state_machine() -> None:
    """The step asks once and raises; asked again, it goes on."""
    inv = investigation(refusal(429, "Rate limit reached"), said())
    run = inv.start(**WEB)
    inv.carry_out(run, until="extract")
    with pytest.raises(ModelThrottled):
        inv.step("extract", run, index=0)
    assert inv.step("extract", run, index=0)["ok"] is True


def test_hits_that_nobody_judged_are_not_read() -> None:
    """They would carry anything into the project's graph, be it all of them or one that the judge forgot."""
    inv = Investigation({"alpha": [BELLS]}, MODEL, model_script=[PLAN, kept("h001"), said(relation())])
    inv.carry_out(inv.start(**WEB))
    assert "Bells of iron" not in orjson.dumps(inv.model_transport.sent[-1].request.json).decode()
    inv = Investigation(
        {"alpha": [BELLS]}, MODEL, model_script=[PLAN, completion("no"), completion("no again"), said(relation())]
    )
    run = inv.start(**WEB)
    inv.carry_out(run)
    result = inv.result(run)
    assert result["outcome"] == "evaluate_failed"
    assert (result["insights"]["state"], result["insights"]["reason"]) == ("not_available", "not_judged")
    assert project_graph(inv) is None


@pytest.mark.parametrize("answer", [hits(), hits("Soup recipes", host="alpha.com")])
def test_without_survivors_there_is_nothing_to_draw_from(answer: Any) -> None:
    """Nothing was found, or nothing was kept: the model is not asked."""
    inv = Investigation({"alpha": [answer]}, MODEL, model_script=[PLAN, kept(dropped=("h001",))])
    run = inv.start(**WEB)
    inv.carry_out(run)
    told = inv.result(run)["insights"]
    assert (told["state"], told["reason"], told["batches"]) == ("empty", None, 0)


def test_many_survivors_are_read_in_batches_that_the_model_can_answer() -> None:
    """A batch whose step died is missing, and the rest is kept."""
    titles = [f"Cathedral bells {number}" for number in range(20)]
    every = [f"h{number:03d}" for number in range(1, 21)]
    first = said(entities=[entity("Bells", "h001")])
    third = said(entities=[entity("Bells", "h020"), entity("Cathedral", "h001")])
    inv = Investigation(
        {"alpha": [hits(*titles, host="alpha.com")]}, MODEL, model_script=[PLAN, kept(*every), first, third]
    )
    run = inv.start(**WEB, max_results=25)
    told = inv.carry_out(run, until="extract")
    assert told == {"then": "extract", "batches": [0, 1, 2], "parallel": 4}
    inv.step("extract", run, index=0)
    inv.step("extract", run, index=2)
    inv.step("keep_insights", run)
    inv.step("finish", run)
    result = inv.result(run)
    assert (result["insights"]["state"], result["insights"]["failed_batches"]) == ("partial", 1)
    assert "insights are missing from 1 of 3 batches of hits" in result["notes"]
    assert result["insights"]["refused"] == {"unknown_key": 1}
    graph = project_graph(inv)
    assert graph is not None
    (bells,) = graph.insights.entities
    assert [each.key for each in bells.evidence] == ["h001", "h020"]


@pytest.mark.parametrize(("budget", "given"), [("max_model_tokens", 2_000), ("wall_seconds", 60)])
def test_a_budget_that_is_nearly_spent_keeps_the_model_from_being_asked(budget: str, given: int) -> None:
    """It is named, and the run has its result."""
    inv = investigation()
    run = inv.start(**WEB, **{budget: given})
    inv.carry_out(run, until="insights")
    if budget == "wall_seconds":
        inv.hands.advance(58)
    told = inv.step("insights", run)
    for index in told["batches"]:
        inv.step("extract", run, index=index)
    inv.step("keep_insights", run)
    inv.step("finish", run)
    result = inv.result(run)
    assert (result["insights"]["state"], result["insights"]["reason"]) == ("not_available", budget)
    assert f"no insights: not available, {budget} is nearly spent" in result["notes"]
    assert (result["outcome"], len(inv.model_transport.sent)) == ("success", 2)


@pytest.mark.parametrize("until", ["insights", "extract", "keep_insights"])
def test_a_stopped_run_asks_no_model_and_keeps_what_it_has_to_itself(until: str) -> None:
    """What was drawn before the stop is in the run's files, and not in the project's graph."""
    inv = investigation(said(relation()))
    run = inv.start(**WEB)
    inv.carry_out(run, until="insights" if until == "insights" else "extract")
    if until == "keep_insights":
        inv.step("extract", run, index=0)
    inv.fake_runs.request_stop(PROJECT, run.run_id)
    asked = len(inv.model_transport.sent)
    if until == "insights":
        assert inv.step("insights", run)["then"] == "finish"
    else:
        assert inv.step("extract", run, index=0)["ok"] is False
        inv.step("keep_insights", run)
    assert inv.step("finish", run)["state"] == "stopped"
    told = inv.result(run)["insights"]
    if until == "keep_insights":
        assert (told["state"], told["entities"], told["project"]) == ("done", 2, None)
    else:
        assert (told["state"], told["reason"]) == ("not_available", "stopped")
    assert len(inv.model_transport.sent) == asked
    assert project_graph(inv) is None


def test_a_step_that_is_repeated_draws_and_counts_once(capsys: pytest.CaptureFixture[str]) -> None:
    """The model is asked once, the project's graph written once."""
    inv = investigation(said(relation()))
    run = inv.start(**WEB)
    inv.carry_out(run, until="extract")
    for step in ("insights", "extract", "keep_insights"):
        first = inv.step(step, run, index=0)
        assert inv.step(step, run, index=0) == first
    assert len(inv.model_transport.sent) == 3
    assert inv.fake_insights.calls["write"] == 1
    assert inv.run_of(run).counts["entities"] == 2
    assert capsys.readouterr().out.count(f'"{Metric.CURATED_INSIGHTS}":[1.0]') == 1


def test_a_project_graph_that_cannot_be_written_is_tried_again_and_the_runs_own_is_there() -> None:
    """The state machine tries again; what is never merged is told as such."""
    inv = investigation(said(relation()))
    run = inv.start(**WEB)
    inv.carry_out(run, until="extract")
    inv.step("extract", run, index=0)
    inv.fake_insights.fail_with = StoreUnavailable("SlowDown")
    with pytest.raises(StoreUnavailable):
        inv.step("keep_insights", run)
    inv.step("finish", run)
    told = inv.result(run)["insights"]
    assert (told["state"], told["entities"], told["project"]) == ("done", 2, None)
    assert "the insights were not merged into the project's" in inv.result(run)["notes"]
    assert inv.file(run, "insights.jsonld") is not None


def test_steps_that_died_are_missed() -> None:
    """The state machine caught them and went to the end."""
    inv = investigation()
    run = inv.start(**WEB)
    inv.carry_out(run, until="insights")
    inv.step("finish", run)
    assert inv.result(run)["insights"] == {"state": "failed", "reason": "step_failed"}
    assert "no insights: step_failed" in inv.result(run)["notes"]


def test_a_run_that_did_not_come_so_far_says_so() -> None:
    """Its plan failed."""
    inv = Investigation({"alpha": [BELLS]}, MODEL, model_script=[completion("")])
    run = inv.start(**WEB)
    inv.carry_out(run)
    assert inv.result(run)["insights"] == {"state": "not_available", "reason": "not_reached"}


def test_what_a_stopped_project_deleted_does_not_come_back() -> None:
    """The step was about to write when the project stopped: what it had read is gone, and it does not begin anew."""
    inv = investigation(said(relation()))
    inv.fake_insights.write(PROJECT, ProjectGraph().encoded(), over=None)
    run = inv.start(**WEB)
    inv.carry_out(run, until="extract")
    inv.step("extract", run, index=0)
    stop = project_stop(environment=lambda: inv)

    def stops() -> None:
        inv.fake_insights.before_write = lambda: None
        stop({"detail": {"tenant_id": "acme", "project_id": "demo"}}, LambdaContext(remaining_ms=300_000))

    inv.fake_insights.before_write = stops
    assert inv.step("keep_insights", run) == {"then": "finish"}
    assert inv.run_of(run).state is RunState.STOPPED
    assert project_graph(inv) is None
    assert inv.file(run, "insights.json")["project"] is None


def test_a_project_graph_that_cannot_be_read_is_left_and_told() -> None:
    """Another version's, say: the run has its own, and tells that it was not merged."""
    inv = investigation(said(relation()))
    inv.fake_insights.write(PROJECT, b'{"things": []}', over=None)
    run = inv.start(**WEB)
    assert inv.carry_out(run)["outcome"] == "success"
    result = inv.result(run)
    assert (result["insights"]["state"], result["insights"]["project"]) == ("done", None)
    assert "the insights were not merged into the project's" in result["notes"]
    assert [*inv.fake_insights.objects.values()] == [b'{"things": []}']


def test_a_tenants_recipe_with_a_short_answer_makes_small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the model may write at once is the smaller of both limits, and a batch has to be answered within it."""
    inv = investigation(said(), said())
    tenants_own(inv, OWN.replace("500", "300"), monkeypatch)
    run = inv.start(**WEB)
    assert inv.carry_out(run, until="extract")["batches"] == [0, 1]
    inv.step("extract", run, index=0)
    assert '"max_tokens":300' in orjson.dumps(inv.model_transport.sent[-1].request.json).decode()


def test_a_batch_has_25_hits_at_most_however_much_the_model_may_write() -> None:
    """As where they are judged: what a longer answer says of the last of many is worth less."""
    found = [hits(*(f"Cathedral bells {wave} {number}" for number in range(14)), host="alpha.com") for wave in "ab"]
    searches = [{"query": f"bells {number}", "modality": "WEB"} for number in range(2)]
    inv = Investigation(
        {"alpha": found},
        {**MODEL, "llm.primary.maxTokens": "100000", "llm.primary.contextTokens": "1000000"},
        model_script=[
            json_completion({"searches": searches, "rationale": ""}),
            kept(*(f"h{number:03d}" for number in range(1, 26))),
            kept(*(f"h{number:03d}" for number in range(26, 29))),
        ],
    )
    run = inv.start(**WEB, max_results=25)
    assert inv.carry_out(run, until="extract")["batches"] == [0, 1]
    assert [len(batch["keys"]) for batch in inv.file(run, "insights/plan.json")["batches"]] == [25, 3]


def test_a_run_that_ended_meanwhile_merges_nothing() -> None:
    """The reconciler was faster."""
    inv = investigation(said(relation()))
    run = inv.start(**WEB)
    inv.carry_out(run, until="extract")
    inv.step("extract", run, index=0)
    inv.step("fail", run, error="x")
    assert inv.step("keep_insights", run) == {"then": "finish"}
    assert project_graph(inv) is None
