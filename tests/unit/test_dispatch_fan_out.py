"""The fan-out: who is asked at once, who stands in, and what one provider's trouble costs the others."""

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.fakes.providers import FakeInstance, Step, found
from tests.fakes.research import Research
from zarniwoop.contract.failure import ProviderUnavailable, RateLimited
from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import Pacing
from zarniwoop.contract.request import SearchRequest, Strategy
from zarniwoop.contract.result import AppliedFilter, DispatchFailure, FilterHandling, Outcome, SearchResult
from zarniwoop.dispatch.strategies.fan_out import MOST_AT_ONCE

DOWN = ProviderUnavailable("503", status=503)
LONG = 10.0
"""Longer than any of these tests takes; only a failing one waits for it."""


def pages(*names: str, instance_id: str = "", **changes: object) -> Callable[[SearchRequest], SearchResult]:
    """A step that answers with these pages, best first."""

    def answer(request: SearchRequest) -> SearchResult:
        hits = tuple(
            SearchHit(title=name, url=f"https://{name}.example/", modality=request.modality, rank=rank)
            for rank, name in enumerate(names, 1)
        )
        told: dict[str, object] = {"hits": hits, "returned_count": len(hits), **changes}
        return replace(found(0, instance_id=instance_id)(request), **told)  # type: ignore[arg-type]

    return answer


def research(**scripts: Step) -> Research:
    """Providers with an index each, but those whose names begin with `google` share one."""
    made = Research({name: [step] for name, step in scripts.items()})
    made.protocol.families = {name: name.rstrip("_ab") if name.startswith("google") else name for name in scripts}
    return made


def fan_out(made: Research, *, min_results: int = 1, **more: object) -> SearchResult:
    return made.search(strategy=Strategy.FANOUT, min_results=min_results, **more)  # type: ignore[arg-type]


def outcomes(result: SearchResult) -> list[tuple[str, str, str | None]]:
    return [(each.instance_id, each.outcome, each.reason) for each in result.attempts]


def test_several_are_asked_at_once_and_their_lists_become_one() -> None:
    """Each waits until all have begun; the account is in the order of the line."""
    everybody = threading.Barrier(3)

    def meet(answer: Callable[[SearchRequest], SearchResult]) -> Callable[[SearchRequest], SearchResult]:
        def step(request: SearchRequest) -> SearchResult:
            everybody.wait(LONG)
            return answer(request)

        return step

    made = research(a=meet(pages("x", "both")), b=meet(pages("both")), c=meet(pages("y")))
    result = fan_out(made)
    assert [hit.title for hit in result.hits] == ["both", "x", "y"]
    assert [each.instance_id for each in result.hits[0].contributors] == ["b", "a"]
    assert outcomes(result) == [(name, "success", None) for name in ("a", "b", "c")]
    assert (result.calls, result.returned_count, result.provider_instance_id, result.degraded) == (3, 3, "", None)


def test_without_the_word_a_search_stays_a_cascade() -> None:
    """One call, and no contributors."""
    made = research(a=pages("x"), b=pages("y"))
    result = made.search()
    assert made.protocol.asked_ids == ["a"]
    assert (result.hits[0].contributors, result.hits[0].score) == ((), None)


@pytest.mark.parametrize("trouble", [DOWN, RateLimited("slow down", retry_after=60.0), KeyError("a bug")])
def test_a_failing_provider_changes_nothing_but_its_own_entry(trouble: Exception) -> None:
    """The hits are those of the others, and `degraded` says whose votes are missing."""
    alone = fan_out(research(a=pages("x", "y"), c=pages("y")))
    result = fan_out(research(a=pages("x", "y"), b=trouble, c=pages("y")))
    assert result.hits == alone.hits
    assert [each for each in outcomes(result) if each[0] != "b"] == outcomes(alone)
    assert result.attempts[1].outcome is Outcome.FAILURE
    assert (alone.degraded, result.degraded) == (None, "without b")


def test_a_failure_cools_down_as_in_a_cascade_and_the_next_fan_out_does_not_ask() -> None:
    """It is skipped before a thread is spent on it."""
    made = research(a=DOWN, b=pages("x"))
    fan_out(made)
    result = fan_out(made)
    assert outcomes(result)[0] == ("a", "skipped", "cooldown")
    assert made.protocol.asked_ids.count("a") == 1
    assert result.degraded == "without a"


