"""The steps of an investigation, each invoked as the state machine does it, with providers and models by script."""

from collections.abc import Callable
from typing import Any

import orjson
import pytest

from tests.fakes.cloud import LambdaContext
from tests.fakes.investigation import MODEL, PROJECT, QUESTION, Investigation, hits
from tests.fakes.models import completion, json_completion, refusal
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import ConfigurationUnavailable, ProviderUnavailable, RateLimited
from zarniwoop.contract.hit import ContentInline, ContentReference, DatePrecision, LoadedContent, PublishedAt
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.entry.runs import runs
from zarniwoop.entry.steps import StepBroken
from zarniwoop.observe.metrics import Metric
from zarniwoop.pipelines.investigate.services import ModelThrottled, ModelUnavailable
from zarniwoop.pipelines.investigate.steps import StepImpossible
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.runs import RunState

WEB: dict[str, Any] = {"modalities": [SearchModality.WEB], "refine": False}
BELLS = hits("Cathedral bells ring", "Bells of iron", "Soup recipes", host="alpha.com")


def planned(*queries: str, affinity: float = 1.0, modality: str = "WEB") -> Any:
    searches = [{"query": each, "modality": modality, "sourceAffinity": {"alpha": affinity}} for each in queries]
    return json_completion({"searches": searches, "rationale": "because"})


def verdicts(**said: tuple[str, float]) -> Any:
    told = [
        {"key": key, "verdict": verdict, "relevanceScore": score, "reason": f"{key} is {verdict}"}
        for key, (verdict, score) in said.items()
    ]
    return json_completion({"verdicts": told})


def test_a_run_without_a_model_comes_to_its_end() -> None:
    """Plan, searches, judge and rank, all built in; and the result says so."""
    inv = Investigation({"alpha": [BELLS]})
    run = inv.start(**WEB)
    assert inv.carry_out(run) == {"state": "succeeded", "outcome": "success", "webhook": False}
    result = inv.result(run)
    assert (result["mode"], result["outcome"], result["question"]) == ("builtin", "success", QUESTION)
    assert [each["hit"]["title"] for each in result["survivors"]] == ["Cathedral bells ring", "Bells of iron"]
    assert [(each["title"], "no words" in each["reason"]) for each in result["dropped"]] == [("Soup recipes", True)]
    standing = inv.run_of(run)
    assert (standing.state, standing.outcome, standing.error) == (RunState.SUCCEEDED, "success", None)
    assert all(each.done == each.total for each in standing.progress.values())
    assert (standing.counts["survivors"], standing.counts["dropped"], standing.counts["works"]) == (2, 1, 3)


def test_survivors_are_kept_as_evidence_under_the_runs_id() -> None:
    """What the judge dropped is not; the envelope of the run links to each, and its text is read there."""
    said = hits("Cathedral bells ring", "Bells of iron", "Soup recipes", host="alpha.com", snippet="Cast long ago.")
    inv = Investigation({"alpha": [said]})
    run = inv.start(**WEB, store_evidence=True)
    inv.carry_out(run)
    event = {
        "scope": {"tenant_id": "acme", "project_id": "demo"},
        "operation": "get",
        "arguments": {"run_id": run.run_id},
    }
    answer = runs(lambda: inv)(event, LambdaContext())
    assert [each["title"] for each in answer["evidence"]] == ["Cathedral bells ring", "Bells of iron"]
    assert "evidence" not in answer["data"]["results"]
    listed = inv.fake_evidence.list(PROJECT, limit=10, task_id=run.run_id).evidence
    assert {each.id for each in listed} == {each["id"] for each in answer["evidence"]}
    assert {each.instance_id for each in listed} == {"alpha"}
    assert inv.fake_evidence.body(PROJECT, listed[0].content_hash) == "Cast long ago."


def test_a_run_keeps_nothing_unless_asked_to_nor_once_it_was_stopped() -> None:
    """The project of a stopped run may be going."""
    said = hits("Cathedral bells ring", host="alpha.com", snippet="They ring.")
    for asked, stopped in ((False, False), (True, True)):
        inv = Investigation({"alpha": [said]})
        run = inv.start(**WEB, store_evidence=asked)
        inv.carry_out(run, until="finish")
        if stopped:
            inv.fake_runs.request_stop(PROJECT, run.run_id)
        inv.step("finish", run)
        assert len(inv.result(run)["survivors"]) == 1
        assert inv.fake_evidence.calls["put"] == 0


