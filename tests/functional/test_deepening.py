"""Deepening keeps to published rates, budgets and the audit trail, as searching does."""

import threading
from collections.abc import Collection
from concurrent.futures import Future, wait
from contextlib import nullcontext
from typing import Any

import pytest

from tests.fakes.investigation import Investigation, hits
from tests.fakes.providers import Step
from zarniwoop.contract.hit import LoadedContent
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import Pacing
from zarniwoop.observe.trace import Tracing
from zarniwoop.pipelines.investigate import deepening as step
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.runs import Run

WEB: dict[str, Any] = {"modalities": [SearchModality.WEB], "refine": False, "refine_depth": 1}
THREE = hits("Cathedral bells one", "Cathedral bells two", "Cathedral bells three", host="alpha.com", reference="42")
PAGE = LoadedContent(body=b"Cathedral bells ring.", media_type="text/plain", source_url="https://alpha.com/1")


def deepening(found: Step = THREE, **settings: str) -> Investigation:
    named = {f"research.endpoint.alpha.{name}": value for name, value in settings.items()}
    inv = Investigation({"alpha": [found]}, {**named, "research.default.web": "alpha"})
    inv.protocol.bodies["alpha"] = [PAGE]
    return inv


def failures(inv: Investigation, run: Run) -> list[str | None]:
    """What became of each body, in the order of their keys."""
    return [each.get("failure") for _, each in sorted(inv.file(run, "bodies.json").items())]


def test_every_body_that_is_loaded_is_in_the_audit_trail_under_the_runs_id() -> None:
    """Beside the search that named it."""
    inv = deepening()
    run = inv.start(**WEB)
    inv.carry_out(run)
    told = sorted((each.operation, each.instance_id, each.request_id, each.ok) for each in inv.fake_calls.records)
    assert told == [("load", "alpha", run.run_id, True)] * 3 + [("search", "alpha", run.run_id, True)]


def test_a_body_waits_for_its_turn_behind_the_search_that_named_it() -> None:
    """The same published rate, whoever asks."""
    inv = deepening(hits("Cathedral bells", host="alpha.com", reference="42"))
    inv.protocol.pacing["alpha"] = Pacing(subject="fake@alpha.com", requests=1, seconds=3.0, spread=0.0)
    run = inv.start(**WEB)
    inv.carry_out(run)
    assert inv.hands.slept == [3.0]
    assert failures(inv, run) == [None]


def test_bodies_whose_turns_come_too_late_are_notes() -> None:
    """The rate holds, and the run goes on without them."""
    inv = deepening()
    inv.protocol.pacing["alpha"] = Pacing(subject="fake@alpha.com", requests=1, seconds=60.0)
    run = inv.start(**WEB)
    inv.carry_out(run)
    assert (failures(inv, run), inv.protocol.loaded) == (["throttled"] * 3, [])
    assert inv.result(run)["notes"] == [f"the body of h00{number} was not loaded: throttled" for number in (1, 2, 3)]


def test_what_bodies_cost_counts_toward_the_runs_budget() -> None:
    """With the searches, once, however often the step is repeated."""
    inv = deepening(costPerCall="0.25")
    run = inv.start(**WEB, max_cost=10)
    inv.carry_out(run)
    assert inv.run_of(run).cost == 1.0
    assert inv.result(run)["cost"] == 1.0
    again = deepening(costPerCall="0.25")
    repeated = again.start(**WEB, max_cost=10)
    again.carry_out(repeated, until="evaluate")
    again.step("deepen", repeated, wave=1)
    assert again.run_of(repeated).cost == 1.0


def test_bodies_that_the_budget_has_no_room_for_are_not_loaded() -> None:
    """The most promising are, as far as the money goes."""
    inv = deepening(costPerCall="0.25")
    run = inv.start(**WEB, max_searches=1, max_cost=0.6)
    inv.carry_out(run)
    assert failures(inv, run) == [None, "max_cost", "max_cost"]
    assert inv.run_of(run).cost == 0.5
    dear = deepening(costPerCall="0.5")
    none = dear.start(**WEB, max_searches=1, max_cost=0.5)
    dear.carry_out(none)
    assert (failures(dear, none), dear.protocol.loaded) == (["max_cost"] * 3, [])


def test_a_body_that_is_no_body_is_a_note() -> None:
    """Whatever an add-on hands over."""
    inv = deepening(hits("Cathedral bells", host="alpha.com", reference="42"))
    inv.protocol.bodies["alpha"] = [LoadedContent(body=None, media_type="text/plain", source_url="")]  # type: ignore[arg-type]
    run = inv.start(**WEB)
    inv.carry_out(run)
    assert failures(inv, run) == ["internal"]


