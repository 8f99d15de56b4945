"""The state machine of an investigation carried out on moto's Step Functions, its tasks by the real steps."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.fakes.functions import handler_of
from tests.fakes.investigation import MODEL, PROJECT, Investigation, hits
from tests.fakes.models import completion, json_completion, refusal
from tests.fakes.state_machine import LambdaFailure, Machine, hurried, state_machine
from tests.functional.deployed import Deployed, deployed
from tests.simulator import Simulator
from zarniwoop.contract.failure import ProviderUnavailable
from zarniwoop.contract.hit import LoadedContent
from zarniwoop.contract.modality import SearchModality
from zarniwoop.pipelines.webhook import WebhookUndelivered
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.run_files import S3RunFiles
from zarniwoop.stores.runs import Run, RunState
from zarniwoop.stores.state import ProjectKey

MOST_STATE_BYTES = 262_144
THREE = [SearchModality.WEB, SearchModality.ENCYCLOPEDIA, SearchModality.ACADEMIC]
BELLS = hits("Cathedral bells ring", "Bells of iron", "Soup recipes", host="alpha.com")
ALL_KEPT = json_completion(
    {
        "verdicts": [
            {"key": f"h{number:03d}", "verdict": "keep", "relevanceScore": 0.5, "reason": "fits"}
            for number in range(1, 20)
        ]
    }
)

Handler = Callable[[Any, Any], Any]


def planned(*modalities: str) -> Any:
    searches = [{"query": f"bells {each}", "modality": each, "sourceAffinity": {}} for each in modalities]
    return json_completion({"searches": searches, "rationale": ""})


class Around:
    """The steps, with some of their invocations made to fail or to take their time; `fails` names steps or items."""

    def __init__(self, inv: Investigation) -> None:
        self._inv = inv
        self._lock = threading.Lock()
        self.fails: dict[tuple[str, int], list[str]] = {}
        self.takes: dict[tuple[str, int], float] = {}
        self.before: dict[str, Callable[[], Any]] = {}

    def __call__(self, event: Any, context: Any) -> Any:
        place = (event["step"], event.get("index", 0))
        if place in self.takes:
            time.sleep(self.takes[place])
        with self._lock:
            script = self.fails.get(place, [])
            if script:
                raise LambdaFailure(script.pop(0))
            self.before.pop(event["step"], lambda: None)()
            return self._inv.handler(event, context)


def play(inv: Investigation, machine: Machine, **arguments: Any) -> tuple[Run, dict[str, Any]]:
    """Start a run as the tool does, carry out its execution, and give the run as it stands with how that ended."""
    run = inv.start(**arguments)
    started = inv.fake_executions.started[run.execution_arn]
    assert started.name == run.run_id
    execution = machine.end(machine.start(run.run_id, started.given))
    return inv.run_of(run), execution


@pytest.fixture
def carry_out(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """A whole run of an investigation, with what surrounds its steps."""

    def run(
        inv: Investigation, around: Around | None = None, change: Callable[[Any], Any] = hurried, **arguments: Any
    ) -> Any:
        with state_machine(around or Around(inv), monkeypatch, change) as machine:
            standing, execution = play(inv, machine, **arguments)
            return standing, execution, machine

    return run


def test_the_machine_leads_a_run_to_its_end(carry_out: Any) -> None:
    """Every step in its place; the execution's output is the run's ending."""
    inv = Investigation({"alpha": [BELLS]})
    run, execution, machine = carry_out(inv, modalities=THREE, refine=False)
    assert (execution["status"], run.state, run.outcome) == ("SUCCEEDED", RunState.SUCCEEDED, "success")
    assert execution["output"] == '{"state": "succeeded", "outcome": "success", "webhook": false}'
    assert [each["step"] for each in machine.functions.invoked] == [
        *("plan", "search", "search", "search"),
        *("merge", "evaluate", "judge", "rank", "finish"),
    ]


def test_a_deepened_re_ranked_run_in_two_waves_passes_every_state(
    carry_out: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Deepen, refine and re-rank among them; and the second wave has its own numbers."""
    body = LoadedContent(body=b"Bells ring.", media_type="text/plain", source_url="https://alpha.com/1")
    monkeypatch.setattr("tests.fakes.providers.FakeInstance.load_content", lambda *_given: body)
    script = [
        planned("WEB"),
        json_completion({"verdicts": []}),
        json_completion({"searches": [{"query": "more", "modality": "WEB"}], "rationale": ""}),
        ALL_KEPT,
        json_completion({"keys": ["h002", "h001"]}),
    ]
    first = json_completion({"verdicts": [{"key": "h001", "verdict": "keep", "relevanceScore": 0.5, "reason": "fits"}]})
    script[1] = first
    inv = Investigation(
        {
            "alpha": [
                hits("Cathedral bells", host="alpha.com", reference="1"),
                hits("More bells", host="alpha.com", reference="2"),
            ]
        },
        {**MODEL, "research.rerank.recipe": "zarniwoop-research-rerank"},
        model_script=script,
    )
    run, execution, machine = carry_out(inv, refine_depth=1)
    assert execution["status"] == "SUCCEEDED"
    assert [(each["step"], each.get("wave")) for each in machine.functions.invoked] == [
        *(("plan", None), ("search", 1), ("merge", 1), ("deepen", 1), ("evaluate", 1), ("judge", 1), ("refine", 1)),
        *(("search", 2), ("merge", 2), ("deepen", 2), ("evaluate", 2), ("judge", 2)),
        *(("rerank", 2), ("rank", 2), ("finish", None)),
    ]
    assert [each["key"] for each in inv.result(run)["survivors"]] == ["h002", "h001"]


