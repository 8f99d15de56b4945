"""The factory: instances out of settings, and never one endpoint's fault at another's cost."""

from dataclasses import replace

import pytest

from tests.fakes.providers import found
from tests.fakes.research import PROJECT, Research
from zarniwoop.contract.failure import ConfigurationUnavailable
from zarniwoop.contract.modality import SearchModality, SearchTier
from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.contract.result import Outcome
from zarniwoop.observe.metrics import Metric


def test_an_endpoint_that_cannot_be_made_is_told_of_and_the_others_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ValueError names the setting; anything else names its kind alone."""
    research = Research({"picky": [found(1)], "broken": [found(1)], "sound": [found(1)]})
    make = research.protocol.instantiate

    def instantiate(config: ProviderInstanceConfig) -> object:
        if config.instance_id == "picky":
            raise ValueError("room is required by protocol fake")
        if config.instance_id == "broken":
            raise ZeroDivisionError("secret detail")
        return make(config)

    monkeypatch.setattr(research.protocol, "instantiate", instantiate)
    result = research.search()
    assert [(each.instance_id, each.outcome) for each in result.attempts] == [("sound", Outcome.SUCCESS)]
    told = {
        each.instance_id: each.reason for each in research.dispatcher.factory.assemble(research.scope()).misconfigured
    }
    assert told == {
        "picky": "room is required by protocol fake",
        "broken": "protocol 'fake' fails to start (ZeroDivisionError)",
    }


def test_a_changed_endpoint_gets_a_new_instance_and_the_old_one_is_disposed() -> None:
    """Only the one that changed, when the settings are read again."""
    research = Research({"a": [found(1)], "b": [found(1)]})
    research.search()
    research.settings["research.endpoint.a.room"] = "4"
    research.clock.advance(301)
    research.search()
    assert [(made.id(), made.disposed) for made in research.protocol.made] == [("a", 1), ("b", 0), ("a", 0)]


def test_settings_that_cannot_be_read_are_no_reason_to_forget_the_instances() -> None:
    """A cold environment has nothing to go on; that is told, not hidden."""
    research = Research({"a": [found(1)]})
    research.settings_failure = ConfigurationUnavailable("down")
    with pytest.raises(ConfigurationUnavailable):
        research.search()
    research.settings_failure = None
    assert research.search().hits


def test_a_stale_copy_of_the_settings_is_counted() -> None:
    """`vance.research.settings.stale` tells the operator that Parameter Store does not answer."""
    research = Research({"a": [found(1)]})
    research.stale = True
    research.search()
    assert [point.metric for point in research.points()].count(Metric.SETTINGS_STALE) == 1


def test_an_environment_that_serves_many_projects_keeps_the_last_ones() -> None:
    """What it lets go is disposed, and built again when asked for."""
    research = Research({"a": [found(1)]})
    for number in range(257):
        research.dispatcher.search(research.request(), research.scope(project_id=f"project-{number}"))
    assert [made.disposed for made in research.protocol.made].count(1) == 1
    research.dispatcher.search(research.request(), research.scope(project_id="project-0"))
    assert len(research.protocol.made) == 258


def test_a_project_that_was_stopped_has_its_settings_forgotten_too() -> None:
    """Else a warm environment would build the same again for another five minutes."""
    forgotten: list[tuple[str, str]] = []
    research = Research({"a": [found(1)]}, on_forget=lambda *project: forgotten.append(project))
    research.search()
    forgotten.clear()
    research.state.bump_generation(PROJECT)
    research.search()
    assert forgotten == [("acme", "demo")]


def test_requests_that_are_lined_up_alike_share_their_line() -> None:
    """It is worked out once for an assembly; another language, pin or wish for free ones is another line."""
    research = Research({"a": [found(1)], "b": [found(1)]}, {"research.endpoint.b.costPerCall": "0.5"})
    assembly, usual = research.dispatcher.factory.assemble(research.scope()), research.request()
    first = assembly.line_up(usual)
    assert assembly.line_up(replace(usual, query="towers", max_results=3)) is first
    others = (
        replace(usual, query="колокола"),
        replace(usual, pinned_provider_id="b"),
        replace(usual, free_only=True),
        replace(usual, modality=SearchModality.NEWS),
        replace(usual, tier=SearchTier.EXPERT),
    )
    assert all(assembly.line_up(other) is not first for other in others)
