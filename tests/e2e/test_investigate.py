"""Investigations on the deployed state machine: without a model, with a scripted one, and through Bedrock Converse."""

import json
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import datetime
from typing import Any

import httpx
import pytest

from stack.running import Stack
from tests.e2e.investigations import BEDROCK_MODEL, QUESTION, Investigations, aws
from tests.e2e.project import caller
from tests.e2e.provider_journal import Providers
from tests.simulator.model_answers import INVENTED_SPAN
from zarniwoop.pipelines.investigate.fence import harmless
from zarniwoop.stores.insights import S3InsightsStore
from zarniwoop.stores.state import ProjectKey

pytestmark = pytest.mark.e2e

MOST_STATE_BYTES = 262_144
BELLS = "What is the history of cathedral bells in books and news?"
SLOWEST_SECONDS = 6.0

MakeProject = Callable[..., Investigations]


@pytest.fixture
def project(stack: Stack) -> Iterator[MakeProject]:
    """Make a project with settings and a token of its own: no other test's cooldowns, no other test's runs."""
    with ExitStack() as callers:

        def make(**settings: str) -> Investigations:
            project_id = f"p-{uuid.uuid4().hex[:8]}"
            investigations = Investigations(stack, callers.enter_context(caller(stack, project_id)), project_id)
            investigations.save({name.replace("__", "."): value for name, value in settings.items()})
            return investigations

        yield make


@pytest.fixture
def model(stack: Stack) -> Iterator[Callable[..., None]]:
    """Script what the model says next; what is left of the script goes at the end of the test."""
    with httpx.Client(base_url=str(stack.model_url), trust_env=False) as control:

        def script(*steps: dict[str, Any]) -> None:
            control.post("/_control/script", json={"steps": list(steps)}).raise_for_status()

        script()
        yield script
        script()


@pytest.fixture
def modelled(stack: Stack, project: MakeProject, model: Callable[..., None]) -> Investigations:
    """A project whose primary model is the scripted one, behind an OpenAI-compatible endpoint."""
    return project(
        llm__primary__protocol="openai",
        llm__primary__baseUrl=f"{stack.model_url}/v1",
        llm__primary__model="scripted",
        llm__primary__costPerMillionInput="1",
        llm__primary__costPerMillionOutput="2",
    )


def history(stack: Stack, run_id: str) -> list[dict[str, Any]]:
    machine = stack.outputs["InvestigateStateMachineArn"]
    arn = f"{machine.replace(':stateMachine:', ':execution:')}:{run_id}"
    events: list[dict[str, Any]] = aws(stack, "stepfunctions").get_execution_history(executionArn=arn, maxResults=1000)[
        "events"
    ]
    return events


def test_an_investigation_without_a_model_runs_to_its_end(stack: Stack, project: MakeProject) -> None:
    """Planned, searched, judged and ranked, with a reason for every hit; and it says that no model was asked.

    What only a model could draw out of the hits is not available, and that is said too.
    """
    demo = project()
    report = demo.run(question=BELLS, max_searches=8, insights=True)
    assert (report["state"], report["outcome"], report["error"]) == ("succeeded", "success", None)
    results = report["results"]
    assert (results["mode"], results["ranked"], results["question"]) == ("builtin", True, BELLS)
    assert [hit["rank"] for hit in results["hits"]] == list(range(1, len(results["hits"]) + 1))
    scores = [hit["score"] for hit in results["hits"]]
    assert scores == sorted(scores, reverse=True)
    assert all(hit["reason"] and hit["sources"] for hit in results["hits"])
    assert all(hit["reason"] and hit["title"] for hit in results["dropped"])
    assert results["hits_total"] == report["counts"]["survivors"] > 0
    assert results["dropped_total"] == report["counts"]["dropped"] > 0
    assert {"plan", "search", "merge", "evaluate", "judge", "rank", "insights"} <= set(report["progress"])
    assert (results["insights"]["state"], results["insights"]["reason"]) == ("not_available", "no_model")
    none = demo.api.get("/v1/insights", params={"project_id": demo.project_id})
    assert (none.status_code, none.json()["error"]["type"]) == (404, "urn:zarniwoop:problem:no-insights")
    assert all(each["done"] == each["total"] for each in report["progress"].values())