def test_what_cannot_be_kept_of_a_run_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than an answer shows, and a hit in a form that is not ours."""
    monkeypatch.setattr("zarniwoop.pipelines.investigate.evidence.MOST_KEPT", 2)
    written: dict[str, Any] = {
        "content": ContentReference(inline=ContentInline.EMBED_TEXT, text="Bells are cast in loam."),
        "published_at": PublishedAt(value="2024", precision=DatePrecision.YEAR),
    }
    first = hits(
        "Cathedral bells ring", "Cathedral bells ring on", "Cathedral bells of iron", host="alpha.com", **written
    )
    inv = Investigation({"alpha": [first]})
    run = inv.start(**WEB, store_evidence=True)
    inv.carry_out(run, until="finish")
    (path,) = [each for each in inv.fake_files.objects if "/searches/" in each]
    inv.fake_files.objects[path] = inv.fake_files.objects[path].replace(b'"precision":"year"', b'"precision":"era"', 1)
    inv.step("finish", run)
    result = inv.result(run)
    assert "2 further survivors are not kept as evidence: too many, or illegible" in result["notes"]
    (link,) = result["evidence"]
    kept = inv.fake_evidence.get(PROJECT, link["id"])
    assert kept is not None
    assert (kept.published_at, kept.body_chars) == (written["published_at"], len("Bells are cast in loam."))


def test_a_run_has_its_result_although_its_evidence_cannot_be_kept() -> None:
    """And it says so."""
    inv = Investigation({"alpha": [hits("Cathedral bells ring", host="alpha.com", snippet="They ring.")]})
    run = inv.start(**WEB, store_evidence=True)
    inv.fake_evidence.fail_with = StoreUnavailable("down")
    assert inv.carry_out(run)["state"] == "succeeded"
    result = inv.result(run)
    assert (result["evidence"], len(result["survivors"])) == ([], 1)
    assert "1 of 1 hits are not kept as evidence: the store of evidence did not answer" in result["notes"]


def test_a_run_is_counted_once_however_often_its_end_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """The seed's metrics, with the outcome."""
    inv = Investigation({"alpha": [BELLS]})
    run = inv.start(**WEB)
    inv.carry_out(run)
    assert inv.step("finish", run) == {"state": "succeeded", "outcome": "success", "webhook": False}
    out = capsys.readouterr().out
    assert out.count(f'"{Metric.CURATED_RUNS}":[1.0]') == 1
    assert out.count(f'"{Metric.CURATED_DURATION}":[') == 1
    assert '"outcome":"success","vance.research.curated.runs"' in out


@pytest.mark.parametrize("step", ["plan", "search", "evaluate"])
def test_a_step_that_is_repeated_does_nothing_twice(step: str) -> None:
    """Lambda may run a step again that had succeeded: the provider and the model are asked once."""
    inv = Investigation(
        {"alpha": [BELLS]},
        MODEL,
        model_script=[planned("cathedral bells"), verdicts(h001=("keep", 0.9), h002=("keep", 0.5))],
    )
    run = inv.start(**WEB)
    first = inv.step("plan", run)
    for name in ("search", "merge", "evaluate"):
        inv.step(name, run, index=0, wave=1)
    before = inv.run_of(run)
    repeated = inv.step(step, run, index=0, wave=1)
    assert len(inv.protocol.asked) == 1
    assert len(inv.model_transport.sent) == 2
    assert step != "plan" or repeated == first
    assert (inv.run_of(run).usage, inv.run_of(run).counts) == (before.usage, before.counts)
    assert before.usage.calls == 2


def test_a_models_plan_and_verdicts_are_carried_out_and_paid_for() -> None:
    """Score is relevance times the affinity that the plan gave the instance."""
    inv = Investigation(
        {"alpha": [BELLS]},
        {**MODEL, "llm.primary.costPerMillionInput": "10", "llm.primary.costPerMillionOutput": "20"},
        model_script=[
            planned("cathedral bells", affinity=1.5),
            verdicts(h001=("keep", 0.5), h002=("keep", 0.8), h003=("drop", 0.1)),
        ],
    )
    run = inv.start(**WEB)
    inv.carry_out(run)
    result = inv.result(run)
    assert result["mode"] == "openai"
    assert [(each["key"], each["score"]) for each in result["survivors"]] == [("h002", 1.2), ("h001", 0.75)]
    assert [(each["key"], each["reason"]) for each in result["dropped"]] == [("h003", "h003 is drop")]
    standing = inv.run_of(run)
    assert (standing.usage.calls, standing.usage.input_tokens, standing.usage.output_tokens) == (2, 200, 40)
    assert standing.cost == pytest.approx(2 * (100 * 10 + 20 * 20) / 1_000_000)


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ([completion("no json"), completion("again none")], "invalid_output"),
        ([completion('{"searches": [{"que'), completion('{"searches": [{"que')], "invalid_output"),
        ([json_completion({"unexpected": True}), json_completion([])], "invalid_output"),
        ([completion("")], "empty_answer"),
        ([completion(None, refusal="I cannot help with that.")], "refused"),
        ([refusal(401, "Incorrect API key provided")], "credentials_rejected"),
        ([json_completion({"searches": [], "rationale": ""})], "no_search"),
        ([planned("bells", modality="SMELL")], "no_search"),
    ],
)
def test_a_plan_that_cannot_be_used_fails_closed(answers: list[Any], reason: str) -> None:
    """One repair, then the run ends with the word for it; nobody was searched."""
    inv = Investigation({"alpha": [BELLS]}, MODEL, model_script=answers)
    run = inv.start(**WEB)
    assert inv.carry_out(run)["outcome"] == "plan_failed"
    standing = inv.run_of(run)
    assert (standing.state, standing.outcome, standing.error) == (RunState.FAILED, "plan_failed", reason)
    assert inv.protocol.asked == []
    assert inv.result(run)["survivors"] == []


@pytest.mark.parametrize(
    ("failure", "raised"),
    [
        (refusal(429, "Rate limit reached"), ModelThrottled),
        (refusal(500, "The server had an error"), ModelUnavailable),
        (ProviderUnavailable("unreachable"), ModelUnavailable),
        (RateLimited("slow down", retry_after=2), ModelThrottled),
    ],
)
@pytest.mark.parametrize("step", ["plan", "evaluate"])
def test_what_time_heals_is_left_to_the_state_machine(step: str, failure: Any, raised: type[Exception]) -> None:
    """The step asks once and raises; asked again, it goes on."""
    later = planned("bells") if step == "plan" else verdicts(h001=("keep", 1.0))
    script = [failure, later] if step == "plan" else [planned("bells"), failure, later]
    inv = Investigation({"alpha": [BELLS]}, MODEL, model_script=script)
    run = inv.start(**WEB)
    if step == "evaluate":
        inv.carry_out(run, until="evaluate")
    with pytest.raises(raised):
        inv.step(step, run, index=0, wave=1)
    assert inv.step(step, run, index=0, wave=1).get("then", "") in ("search", "")