def test_a_body_that_is_late_is_a_note_and_counts_as_paid_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its thread cannot be broken off, and its provider has been asked."""
    inv = deepening(hits("Cathedral bells", host="alpha.com", reference="42"), costPerCall="0.25")
    released = threading.Event()

    def impatient(futures: Collection["Future[Any]"], timeout: float) -> Any:
        return wait(futures, timeout=0.05)

    def hang(*_given: Any) -> LoadedContent:
        released.wait(10)
        return PAGE

    monkeypatch.setattr(step, "wait", impatient)
    monkeypatch.setattr("tests.fakes.providers.FakeInstance.load_content", hang)
    run = inv.start(**WEB, max_searches=1, max_cost=10)
    inv.carry_out(run)
    released.set()
    assert failures(inv, run) == ["timeout"]
    assert inv.run_of(run).cost == 0.5


def test_a_body_is_loaded_by_an_instance_of_the_settings_in_force() -> None:
    """They changed, and so the project's generation, between search and load: nobody keeps to what was before."""
    inv = deepening()
    run = inv.start(**WEB)
    inv.carry_out(run, until="deepen")
    before = len(inv.protocol.made)
    inv.fake_state.bump_generation(run.project)
    inv.step("deepen", run, wave=1)
    assert failures(inv, run) == [None] * 3
    assert (len(inv.protocol.made), inv.protocol.made[0].disposed) == (before + 1, 1)


def test_whatever_an_add_on_raises_before_its_load_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rate, too, is its own code."""
    inv = deepening()
    run = inv.start(**WEB)
    inv.carry_out(run, until="deepen")

    def broken(*_given: Any) -> Pacing:
        raise RuntimeError("a bug of an add-on")

    monkeypatch.setattr("tests.fakes.providers.FakeInstance.pacing", broken)
    inv.step("deepen", run, wave=1)
    assert (failures(inv, run), inv.protocol.loaded) == (["internal"] * 3, [])


def test_what_raises_outside_of_the_account_of_a_load_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    """The run goes on, whoever is at fault."""
    inv = deepening()
    run = inv.start(**WEB)
    inv.carry_out(run, until="deepen")

    def broken(*_given: Any) -> None:
        raise RuntimeError("a bug of ours")

    monkeypatch.setattr("zarniwoop.dispatch.calls.bodies.judge", broken)
    inv.step("deepen", run, wave=1)
    assert failures(inv, run) == ["internal"] * 3


class Recorder:
    """The X-Ray recorder as far as it is used: each thread opens its segments under the one it was given."""

    def __init__(self) -> None:
        self.opened: list[tuple[str | None, str, dict[str, str]]] = []
        self._at = threading.local()

    def get_trace_entity(self) -> str | None:
        return getattr(self._at, "entity", None)

    def set_trace_entity(self, entity: str) -> None:
        self._at.entity = entity

    def in_subsegment(self, name: str) -> Any:
        annotations: dict[str, str] = {}
        self.opened.append((self.get_trace_entity(), name, annotations))
        return nullcontext(Annotated(annotations))


class Annotated:
    def __init__(self, annotations: dict[str, str]) -> None:
        self.put_annotation = annotations.__setitem__


def test_loads_are_in_the_trace_of_their_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under its segment, whatever thread they run in, and told from searches."""
    inv, recorder = deepening(), Recorder()
    inv.tracing = Tracing(lambda: True)
    monkeypatch.setattr(inv.tracing, "_load", lambda: recorder)
    monkeypatch.setattr(inv.tracing, "_recorder", recorder)
    run = inv.start(**WEB)
    inv.carry_out(run, until="deepen")
    recorder.set_trace_entity("the step")
    inv.step("deepen", run, wave=1)
    loads = [(parent, told["instance"]) for parent, _, told in recorder.opened if told.get("operation") == "load"]
    assert loads == [("the step", "alpha")] * 3


def test_a_body_that_cannot_be_stored_is_a_note_and_counts_as_paid_for() -> None:
    """The provider has sent it."""
    inv = deepening(hits("Cathedral bells", host="alpha.com", reference="42"), costPerCall="0.25")
    run = inv.start(**WEB, max_searches=1, max_cost=10)
    inv.carry_out(run, until="deepen")
    inv.fake_content.fail_with = StoreUnavailable("S3 refused a call: AccessDenied")
    inv.step("deepen", run, wave=1)
    assert failures(inv, run) == ["store_unavailable"]
    assert inv.run_of(run).cost == 0.5
