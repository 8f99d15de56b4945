"""Rows 29 to 36: who is asked after whom, and what comes of answers that break their promises."""

import threading
import time
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.providers import FakeProtocol, Step, found
from tests.fakes.transport import ScriptedTransport, answer
from tests.functional.faults.cooldowns import told
from tests.functional.faults.scenario import CANARY, QUERY, Kind, Scenario, Stage
from zarniwoop.contract.failure import ProviderUnavailable, RateLimited
from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.modality import SearchModality, SearchTier
from zarniwoop.contract.problem import UnknownThing
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.result import DispatchFailure, Outcome, SearchResult
from zarniwoop.observe.metrics import Metric
from zarniwoop.tools.arguments import QueryArguments
from zarniwoop.tools.research_rich import RichResult, rich

DOWN = ProviderUnavailable("503", status=503)


def the_first_has_nothing(stage: Stage) -> None:
    """An empty answer is no failure and moves on; when nobody has more, the search is ok and empty."""
    research = stage.research({"dry": [found(0)], "rich": [found(2)]})
    result = research.search()
    assert [(each.instance_id, each.outcome) for each in result.attempts] == [
        ("dry", Outcome.EMPTY),
        ("rich", Outcome.SUCCESS),
    ]
    assert research.search().attempts[0].outcome is Outcome.EMPTY

    nothing = stage.research({"dry": [found(0)], "down": [DOWN]}).search()
    assert (nothing.failure, nothing.hits, nothing.error_message) == (None, (), None)


def the_pinned_instance_fails(stage: Stage) -> None:
    """A pin is never replaced: no hits, an error message, nobody else asked, nobody waited for."""
    research = stage.research({"other": [found(1)], "pinned": [DOWN]})
    result = research.search(tier=SearchTier.EXPERT, pinned_provider_id="pinned")
    assert told(result) == [("pinned", "provider_unavailable")]
    assert (result.failure, result.hits) == (DispatchFailure.ALL_FAILED, ())
    assert result.error_message


def the_pinned_instance_is_not_there(stage: Stage) -> None:
    """Unknown is refused before anything is called; disabled is told as such."""
    research = stage.research({"off": [found(1)], "on": [found(1)]}, {"research.endpoint.off.enabled": "false"})
    try:
        research.search(tier=SearchTier.EXPERT, pinned_provider_id="ghost")
    except UnknownThing as refused:
        assert (refused.field, refused.status) == ("pinned_provider_id", 404)
        assert "'off', 'on'" in (refused.suggested_action or "")
    else:
        raise AssertionError("an unknown instance was not refused")
    disabled = research.search(tier=SearchTier.EXPERT, pinned_provider_id="off")
    assert (disabled.failure, told(disabled)) == (DispatchFailure.DISABLED, [("off", "disabled")])
    assert research.protocol.asked == []


def one_of_four_modalities_hangs(stage: Stage) -> None:
    """The other three are handed in at the deadline, and the answer says that it is partial."""
    released = threading.Event()
    seconds = 1.6

    def hangs_on_videos(request: SearchRequest) -> SearchResult:
        if request.modality is SearchModality.VIDEO:
            released.wait(5)
        return found(1)(request)

    research = stage.research({"only": [hangs_on_videos]})
    started = time.monotonic()
    try:
        answered = rich(QueryArguments(query=QUERY), research.scope(seconds), research.services)
        taken = time.monotonic() - started
    finally:
        released.set()
        _join_searches()
    stage.show(Kind.RESULT, answered)
    data = answered.data
    assert isinstance(data, RichResult)
    assert (answered.ok, data.partial, list(data.problems)) == (True, True, ["VIDEO"])
    assert {name: len(result.hits) for name, result in data.results.items()} == {
        **dict.fromkeys(("WEB", "IMAGE", "NEWS"), 1),
        "VIDEO": 0,
    }
    assert data.results["VIDEO"].failure is DispatchFailure.OUT_OF_TIME
    assert taken <= seconds + 0.5  # 0.05 s of grace; the rest is what a busy machine may add


def an_instance_raises_what_it_must_not(stage: Stage) -> None:
    """A bug in an add-on is ours to survive: told apart from an outage, counted, and no reason to cool down."""
    for bug in (AttributeError(CANARY), ZeroDivisionError(QUERY), KeyError("hits"), RecursionError()):
        research = stage.research({"buggy": [bug], "sound": [found(1)]})
        for _again in range(2):
            assert told(research.search()) == [("buggy", "internal"), ("sound", None)]
        assert sum(point.metric is Metric.INTERNAL_ERRORS for point in research.points()) == 2
        assert research.state.calls["extend_cooldown"] == 0
        assert research.internal_errors == [("buggy", bug)] * 2

    pubmed = {"research.endpoint.pubmed-main.protocol": "pubmed"}
    built_in = stage.environment(pubmed, transport=ScriptedTransport(answer({"esearchresult": {}})))
    misread = built_in.search(SearchModality.ACADEMIC)
    assert told(misread) == [("pubmed-main", "malformed_answer")]
    assert misread.attempts[0].retry_at == stage.clock.now() + 60