def test_one_id_leads_through_answer_state_machine_and_audit(stack: Stack, project: MakeProject) -> None:
    """The run's id names the execution and stands in each provider call's record; no state holds the question."""
    demo = project()
    report = demo.run(question=BELLS)
    events = history(stack, report["run_id"])
    assert events
    told = json.dumps(events, default=str)
    assert BELLS not in told
    assert "cathedral" not in told
    assert max(len(json.dumps(event, default=str)) for event in events) < MOST_STATE_BYTES
    called = [attempt for search in report["results"]["searches"] for attempt in search["attempts"]]
    assert len(demo.audited(report["run_id"])) == len([each for each in called if each["outcome"] != "skipped"]) > 0


def test_the_result_comes_at_once_to_who_waits_and_its_files_by_link(project: MakeProject) -> None:
    """`wait` saves the second request; artifacts are pre-signed, and the result among them is the whole one."""
    demo = project()
    demo.run()  # whoever comes first waits for the functions to start
    answer = demo.post(wait=25)
    assert answer.status_code == 200
    report = answer.json()["data"]
    assert report["state"] == "succeeded"
    listed = demo.api.get(f"/v1/runs/{report['run_id']}/artifacts", params={"project_id": demo.project_id}).json()
    links = {each["name"]: each["url"] for each in listed["data"]["artifacts"]}
    assert {"input.json", "plan-1.json", "merged.json", "ranked.json", "result.json"} <= set(links)
    result = httpx.get(links["result.json"], trust_env=False).raise_for_status().json()
    assert result["run_id"] == report["run_id"]
    assert len(result["survivors"]) == report["results"]["hits_total"]


def test_a_failing_provider_changes_nothing_but_its_own_entry(project: MakeProject, providers: Providers) -> None:
    """The other searches bring what they brought before, and the gap is told."""
    asked = {"question": "books about python programming", "modalities": ["WEB", "BOOK"], "refine": False}
    before = project().run(**asked)["results"]["searches"]
    providers.fault("openlibrary", "500")
    report = project().run(**asked)
    assert (report["state"], report["outcome"]) == ("succeeded", "success")
    after = report["results"]["searches"]
    by_modality = {search["modality"]: search for search in after}
    assert (by_modality["BOOK"]["ok"], by_modality["BOOK"]["failure"]) == (False, "all_failed")
    kept = ("index", "query", "modality", "ok", "instance_id", "hits", "failure")
    (web_before,) = [search for search in before if search["modality"] == "WEB"]
    assert {name: by_modality["WEB"][name] for name in kept} == {name: web_before[name] for name in kept}
    assert [gap for gap in report["results"]["gaps"] if "BOOK" in gap]


def test_with_every_provider_down_the_outcome_is_empty_and_nothing_is_judged(
    project: MakeProject, providers: Providers
) -> None:
    """No model call, no invented text, and every search in the list of gaps."""
    providers.fault("", "503")
    report = project().run()
    assert (report["state"], report["outcome"]) == ("succeeded", "empty")
    assert "evaluate" not in report["progress"]
    assert report["results"]["hits"] == []
    assert len(report["results"]["gaps"]) == report["counts"]["failed_searches"] > 0


def test_a_run_that_is_stopped_keeps_what_it_has_found(project: MakeProject, providers: Providers) -> None:
    """What is under way ends, nothing new begins. To stop it twice is no error; to stop what has ended is one."""
    demo = project()
    finished = demo.run(modalities=["BOOK"], question="python")
    providers.fault("wikipedia", "slow", delay_ms=5000)
    run_id = demo.start(question="graphene", modalities=["WEB", "ENCYCLOPEDIA"], refine=False)
    while demo.get(run_id)["progress"].get("search", {"done": 0})["done"] < 1:
        pass
    stop = f"/v1/runs/{run_id}/stop"
    scope = {"project_id": demo.project_id}
    assert demo.api.post(stop, params=scope).json()["data"]["state"] == "stopping"
    assert demo.api.post(stop, params=scope).json()["ok"] is True
    report = demo.end(run_id)
    assert (report["state"], report["error"]) == ("stopped", None)
    assert report["results"]["hits"]
    assert "evaluate" not in report["progress"]
    refused = demo.api.post(f"/v1/runs/{finished['run_id']}/stop", params=scope)
    assert (refused.status_code, refused.json()["error"]["type"]) == (409, "urn:zarniwoop:problem:run-ended")