def test_a_wait_that_is_too_long_is_not_left_to_the_state_machine() -> None:
    """A stated wait of minutes is longer than any retry: the batch stays unjudged."""
    inv = Investigation(
        {"alpha": [BELLS]}, MODEL, model_script=[planned("bells"), RateLimited("slow down", retry_after=600)]
    )
    run = inv.start(**WEB)
    inv.carry_out(run)
    result = inv.result(run)
    assert (result["outcome"], result["ranked"]) == ("evaluate_failed", False)
    assert result["gaps"] == ["3 hits were not judged: rate_limited"]


def test_a_judge_without_a_usable_answer_leaves_the_fused_order_marked() -> None:
    """Hits are returned all the same; nothing built in judges in a model's place when the model failed."""
    inv = Investigation(
        {"alpha": [BELLS]}, MODEL, model_script=[planned("bells"), completion("no"), completion("no again")]
    )
    run = inv.start(**WEB)
    inv.carry_out(run)
    result = inv.result(run)
    assert (result["outcome"], result["ranked"]) == ("evaluate_failed", False)
    assert [each["key"] for each in result["survivors"]] == ["h001", "h002", "h003"]
    assert all(each["unjudged"] and each["score"] is None for each in result["survivors"])
    assert inv.run_of(run).state is RunState.SUCCEEDED


def test_verdicts_for_unknown_keys_are_ignored_and_missing_ones_keep_the_hit() -> None:
    """No answer can lose a hit silently."""
    inv = Investigation(
        {"alpha": [BELLS]},
        MODEL,
        model_script=[planned("bells"), verdicts(h002=("keep", 0.7), h777=("drop", 0.0))],
    )
    run = inv.start(**WEB)
    inv.carry_out(run)
    result = inv.result(run)
    assert [(each["key"], each["unjudged"]) for each in result["survivors"]] == [
        ("h002", False),
        ("h001", True),
        ("h003", True),
    ]
    assert result["gaps"] == ["2 hits were not judged: no verdict was given"]
    assert result["notes"] == ["verdicts ignored, for keys that were not shown: 1"]


@pytest.mark.parametrize(("settings", "most"), [({"maxTokens": "210"}, 3), ({"contextTokens": "1600"}, 2), ({}, 20)])
def test_a_batch_fits_what_the_judge_reads_and_writes_at_once(settings: dict[str, str], most: int) -> None:
    """An answer that is cut short judges nobody."""
    many = hits(*(f"Bell number {number} of the cathedral" for number in range(20)))
    model = {f"llm.harvest.{suffix}": value for suffix, value in settings.items()}
    inv = Investigation({"alpha": [many]}, {**MODEL, **model}, model_script=[planned("bells")])
    run = inv.start(max_results=20, **WEB)
    inv.carry_out(run, until="evaluate")
    assert max(len(batch["keys"]) for batch in inv.file(run, "batches-1.json")) == most


def test_a_model_is_held_to_what_there_is() -> None:
    """The schema has the limits of the question: so many searches, kinds and indexes that are served, these keys."""
    told = verdicts(h001=("keep", 0.5), h002=("keep", 0.5), h003=("keep", 0.5))
    inv = Investigation({"alpha": [BELLS]}, MODEL, model_script=[planned("bells"), told])
    inv.carry_out(inv.start(max_searches=4, **WEB))
    plan, judgement = (
        sent.request.json["response_format"]["json_schema"]["schema"]["properties"] for sent in inv.model_transport.sent
    )
    fields = plan["searches"]["items"]["properties"]
    assert (plan["searches"]["maxItems"], fields["modality"]["enum"]) == (4, ["WEB"])
    assert fields["sourceAffinity"]["properties"] == {"alpha": {"type": "number"}}
    assert judgement["verdicts"]["items"]["properties"]["key"]["enum"] == ["h001", "h002", "h003"]
    assert judgement["verdicts"]["minItems"] == 3


def test_what_a_model_says_twice_or_out_of_range_is_told() -> None:
    """How much of its answers had no effect, counted in the notes."""
    said = {"key": "h001", "verdict": "keep", "relevanceScore": 7, "reason": "…"}
    order = json_completion({"keys": ["h002", "h002", "h001", "h9"]})
    kept = {"key": "h002", "verdict": "keep", "relevanceScore": 0.5, "reason": "fits"}
    inv = Investigation(
        {"alpha": [BELLS]},
        {**MODEL, "research.rerank.recipe": "zarniwoop-research-rerank"},
        model_script=[planned("bells"), json_completion({"verdicts": [said, said, kept]}), order],
    )
    run = inv.start(**WEB)
    inv.carry_out(run)
    result = inv.result(run)
    assert result["notes"] == [
        "verdicts ignored, for keys that had one already: 1",
        "scores out of range, brought into it: 1",
        "re-ranked keys ignored, unknown or repeated: 2",
    ]
    assert {each["key"]: each["reason"] for each in result["survivors"]}["h001"] == "no reason given"


def test_one_search_of_many_that_fails_is_told_and_sinks_nothing() -> None:
    """Its entry has the word; the others have their hits."""
    inv = Investigation({"alpha": [ProviderUnavailable("down"), BELLS]})
    run = inv.start(modalities=[SearchModality.WEB, SearchModality.ACADEMIC], refine=False)
    inv.carry_out(run)
    result = inv.result(run)
    assert [(each["ok"], each["failure"]) for each in result["searches"]] == [(False, "all_failed"), (True, None)]
    assert result["outcome"] == "success"
    assert result["gaps"] == ["search 0 (WEB) was not answered: all_failed"]