def test_of_instances_on_one_index_one_is_asked() -> None:
    """A second call to the same index buys nothing."""
    made = research(google_a=pages("x"), google_b=pages("x"), c=pages("x"))
    result = fan_out(made)
    assert sorted(made.protocol.asked_ids) == ["c", "google_a"]
    assert [each.index_family for each in result.hits[0].contributors] == ["c", "google"]


def test_another_on_the_same_index_stands_in_when_too_little_was_found() -> None:
    """It failed over, and has the index's vote."""
    made = research(google_a=DOWN, google_b=pages("x"), c=pages())
    result = fan_out(made)
    assert outcomes(result) == [
        ("google_a", "failure", "provider_unavailable"),
        ("google_b", "success", None),
        ("c", "empty", None),
    ]
    assert [hit.title for hit in result.hits] == ["x"]


def test_further_ones_are_asked_until_there_are_enough_different_works() -> None:
    """Never more than four at once; two that name the same count as one."""
    made = research(**{f"p{number}": pages("same") for number in range(MOST_AT_ONCE)}, p4=pages("other"), p5=pages("z"))
    assert len(fan_out(made).attempts) == MOST_AT_ONCE
    made.protocol.asked.clear()
    result = fan_out(made, min_results=2)
    assert sorted(made.protocol.asked_ids) == [f"p{number}" for number in range(6)]
    assert {hit.title for hit in result.hits} == {"same", "other", "z"}


def test_no_more_hits_come_than_were_asked_for_and_no_more_are_waited_for() -> None:
    """`min_results` above `max_results` asks for the impossible, and is taken for the latter."""
    made = research(**{f"p{number}": pages("a", "b", "c") for number in range(MOST_AT_ONCE)}, p4=pages("d"))
    result = fan_out(made, min_results=9, max_results=2)
    assert (len(result.hits), result.returned_count, len(result.attempts)) == (2, 2, MOST_AT_ONCE)


def test_nobody_answers() -> None:
    """Everybody was asked, and the failure is the cascade's."""
    result = fan_out(research(a=DOWN, b=DOWN))
    assert (result.failure, len(result.attempts)) == (DispatchFailure.ALL_FAILED, 2)
    assert fan_out(Research({})).failure is DispatchFailure.NO_ENDPOINT


def test_everybody_answers_with_nothing() -> None:
    """Empty is an answer."""
    result = fan_out(research(a=pages(), b=pages()))
    assert (result.failure, result.hits, len(result.attempts)) == (None, (), 2)


def test_what_costs_money_is_asked_only_where_routing_names_it() -> None:
    """A fan-out spends no more silently than a cascade; what it spent is in the result."""
    made = research(a=pages("x"), b=pages("y"))
    made.settings["research.endpoint.b.costPerCall"] = "0.5"
    assert [each.instance_id for each in fan_out(made).attempts] == ["a"]
    made.settings["research.default.web"] = "b"
    made.settings["research.fallback.web"] = "a"
    _, _, made.dispatcher = made.environment()
    result = fan_out(made)
    assert sorted(each.instance_id for each in result.attempts) == ["a", "b"]
    assert result.cost == 0.5


def test_turns_at_a_published_rate_are_kept() -> None:
    """The second search in the same second would wait too long while others are there; it is skipped."""
    made = research(a=pages("x"), b=pages("y"))
    made.protocol.pacing["a"] = Pacing(subject="a@host", requests=1, seconds=60.0)
    assert {each.outcome for each in fan_out(made).attempts} == {Outcome.SUCCESS}
    result = fan_out(made)
    assert outcomes(result) == [("a", "skipped", "throttled"), ("b", "success", None)]


def test_who_is_not_there_at_the_deadline_is_left_behind() -> None:
    """Its thread ends by itself; the answer goes out with what there is."""
    began, let_go = threading.Event(), threading.Event()
    made = research(a=pages("x"), b=pages("y"))

    def use_up_the_time(request: SearchRequest) -> SearchResult:
        began.wait(LONG)
        made.clock.advance(30.0)
        return pages("x")(request)

    def hang(request: SearchRequest) -> SearchResult:
        began.set()
        let_go.wait(LONG)
        return pages("y")(request)

    made.protocol.scripts |= {"a": [use_up_the_time], "b": [hang]}
    result = fan_out(made)
    let_go.set()
    assert [hit.title for hit in result.hits] == ["x"]
    assert outcomes(result) == [("a", "success", None), ("b", "failure", "out_of_time")]
    assert result.degraded == "without b"