@pytest.mark.parametrize("action", ["", "/stop", "/artifacts"])
def test_a_foreign_or_unknown_run_is_not_there(project: MakeProject, action: str) -> None:
    """404, whether it is another project's, nobody's, or no id at all."""
    owner, other = project(), project()
    theirs = owner.start()
    for run_id in (theirs, "r-01k00000000000000000000000", "nonsense"):
        send = other.api.post if action == "/stop" else other.api.get
        answer = send(f"/v1/runs/{run_id}{action}", params={"project_id": other.project_id})
        assert (answer.status_code, answer.json()["error"]["type"]) == (404, "urn:zarniwoop:problem:unknown-run")
    assert owner.end(theirs)["state"] == "succeeded"
    listed = other.api.get("/v1/runs", params={"project_id": other.project_id}).json()["data"]["runs"]
    assert listed == []


def test_the_same_idempotency_key_is_the_same_run(project: MakeProject) -> None:
    """Sent twice it starts one; with another question it is refused."""
    demo, key = project(), {"Idempotency-Key": uuid.uuid4().hex}
    first, second = demo.post(key).json()["data"], demo.post(key).json()["data"]
    assert first["run_id"] == second["run_id"]
    other = demo.post(key, question="Something else entirely")
    assert (other.status_code, other.json()["error"]["field"]) == (422, "idempotency_key")
    assert demo.end(first["run_id"])["state"] == "succeeded"
    assert len(demo.api.get("/v1/runs", params={"project_id": demo.project_id}).json()["data"]["runs"]) == 1


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"question": "  "}, "question"),
        ({"question": "x" * 2001}, "question"),
        ({"max_searches": 21}, "max_searches"),
        ({"max_results": 0}, "max_results"),
        ({"wall_seconds": 901}, "wall_seconds"),
        ({"wait": 26}, "wait"),
        ({"webhook_url": "https://10.0.0.1/hook"}, "webhook_url"),
        ({"webhook_url": "https://127.0.0.1/hook"}, "webhook_url"),
    ],
)
def test_bad_input_starts_nothing(project: MakeProject, arguments: dict[str, Any], field: str) -> None:
    """A problem with its field, and no run in the list."""
    demo = project()
    answer = demo.post(**arguments)
    assert (answer.status_code, answer.json()["error"]["field"]) == (400, field)
    assert demo.api.get("/v1/runs", params={"project_id": demo.project_id}).json()["data"]["runs"] == []


def test_bodies_are_loaded_where_that_is_wanted_and_can_be_read(project: MakeProject) -> None:
    """`refine_depth` 1: the body is stored once and read over the API in stretches."""
    demo = project()
    report = demo.run(question="What is graphene?", refine_depth=1)
    assert (report["outcome"], report["results"]["refine_depth"]) == ("success", 1)
    stored = [hit["hit"]["extras"].get("content_sha256") for hit in report["results"]["hits"]]
    sha256 = next(each for each in stored if each)
    page = demo.api.get(f"/v1/content/{sha256}", params={"project_id": demo.project_id, "max_chars": 50}).json()["data"]
    assert (page["sha256"], len(page["text"])) == (sha256, 50)
    assert page["next_offset"] == len(page["text"].encode())


def test_a_scripted_model_plans_and_judges(modelled: Investigations) -> None:
    """Over the OpenAI format: who answered, and what it cost, is told; and what it drew out of the survivors."""
    report = modelled.run(insights=True)
    assert (report["state"], report["outcome"]) == ("succeeded", "success")
    results = report["results"]
    assert results["mode"] == "openai"
    assert results["modes"] == {"plan": ["openai"], "evaluate": ["openai"], "insights": ["openai"]}
    assert {hit["reason"] for hit in results["hits"]} == {"It is about the question."}
    assert {hit["reason"] for hit in results["dropped"]} == {"It is about something else."}
    usage = report["usage"]
    assert usage["calls"] >= 2
    assert report["cost"] == pytest.approx((usage["input_tokens"] + 2 * usage["output_tokens"]) / 1_000_000)
    _check_insights(modelled, report)