@pytest.mark.parametrize("answer", [hits(), ProviderUnavailable("down")])
def test_a_run_that_finds_nothing_is_empty_and_asks_no_judge(answer: Any) -> None:
    """Neither a hit nor a word is invented."""
    inv = Investigation({"alpha": [answer]}, MODEL, model_script=[planned("bells")])
    run = inv.start(**WEB)
    inv.carry_out(run)
    result = inv.result(run)
    assert (result["outcome"], result["survivors"], result["dropped"]) == ("empty", [], [])
    unanswered = [note for note in result["notes"] if note.startswith("no search was answered")]
    assert len(unanswered) == int(isinstance(answer, Exception))
    assert len(inv.model_transport.sent) == 1
    assert "evaluate" not in inv.run_of(run).progress


def test_too_few_survivors_bring_a_second_wave_and_never_a_third() -> None:
    """The second is planned from what the first found; keys stay, and only what is new is judged."""
    more = hits("Cathedral bells ring", "How bells are cast", host="alpha.com")
    inv = Investigation(
        {"alpha": [BELLS, more]},
        MODEL,
        model_script=[
            planned("cathedral bells"),
            verdicts(h001=("keep", 0.9), h002=("drop", 0.1), h003=("drop", 0.0)),
            planned("casting of bells"),
            verdicts(h004=("drop", 0.2)),
        ],
    )
    run = inv.start(modalities=[SearchModality.WEB])
    inv.carry_out(run)
    result = inv.result(run)
    assert (result["waves"], result["outcome"]) == (2, "success")
    assert [each["key"] for each in result["survivors"]] == ["h001"]
    assert len(result["survivors"][0]["sources"]) == 2
    asked = [orjson.dumps(sent.request.json).decode() for sent in inv.model_transport.sent]
    assert "How bells are cast" in asked[3]
    assert "Soup recipes" not in asked[3]
    assert inv.run_of(run).counts["works"] == 4


def test_both_waves_together_stay_within_the_searches_that_were_allowed() -> None:
    """A quarter is kept back for the second wave; the first of four plans three."""
    inv = Investigation(
        {"alpha": [hits("Nothing of it")]},
        MODEL,
        model_script=[
            planned(*(f"bells {number}" for number in range(9))),
            verdicts(h001=("drop", 0.0)),
            planned(*(f"more bells {number}" for number in range(9))),
        ],
    )
    run = inv.start(modalities=[SearchModality.WEB], max_searches=4)
    inv.carry_out(run)
    assert len(inv.protocol.asked) == 4
    assert [each["wave"] for each in inv.result(run)["searches"]] == [1, 1, 1, 2]


def test_a_second_wave_that_cannot_be_planned_leaves_the_first_as_it_is() -> None:
    """It is noted, and the run succeeds."""
    inv = Investigation(
        {"alpha": [BELLS]},
        MODEL,
        model_script=[
            planned("bells"),
            verdicts(h001=("keep", 0.9), h002=("drop", 0.1), h003=("drop", 0.1)),
            completion(""),
        ],
    )
    run = inv.start(modalities=[SearchModality.WEB])
    inv.carry_out(run)
    result = inv.result(run)
    assert (result["outcome"], result["waves"]) == ("success", 1)
    assert "no second wave: empty_answer" in result["notes"]


def test_survivors_are_re_ranked_where_the_settings_say_so() -> None:
    """The recipe's order counts; keys that it does not know are left out."""
    inv = Investigation(
        {"alpha": [BELLS]},
        {**MODEL, "research.rerank.recipe": "zarniwoop-research-rerank"},
        model_script=[
            planned("bells"),
            verdicts(h001=("keep", 0.9), h002=("keep", 0.5), h003=("keep", 0.4)),
            json_completion({"keys": ["h003", "h888", "h001"]}),
        ],
    )
    run = inv.start(**WEB)
    inv.carry_out(run)
    result = inv.result(run)
    assert (result["reranked"], result["modes"]["rerank"]) == (True, ["openai"])
    assert [each["key"] for each in result["survivors"]] == ["h003", "h001", "h002"]


def test_without_a_model_there_is_no_re_ranking_and_it_is_noted() -> None:
    """Nothing built in pretends to it."""
    inv = Investigation({"alpha": [BELLS]}, {"research.rerank.recipe": "zarniwoop-research-rerank"})
    run = inv.start(**WEB)
    inv.carry_out(run)
    result = inv.result(run)
    assert (result["outcome"], result["reranked"]) == ("success", False)
    assert result["notes"] == ["not re-ranked: not available, no model is configured"]
    assert result["rerank"] == {"state": "not_available", "reason": "no_model"}
    assert inv.run_of(run).counts["rerank_not_available"] == 1


def test_a_re_ranking_without_a_usable_answer_is_told() -> None:
    """The order stays, and the result says why."""
    inv = Investigation(
        {"alpha": [BELLS]},
        {**MODEL, "research.rerank.recipe": "zarniwoop-research-rerank"},
        model_script=[planned("bells"), verdicts(h001=("keep", 0.9), h002=("keep", 0.5)), completion("")],
    )
    run = inv.start(**WEB)
    inv.carry_out(run)
    result = inv.result(run)
    assert (result["rerank"], result["reranked"]) == ({"state": "failed", "reason": "empty_answer"}, False)
    assert "not re-ranked: empty_answer" in result["notes"]