def test_a_filter_is_told_as_the_least_of_all_applied_it() -> None:
    """Where one ignored it, the list cannot be relied on for it, and the reason says whose fault that is."""

    def told(handling: FilterHandling, reason: str | None = None) -> AppliedFilter:
        return AppliedFilter(name="site", value="a.example", handling=handling, reason=reason)

    made = research(
        a=pages("x", applied=(told(FilterHandling.PROVIDER),)),
        b=pages("y", applied=(told(FilterHandling.IGNORED, "it knows none"),)),
        c=pages("z", applied=(told(FilterHandling.HERE),)),
    )
    (applied,) = fan_out(made).applied
    assert (applied.handling, applied.reason) == (FilterHandling.IGNORED, "b: it knows none")
    alike = research(
        a=pages("x", applied=(told(FilterHandling.HERE),)), b=pages("y", applied=(told(FilterHandling.HERE),))
    )
    assert fan_out(alike).applied == (told(FilterHandling.HERE),)
    unreasoned = research(
        a=pages("x", applied=(told(FilterHandling.HERE),)), b=pages(applied=(told(FilterHandling.PROVIDER),))
    )
    assert fan_out(unreasoned).applied[0].reason == "so by a"


def test_notes_and_the_trouble_of_a_metasearch_are_kept() -> None:
    """Each once."""
    made = research(
        a=pages("x", note="one"),
        b=pages("y", note="one", degraded="engines blocked"),
        c=pages("z", note="two"),
    )
    result = fan_out(made)
    assert (result.note, result.degraded) == ("one; two", "engines blocked")


def test_several_fan_outs_share_one_read_of_the_shared_state() -> None:
    """As several cascades do; the other one is the first look at the project, before its settings are read."""
    made = research(a=pages("x"), b=pages("y"))
    requests = [
        SearchRequest(query="q", modality=modality, strategy=Strategy.FANOUT)
        for modality in (SearchModality.WEB, SearchModality.NEWS)
    ]
    results = made.dispatcher.search_each(requests, made.scope())
    assert [len(each.hits) for each in results] == [2, 2]
    assert made.state.calls["snapshot"] == 2


def test_the_calls_that_a_request_allows_are_those_of_the_first_in_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the first is the last to come to its call: here it would let all others go before."""
    others, pacing = threading.Semaphore(0), FakeInstance.pacing

    def after_the_others(self: FakeInstance, request: SearchRequest) -> Pacing | None:
        if self.id() == "a":
            others.acquire(timeout=0.1)
            others.acquire(timeout=0.1)
        return pacing(self, request)

    def asked(answer: Callable[[SearchRequest], SearchResult]) -> Callable[[SearchRequest], SearchResult]:
        def step(request: SearchRequest) -> SearchResult:
            others.release()
            return answer(request)

        return step

    monkeypatch.setattr(FakeInstance, "pacing", after_the_others)
    made = research(a=pages("x"), b=asked(pages("y")), c=asked(pages("z")))
    result = fan_out(made, max_calls=2)
    assert outcomes(result) == [("a", "success", None), ("b", "success", None), ("c", "skipped", "budget")]
    assert result.attempts[2].detail == "max_calls"


def test_a_call_that_the_first_could_not_use_goes_to_the_next_in_the_line() -> None:
    """Here a turn that does not come in time."""
    made = research(a=pages("x"), b=pages("y"), c=pages("z"))
    made.protocol.pacing["a"] = Pacing(subject="a@host", requests=1, seconds=600.0)
    made.search(pinned_provider_id="a")
    result = fan_out(made, max_calls=1)
    assert outcomes(result) == [("a", "skipped", "throttled"), ("b", "success", None), ("c", "skipped", "budget")]


def test_too_few_works_are_told_of() -> None:
    """How many indexes gave how many; nothing where there are enough, or nobody wished for more than one."""
    made = research(google_a=pages("x"), google_b=pages("x"), c=pages("x", "y"))
    assert fan_out(made, min_results=5).note == "2 indexes gave 2 of the 5 works wished for"
    assert fan_out(made, min_results=2).note is None
    assert fan_out(research(a=pages())).note is None
    assert fan_out(research(a=pages()), min_results=3).note == "1 index gave 0 of the 3 works wished for"


def test_nobody_is_told_that_nothing_was_found_where_not_everybody_was_asked() -> None:
    """The same in a cascade; with hits there is nothing to explain."""
    made = research(a=pages(), b=pages("y"))
    told = "nothing was found, but not everybody was asked: max_calls left no call for b"
    assert fan_out(made, max_calls=1).note == told
    assert made.search(max_calls=1).note == told
    assert made.search(max_calls=2).note is None
    assert fan_out(research(a=pages("x"), b=pages("y")), max_calls=1).note is None
