"""A project stops: what it held goes, and what others hold stays."""

import pytest

from tests.fakes.cloud import LambdaContext
from tests.fakes.environment import FakeEnvironment
from tests.fakes.evidence import read
from tests.fakes.functions import sample
from tests.fakes.providers import found
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import ProviderUnavailable
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.problem import InvalidArgument
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.entry.project_stop import project_stop
from zarniwoop.stores.evidence import ProjectStopped
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.state import ProjectKey

DEMO = ProjectKey(tenant_id="acme", project_id="demo")
LAB = ProjectKey(tenant_id="acme", project_id="lab")


def _search(environment: FakeEnvironment, project_id: str) -> None:
    scope = SearchScope(tenant_id="acme", project_id=project_id, deadline=Deadline.after(20.0, environment.clock))
    environment.tools.dispatcher.search(SearchRequest(query="bells", modality=SearchModality.WEB), scope)


def test_state_and_content_of_the_project_go_and_nobody_elses() -> None:
    """Generation up, cooldowns and content deleted; environments that built instances see it by the generation."""
    environment = FakeEnvironment({"down": [ProviderUnavailable("503")], "up": [found(1)]})
    environment.fake_content.objects = {DEMO: {"a": b"1", "b": b"2"}, LAB: {"c": b"3"}}
    _search(environment, "demo")
    _search(environment, "lab")
    report = project_stop(environment=lambda: environment)(sample("project_stop"), LambdaContext())
    assert report == {
        "generation": 1,
        "stopped_runs": 0,
        "stopping_runs": 0,
        "deleted_state_items": 1,
        "deleted_content_objects": 2,
        "deleted_index_objects": 0,
        "deleted_evidence": 0,
        "deleted_evidence_objects": 0,
    }
    assert environment.fake_state.cooldowns_of(DEMO) == []
    assert len(environment.fake_state.cooldowns_of(LAB)) == 1
    assert environment.fake_content.objects == {LAB: {"c": b"3"}}
    _search(environment, "demo")
    assert [instance.disposed for instance in environment.protocol.made] == [1, 1, 0, 0, 0, 0]


def test_no_call_keeps_evidence_while_its_project_stops_or_after_it_was_stopped() -> None:
    """What fails behind it changes nothing of that, and the retry goes on; what begins afterwards keeps some again."""
    environment = FakeEnvironment({"main": [found(1)]})
    stop, store = project_stop(environment=lambda: environment), environment.fake_evidence
    environment.fake_content.fail_with = StoreUnavailable("down")
    with pytest.raises(StoreUnavailable):
        stop(sample("project_stop"), LambdaContext())
    environment.hands.advance(10.0)
    environment.begin("request-2")
    with pytest.raises(ProjectStopped):
        environment.ledger.keep_page(DEMO, read())
    environment.fake_content.fail_with = None
    stop(sample("project_stop"), LambdaContext())
    with pytest.raises(ProjectStopped):
        environment.ledger.keep_page(DEMO, read())
    environment.hands.advance(1.0)
    environment.begin("request-3")
    assert store.get(DEMO, environment.ledger.keep_page(DEMO, read()).id) is not None


def test_what_the_project_would_still_show_goes_before_its_evidence() -> None:
    """Of that there may be months: a stop that takes too long for one invocation has done everything else."""
    environment = FakeEnvironment({"main": [found(1)]})
    environment.fake_content.objects = {DEMO: {"a": b"1"}}
    environment.fake_evidence.bodies.fail_with = StoreUnavailable("down")
    with pytest.raises(StoreUnavailable):
        project_stop(environment=lambda: environment)(sample("project_stop"), LambdaContext())
    assert environment.fake_content.objects == {}
    assert environment.fake_continuations.calls["stop"] == 1


def test_nothing_is_built_to_stop_a_project() -> None:
    """This function never searches: it has no instances to dispose, and pays for no dispatcher and no settings."""
    environment = FakeEnvironment({"main": [found(1)]})
    project_stop(environment=lambda: environment)(sample("project_stop"), LambdaContext())
    assert "tools" not in environment.__dict__
    assert environment.fake_parameters.calls["read_level"] == 0


def test_an_event_delivered_twice_does_no_harm() -> None:
    """EventBridge promises at least once."""
    environment = FakeEnvironment({"main": [found(1)]})
    stop = project_stop(environment=lambda: environment)
    stop(sample("project_stop"), LambdaContext())
    again = stop(sample("project_stop"), LambdaContext())
    assert again == {
        "generation": 2,
        "stopped_runs": 0,
        "stopping_runs": 0,
        "deleted_state_items": 0,
        "deleted_content_objects": 0,
        "deleted_index_objects": 0,
        "deleted_evidence": 0,
        "deleted_evidence_objects": 0,
    }


@pytest.mark.parametrize(
    ("detail", "field"),
    [
        (None, "detail"),
        ("demo", "detail"),
        ({"tenant_id": "acme"}, "project_id"),
        ({"project_id": "demo"}, "tenant_id"),
        ({"tenant_id": "acme", "project_id": "../other"}, "project_id"),
        ({"tenant_id": "acme", "project_id": "demo", "everything": True}, "everything"),
    ],
)
def test_an_event_that_names_no_project_stops_none(detail: object, field: str) -> None:
    """It fails, and so ends where failed events are looked at."""
    environment = FakeEnvironment({"main": [found(1)]})
    with pytest.raises(InvalidArgument) as refused:
        project_stop(environment=lambda: environment)({"detail": detail}, LambdaContext())
    assert refused.value.field == field
    assert environment.fake_state.calls["bump_generation"] == 0
