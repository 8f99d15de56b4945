"""Rows 15 to 28: what a status means, how long a provider is left alone, and when its credit is used up."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from email.utils import format_datetime
from threading import Event, Lock

import boto3
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.aws import REGION, STATE_TABLE, count_calls, create_table
from tests.fakes.providers import FakeProtocol, found
from tests.fakes.research import PROJECT
from tests.fakes.state_store import InMemoryStateStore
from tests.fakes.transport import ScriptedTransport, answer
from tests.functional.faults.scenario import CANARY, TENANT, Kind, Scenario, Stage, StagedEnvironment, saved
from zarniwoop.contract.failure import (
    ProviderUnavailable,
    QueryRejected,
    RateLimited,
)
from zarniwoop.contract.modality import SearchModality, SearchTier
from zarniwoop.contract.provider import SearchProtocol
from zarniwoop.contract.request import ExpertParams, SearchRequest
from zarniwoop.contract.result import DispatchFailure, Outcome, SearchResult
from zarniwoop.observe.metrics import Metric
from zarniwoop.stores.clients import dynamodb_client
from zarniwoop.stores.dynamodb_state import DynamoDbStateStore
from zarniwoop.text.retry_after import stated_wait
from zarniwoop.tools.outcome import problem_of
from zarniwoop.tools.provider_rows import ProvidersReport
from zarniwoop.tools.research_providers import ProvidersArguments, providers

MINUTE = 60.0
DAY = 86_400.0
MILLISECOND = 0.001
LONGEST_WAIT = 31 * DAY
SERPER = {
    "research.endpoint.serper-main.protocol": "serper",
    "research.endpoint.serper-main.apiKey": CANARY,
    "research.endpoint.serper-main.priority": "1",
    "research.endpoint.serper-eu.protocol": "serper",
    "research.endpoint.serper-eu.apiKey": f"{CANARY}-of-the-other",
    "research.endpoint.serper-eu.priority": "2",
}
PAGE = answer(
    {"searchParameters": {"type": "search"}, "organic": [{"title": "Bells", "link": "https://example.com/b"}]}
)


def told(result: SearchResult) -> list[tuple[str, str | None]]:
    """The attempts as (instance, why it did not answer)."""
    return [(attempt.instance_id, attempt.reason) for attempt in result.attempts]


def a_short_stated_wait(stage: Stage) -> None:
    """With somebody else left nobody waits; the last one is waited for once, if the time allows."""
    spared = stage.research({"busy": [RateLimited("429", retry_after=1.0)], "spare": [found(2)]})
    assert told(spared.search()) == [("busy", "rate_limited"), ("spare", None)]
    assert told(spared.search()) == [("busy", "cooldown"), ("spare", None)]
    assert stage.clock.slept == []

    alone = stage.research({"busy": [RateLimited("429", retry_after=1.0), found(1)]})
    assert told(alone.search()) == [("busy", "rate_limited"), ("busy", None)]
    assert stage.clock.slept == [1.0]

    stubborn = stage.research({"busy": [RateLimited("429", retry_after=1.0)]})
    assert told(stubborn.search()) == [("busy", "rate_limited")] * 2
    assert stage.clock.slept == [1.0, 1.0]

    hurried = stage.research({"busy": [RateLimited("429", retry_after=1.0)]})
    assert hurried.search(seconds=2.0).failure is DispatchFailure.ALL_FAILED
    patient = stage.research({"busy": [RateLimited("429", retry_after=2.5)]})
    assert len(patient.search().attempts) == 1
    assert stage.clock.slept == [1.0, 1.0]


def a_long_stated_wait(stage: Stage) -> None:
    """A day is a day: no shorter because we would like it so, and no longer."""
    refusal = answer({"message": "Too many requests"}, status=429, headers={"retry-after": "86400"})
    transport = ScriptedTransport(refusal, *[PAGE] * 3)
    research = stage.environment(SERPER, transport=transport)
    first = research.search()
    assert told(first) == [("serper-main", "rate_limited"), ("serper-eu", None)]
    assert first.attempts[0].retry_at == stage.clock.now() + DAY
    stage.clock.advance(DAY - 1)
    assert told(research.search()) == [("serper-main", "cooldown"), ("serper-eu", None)]
    stage.clock.advance(1)
    assert told(research.search()) == [("serper-main", None)]
    assert stage.clock.slept == []


SPELT_WAITS = st.one_of(
    st.text(max_size=50),
    st.integers().map(str),
    st.floats().map(str),
    st.sampled_from(["-5", "abc", "1e20", "1" + "0" * 20, "nan", "-inf", "+inf", "", "-", "5, 10", "3,abc", "1_000"]),
    st.datetimes(max_value=datetime(9998, 1, 1)).map(lambda moment: format_datetime(moment.replace(tzinfo=UTC))),
)


def a_wait_in_every_spelling(stage: Stage) -> None:
    """Read or ignored: never an exception, never a negative wait, never more than a month."""

    @settings(max_examples=150, deadline=None, database=None)
    @given(stated=SPELT_WAITS, sent_at=SPELT_WAITS)
    def never_raises(stated: str, sent_at: str) -> None:
        wait = stated_wait({"retry-after": stated, "date": sent_at}, stage.clock.now())
        assert wait is None or 0 <= wait <= LONGEST_WAIT

    never_raises()
    now = stage.clock.now()
    legible = {"120": 120.0, "0.5": 0.5, "5, 10": 10.0, "-5": 0.0, "1" + "0" * 20: LONGEST_WAIT, "abc": None}
    assert {text: stated_wait({"retry-after": text}, now) for text in legible} == legible
    for shift, expected in ((90, 90.0), (-90, 0.0)):
        date = format_datetime(datetime.fromtimestamp(now + shift, tz=UTC), usegmt=True)
        assert stated_wait({"retry-after": date}, now) == expected

    @settings(max_examples=30, deadline=None, database=None)
    @given(stated=SPELT_WAITS)
    def never_storms(stated: str) -> None:
        refusal = answer({}, status=429, headers={"retry-after": stated})
        alone = {key: value for key, value in SERPER.items() if "serper-main" in key}
        transport = ScriptedTransport(refusal, refusal)
        waited_before = len(stage.clock.slept)
        result = stage.environment(alone, transport=transport).search()
        waits = [wait for wait in stage.clock.slept[waited_before:] if wait]
        assert result.failure is DispatchFailure.ALL_FAILED
        assert all(0 < wait <= 2 for wait in waits)
        assert len(transport.sent) == 1 + len(waits)

    never_storms()


def one_modality_is_throttled(stage: Stage) -> None:
    """A cooldown is about an instance and a modality: WEB stays what it was."""

    def images_are_throttled(request: SearchRequest) -> SearchResult:
        if request.modality is SearchModality.IMAGE:
            raise RateLimited("429", retry_after=600.0)
        return found(1)(request)

    research = stage.research({"both": [images_are_throttled]})
    assert research.search(SearchModality.IMAGE).failure is DispatchFailure.ALL_FAILED
    assert research.search(SearchModality.IMAGE).failure is DispatchFailure.ALL_COOLING
    assert told(research.search(SearchModality.WEB)) == [("both", None)]


def one_instance_is_cooling(stage: Stage) -> None:
    """Two endpoints of one protocol are two providers."""
    transport = ScriptedTransport(answer({}, status=500), PAGE, PAGE)
    research = stage.environment(SERPER, transport=transport)
    assert told(research.search()) == [("serper-main", "provider_unavailable"), ("serper-eu", None)]
    assert told(research.search()) == [("serper-main", "cooldown"), ("serper-eu", None)]
    assert len(transport.sent) == 3


def a_key_is_refused(stage: Stage) -> None:
    """The key is read again past the cache; the same key is not tried again until the endpoint's settings change."""
    parameters = saved(SERPER)
    transport = ScriptedTransport(answer({}, status=401), *[PAGE] * 3)
    research = stage.environment(transport=transport, parameters=parameters)
    assert told(research.search()) == [("serper-main", "credentials_rejected"), ("serper-eu", None)]
    assert parameters.calls["reveal"] == 4  # the query hash key, the refused key twice, the other's once
    assert [sent.secret and sent.secret.reveal()[-5:] for sent in transport.sent] == ["56789", "other"]
    stage.clock.advance(20 * DAY)
    later = research.search()
    assert (told(later)[0], later.attempts[0].detail) == (("serper-main", "cooldown"), "credentials_rejected")
    parameters.put(TENANT, "research.endpoint.serper-main.apiKey", f"{CANARY}-renewed")
    stage.clock.advance(5 * MINUTE)
    assert told(research.search()) == [("serper-main", None)]
    failures = [point for point in research.points() if ("outcome", "failure") in point.tags]
    assert [point.metric for point in failures] == [Metric.PROVIDER_CALLS, Metric.PROVIDER_DURATION]


