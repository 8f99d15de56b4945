"""Hedging: a candidate that hangs is joined by the next one, and whoever answers first ends the search.

No test measures time: what hangs does so until it is broken off, and one millisecond of patience is enough for that.
Where nobody hangs, patience is endless: a busy machine may take more than a millisecond for anything.
"""

import threading
import time
from collections.abc import Callable

import pytest

from tests.fakes.clock import FakeClock
from tests.fakes.providers import After, Hang, Step, found
from tests.fakes.research import PROJECT, Research
from zarniwoop.contract.deadline import BreakOff, Deadline
from zarniwoop.contract.failure import CredentialsRejected, ProviderError, ProviderUnavailable, RateLimited
from zarniwoop.contract.modality import SearchModality, SearchTier
from zarniwoop.contract.provider import Pacing
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.result import DispatchFailure, Outcome, SearchResult
from zarniwoop.dispatch.calls.health import QUIET_SECONDS, cooldown_after_losing
from zarniwoop.dispatch.candidates.gate import Skip
from zarniwoop.dispatch.strategies.hedging import MOST_AT_ONCE

LONG = 10.0
PATIENT = {"research.hedge.afterMs": "20000"}
DOWN = ProviderUnavailable("503", status=503)


def research(settings: dict[str, str] | None = None, **scripts: Step) -> Research:
    """Who answers does so when those before it have begun to hang: on a busy machine they might not have yet."""
    impatient = {"research.hedge.afterMs": "1", **(settings or {})}
    steps: dict[str, list[Step]] = {}
    hanging: list[Hang] = []
    for name, step in scripts.items():
        steps[name] = [step if isinstance(step, Hang) or not callable(step) else After(tuple(hanging), step)]
        hanging += [step] if isinstance(step, Hang) else []
    return Research(steps, settings=impatient)


def ends(result: SearchResult) -> list[tuple[str, str, str | None]]:
    return [(each.instance_id, each.outcome, each.reason) for each in result.attempts]


def in_thread(names: list[str]) -> Callable[[SearchRequest], SearchResult]:
    """A step that notes the thread it ran in, and answers."""

    def step(request: SearchRequest) -> SearchResult:
        names.append(threading.current_thread().name)
        return found(1)(request)

    return step


def test_a_hanging_provider_is_joined_by_the_next_and_the_first_answer_wins() -> None:
    """Each is asked once; the loser is broken off and told of as superseded."""
    slow = Hang()
    made = research(slow=slow, quick=found(2))
    result = made.search()
    assert made.protocol.asked_ids == ["slow", "quick"]
    assert len(result.hits) == 2
    assert ends(result) == [("quick", "success", None), ("slow", "failure", "superseded")]
    assert slow.let_go.is_set()


def test_the_hanging_one_may_still_win() -> None:
    """Then the hedge is the loser, and is broken off."""
    hedge = Hang()

    def slow(request: SearchRequest) -> SearchResult:
        assert hedge.began.wait(LONG)
        return found(3)(request)

    made = research(slow=slow, hedge=hedge)
    result = made.search()
    assert len(result.hits) == 3
    assert ends(result) == [("slow", "success", None), ("hedge", "failure", "superseded")]


@pytest.mark.parametrize(("seconds", "is_cooled"), [(2.9, False), (3.1, True)])
def test_a_loser_cools_down_like_a_timeout_of_that_length(seconds: float, is_cooled: bool) -> None:
    """An attempt that had less than three seconds says nothing about the provider; one that had more does."""
    made = research(slow=Hang(), quick=found(1))
    made.protocol.takes["quick"] = seconds
    loser = made.search().attempts[1]
    assert loser.duration_ms == pytest.approx(seconds * 1000, abs=1)
    assert (loser.retry_at is not None) == is_cooled
    (kept,) = made.state.cooldowns_of(PROJECT)
    assert (kept.instance_id, kept.closed, kept.slow) == ("slow", not is_cooled, 0 if is_cooled else 1)


def losing(seconds: float, **more: Step) -> Research:
    """`slow` hangs until it has lost, so many seconds after it was asked."""
    made = research({"research.hedge.afterMs": "1"}, slow=Hang(), quick=found(1), **more)
    hanging = [Hang() for _ in range(9)]
    made.protocol.scripts["slow"] = list(hanging)
    made.protocol.scripts["quick"] = [After((hang,), found(1)) for hang in hanging]
    made.protocol.takes["quick"] = seconds
    return made