def the_log_of_an_internal_error(stage: Stage) -> None:
    """The log names the instance and the kind of error; its text may hold anything, and stays out."""
    protocol = FakeProtocol(stage.clock, {"buggy": [AttributeError(f"{CANARY} {QUERY}")]})
    buggy = stage.environment({"research.endpoint.buggy.protocol": "fake"}, protocols=[protocol])
    assert told(buggy.search()) == [("buggy", "internal")]


def a_bug_in_an_instance(stage: Stage) -> None:
    an_instance_raises_what_it_must_not(stage)
    the_log_of_an_internal_error(stage)


def little_time_is_left(stage: Stage) -> None:
    """Nobody is asked with less than a second and a half to go; the best typed error so far is the answer."""
    research = stage.research({name: [DOWN] for name in ("slow", "slower", "never-asked")})
    research.protocol.takes = {"slow": 9.0, "slower": 9.0}
    result = research.search(seconds=5.0)
    assert told(result) == [
        ("slow", "provider_unavailable"),
        ("slower", "provider_unavailable"),
        ("never-asked", "out_of_time"),
    ]
    assert result.failure is DispatchFailure.ALL_FAILED
    assert [round(given_seconds, 3) for given_seconds in research.protocol.given_seconds] == [3.0, 1.2]

    hurried = stage.research({"any": [found(1)]})
    assert hurried.search(seconds=1.4).failure is DispatchFailure.OUT_OF_TIME
    assert hurried.protocol.asked == []


def routing_goes_in_circles(stage: Stage) -> None:
    """Each is asked once, in the order of its first naming; unknown names are ignored and told of."""
    research = stage.research(
        {"a": [DOWN], "b": [RateLimited("429", retry_after=60.0)], "unnamed": [found(1)]},
        {"research.default.web": "a", "research.fallback.web": "b,a,ghost,b,a"},
    )
    result = research.search()
    assert research.protocol.asked_ids == ["a", "b"]
    assert "'ghost'" in (result.note or "")


TITLES = st.sampled_from(["Bells", " ", "", None])
LINKS = st.sampled_from(
    [
        "https://example.com/1",
        "http://example.com",
        "javascript:alert(1)",
        "data:text/html,x",
        "/relative",
        "",
        "ftp://a",
    ]
)
SOUND_TITLES = frozenset(("Bells",))
SOUND_LINKS = frozenset(("https://example.com/1", "http://example.com"))


def hits_that_break_their_promises(stage: Stage) -> None:
    """What is no hit is dropped, what is too much is clipped, and both are counted exactly."""

    @settings(max_examples=60, deadline=None, database=None)
    @given(pairs=st.lists(st.tuples(TITLES, LINKS), max_size=30), wanted=st.integers(1, 20), reported=st.integers(0, 5))
    def is_exact(pairs: list[tuple[Any, str]], wanted: int, reported: int) -> None:
        sound = [pair for pair in pairs if pair[0] in SOUND_TITLES and pair[1] in SOUND_LINKS]
        result = stage.research({"messy": [_hits(pairs, reported)]}).search(max_results=wanted)
        assert [(hit.title, hit.url) for hit in result.hits] == sound[:wanted]
        assert result.returned_count == len(result.hits)
        assert result.dropped_count == reported + len(pairs) - len(result.hits)

    is_exact()
    flood = stage.research({"flood": [found(1000)]}).search(max_results=10)
    assert (len(flood.hits), flood.dropped_count) == (10, 990)


def _hits(pairs: list[tuple[Any, str]], reported: int) -> Step:
    hits = tuple(SearchHit(title=title, url=url, modality=SearchModality.WEB) for title, url in pairs)
    return found(0, hits=hits, returned_count=len(hits), dropped_count=reported)


def _join_searches() -> None:
    """Wait for the threads that a search left behind."""
    for thread in _searching():
        thread.join(5)


def _searching() -> Iterator[threading.Thread]:
    return (thread for thread in threading.enumerate() if thread.name.startswith("search"))


SCENARIOS = (
    Scenario(number=29, fault="the first provider has no hits", run=the_first_has_nothing),
    Scenario(number=30, fault="the pinned instance fails", run=the_pinned_instance_fails),
    Scenario(number=31, fault="the pinned instance is unknown or disabled", run=the_pinned_instance_is_not_there),
    Scenario(number=32, fault="one of four modalities hangs", run=one_of_four_modalities_hangs),
    Scenario(number=33, fault="an instance raises what it must not", run=a_bug_in_an_instance),
    Scenario(number=34, fault="less than a second and a half is left", run=little_time_is_left),
    Scenario(number=35, fault="the fallback list loops and names strangers", run=routing_goes_in_circles),
    Scenario(number=36, fault="a thousand hits, bad links, missing titles", run=hits_that_break_their_promises),
)
