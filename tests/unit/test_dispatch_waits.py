"""A wait that a provider states: nothing that happens shortens it, only people do."""

from tests.fakes.providers import found
from tests.fakes.research import PROJECT, Research
from zarniwoop.contract.failure import ProviderUnavailable, RateLimited
from zarniwoop.contract.result import DispatchFailure
from zarniwoop.dispatch.calls.health import cooldown_after

TWO_HOURS = 7200.0


def throttled() -> Research:
    """A provider that said "in two hours" a moment ago, and would answer by now."""
    research = Research({"busy": [RateLimited("429", retry_after=TWO_HOURS), found(1)]})
    research.search()
    return research


def test_two_hours_are_two_hours() -> None:
    """Not a second less; a shorter wait that a straggler was told changes nothing."""
    research = throttled()
    until = research.clock.now() + TWO_HOURS
    (cooldown,) = research.state.cooldowns_of(PROJECT)
    for error in (RateLimited("429", retry_after=1.0), RateLimited("429"), ProviderUnavailable("503")):
        shorter = cooldown_after(
            error, cooldown.subject, None, now=research.clock.now(), fingerprint=cooldown.fingerprint, allowed=8.0
        )
        assert shorter is not None
        assert research.state.extend_cooldown(PROJECT, shorter).until == until
    research.clock.advance(TWO_HOURS - 1)
    result = research.search()
    assert (result.failure, result.retry_at) == (DispatchFailure.ALL_COOLING, until)
    research.clock.advance(1)
    assert research.search().hits


def test_other_settings_end_it() -> None:
    """Another key may have another plan."""
    research = throttled()
    research.settings["research.endpoint.busy.apiKey"] = "another"
    research.state.bump_generation(PROJECT)
    assert research.search().hits


def test_a_project_stop_ends_it() -> None:
    """The operator's clear."""
    research = throttled()
    research.state.clear_project(PROJECT)
    assert research.search().hits