def test_near_the_end_of_its_time_a_run_is_not_re_ranked() -> None:
    """The budget is named."""
    inv = Investigation(
        {"alpha": [BELLS]},
        {**MODEL, "research.rerank.recipe": "zarniwoop-research-rerank"},
        model_script=[planned("bells"), verdicts(h001=("keep", 0.9), h002=("keep", 0.5))],
    )
    run = inv.start(**WEB, wall_seconds=60)
    inv.carry_out(run, until="rerank")
    inv.hands.advance(58)
    for step in ("rerank", "rank", "finish"):
        inv.step(step, run, wave=1)
    assert inv.result(run)["rerank"] == {"state": "not_available", "reason": "wall_seconds"}
    assert "not re-ranked: not available, wall_seconds is nearly spent" in inv.result(run)["notes"]


@pytest.mark.parametrize(
    ("before", "told"),
    [
        ("rerank", {"state": "failed", "reason": "step_failed"}),
        ("stop", {"state": "not_available", "reason": "stopped"}),
        ("judged", {"state": "not_available", "reason": "not_judged"}),
    ],
)
def test_a_re_ranking_that_was_wanted_and_never_made_is_missed(before: str, told: dict[str, str]) -> None:
    """Its step died, the run was stopped before it, or nothing had been judged."""
    judged = verdicts() if before == "judged" else verdicts(h001=("keep", 0.9), h002=("keep", 0.5))
    inv = Investigation(
        {"alpha": [BELLS]},
        {**MODEL, "research.rerank.recipe": "zarniwoop-research-rerank"},
        model_script=[planned("bells"), judged],
    )
    run = inv.start(**WEB)
    inv.carry_out(run, until="rank" if before == "judged" else "rerank")
    if before == "stop":
        inv.fake_runs.request_stop(PROJECT, run.run_id)
    else:
        inv.step("rank", run, wave=1)
    inv.step("finish", run)
    assert inv.result(run)["rerank"] == told
    assert [note for note in inv.result(run)["notes"] if note.startswith("not re-ranked: ")]


class Bodies:
    """Gives `load_content` of a scripted instance its answers."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *answers: LoadedContent | Exception) -> None:
        self.asked: list[str] = []
        self._answers = list(answers)
        monkeypatch.setattr("tests.fakes.providers.FakeInstance.load_content", self._load)

    def _load(self, _instance: Any = None, reference: Any = None, scope: Any = None) -> LoadedContent:
        self.asked.append(str(reference))
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def page(text: str, media_type: str = "text/html; charset=utf-8") -> LoadedContent:
    return LoadedContent(body=text.encode(), media_type=media_type, source_url="https://alpha.com/page")


def test_deepening_stores_bodies_and_shows_the_judge_their_passages(monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole body is stored; of it, what is closest to the question is judged."""
    filler = "The weather was fine. " * 200
    loaded = Bodies(monkeypatch, page(f"<p>{filler}</p><p>Cathedral bells ring by ropes.</p>"))
    inv = Investigation(
        {"alpha": [hits("On ropes", host="alpha.com", reference="42")]},
        MODEL,
        model_script=[planned("bells"), verdicts(h001=("keep", 0.9))],
    )
    run = inv.start(**WEB, refine_depth=1)
    inv.carry_out(run)
    asked = orjson.dumps(inv.model_transport.sent[1].request.json).decode()
    assert "Cathedral bells ring by ropes." in asked
    result = inv.result(run)
    assert (result["refine_depth"], len(loaded.asked)) == (1, 1)
    sha256 = result["survivors"][0]["hit"]["extras"]["content_sha256"]
    stored = inv.fake_content.find(PROJECT, sha256)
    assert stored is not None
    assert (stored.instance_id, stored.media_type) == ("alpha", "text/html; charset=utf-8")
    assert inv.run_of(run).counts["bodies"] == 1


@pytest.mark.parametrize(
    ("failure", "word"),
    [
        (ProviderUnavailable("down"), "provider_unavailable"),
        (ConfigurationUnavailable("no key"), "key_unavailable"),
        (RuntimeError("a bug of an add-on"), "internal"),
    ],
)
def test_a_body_that_cannot_be_loaded_is_a_note(monkeypatch: pytest.MonkeyPatch, failure: Exception, word: str) -> None:
    """The hit is judged as it is."""
    Bodies(monkeypatch, failure)
    inv = Investigation({"alpha": [hits("Cathedral bells", host="alpha.com", reference="42")]})
    run = inv.start(**WEB, refine_depth=1)
    inv.carry_out(run)
    result = inv.result(run)
    assert (result["outcome"], result["refine_depth"]) == ("success", 0)
    assert result["notes"] == [f"the body of h001 was not loaded: {word}"]


def test_at_most_five_bodies_are_loaded_and_what_is_no_text_is_only_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    """The most promising first; a PDF has no passage."""
    loaded = Bodies(monkeypatch, *(page(f"%PDF {number}", "application/pdf") for number in range(8)))
    titles = [f"Cathedral bells {number}" for number in range(8)]
    inv = Investigation({"alpha": [hits(*titles, host="alpha.com", reference="42")]})
    run = inv.start(**WEB, refine_depth=1)
    inv.carry_out(run)
    assert len(loaded.asked) == 5
    bodies = inv.file(run, "bodies.json")
    assert sorted(bodies) == ["h001", "h002", "h003", "h004", "h005"]
    assert {each["passage"] for each in bodies.values()} == {""}