def test_one_that_always_loses_soon_is_slow_the_third_time() -> None:
    """Whoever answers after the hedge and before a fair attempt is over makes every search wait, and never fails."""
    made = losing(2.9)
    losers = [made.search().attempts[1] for _ in range(3)]
    assert [each.retry_at is not None for each in losers] == [False, False, True]
    assert losers[2].retry_at == pytest.approx(made.clock.now() + 30)
    result = made.search()
    assert ends(result)[0] == ("slow", "skipped", "cooldown")
    (kept,) = made.state.cooldowns_of(PROJECT)
    assert (kept.reason, kept.failures, kept.closed, kept.slow) == ("provider_unavailable", 1, False, 0)


def test_the_whole_fleet_counts_together() -> None:
    """Each environment sees one of the three."""
    made = losing(2.9)
    for _ in range(3):
        made.metrics, made.audit, made.dispatcher = made.environment()
        made.search()
    assert ends(made.search())[0] == ("slow", "skipped", "cooldown")


@pytest.mark.parametrize("answers", [found(1), found(0)], ids=["with hits", "empty"])
def test_an_answer_of_its_own_ends_the_row(answers: Step) -> None:
    """Two lost, one won, two lost: it is as good as the others."""
    made = losing(2.9)
    script = made.protocol.scripts["slow"]
    script.insert(2, answers)
    made.settings["research.hedge.afterMs"] = "1"
    for number in range(5):
        made.protocol.takes["slow"] = 0.0
        if number == 2:  # nobody else is there this time
            made.settings["research.endpoint.quick.enabled"] = "false"
            made.state.bump_generation(PROJECT)
        made.search()
        if number == 2:
            made.settings["research.endpoint.quick.enabled"] = "true"
            made.state.bump_generation(PROJECT)
    (kept,) = made.state.cooldowns_of(PROJECT)
    assert (kept.closed, kept.slow) == (True, 2)


@pytest.mark.parametrize(
    ("seconds", "after_ms"), [(0.9, "1"), (2.0, "2500")], ids=["in less than a second", "in less than patience"]
)
def test_who_lost_at_once_is_not_slow(seconds: float, after_ms: str) -> None:
    """However soon others are asked beside it; and a hedge that began a moment ago had no time to show itself."""
    lost = cooldown_after_losing(
        ("slow", SearchModality.WEB),
        None,
        now=1.0,
        fingerprint="f",
        lasted=seconds,
        patience=int(after_ms) / 1000,
    )
    assert lost is None


def test_waiting_for_a_turn_of_ours_is_no_slowness_of_the_provider() -> None:
    """Four of its seconds went by before its second request could be sent."""
    hang = Hang()

    def quick(request: SearchRequest) -> SearchResult:
        assert hang.began.wait(LONG)
        return found(1)(request)

    made = research(slow=hang, quick=quick)
    made.protocol.pacing["slow"] = Pacing(subject="s", requests=1, seconds=4.0, calls=2, separate=True, spread=0.0)
    made.protocol.requests_each["slow"] = 2
    result = made.search()
    assert ends(result) == [("quick", "success", None), ("slow", "failure", "superseded")]
    assert result.attempts[1].duration_ms >= 4000
    assert made.state.cooldowns_of(PROJECT) == []


def test_losses_that_lie_far_apart_are_no_row() -> None:
    """After ten quiet minutes it starts again."""
    made = losing(2.9)
    for _ in range(4):
        made.search()
        made.clock.advance(QUIET_SECONDS)
    (kept,) = made.state.cooldowns_of(PROJECT)
    assert (kept.closed, kept.slow) == (True, 1)


def test_a_probe_that_is_overtaken_has_failed() -> None:
    """It was to show that the provider answers; nothing that was closed over it opens it again."""
    made = losing(2.9)
    made.protocol.scripts["slow"].insert(0, DOWN)
    made.search()
    made.clock.advance(31)
    loser = made.search().attempts[1]
    assert loser.reason == "superseded"
    assert loser.retry_at == pytest.approx(made.clock.now() + 120)


def test_a_loser_is_audited_like_any_other_call() -> None:
    """Both calls were made, and both may have cost something."""
    made = research(slow=Hang(), quick=found(1))
    made.search()
    made.audit.flush()
    assert {(each.instance_id, each.ok, each.error_message) for each in made.calls.records} == {
        ("slow", False, "superseded"),
        ("quick", True, None),
    }


def test_a_loser_that_does_not_let_go_is_not_waited_for() -> None:
    """The answer goes out; what it comes to in the end is audited all the same."""
    deaf = Hang(deaf=True)
    made = research(deaf=deaf, quick=found(1))
    result = made.search()
    assert ends(result) == [("quick", "success", None), ("deaf", "failure", "superseded")]
    deaf.let_go.set()
    for _ in range(1000):
        made.audit.flush()
        if len(made.calls.records) == 2:
            break
        time.sleep(0.005)
    assert [each.error_message for each in made.calls.records if each.instance_id == "deaf"] == ["superseded"]