def test_one_item_whose_function_dies_changes_nothing_but_its_own_entry(carry_out: Any) -> None:
    """An error that no retry is for: caught inside of the Map, and told as lost."""
    inv = Investigation({"alpha": [BELLS]})
    around = Around(inv)
    around.fails["search", 1] = ["Runtime.ExitError"]
    run, execution, _ = carry_out(inv, around, modalities=THREE, refine=False)
    assert (execution["status"], run.outcome) == ("SUCCEEDED", "success")
    result = inv.result(run)
    assert [(each["ok"], each["failure"]) for each in result["searches"]] == [
        (True, None),
        (False, "lost"),
        (True, None),
    ]
    assert (run.progress["search"].done, run.counts["failed_searches"]) == (3, 1)


def test_an_item_that_takes_too_long_is_given_up(carry_out: Any) -> None:
    """The task's own limit; the others are merged without it."""

    def impatient(definition: Any) -> Any:
        definition["States"]["Search all"]["ItemProcessor"]["States"]["Search"]["TimeoutSeconds"] = 1
        return hurried(definition)

    inv = Investigation({"alpha": [BELLS]})
    around = Around(inv)
    around.takes["search", 2] = 3.0
    run, execution, _ = carry_out(inv, around, impatient, modalities=THREE, refine=False)
    assert (execution["status"], run.outcome) == ("SUCCEEDED", "success")
    assert inv.result(run)["searches"][2]["failure"] == "lost"


def test_infrastructure_trouble_is_tried_again(carry_out: Any) -> None:
    """Throttled twice, the same item is done at the third time, and the provider was asked once for it."""
    inv = Investigation({"alpha": [BELLS]})
    around = Around(inv)
    around.fails["search", 0] = ["Lambda.TooManyRequestsException", "Lambda.ServiceException"]
    run, _, machine = carry_out(inv, around, modalities=[SearchModality.WEB], refine=False)
    assert (run.outcome, len(machine.functions.steps("search")), len(inv.protocol.asked)) == ("success", 3, 1)


def test_a_throttled_model_is_asked_again_and_no_more_than_that(carry_out: Any) -> None:
    """Retries multiply nowhere: one question, one refusal, one more question."""
    inv = Investigation({"alpha": [BELLS]}, MODEL, model_script=[refusal(429, "Rate limit"), planned("WEB"), ALL_KEPT])
    run, _, machine = carry_out(inv)
    assert (run.outcome, len(machine.functions.steps("plan"))) == ("success", 2)
    assert len(inv.model_transport.sent) == 3


def test_a_planner_that_stays_away_ends_the_run_as_plan_failed(carry_out: Any) -> None:
    """After its retries; with the word for it, and in order."""
    inv = Investigation({"alpha": [BELLS]}, MODEL, model_script=[ProviderUnavailable("down")] * 3)
    run, execution, _ = carry_out(inv)
    assert (run.state, run.outcome, run.error) == (RunState.FAILED, "plan_failed", "model_unavailable")
    assert (execution["status"], execution["error"]) == ("FAILED", "RunFailed")


def test_a_judge_that_stays_away_leaves_the_hits_unranked(carry_out: Any) -> None:
    """The item is caught, the run succeeds."""
    inv = Investigation({"alpha": [BELLS]}, MODEL, model_script=[planned("WEB"), *[ProviderUnavailable("down")] * 3])
    run, execution, _ = carry_out(inv, refine=False)
    assert (execution["status"], run.state, run.outcome) == ("SUCCEEDED", RunState.SUCCEEDED, "evaluate_failed")
    assert inv.result(run)["ranked"] is False
    assert len(inv.result(run)["survivors"]) == 3