def test_an_instance_that_cools_down_is_not_asked_for_bodies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its wait holds for whatever would be asked of it."""
    loaded = Bodies(monkeypatch)
    inv = Investigation({"alpha": [hits("Cathedral bells", host="alpha.com", reference="42")]})
    run = inv.start(**WEB, refine_depth=1)
    assert inv.carry_out(run, until="deepen")["then"] == "deepen"
    inv.protocol.scripts["alpha"] = [RateLimited("slow down", retry_after=60)]
    assert inv.tools.dispatcher.search(
        SearchRequest(query="bells", modality=SearchModality.WEB),
        SearchScope(tenant_id="acme", project_id="demo", deadline=Deadline.after(20, inv.clock)),
    ).failure
    inv.step("deepen", run, wave=1)
    assert (inv.file(run, "bodies.json")["h001"]["failure"], loaded.asked) == ("cooldown", [])


def test_settings_that_cannot_be_read_fail_the_search_and_not_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search's trouble is data, whatever it is."""
    inv = Investigation({"alpha": [BELLS]})
    run = inv.start(**WEB)
    inv.step("plan", run)

    def unavailable(*_given: Any) -> Any:
        raise ConfigurationUnavailable("Parameter Store does not answer")

    monkeypatch.setattr(inv.tools.dispatcher, "search", unavailable)
    assert inv.step("search", run, index=0, wave=1)["ok"] is False
    assert inv.file(run, "searches/00.json")["failure"] == "config_unavailable"


def test_what_a_model_took_before_its_endpoint_failed_is_written_down() -> None:
    """The first answer was paid for; the repair never came."""
    inv = Investigation(
        {"alpha": [BELLS]}, MODEL, model_script=[completion("no json"), refusal(500, "The server had an error")]
    )
    run = inv.start(**WEB)
    with pytest.raises(ModelUnavailable):
        inv.step("plan", run)
    standing = inv.run_of(run)
    assert (standing.usage.calls, standing.usage.output_tokens) == (1, 20)
    assert standing.progress["failed_model_calls"].done == 1


def test_texts_of_hits_are_kept_at_lengths_that_a_run_can_hold() -> None:
    """An add-on may put whole books into its hits."""
    body = ContentReference(inline=ContentInline.EMBED_TEXT, text="bell " * 10_000)
    inv = Investigation({"alpha": [hits("Cathedral bells", snippet="ring " * 2_000, content=body)]})
    run = inv.start(**WEB)
    inv.carry_out(run)
    (hit,) = [each["hit"] for each in inv.result(run)["survivors"]]
    assert 1_900 < len(hit["snippet"]) <= 2_000
    assert 7_900 < len(hit["content"]["text"]) <= 8_000


def test_a_run_whose_question_is_gone_is_refused_and_can_still_be_ended() -> None:
    """Its files are past their time: nothing can be done for it but the end."""
    inv = Investigation({"alpha": [BELLS]})
    run = inv.start(**WEB)
    inv.fake_files.objects.clear()
    with pytest.raises(StepImpossible):
        inv.step("plan", run)
    assert inv.step("fail", run, error="StepImpossible")["state"] == "failed"


@pytest.mark.parametrize("until", ["search", "evaluate", "judge", "rank"])
def test_a_run_that_is_asked_to_stop_starts_nothing_new_and_shows_what_it_has(until: str) -> None:
    """Wherever it is, the next step leads to the end, and the end is told as a stop."""
    inv = Investigation({"alpha": [BELLS]})
    run = inv.start(**WEB)
    reached = inv.carry_out(run, until=until) if until != "judge" else inv.carry_out(run, until="evaluate")
    inv.fake_runs.request_stop(PROJECT, run.run_id)
    asked = len(inv.protocol.asked)
    if until == "search":
        assert inv.step("search", run, index=0, wave=1)["ok"] is False
        assert inv.step("merge", run, wave=1)["then"] == "finish"
    else:
        assert inv.step(reached["then"], run, index=0, wave=1).get("then", "finish") == "finish"
    assert inv.step("finish", run)["state"] == "stopped"
    assert len(inv.protocol.asked) == asked
    standing = inv.run_of(run)
    assert (standing.state, standing.error) == (RunState.STOPPED, None)
    result = inv.result(run)
    assert len(result["survivors"]) + len(result["dropped"]) == (0 if until == "search" else 3)
    assert result["gaps"][:1] == (
        ["search 0 (WEB) was not answered: the run was stopped"] if until == "search" else result["gaps"][:1]
    )


def test_a_run_that_is_stopped_before_its_plan_has_no_outcome() -> None:
    """Nothing failed, nothing was found."""
    inv = Investigation({"alpha": [BELLS]})
    run = inv.start(**WEB)
    inv.fake_runs.request_stop(PROJECT, run.run_id)
    assert inv.step("plan", run)["then"] == "finish"
    assert inv.step("finish", run) == {"state": "stopped", "outcome": None, "webhook": False}


def test_a_spent_budget_of_money_keeps_searches_from_being_planned() -> None:
    """What the first candidate takes is counted in advance, search by search."""
    inv = Investigation(
        {"alpha": [BELLS]},
        {**MODEL, "research.endpoint.alpha.costPerCall": "0.4", "research.default.web": "alpha"},
        model_script=[planned("one", "two", "three"), verdicts(h001=("keep", 1.0))],
    )
    run = inv.start(**WEB, max_cost=1.0)
    inv.carry_out(run)
    assert len(inv.protocol.asked) == 2
    assert inv.result(run)["notes"] == ["1 of 3 searches were left out: max_cost would be exceeded"]
    standing = inv.run_of(run)
    assert standing.cost == pytest.approx(0.8)
    assert (standing.progress["search"].done, standing.progress["search"].total) == (2, 2)