def a_key_was_exchanged_meanwhile(stage: Stage) -> None:
    """The environment still holds the old key: the fresh one is used at once, and nobody notices."""
    parameters = saved({key: value for key, value in SERPER.items() if "serper-main" in key})
    transport = ScriptedTransport(PAGE, answer({}, status=401), PAGE)
    research = stage.environment(transport=transport, parameters=parameters)
    research.search()
    parameters.put(TENANT, "research.endpoint.serper-main.apiKey", f"{CANARY}-renewed")
    assert told(research.search()) == [("serper-main", None)]
    assert len(transport.sent) == 3


def a_refused_key(stage: Stage) -> None:
    a_key_is_refused(stage)
    a_key_was_exchanged_meanwhile(stage)


def the_credits_are_used_up(stage: Stage) -> None:
    """EXHAUSTED and not COOLDOWN: skipped until the kept quota expires, then asked again."""
    spent = answer({"message": "Not enough credits", "statusCode": 400}, status=400)
    transport = ScriptedTransport(spent, *[PAGE] * 3)
    state = InMemoryStateStore(stage.clock)
    research = stage.environment(SERPER, transport=transport, state=state)
    assert told(research.search()) == [("serper-main", "quota_exhausted"), ("serper-eu", None)]
    assert state.cooldowns_of(PROJECT) == []
    skipped = research.search().attempts[0]
    assert (skipped.reason, skipped.retry_at) == ("exhausted", stage.clock.now() + 5 * MINUTE)
    stage.clock.advance(5 * MINUTE)
    assert told(research.search()) == [("serper-main", None)]


