"""The cooldown rules against a model: whatever is called, fails, is throttled or recovers, in whatever order."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.fakes.providers import found
from tests.fakes.research import Research
from zarniwoop.contract.failure import MalformedAnswer, ProviderUnavailable, QueryRejected, RateLimited
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.result import Attempt, Outcome, SearchResult
from zarniwoop.dispatch.fleet.state import PROBE_LEASE_SECONDS

INSTANCES = ("first", "second", "third")
MODALITIES = (SearchModality.WEB, SearchModality.IMAGE)
WRITES = ("extend_cooldown", "claim_probe", "close_cooldown", "save_quota", "take_turn")
LONGEST_GUESS = 3600.0

Subject = tuple[str, SearchModality]


@dataclass(frozen=True)
class Behaviour:
    """How an instance answers, and the least wait that must follow. `stated` is a 429's Retry-After."""

    kind: str
    stated: float | None = None

    @property
    def least_wait(self) -> float:
        if self.kind == "throttled":
            return self.stated or 60.0
        return {"down": 30.0, "garbled": 60.0}.get(self.kind, 0.0)

    def play(self, request: SearchRequest) -> SearchResult:
        failures = {
            "throttled": RateLimited("429", retry_after=self.stated),
            "down": ProviderUnavailable("503"),
            "garbled": MalformedAnswer("HTML"),
            "refused": QueryRejected("400"),
            "buggy": ZeroDivisionError(),
        }
        if self.kind in failures:
            raise failures[self.kind]
        return found(0 if self.kind == "empty" else 2)(request)


BEHAVIOURS = st.one_of(
    st.sampled_from(["ok", "ok", "empty", "down", "garbled", "refused", "buggy"]).map(Behaviour),
    st.sampled_from([None, 0.0, 0.5, 1.0, 2.0, 45.0, 90.0, 7200.0, 86_400.0]).map(
        lambda stated: Behaviour("throttled", stated)
    ),
)


class CooldownMachine(RuleBasedStateMachine):
    """Two environments of one fleet, three providers, two modalities; the model knows only who must be left alone."""

    @initialize()
    def start(self) -> None:
        self.behaviour: Mapping[str, Behaviour] = {}
        self.research = Research({name: [self._acting(name)] for name in INSTANCES})
        self.dispatchers = [self.research.dispatcher, self.research.environment()[2]]
        self.clock = self.research.clock
        self.not_before: dict[Subject, float] = {}
        self.probed_at: dict[Subject, float] = {}
        self.asked: list[Subject] = []
        self.looked: set[int] = set()

    @rule(
        modality=st.sampled_from(MODALITIES),
        environment=st.integers(0, 1),
        behaviour=st.fixed_dictionaries(dict.fromkeys(INSTANCES, BEHAVIOURS)),
    )
    def search(self, modality: SearchModality, environment: int, behaviour: Mapping[str, Behaviour]) -> None:
        self.behaviour, self.asked = behaviour, []
        unhurt = not any((name, modality) in self.not_before for name in INSTANCES)
        before = self.research.state.calls.copy()
        looks = 1 if environment in self.looked else 2
        self.looked.add(environment)
        request = SearchRequest(query="cathedral bells", modality=modality)
        result = self.dispatchers[environment].search(request, self.research.scope())
        self._check_failures(result, modality)
        self._check_skips(result, modality)
        written = [name for name in WRITES if self.research.state.calls[name] > before[name]]
        if unhurt and all(behaviour[name].least_wait == 0 for name, _modality in self.asked):
            assert written == []
            assert self.research.state.calls["snapshot"] == before["snapshot"] + looks

    @rule(seconds=st.sampled_from([0.001, 1.0, 14.0, 30.0, 60.0, 301.0, 601.0, 3600.0, 100_000.0]))
    def time_passes(self, seconds: float) -> None:
        self.clock.advance(seconds)

    def _acting(self, instance_id: str) -> Any:
        def act(request: SearchRequest) -> SearchResult:
            subject = (instance_id, request.modality)
            now = self.clock.now()
            assert now >= self.not_before.get(subject, 0.0), f"{subject} was called while it was cooling"
            self.asked.append(subject)
            self.probed_at[subject] = now
            behaviour = self.behaviour[instance_id]
            if behaviour.least_wait:
                self.not_before[subject] = now + behaviour.least_wait
            return behaviour.play(request)

        return act

    def _check_failures(self, result: SearchResult, modality: SearchModality) -> None:
        """A stated wait is told as it was stated; a guess is no shorter than its class wants and has a top."""
        last: dict[str, Attempt] = {
            each.instance_id: each for each in result.attempts if each.outcome is Outcome.FAILURE
        }
        for instance_id, attempt in last.items():
            behaviour = self.behaviour[instance_id]
            if not behaviour.least_wait:
                assert attempt.retry_at is None
                continue
            least = self.not_before[instance_id, modality]
            assert attempt.retry_at is not None
            if behaviour.stated:
                assert attempt.retry_at == least
            assert least <= attempt.retry_at <= max(least, self.probed_at[instance_id, modality] + LONGEST_GUESS)
            self.not_before[instance_id, modality] = attempt.retry_at

    def _check_skips(self, result: SearchResult, modality: SearchModality) -> None:
        """Nobody is skipped but for its own failures in this modality, nor for longer than they call for."""
        now = self.clock.now()
        for attempt in result.attempts:
            if attempt.outcome is not Outcome.SKIPPED:
                continue
            subject = (attempt.instance_id, modality)
            assert attempt.reason in ("cooldown", "probing")
            if attempt.reason == "cooldown":
                assert attempt.retry_at == self.not_before[subject]
                assert attempt.retry_at is not None
                assert attempt.retry_at > now - 2
            else:
                assert now <= self.probed_at[subject] + PROBE_LEASE_SECONDS + 2


CooldownMachine.TestCase.settings = settings(
    max_examples=60,
    stateful_step_count=30,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestCooldowns = CooldownMachine.TestCase