def test_a_run_without_money_spends_none() -> None:
    """`max_cost` 0 fails a plan of metered searches before any of them."""
    settings = {"research.endpoint.alpha.costPerCall": "0.4", "research.default.web": "alpha"}
    inv = Investigation({"alpha": [BELLS]}, settings)
    run = inv.start(**WEB, max_cost=0)
    inv.carry_out(run)
    assert (inv.run_of(run).outcome, inv.run_of(run).error) == ("plan_failed", "max_cost")
    assert inv.protocol.asked == []


def test_searches_that_come_too_late_are_skipped_and_named() -> None:
    """Near the end of the wall time no search is started, and what there is is ranked."""
    inv = Investigation({"alpha": [BELLS]})
    run = inv.start(modalities=[SearchModality.WEB, SearchModality.ACADEMIC], refine=False, wall_seconds=60)
    inv.step("plan", run)
    inv.step("search", run, index=0, wave=1)
    inv.hands.advance(50)
    assert inv.step("search", run, index=1, wave=1)["ok"] is False
    inv.step("merge", run, wave=1)
    inv.step("evaluate", run, index=0, wave=1)
    inv.step("judge", run, wave=1)
    inv.step("finish", run)
    result = inv.result(run)
    assert (result["outcome"], len(inv.protocol.asked)) == ("success", 1)
    assert result["gaps"] == ["search 1 (ACADEMIC) was not made: wall_seconds is nearly spent"]


def test_near_the_end_of_its_time_a_run_is_judged_without_its_model() -> None:
    """The built-in takes over, and says for which budget's sake."""
    inv = Investigation({"alpha": [BELLS]}, MODEL, model_script=[planned("cathedral bells")])
    run = inv.start(**WEB, wall_seconds=60)
    inv.carry_out(run, until="evaluate")
    inv.hands.advance(58)
    inv.step("evaluate", run, index=0, wave=1)
    inv.step("judge", run, wave=1)
    inv.step("finish", run)
    result = inv.result(run)
    assert (result["mode"], result["modes"]) == ("builtin", {"plan": ["openai"], "evaluate": ["builtin"]})
    assert result["notes"] == ["judged without a model: wall_seconds is nearly spent"]


def test_batches_beyond_the_token_budget_are_judged_without_the_model() -> None:
    """Decided for all batches at once: side by side they do not spend the same tokens twice."""
    titles = [f"Cathedral bells ring number {number} {'in the old tower ' * 12}" for number in range(60)]
    inv = Investigation(
        {"alpha": [hits(*titles[:25]), hits(*titles[25:50]), hits(*titles[50:])]},
        MODEL,
        model_script=[planned("bells 1", "bells 2", "bells 3"), verdicts(h001=("keep", 0.9))],
    )
    run = inv.start(**WEB, max_results=25, max_model_tokens=7_000)
    inv.carry_out(run)
    batches = inv.file(run, "batches-1.json")
    assert [each["budget"] for each in batches] == [None, "max_model_tokens", "max_model_tokens"]
    assert len(inv.model_transport.sent) == 2
    assert inv.result(run)["modes"]["evaluate"] == ["builtin", "openai"]


def test_a_step_that_dies_leaves_what_was_found(capsys: pytest.CaptureFixture[str]) -> None:
    """The run ends as failed, with our word for what was caught, and with its hits."""
    inv = Investigation({"alpha": [BELLS]})
    run = inv.start(**WEB)
    inv.carry_out(run, until="evaluate")
    assert inv.step("fail", run, error="States.Timeout")["state"] == "failed"
    standing = inv.run_of(run)
    assert (standing.state, standing.error, standing.outcome) == (RunState.FAILED, "step_timed_out", "evaluate_failed")
    assert len(inv.result(run)["survivors"]) == 3
    assert '"outcome":"failed","vance.research.curated.runs"' in capsys.readouterr().out


@pytest.mark.parametrize("error", ["StepBroken", "Sandbox.Timedout", None])
def test_a_death_of_unknown_cause_has_a_word_too(error: str | None) -> None:
    """No text of an exception gets into the run."""
    inv = Investigation({"alpha": [BELLS]})
    run = inv.start(**WEB)
    inv.step("fail", run, error=error)
    assert inv.run_of(run).error == "step_failed"


def test_a_broken_file_does_not_keep_a_run_from_its_end() -> None:
    """The last resort does without the result, if it must."""
    inv = Investigation({"alpha": [BELLS]})
    run = inv.start(**WEB)
    inv.carry_out(run, until="evaluate")
    inv.fake_files.put(PROJECT, run.run_id, "merged.json", {"wave": 1, "hits": [{"key": 7}]})
    with pytest.raises(StepBroken):
        inv.step("finish", run)
    assert inv.step("fail", run, error="StepBroken") == {"state": "failed", "outcome": None, "webhook": False}
    assert inv.run_of(run).state is RunState.FAILED


def test_a_search_whose_count_was_lost_is_counted_when_all_are_merged() -> None:
    """Its step wrote what it had found and could not say so: the cost must not go missing."""
    inv = Investigation(
        {"alpha": [BELLS]}, {"research.endpoint.alpha.costPerCall": "0.25", "research.default.web": "alpha"}
    )
    run = inv.start(**WEB)
    inv.step("plan", run)
    report = inv.fake_runs.update_progress
    inv.fake_runs.update_progress = lambda *_given: False  # type: ignore[method-assign]
    inv.step("search", run, index=0, wave=1)
    inv.fake_runs.update_progress = report  # type: ignore[method-assign]
    inv.step("merge", run, wave=1)
    standing = inv.run_of(run)
    assert (standing.cost, standing.counts["searches"], standing.progress["search"].done) == (0.25, 1, 1)