def our_filters_are_rejected(stage: Stage) -> None:
    """This query is at fault: no cooldown, the next candidate, and the attempt says so."""
    research = stage.research({"strict": [QueryRejected("400", status=400), found(1)], "lenient": [found(1)]})
    filtered = research.search(tier=SearchTier.EXPERT, expert_params=ExpertParams(site="example.com"))
    assert told(filtered) == [("strict", "query_rejected"), ("lenient", None)]
    assert told(research.search()) == [("strict", None)]
    assert research.state.calls["extend_cooldown"] == 0


def a_cooldown_ends(stage: Stage) -> None:
    """A millisecond before it is not asked; at the moment and after it, it is."""
    for past_the_end, expected in ((-MILLISECOND, 1), (0.0, 2), (MILLISECOND, 2)):
        research = stage.research({"busy": [RateLimited("429", retry_after=100.0), found(1)]})
        research.search()
        stage.clock.advance(100.0 + past_the_end)
        research.search()
        assert len(research.protocol.asked) == expected


def an_ended_cooldown_is_still_in_the_table(stage: Stage) -> None:
    """TTL lags by days. Ended but not closed means one probe; lapsed means absent, and the ladder starts anew."""
    fleet = _Fleet(stage)
    nested: list[SearchResult] = []

    def recovering(request: SearchRequest) -> SearchResult:
        nested.append(another.search())
        return found(1)(request)

    protocol = FakeProtocol(stage.clock, {"only": [ProviderUnavailable("503"), recovering, ProviderUnavailable("503")]})
    one, another = fleet.environment(protocol), fleet.environment(protocol)
    one.search()
    stage.clock.advance(MINUTE)
    assert told(one.search()) == [("only", None)]
    assert [told(result) for result in nested] == [[("only", "probing")]]
    stage.clock.advance(3 * DAY)
    assert len(fleet.items()) == 1
    calls = count_calls(fleet.client)
    failed = one.search().attempts[0]
    assert calls == ["BatchGetItem", "PutItem"]
    assert failed.retry_at == stage.clock.now() + 30


def everybody_is_cooling(stage: Stage) -> None:
    """Nobody is called, and the caller learns when it is worth coming back."""
    research = stage.research(
        {"a": [RateLimited("429", retry_after=600.0)], "b": [RateLimited("429", retry_after=300.0)]}
    )
    research.search()
    before = stage.clock.now()
    stage.clock.advance(100)
    result = research.search()
    assert research.protocol.asked_ids == ["a", "b"]
    assert (result.failure, result.retry_at) == (DispatchFailure.ALL_COOLING, before + 300)
    problem = problem_of(result, research.dispatcher.factory.protocols, stage.clock.now())
    assert problem is not None
    assert (problem.retryable, problem.wait_seconds) == (True, 200.0)


def fifty_environments_at_the_end_of_a_cooldown(stage: Stage) -> None:
    """One of them probes; while it does, the others say so and call nobody."""
    fleet = _Fleet(stage)
    crowd = 50
    everybody_else_is_done = Event()
    done: list[SearchResult] = []
    lock = Lock()

    def slowly(request: SearchRequest) -> SearchResult:
        assert everybody_else_is_done.wait(5)
        return found(1)(request)

    protocol = FakeProtocol(stage.clock, {"only": [ProviderUnavailable("503"), slowly]})
    environments = [fleet.environment(protocol) for _ in range(crowd)]
    environments[0].search()
    stage.clock.advance(30)

    def search(environment: StagedEnvironment) -> SearchResult:
        result = environment.search()
        with lock:
            done.append(result)
            if len(done) == crowd - 1:
                everybody_else_is_done.set()
        return result

    with ThreadPoolExecutor(crowd) as pool:
        results = list(pool.map(search, environments))
    assert len(protocol.asked) == 2
    assert sorted(result.attempts[0].outcome for result in results) == [Outcome.SKIPPED] * (crowd - 1) + [
        Outcome.SUCCESS
    ]
    assert {result.failure for result in done[:-1]} == {DispatchFailure.ALL_COOLING}