@pytest.mark.parametrize(
    ("refusal", "reason"),
    [
        (RateLimited("429", status=429, retry_after=7200), "rate_limited"),
        (CredentialsRejected("401", status=401), "credentials_rejected"),
        (ProviderUnavailable("503", status=503, retry_after=7200), "provider_unavailable"),
    ],
)
def test_what_a_loser_was_told_by_the_provider_holds_for_all(refusal: ProviderError, reason: str) -> None:
    """It was refused, not broken off: a stated wait is never shortened, and a refused key never asked with again."""
    made = research(slow=Hang(then=refusal), quick=found(1))
    loser = made.search().attempts[1]
    assert (loser.instance_id, loser.reason) == ("slow", reason)
    (kept,) = made.state.cooldowns_of(PROJECT)
    assert (kept.reason, kept.closed) == (reason, False)
    assert kept.until >= made.clock.now() + 7200 or kept.until_settings_change


def test_a_loser_that_costs_money_is_told_with_its_price_before_it_has_its_own_account() -> None:
    """Nothing is spent silently."""
    paid = {"research.endpoint.deaf.costPerCall": "0.5", "research.endpoint.deaf.autoAllow": "true"}
    deaf = Hang(deaf=True)
    result = research(paid, deaf=deaf, quick=found(1)).search()
    assert [(each.instance_id, each.cost) for each in result.attempts] == [("quick", 0.0), ("deaf", 0.5)]
    deaf.let_go.set()


@pytest.mark.parametrize(
    "settings",
    [
        {"research.hedge.afterMs": "0"},
        {"research.endpoint.next.costPerCall": "0.1", "research.endpoint.next.autoAllow": "true"},
        {"research.endpoint.next.enabled": "false"},
    ],
    ids=["switched off", "metered", "disabled"],
)
def test_where_nobody_could_take_over_no_thread_is_started(settings: dict[str, str]) -> None:
    """A hedge is never an endpoint that costs money, unless its settings say so."""
    threads: list[str] = []
    research(settings, first=in_thread(threads), next=found(1)).search()
    assert threads == [threading.current_thread().name]


def test_a_pinned_instance_is_never_hedged() -> None:
    """It is asked alone, in the thread of the search."""
    threads: list[str] = []
    made = research(first=in_thread(threads), next=found(1))
    made.search(tier=SearchTier.EXPERT, pinned_provider_id="first")
    assert threads == [threading.current_thread().name]
    assert made.protocol.asked_ids == ["first"]


def test_the_last_candidate_needs_no_thread() -> None:
    """Nor does anybody whose followers are all held back by the gate."""
    threads: list[str] = []
    made = research(PATIENT, down=DOWN, last=in_thread(threads))
    made.search()
    assert threads == [threading.current_thread().name]


def test_a_metered_endpoint_hedges_where_its_settings_allow_it() -> None:
    """`hedgeMetered`; the search's cost tells of it."""
    paid = {"research.endpoint.paid.costPerCall": "0.1", "research.endpoint.paid.autoAllow": "true"}
    made = research({**paid, "research.endpoint.paid.hedgeMetered": "true"}, slow=Hang(), paid=found(1))
    result = made.search()
    assert ends(result)[0] == ("paid", "success", None)
    assert result.cost == pytest.approx(0.1)


def test_a_metered_endpoint_is_passed_over_by_a_hedge_and_asked_in_its_turn() -> None:
    """When those that are free have nothing."""
    hedge_began = threading.Event()

    def slow(request: SearchRequest) -> SearchResult:
        assert hedge_began.wait(LONG)
        return found(0)(request)

    def free(request: SearchRequest) -> SearchResult:
        hedge_began.set()
        return found(0)(request)

    paid = {"research.endpoint.paid.costPerCall": "0.1", "research.endpoint.paid.autoAllow": "true"}
    made = research(paid, slow=slow, paid=found(1), free=free)
    result = made.search()
    assert sorted(made.protocol.asked_ids[:2]) == ["free", "slow"], "side by side, so in either order"
    assert made.protocol.asked_ids[2:] == ["paid"]
    assert result.attempts[-1].outcome is Outcome.SUCCESS


def test_a_hedge_that_fails_is_followed_by_the_next() -> None:
    """The hanging one is still there, and still the loser; who is held back by the gate is told of in passing.

    In which order they end is theirs to say: no hedge hangs here, and yet the next may have begun.
    """
    made = research(
        {"research.endpoint.off.enabled": "false"}, slow=Hang(), off=found(1), down=DOWN, empty=found(0), up=found(1)
    )
    result = made.search()
    assert len(result.hits) == 1
    assert sorted(ends(result)) == [
        ("down", "failure", "provider_unavailable"),
        ("empty", "empty", None),
        ("off", "skipped", "disabled"),
        ("slow", "failure", "superseded"),
        ("up", "success", None),
    ]