def test_with_s3_denied_a_run_fails_and_ends_all_the_same() -> None:
    """Steps raise what the state machine retries; the last resort needs no file."""
    inv = Investigation({"alpha": [BELLS]})
    run = inv.start(**WEB)
    inv.fake_files.fail_with = StoreUnavailable("AccessDenied")
    with pytest.raises(StoreUnavailable):
        inv.step("plan", run)
    assert inv.step("fail", run, error="StoreUnavailable") == {"state": "failed", "outcome": None, "webhook": False}
    assert (inv.run_of(run).state, inv.run_of(run).error) == (RunState.FAILED, "store_unavailable")


def test_a_run_that_ended_meanwhile_gets_no_more_work() -> None:
    """The reconciler was faster: its ending stands."""
    inv = Investigation({"alpha": [BELLS]})
    run = inv.start(**WEB)
    inv.step("plan", run)
    inv.step("fail", run, error="x")
    assert inv.step("search", run, index=0, wave=1)["ok"] is False
    assert inv.step("merge", run, wave=1)["then"] == "finish"
    assert inv.step("finish", run)["state"] == "failed"
    assert inv.protocol.asked == []


def test_an_unknown_run_is_refused() -> None:
    """By a name that no retry knows."""
    inv = Investigation({"alpha": [BELLS]})
    run = inv.start(**WEB)
    with pytest.raises(StepImpossible):
        inv.step(
            "plan", type(run)(**{**{name: getattr(run, name) for name in run.__slots__}, "run_id": _other(run.run_id)})
        )


def _other(run_id: str) -> str:
    return run_id[:-1] + ("0" if run_id[-1] != "0" else "1")


def test_a_bug_of_ours_leaves_without_its_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An exception's text may hold a query: neither the history nor the log gets it."""

    def break_down(*_given: Any, **_more: Any) -> Any:
        raise KeyError(QUESTION)

    inv = Investigation({"alpha": [BELLS]})
    run = inv.start(**WEB)
    monkeypatch.setattr("zarniwoop.pipelines.investigate.planning.plan_variables", break_down)
    with pytest.raises(StepBroken) as caught:
        inv.step("plan", run)
    assert QUESTION not in str(caught.value)
    assert caught.value.__cause__ is None
    logged = capsys.readouterr().out
    assert '"error":"KeyError"' in logged
    assert QUESTION not in logged


def test_nobody_to_ask_fails_the_plan_at_once() -> None:
    """With no endpoint, or none of the wanted kind, no model is asked either."""
    inv = Investigation({"alpha": [BELLS]}, MODEL, modalities=frozenset({SearchModality.BOOK}))
    run = inv.start(**WEB)
    inv.carry_out(run)
    assert (inv.run_of(run).outcome, inv.run_of(run).error) == ("plan_failed", "no_providers")
    assert inv.model_transport.sent == []


def test_a_misconfigured_model_fails_the_plan() -> None:
    """It is said where the settings are shown; here the run ends."""
    inv = Investigation({"alpha": [BELLS]}, {"llm.primary.protocol": "telepathy"})
    run = inv.start(**WEB)
    inv.carry_out(run)
    assert (inv.run_of(run).outcome, inv.run_of(run).error) == ("plan_failed", "misconfigured")


def test_a_run_of_hundreds_of_hits_in_four_byte_characters_stays_within_every_limit(
    handler_of_runs: Callable[[Investigation, Any], Any],
) -> None:
    """200 hits and more: what steps say stays small, the answer under 6 MB, and nothing is lost from the result."""
    big = [
        hits(*(f"鐘楼𠮷{batch:02d}{number:02d} " + "𠮷" * 200 for number in range(25)), snippet="𠮷" * 1_900)
        for batch in range(9)
    ]
    inv = Investigation({"alpha": big}, MODEL, model_script=[planned(*(f"𠮷{number}" for number in range(9)))])
    run = inv.start(
        modalities=[SearchModality.WEB], refine=False, max_searches=9, max_results=25, max_model_tokens=1_000_000
    )
    said = [inv.step("plan", run)]
    said += [inv.step("search", run, index=index, wave=1) for index in said[0]["searches"]]
    said.append(inv.step("merge", run, wave=1))
    inv.hands.advance(299)
    said += [inv.step("evaluate", run, index=index, wave=1) for index in said[-1]["batches"]]
    said += [inv.step(name, run, wave=1) for name in ("judge", "rank", "finish")]
    assert sum(len(orjson.dumps(each)) for each in said) < 10_000
    assert len(inv.result(run)["survivors"]) + len(inv.result(run)["dropped"]) == 225
    answer = handler_of_runs(inv, run)
    assert answer["statusCode"] == 200
    assert len(orjson.dumps(answer)) < 6_000_000
    assert orjson.loads(answer["body"])["data"]["results"]["hits_total"] == len(inv.result(run)["survivors"])


@pytest.fixture
def handler_of_runs() -> Callable[[Investigation, Any], Any]:
    """`GET /v1/runs/<id>` on the same stores."""
    from tests.fakes.cloud import LambdaContext
    from tests.fakes.functions import sample
    from zarniwoop.entry.runs import runs

    def get(inv: Investigation, run: Any) -> Any:
        event = sample("runs")
        event["pathParameters"] = {"run_id": run.run_id}
        return runs(lambda: inv)(event, LambdaContext())

    return get
