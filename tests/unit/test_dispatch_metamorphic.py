"""What must not change when something else does: relations between two searches, whatever the providers do."""

from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.providers import Step, found
from tests.fakes.research import Research
from zarniwoop.contract.failure import (
    AccessRefused,
    Cause,
    CredentialsRejected,
    EndpointMisconfigured,
    MalformedAnswer,
    ProviderUnavailable,
    QueryRejected,
    QuotaExhausted,
    RateLimited,
)
from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.result import SearchResult

FAILING: tuple[Callable[[], Step], ...] = (
    lambda: ProviderUnavailable("503"),
    lambda: RateLimited("429", retry_after=1.0),
    lambda: RateLimited("429"),
    lambda: CredentialsRejected("401"),
    lambda: QuotaExhausted("402"),
    lambda: AccessRefused("403"),
    lambda: EndpointMisconfigured("index", "there is no such index"),
    lambda: QueryRejected("400"),
    lambda: MalformedAnswer("HTML"),
    lambda: ZeroDivisionError(),
    lambda: found(0, error_message="declined"),
    lambda: found(0, degraded="engines blocked"),
    lambda: found(0),
)
ANSWERS = st.one_of(st.sampled_from(FAILING), st.integers(0, 3).map(lambda count: lambda: found(count)))
LINEUPS = st.lists(st.lists(ANSWERS, min_size=1, max_size=2), min_size=1, max_size=4)


def hits_of(lineup: list[list[Callable[[], Step]]], front: Callable[[], Step] | None = None) -> tuple[SearchHit, ...]:
    scripts = {"a-front": [front()]} if front else {}
    scripts |= {f"provider-{number}": [make() for make in steps] for number, steps in enumerate(lineup)}
    return Research(scripts).search().hits


@settings(max_examples=150, deadline=None, database=None)
@given(lineup=LINEUPS, front=st.sampled_from(FAILING))
def test_a_failing_provider_in_front_never_changes_the_hits(
    lineup: list[list[Callable[[], Step]]], front: Callable[[], Step]
) -> None:
    """Whatever it fails with: the same hits come from whoever would have given them."""
    assert hits_of(lineup, front) == hits_of(lineup)


@dataclass(frozen=True)
class Provider:
    """Answers after so many seconds, when it is given as many."""

    seconds: float
    fails: bool


PROVIDERS = st.lists(
    st.builds(Provider, seconds=st.floats(0, 12, allow_nan=False), fails=st.booleans()), min_size=1, max_size=4
)


@settings(max_examples=150, deadline=None, database=None)
@given(providers=PROVIDERS, seconds=st.floats(0.5, 15, allow_nan=False))
def test_a_doubled_deadline_never_brings_fewer_results(providers: list[Provider], seconds: float) -> None:
    """More time is more for each attempt and for those behind it."""
    assert answered_within(providers, 2 * seconds) >= answered_within(providers, seconds)


@settings(max_examples=100, deadline=None, database=None)
@given(providers=PROVIDERS, seconds=st.floats(0.5, 15, allow_nan=False))
def test_no_search_outlasts_its_deadline(providers: list[Provider], seconds: float) -> None:
    """Whoever hangs, in whatever number."""
    research = slow_research(providers)
    started = research.clock.monotonic()
    research.search(seconds=seconds)
    assert research.clock.monotonic() - started <= seconds + 0.001


def answered_within(providers: list[Provider], seconds: float) -> int:
    return len(slow_research(providers).search(seconds=seconds).hits)


def slow_research(providers: list[Provider]) -> Research:
    named = {f"provider-{number}": provider for number, provider in enumerate(providers)}

    def acting(provider: Provider) -> Step:
        def act(request: SearchRequest) -> SearchResult:
            if provider.fails or provider.seconds > research.protocol.given_seconds[-1]:
                raise ProviderUnavailable("too late", cause=Cause.TIMEOUT)
            return found(3)(request)

        return act

    research = Research({name: [acting(provider)] for name, provider in named.items()})
    research.protocol.takes = {name: provider.seconds for name, provider in named.items()}
    return research