def test_no_more_than_three_are_asked_at_once() -> None:
    """The fourth waits until one of them has ended."""
    hangs = [Hang() for _ in range(MOST_AT_ONCE)]
    fourth = threading.Event()

    def ask_fourth(request: SearchRequest) -> SearchResult:
        fourth.set()
        return found(1)(request)

    made = research(p0=hangs[0], p1=hangs[1], p2=hangs[2], p9=ask_fourth)
    results: list[SearchResult] = []
    search = threading.Thread(target=lambda: results.append(made.search()))
    search.start()
    assert all(hang.began.wait(LONG) for hang in hangs)
    assert not fourth.wait(0.05)
    hangs[1].let_go.set()
    search.join(LONG)
    assert fourth.is_set()
    assert ends(results[0])[:2] == [("p1", "failure", "provider_unavailable"), ("p9", "success", None)]


def test_at_the_deadline_nobody_is_waited_for() -> None:
    """Those that still run are told to be out of time; their threads end by themselves."""
    deaf = [Hang(deaf=True), Hang(deaf=True)]
    result = research(one=deaf[0], other=deaf[1]).search(seconds=1.6)
    for each in deaf:
        each.let_go.set()
    assert ends(result) == [("one", "failure", "out_of_time"), ("other", "failure", "out_of_time")]
    assert result.failure is DispatchFailure.ALL_FAILED


def test_who_is_broken_off_while_waiting_for_a_turn_never_asks() -> None:
    """The turn is lost; the call would be one for nobody."""
    break_off = BreakOff()

    class Overtaken(FakeClock):
        def sleep(self, seconds: float) -> None:
            break_off.break_off()

    made = Research({"paced": [found(1)]}, clock=Overtaken())
    made.protocol.pacing["paced"] = Pacing(subject="paced@host", requests=1, seconds=3.0)
    made.search()
    scope = made.scope()
    result = made.dispatcher.search(made.request(), scope.until(scope.deadline.breakable(break_off)))
    assert ends(result) == [("paced", "skipped", Skip.SUPERSEDED)]
    assert made.protocol.asked_ids == ["paced"]


def test_who_is_broken_off_while_waiting_takes_no_further_turn_and_gives_none_back() -> None:
    """An exclusive turn that somebody else holds is that one's, whoever overslept."""
    break_off = BreakOff()

    class Overslept(FakeClock):
        def sleep(self, seconds: float) -> None:
            super().sleep(seconds + 10)
            break_off.break_off()

    made = Research({"paced": [found(1)]}, clock=Overslept())
    made.protocol.pacing["paced"] = Pacing(subject="paced@host", requests=1, seconds=3.0, exclusive=True)
    made.search()
    before = dict(made.state.calls)
    scope = made.scope(60)
    made.dispatcher.search(made.request(), scope.until(scope.deadline.breakable(break_off)))
    assert made.state.calls["take_turn"] - before["take_turn"] == 1
    assert made.state.calls["release_turn"] == before["release_turn"]


def test_a_bug_in_the_dispatcher_itself_is_raised_in_the_thread_of_the_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And not lost in one that nobody looks into."""
    made = research(PATIENT, first=found(1), next=found(1))
    monkeypatch.setattr(made.dispatcher.fleet, "take_turn", lambda *_args, **_kwargs: 1 / 0)
    made.protocol.pacing["first"] = Pacing(subject="first@host", requests=1, seconds=3.0)
    with pytest.raises(ZeroDivisionError):
        made.search()


def test_what_is_lent_to_a_break_off_is_let_go_once_and_never_after_it_was_taken_back() -> None:
    """A connection that serves somebody else by then must not be closed under him."""
    let_go: list[str] = []
    break_off = BreakOff()

    def kept() -> None:
        let_go.append("kept")

    def returned() -> None:
        let_go.append("returned")

    break_off.lend(kept)
    break_off.lend(returned)
    break_off.take_back(returned)
    break_off.break_off()
    break_off.lend(lambda: let_go.append("late"))
    assert let_go == ["kept", "late"]


def test_a_deadline_that_is_broken_off_has_no_time_left() -> None:
    """Nor has any that was made of it."""
    break_off = BreakOff()
    deadline = Deadline.after(20.0, FakeClock()).breakable(break_off)
    inner = deadline.within(8.0)
    assert (inner.remaining(), inner.expired) == (8.0, False)
    break_off.break_off()
    assert (deadline.remaining(), inner.remaining(), inner.expired) == (0.0, 0.0, True)