def _check_insights(asked: Investigations, report: dict[str, Any]) -> None:
    """What stands in the hits is in the run's files and the project's graph; what the model made up is in neither."""
    told = report["results"]["insights"]
    assert (told["state"], told["batches"] > 0, told["project"] is None) == ("done", True, False)
    assert set(told["refused"]) == {"not_verbatim"}
    assert report["counts"]["refused_insights"] >= 1
    scope = {"project_id": asked.project_id}
    graph = asked.api.get("/v1/insights", params=scope).json()["data"]
    assert (graph["entities"], graph["relations"]) == (told["entities"], told["relations"])
    titles = {hit["key"]: harmless(hit["hit"]["title"], 1_000) for hit in report["results"]["hits"]}
    things = (*graph["document"]["entities"], *graph["document"]["relations"])
    for found in (evidence for thing in things for evidence in thing["evidence"]):
        assert (found["run_id"], found["span"]) == (report["run_id"], titles[found["key"]])
    assert INVENTED_SPAN not in json.dumps(graph)
    ld = asked.api.get("/v1/insights", params={**scope, "format": "jsonld"}).json()["data"]["document"]
    ml = asked.api.get("/v1/insights", params={**scope, "format": "graphml"}).json()["data"]["text"]
    listed = asked.api.get(f"/v1/runs/{report['run_id']}/artifacts", params=scope).json()["data"]["artifacts"]
    links = {each["name"]: each["url"] for each in listed}
    assert httpx.get(links["insights.jsonld"], trust_env=False).raise_for_status().json() == ld
    assert httpx.get(links["insights.graphml"], trust_env=False).raise_for_status().text == ml
    refused = asked.api.get("/v1/insights", params={**scope, "format": "rdf"})
    assert (refused.status_code, refused.json()["error"]["field"]) == (400, "format")
    foreign = asked.api.get("/v1/insights", params={"project_id": "another"})
    assert (foreign.status_code, foreign.json()["error"]["field"]) == (403, "project_id")


def test_the_bucket_takes_a_graph_only_over_the_version_it_was_made_from(stack: Stack) -> None:
    """On the deployed bucket, by the product's own store: of those that write over the same version, one does.

    Each writes bytes of its own: the version is a hash of them.
    """
    store = S3InsightsStore(aws(stack, "s3"), stack.outputs["ContentBucketName"])
    project = ProjectKey(tenant_id="local", project_id=f"p-{uuid.uuid4().hex[:8]}")

    def write_all(over: str | None) -> list[bool]:
        with ThreadPoolExecutor(8) as pool:
            return list(pool.map(lambda _: store.write(project, uuid.uuid4().bytes, over=over), range(8)))

    assert write_all(None).count(True) == 1
    standing = store.read(project)
    assert standing is not None
    assert write_all(standing.version).count(True) == 1
    assert store.write(project, b"late", over=standing.version) is False
    store.delete(project)
    assert store.read(project) is None


def test_bedrock_converse_plans_and_judges(project: MakeProject) -> None:
    """By IAM, without a key, on the model that the stack's role may invoke."""
    demo = project(llm__primary__protocol="bedrock", llm__primary__model=BEDROCK_MODEL)
    report = demo.run()
    assert (report["state"], report["outcome"], report["results"]["mode"]) == ("succeeded", "success", "bedrock")
    assert report["usage"]["calls"] >= 2


def test_a_bedrock_model_that_the_role_may_not_invoke_fails_the_plan(project: MakeProject) -> None:
    """The role names its models; anything else is refused, and told so."""
    demo = project(llm__primary__protocol="bedrock", llm__primary__model="amazon.titan-text-lite-v1")
    report = demo.run()
    assert (report["state"], report["outcome"], report["error"]) == ("failed", "plan_failed", "access_refused")


def test_what_a_weak_model_gets_wrong_is_caught(modelled: Investigations, model: Callable[..., None]) -> None:
    """Unknown providers and modalities, the same search twice, verdicts for keys that are none, and no others."""
    search = {"query": QUESTION, "modality": "WEB", "sourceAffinity": {"serper-main": 9, "invented-main": 1}}
    model(
        {"schema": "research_plan", "content": "Certainly! I shall search the web for you."},
        {
            "schema": "research_plan",
            "json": {"searches": [search, search, {"query": "x", "modality": "SMELL"}], "rationale": ""},
        },
        {
            "schema": "research_verdicts",
            "json": {"verdicts": [{"key": "h999", "verdict": "keep", "relevanceScore": 1, "reason": "r"}]},
        },
    )
    report = modelled.run(refine=False)
    results = report["results"]
    assert (report["state"], report["outcome"], results["ranked"]) == ("succeeded", "evaluate_failed", False)
    assert [each["modality"] for each in results["plan"]["searches"]] == ["WEB"]
    assert len(results["plan"]["refused"]) == 4
    assert {hit["unjudged"] for hit in results["hits"]} == {True}
    assert {hit["affinity"] for hit in results["hits"]} == {2.0}
    assert [gap for gap in results["gaps"] if "not judged" in gap]