def a_flapping_provider(stage: Stage) -> None:
    """Every relapse costs more, a success in between does not wipe the slate, ten quiet minutes do."""
    down = ProviderUnavailable("503")
    research = stage.research({"flapping": [down, found(1), down, found(1), down, found(1), down, found(1), down]})
    waits = []
    for _relapse in range(4):
        waits.append(wait_told(research.search(), stage))
        stage.clock.advance(waits[-1])
        assert told(research.search()) == [("flapping", None)]
    stage.clock.advance(10 * MINUTE)
    waits.append(wait_told(research.search(), stage))
    assert waits == [30.0, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, 30.0]


def a_quota_cannot_be_looked_up(stage: Stage) -> None:
    """READY, no cooldown, and the broken endpoint is left alone for half a minute."""
    alone = {key: value for key, value in SERPER.items() if "serper-main" in key}
    broken = answer({}, status=500)
    transport = ScriptedTransport(broken, PAGE, answer({"balance": 42}))
    research = stage.environment(alone, transport=transport)

    def report() -> ProvidersReport:
        data = providers(ProvidersArguments(detail=True), research.scope(), research.tools).data
        stage.show(Kind.RESULT, data)
        assert isinstance(data, ProvidersReport)
        return data

    assert report().providers[0].availability["WEB"] == "READY"
    report()
    assert len(transport.sent) == 1
    assert told(research.search()) == [("serper-main", None)]
    stage.clock.advance(30)
    quota = report().providers[0].quota
    assert quota is not None
    assert (quota.remaining, len(transport.sent)) == (42, 3)


def wait_told(result: SearchResult, stage: Stage) -> float:
    """For how many seconds the last candidate is left alone."""
    retry_at = result.attempts[-1].retry_at
    assert retry_at is not None
    return retry_at - stage.clock.now()


class _Fleet:
    """Several environments on one table in moto."""

    def __init__(self, stage: Stage) -> None:
        stage.within(stage.aws())
        create_table(STATE_TABLE, "pk", "sk")
        self._stage = stage
        self.client = dynamodb_client()
        self._state = DynamoDbStateStore(self.client, STATE_TABLE, stage.clock)

    def environment(self, protocol: SearchProtocol) -> StagedEnvironment:
        only = {"research.endpoint.only.protocol": protocol.id(), "research.endpoint.only.apiKey": CANARY}
        return self._stage.environment(only, state=self._state, protocols=[protocol])

    def items(self) -> Sequence[object]:
        return boto3.client("dynamodb", region_name=REGION).scan(TableName=STATE_TABLE)["Items"]


SCENARIOS = (
    Scenario(number=15, fault="429 with a Retry-After of a second", run=a_short_stated_wait),
    Scenario(number=16, fault="429 with a Retry-After of a day", run=a_long_stated_wait),
    Scenario(number=17, fault="429 with a Retry-After in any spelling at all", run=a_wait_in_every_spelling),
    Scenario(number=18, fault="429 for one modality only", run=one_modality_is_throttled),
    Scenario(number=19, fault="one of two instances of a protocol is cooling", run=one_instance_is_cooling),
    Scenario(number=20, fault="401: the key is refused, or was exchanged meanwhile", run=a_refused_key),
    Scenario(number=21, fault="the body says that the credits are used up", run=the_credits_are_used_up),
    Scenario(number=22, fault="400 because of our own filters", run=our_filters_are_rejected),
    Scenario(number=23, fault="a request at the very moment a cooldown ends", run=a_cooldown_ends),
    Scenario(number=24, fault="an ended cooldown that TTL left there", run=an_ended_cooldown_is_still_in_the_table),
    Scenario(number=25, fault="every candidate is cooling", run=everybody_is_cooling),
    Scenario(number=26, fault="fifty environments at half-open", run=fifty_environments_at_the_end_of_a_cooldown),
    Scenario(number=27, fault="a provider that fails every other time", run=a_flapping_provider),
    Scenario(number=28, fault="the quota endpoint itself fails", run=a_quota_cannot_be_looked_up),
)