@pytest.mark.parametrize("step", ["refine", "rerank", "deepen"])
def test_a_step_that_only_improves_a_run_cannot_sink_it(carry_out: Any, step: str) -> None:
    """What went before is ranked."""
    answers = {"deepen": [planned("WEB"), ALL_KEPT], "rerank": [planned("WEB"), ALL_KEPT]}
    inv = Investigation(
        {"alpha": [BELLS]},
        {**MODEL, **({"research.rerank.recipe": "zarniwoop-research-rerank"} if step == "rerank" else {})},
        model_script=answers.get(step, [planned("WEB"), json_completion({"verdicts": []})]),
    )
    if step == "refine":
        inv.model_transport._script[1] = json_completion(
            {
                "verdicts": [{"key": "h001", "verdict": "keep", "relevanceScore": 1, "reason": "fits"}]
                + [{"key": key, "verdict": "drop", "relevanceScore": 0, "reason": "no"} for key in ("h002", "h003")]
            }
        )
    around = Around(inv)
    around.fails[step, 0] = ["Sandbox.Timedout"]
    run, execution, machine = carry_out(inv, around, refine_depth=int(step == "deepen"))
    assert machine.functions.steps(step)
    assert (execution["status"], run.outcome) == ("SUCCEEDED", "success")


@pytest.mark.parametrize("step", ["merge", "judge", "rank", "finish"])
def test_a_step_that_dies_ends_the_run_as_failed_with_what_it_has(carry_out: Any, step: str) -> None:
    """Whatever it was, the run is terminal and its hits are there."""
    inv = Investigation({"alpha": [BELLS]})
    around = Around(inv)
    around.fails[step, 0] = ["Sandbox.Timedout"]
    run, execution, _ = carry_out(inv, around, modalities=THREE, refine=False)
    assert (run.state, run.error, execution["error"]) == (RunState.FAILED, "step_failed", "RunFailed")
    assert len(inv.result(run)["survivors"]) + len(inv.result(run)["dropped"]) == 3


def test_an_ending_that_cannot_be_written_is_left_to_the_reconciler(carry_out: Any) -> None:
    """The execution says so; the run stays open past its deadline, where the reconciler finds it."""
    inv = Investigation({"alpha": [BELLS]})
    around = Around(inv)
    around.fails = {("finish", 0): ["Sandbox.Timedout"], ("fail", 0): ["Sandbox.Timedout"]}
    run, execution, _ = carry_out(inv, around, modalities=THREE, refine=False)
    assert (execution["status"], execution["error"]) == ("FAILED", "RunLeftOpen")
    assert not run.state.is_terminal
    inv.hands.advance(1_000)
    assert [each.run_id for each in inv.fake_runs.overdue(inv.clock.now())] == [run.run_id]


@pytest.mark.parametrize("step", ["search", "merge"])
def test_stores_that_are_away_for_a_moment_are_waited_for(carry_out: Any, step: str) -> None:
    """By name, like everything that is retried; no search is lost to a table that hiccups."""
    inv = Investigation({"alpha": [BELLS]})
    around = Around(inv)
    around.fails[step, 0] = ["StoreUnavailable"]
    run, _, machine = carry_out(inv, around, modalities=THREE, refine=False)
    assert (run.outcome, len(machine.functions.steps(step))) == ("success", 4 if step == "search" else 2)
    assert (run.counts["failed_searches"], len(inv.protocol.asked)) == (0, 3)


def test_a_stop_in_the_middle_of_the_searches_ends_the_run_as_stopped(carry_out: Any) -> None:
    """What was found is kept; nothing is judged."""
    inv = Investigation({"alpha": [BELLS]})
    around = Around(inv)
    run_ids: list[str] = []
    around.before["merge"] = lambda: inv.fake_runs.request_stop(PROJECT, run_ids[0])
    original = inv.start

    def start(**arguments: Any) -> Run:
        run = original(**arguments)
        run_ids.append(run.run_id)
        return run

    inv.start = start  # type: ignore[method-assign]
    run, execution, machine = carry_out(inv, around, modalities=THREE, refine=False)
    assert (execution["status"], run.state) == ("SUCCEEDED", RunState.STOPPED)
    assert not machine.functions.steps("evaluate")
    assert len(inv.result(run)["survivors"]) == 3