def test_a_model_that_never_answers_in_json_fails_the_plan(
    modelled: Investigations, model: Callable[..., None]
) -> None:
    """One repair, then a refusal with its word; no search was spent."""
    model(*({"schema": "research_plan", "content": "I would rather talk."} for _ in range(2)))
    report = modelled.run()
    assert (report["state"], report["outcome"], report["error"]) == ("failed", "plan_failed", "invalid_output")
    assert "search" not in report["progress"]
    assert report["usage"]["calls"] == 2


def test_a_judge_that_is_down_leaves_the_hits_in_their_fused_order(
    modelled: Investigations, model: Callable[..., None]
) -> None:
    """The state machine tries again; then the hits are returned, unranked and marked."""
    model(*({"schema": "research_verdicts", "fault": "500"} for _ in range(9)))
    report = modelled.run(refine=False)
    results = report["results"]
    assert (report["state"], report["outcome"], results["ranked"]) == ("succeeded", "evaluate_failed", False)
    fused = [hit["reciprocal_rank"] for hit in results["hits"]]
    assert fused == sorted(fused, reverse=True)
    assert results["hits"]


def test_a_throttled_model_is_asked_again_by_the_state_machine(
    stack: Stack, modelled: Investigations, model: Callable[..., None]
) -> None:
    """In one place, and never within a step."""
    model({"schema": "research_plan", "fault": "429"})
    report = modelled.run()
    assert (report["state"], report["outcome"]) == ("succeeded", "success")
    failed = [event for event in history(stack, report["run_id"]) if event["type"] == "TaskFailed"]
    assert [event["taskFailedEventDetails"]["error"] for event in failed] == ["ModelThrottled"]


def test_a_budget_of_tokens_puts_the_built_in_in_the_models_place(modelled: Investigations) -> None:
    """What is nearly spent is named, and evaluation still happens on what there is."""
    report = modelled.run(max_model_tokens=1_000)
    results = report["results"]
    assert (report["state"], report["outcome"], results["mode"]) == ("succeeded", "success", "builtin")
    assert report["usage"]["calls"] == 0
    assert [note for note in results["notes"] if "max_model_tokens" in note]


def test_a_budget_of_time_ends_a_run_with_what_there_is(project: MakeProject, providers: Providers) -> None:
    """Providers that take their time do not keep it from its end."""
    providers.fault("wikipedia", "hang", seconds=60)
    report = project().run(question="graphene", modalities=["WEB", "ENCYCLOPEDIA"], wall_seconds=12)
    assert report["state"] == "succeeded"
    assert report["ended_at"] - report["created_at"] < 12 + 2
    assert report["results"]["hits"]


def test_twenty_searches_take_hardly_longer_than_the_slowest_of_them(
    stack: Stack, modelled: Investigations, model: Callable[..., None], providers: Providers
) -> None:
    """Twenty at once, each kept waiting by its provider: the Map's wall time is within 1.3 of the slowest search."""

    def twenty(seconds: float) -> tuple[float, float]:
        providers.fault("serper/search", "slow", delay_ms=round(seconds * 1000), times=20)
        searches = [{"query": f"graphene {number}", "modality": "WEB", "sourceAffinity": {}} for number in range(20)]
        model({"schema": "research_plan", "json": {"searches": searches, "rationale": ""}})
        report = modelled.run(max_searches=20, max_concurrency=20, refine=False)
        assert report["counts"]["searches"] == 20
        slowest = max(search["milliseconds"] for search in report["results"]["searches"]) / 1000
        moments = {
            event["type"]: event["timestamp"]
            for event in history(stack, report["run_id"])
            if event["type"] in ("MapStateEntered", "MapStateExited") and "Search all" in json.dumps(event, default=str)
        }
        wall: datetime = moments["MapStateExited"] - moments["MapStateEntered"]
        return wall.total_seconds(), slowest  # type: ignore[attr-defined]

    twenty(2.0)  # twenty functions start, which is not what is measured
    wall, slowest = twenty(SLOWEST_SECONDS)
    assert slowest >= SLOWEST_SECONDS
    assert wall <= 1.3 * slowest, f"{wall:.1f} s for searches of {slowest:.1f} s at most"