class Receiver:
    """Stands for the webhook's sender: raises its script, then delivers."""

    def __init__(self, *script: WebhookUndelivered) -> None:
        self._script = list(script)
        self.told: list[tuple[str, RunState]] = []

    def send(self, run: Run, url: str, _deadline: Any) -> None:
        if self._script:
            raise self._script.pop(0)
        self.told.append((url, run.state))


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ((), "delivered"),
        ((WebhookUndelivered("status_503", retryable=True),), "delivered"),
        ((WebhookUndelivered("status_410", retryable=False),), "undelivered:status_410"),
        (tuple(WebhookUndelivered("timeout", retryable=True) for _ in range(5)), "undelivered:timeout"),
    ],
)
def test_the_end_is_told_to_the_webhook(
    carry_out: Any, monkeypatch: pytest.MonkeyPatch, script: tuple[WebhookUndelivered, ...], outcome: str
) -> None:
    """After the run has ended, as often as it takes within bounds; and how that went is written down."""
    inv = Investigation({"alpha": [BELLS]})
    receiver = Receiver(*script)
    inv.__dict__["webhooks"] = receiver
    run, execution, _ = carry_out(inv, modalities=THREE, refine=False, webhook_url="https://agents.example/hook")
    assert (execution["status"], run.state, run.webhook_outcome) == ("SUCCEEDED", RunState.SUCCEEDED, outcome)
    assert receiver.told == ([("https://agents.example/hook", RunState.SUCCEEDED)] if outcome == "delivered" else [])


def test_a_failed_run_is_told_to_the_webhook_too(carry_out: Any) -> None:
    """Its receiver waits for an end, not for a success."""
    inv = Investigation({"alpha": [BELLS]}, MODEL, model_script=[completion("")])
    receiver = Receiver()
    inv.__dict__["webhooks"] = receiver
    _, execution, _ = carry_out(inv, webhook_url="https://agents.example/hook")
    assert receiver.told == [("https://agents.example/hook", RunState.FAILED)]
    assert execution["error"] == "RunFailed"


def test_a_run_that_ended_without_its_files_is_told_to_the_webhook_too(carry_out: Any) -> None:
    """S3 is denied up to the run's end, and the address is a file like any other."""
    inv = Investigation({"alpha": [BELLS]})
    receiver = Receiver()
    inv.__dict__["webhooks"] = receiver
    around = Around(inv)

    def deny(failure: Exception | None) -> None:
        inv.fake_files.fail_with = failure

    around.before = {"plan": lambda: deny(StoreUnavailable("AccessDenied")), "webhook": lambda: deny(None)}
    run, _, _ = carry_out(inv, around, webhook_url="https://agents.example/hook")
    assert (run.state, run.error, run.webhook_outcome) == (RunState.FAILED, "store_unavailable", "delivered")
    assert receiver.told == [("https://agents.example/hook", RunState.FAILED)]


def test_states_of_hundreds_of_hits_are_far_from_the_limit(carry_out: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids and counts only, whatever the hits weigh."""
    big = [
        hits(*(f"鐘楼𠮷{batch:02d}{number:02d} " + "𠮷" * 200 for number in range(25)), snippet="𠮷" * 1_900)
        for batch in range(8)
    ]
    inv = Investigation(
        {"alpha": big},
        MODEL,
        model_script=[
            json_completion(
                {
                    "searches": [{"query": f"𠮷{number}", "modality": "WEB"} for number in range(8)],
                    "rationale": "𠮷" * 900,
                }
            )
        ],
    )
    with state_machine(inv.handler, monkeypatch) as machine:
        run = inv.start(max_searches=8, max_results=25, refine=False, max_model_tokens=5_000)
        arn = machine.start(run.run_id, inv.fake_executions.started[run.execution_arn].given)
        assert machine.end(arn)["status"] == "SUCCEEDED"
        assert machine.largest_state(arn) < 10_000 < MOST_STATE_BYTES
    assert len(inv.result(run)["survivors"]) + len(inv.result(run)["dropped"]) == 200


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployed]:
    with Simulator() as simulator, deployed(simulator, monkeypatch) as made:
        yield made


def test_tool_machine_and_runs_work_together_on_the_stores_of_aws(
    stack: Deployed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DynamoDB and S3 as the template declares them, the providers simulated, every handler as it is deployed."""
    from tests.fakes.functions import posted

    receipt = stack.envelope(
        "research_investigate", posted({"question": "What is graphene?"}, tool="research_investigate")
    )
    run_id = receipt["data"]["run_id"]
    project = ProjectKey(tenant_id="acme", project_id="demo")
    with state_machine(handler_of("research_investigate", "steps"), monkeypatch) as machine:
        given = {"run": {"tenant_id": "acme", "project_id": "demo", "run_id": run_id}, "max_concurrency": 1}
        assert machine.end(machine.start(run_id, given))["status"] == "SUCCEEDED"
    run = stack.environment.runs.get(project, run_id)
    assert run is not None
    assert (run.state, run.outcome) == (RunState.SUCCEEDED, "success")
    assert isinstance(stack.environment.run_files, S3RunFiles)
    item = next(each for each in stack.cloud.items("RUNS_TABLE") if each["sk"]["S"] == f"RUN#{run_id}")
    assert len(str(item)) < 4_000
    assert "graphene" not in str(item)
