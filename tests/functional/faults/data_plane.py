"""Rows 37 to 44, 47 and 48: DynamoDB and Parameter Store misbehave, and searches go on.

All on the real stores over moto, with the faults put in front of it.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import orjson

from tests.fakes.aws import AUDIT_TABLE, STATE_TABLE, count_calls, create_table, refuse, script
from tests.fakes.cloud import LambdaContext
from tests.fakes.providers import FakeProtocol, Step, found
from tests.fakes.research import PROJECT
from tests.fakes.transport import ScriptedTransport, answer
from tests.functional.faults.cooldowns import PAGE, SERPER, told
from tests.functional.faults.scenario import (
    CANARY,
    QUERY,
    SETTINGS_ROOT,
    TENANT,
    Kind,
    Scenario,
    Stage,
    StagedEnvironment,
)
from zarniwoop.contract.failure import ConfigurationUnavailable, ProviderUnavailable
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.result import SearchResult
from zarniwoop.contract.transport import HttpAnswer
from zarniwoop.entry.tool import tool
from zarniwoop.observe.metrics import Metric
from zarniwoop.settings.parameter_store import SsmParameterStore
from zarniwoop.settings.writer import SsmSettingsWriter
from zarniwoop.stores.clients import dynamodb_client, side_write_client, ssm_client
from zarniwoop.stores.dynamodb_audit import DynamoDbAuditStore
from zarniwoop.stores.dynamodb_state import DynamoDbStateStore
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.state import Cooldown, Wanted
from zarniwoop.tools.provider_rows import ProvidersReport
from zarniwoop.tools.research_providers import ProvidersArguments, providers
from zarniwoop.tools.research_search import RESEARCH_SEARCH

THROTTLED = "ProvisionedThroughputExceededException"
SIDE_SECONDS = 0.15
"""What a broken data plane may cost a search."""
BUSY_MACHINE_SECONDS = 0.45
"""For how long this thread may be held up besides, on a machine that others use too."""
DOWN = ProviderUnavailable("503", status=503)
BALANCE = answer({"balance": 42})


class _Plane:
    """Tables in moto with a client each, and environments on them."""

    def __init__(self, stage: Stage, *, audit_table: bool = True) -> None:
        stage.within(stage.aws())
        create_table(STATE_TABLE, "pk", "sk")
        if audit_table:
            create_table(AUDIT_TABLE, "pk", "sk")
        self._stage = stage
        self.state_client = dynamodb_client()
        self.audit_client = side_write_client()
        self.state = DynamoDbStateStore(self.state_client, STATE_TABLE, stage.clock)
        self.audit = DynamoDbAuditStore(self.audit_client, AUDIT_TABLE, stage.clock)

    def environment(self, scripts: dict[str, list[Step]]) -> StagedEnvironment:
        settings = {
            f"research.endpoint.{instance_id}.{suffix}": value
            for priority, instance_id in enumerate(scripts)
            for suffix, value in (("protocol", "fake"), ("apiKey", CANARY), ("priority", str(priority)))
        }
        self.protocol = FakeProtocol(self._stage.clock, scripts)
        return self._stage.environment(settings, state=self.state, calls=self.audit, protocols=[self.protocol])

    def items(self, table: str) -> list[dict[str, Any]]:
        found_items: list[dict[str, Any]] = self.audit_client.scan(TableName=table)["Items"]
        return found_items

    @contextmanager
    def in_no_time(self) -> Iterator[None]:
        """What happens inside waits at most 150 ms, on the fake clock and on the real one."""
        slept, idle = sum(self._stage.clock.slept), _idle()
        yield
        assert sum(self._stage.clock.slept) - slept <= SIDE_SECONDS
        assert _idle() - idle <= SIDE_SECONDS + BUSY_MACHINE_SECONDS


def _idle() -> float:
    """A real clock that stands still while this thread works."""
    return time.monotonic() - time.thread_time()


def count(environment: StagedEnvironment, metric: Metric) -> float:
    return sum(point.value for point in environment.points() if point.metric is metric)


def the_audit_table_is_throttled(stage: Stage) -> None:
    """The search is answered, nobody waits, and what is lost is counted."""
    plane = _Plane(stage)
    research = plane.environment({"down": [DOWN], "up": [found(1)]})
    refused = refuse(plane.audit_client, THROTTLED)
    with plane.in_no_time():
        assert told(research.search()) == [("down", "provider_unavailable"), ("up", None)]
    assert len(refused) == 1
    assert count(research, Metric.AUDIT_LOST) == 2


def the_audit_table_is_not_there(stage: Stage) -> None:
    """No table, or no right to write to it: the same."""
    plane = _Plane(stage, audit_table=False)
    missing = plane.environment({"up": [found(1)]})
    with plane.in_no_time():
        assert told(missing.search()) == [("up", None)]
    assert count(missing, Metric.AUDIT_LOST) == 1
    denied = plane.environment({"up": [found(1)]})
    refuse(plane.audit_client, "AccessDeniedException")
    with plane.in_no_time():
        assert told(denied.search()) == [("up", None)]
    assert count(denied, Metric.AUDIT_LOST) == 1


def cooldowns_cannot_be_read(stage: Stage) -> None:
    """The last known ones hold, everybody else is asked, and the loss is counted."""
    plane = _Plane(stage)
    research = plane.environment({"down": [DOWN], "up": [found(1)]})
    research.search()
    refuse(plane.state_client, THROTTLED)
    with plane.in_no_time():
        assert told(research.search()) == [("down", "cooldown"), ("up", None)]
    assert count(research, Metric.STATE_UNAVAILABLE) == 1
    stranger = plane.environment({"down": [DOWN], "up": [found(1)]})
    with plane.in_no_time():
        assert told(stranger.search()) == [("down", "provider_unavailable"), ("up", None)]


def a_cooldown_cannot_be_written(stage: Stage) -> None:
    """It holds in this environment all the same, also when DynamoDB is back and knows nothing of it."""
    plane = _Plane(stage)

    def fails_as_dynamodb_does(request: SearchRequest) -> SearchResult:
        refuse(plane.state_client, THROTTLED, times=2)
        raise DOWN

    research = plane.environment({"down": [fails_as_dynamodb_does, found(1)], "up": [found(1)]})
    with plane.in_no_time():
        assert told(research.search()) == [("down", "provider_unavailable"), ("up", None)]
    assert count(research, Metric.STATE_UNAVAILABLE) == 1
    assert plane.items(STATE_TABLE) == []
    assert told(research.search()) == [("down", "cooldown"), ("up", None)]
    stage.clock.advance(2)
    assert told(research.search()) == [("down", "cooldown"), ("up", None)]
    stage.clock.advance(28)
    assert told(research.search()) == [("down", None)]
    assert told(research.search()) == [("down", None)]


class _Settings:
    """Parameter Store in moto, with the settings of two Serper endpoints saved."""

    def __init__(self, stage: Stage) -> None:
        stage.within(stage.aws())
        self.stage = stage
        self.client = ssm_client()
        writer = SsmSettingsWriter(self.client, SETTINGS_ROOT)
        for key, value in SERPER.items():
            writer.put(TENANT, key, value)
        self.store = SsmParameterStore(self.client, SETTINGS_ROOT, stage.clock, jitter=lambda: 1.0)

    def environment(self, *answers: HttpAnswer) -> StagedEnvironment:
        return self.stage.environment(parameters=self.store, transport=ScriptedTransport(*answers))


def parameter_store_is_throttled_at_cold_start(stage: Stage) -> None:
    """One more try after a short random wait, then a typed 503 that says when to come back; never a 500."""
    parameters = _Settings(stage)
    research = parameters.environment()
    refused = refuse(parameters.client, "ThrottlingException")
    response = tool(RESEARCH_SEARCH, lambda: research)(_api_event(), LambdaContext())
    stage.show(Kind.RESULT, response)
    assert (len(refused), stage.clock.slept) == (2, [0.3])
    assert (response["statusCode"], response["headers"]["retry-after"]) == (503, "5")
    problem = orjson.loads(response["body"])["error"]
    assert (problem["type"], problem["retryable"]) == ("urn:zarniwoop:problem:config-unavailable", True)


def parameter_store_is_throttled_later(stage: Stage) -> None:
    """The last good copy serves for an hour, and says so; then it is too old to be trusted."""
    parameters = _Settings(stage)
    research = parameters.environment(PAGE, PAGE, BALANCE, BALANCE)
    research.search()
    refuse(parameters.client, "ThrottlingException")
    stage.clock.advance(301)
    assert told(research.search()) == [("serper-main", None)]
    assert count(research, Metric.SETTINGS_STALE) == 1
    assert _report(stage, research).settings_are_stale
    stage.clock.advance(3600)
    try:
        research.search()
    except ConfigurationUnavailable as refusal:
        assert refusal.retry_after > 0
    else:
        raise AssertionError("settings of an hour ago were still in use")


def one_endpoint_is_misconfigured(stage: Stage) -> None:
    """It is told of with the setting to mend, never with its value, and takes no other along."""
    parameters = _Settings(stage)
    for name, value in {
        "keyless/protocol": "serper",
        "garbled/protocol": '{"protocol": ',
        "garbled/priority": "{[",
        "bloated/protocol": "wikipedia",
        "bloated/language": "de" * 2500,
        "stranger/protocol": "no-such-protocol",
    }.items():
        path = f"{SETTINGS_ROOT}/acme/_tenant/research/endpoint/{name}"
        parameters.client.put_parameter(Name=path, Value=value, Type="String", Tier="Advanced")
    research = parameters.environment(PAGE, BALANCE, BALANCE)
    assert told(research.search()) == [("serper-main", None)]
    report = _report(stage, research)
    assert {(row.id, row.setting) for row in report.misconfigured} == {
        ("keyless", "apiKey"),
        ("garbled", "priority"),
        ("bloated", "language"),
        ("stranger", "protocol"),
    }
    assert [row.id for row in report.providers] == ["serper-eu", "serper-main"]
    assert "no-such-protocol" not in repr(report.misconfigured)


def audit_records_are_left_unprocessed(stage: Stage) -> None:
    """Written again after a growing pause, as long as the time allows; the rest is counted."""
    plane = _Plane(stage)
    research = plane.environment({"down": [DOWN], "up": [found(1)]})
    script(plane.audit_client, _left(1), _left(1))
    with plane.in_no_time():
        research.search()
    assert count(research, Metric.AUDIT_LOST) == 0
    assert stage.clock.slept == [0.01, 0.02]
    assert len(plane.items(AUDIT_TABLE)) == 1

    stuck = plane.environment({"down": [DOWN], "up": [found(1)]})
    script(plane.audit_client, *[_left(2)] * 20)
    with plane.in_no_time():
        stuck.search()
    assert count(stuck, Metric.AUDIT_LOST) == 2


def _left(records: int) -> dict[str, Any]:
    """An answer that hands so many records back."""
    keys = [{"pk": {"S": "T#acme#P#demo"}, "sk": {"S": f"AU#up#left-{number}"}} for number in range(records)]
    return {"UnprocessedItems": {AUDIT_TABLE: [{"PutRequest": {"Item": key}} for key in keys]}}


def a_condition_fails(stage: Stage) -> None:
    """A lost race is an answer and not an error: one call, and what stands is what counts. A refusal is an error."""
    plane = _Plane(stage)
    now = stage.clock.now()
    longer, shorter = _cooldown(now + 600, now), _cooldown(now + 30, now)
    assert plane.state.extend_cooldown(PROJECT, longer) == longer
    calls = count_calls(plane.state_client)
    assert plane.state.extend_cooldown(PROJECT, shorter) == longer
    assert plane.state.claim_probe(PROJECT, longer, now=now + 600, lease_seconds=15)
    assert not plane.state.claim_probe(PROJECT, longer, now=now + 601, lease_seconds=15)
    assert not plane.state.claim_probe(PROJECT, shorter, now=now + 601, lease_seconds=15)
    plane.state.close_cooldown(PROJECT, shorter)
    assert len(calls) == 5
    wanted = [Wanted(subject=longer.subject, fingerprint=longer.fingerprint)]
    assert list(plane.state.snapshot(PROJECT, wanted).cooldowns.values()) == [longer]

    refused = refuse(plane.state_client, "TransactionCanceledException")
    writes: Sequence[Callable[[], object]] = (
        lambda: plane.state.extend_cooldown(PROJECT, shorter),
        lambda: plane.state.close_cooldown(PROJECT, longer),
    )
    for write in writes:
        try:
            write()
        except StoreUnavailable as failure:
            assert "TransactionCanceledException" in str(failure)
        else:
            raise AssertionError("a cancelled transaction was taken for an answer")
    assert len(refused) == len(writes)


def a_clock_is_skewed(stage: Stage) -> None:
    """Written in whole seconds; read in whatever unit or type, and the item's own time decides."""
    plane = _Plane(stage)
    research = plane.environment({"down": [DOWN], "up": [found(1)]})
    research.search()
    (item,) = plane.items(STATE_TABLE)
    written = item.pop("expires_at")["N"]
    assert written.isdecimal()
    assert all(record["expires_at"]["N"].isdecimal() for record in plane.items(AUDIT_TABLE))

    now = stage.clock.now()

    def reason_with(**expiry: dict[str, Any]) -> str | None:
        plane.audit_client.put_item(TableName=STATE_TABLE, Item={**item, **expiry})
        return told(plane.environment({"down": [found(1)]}).search())[0][1]

    for moment, expected in ((now + 60, "cooldown"), (now - 60, None)):
        assert reason_with(expires_at={"N": str(round(moment * 1000))}) == expected
        assert reason_with(expires_at={"N": str(moment)}) == expected
        assert reason_with(expires_at={"S": str(moment)}) == expected
        assert reason_with(expires_at={"S": str(round(moment))}) == expected
    assert reason_with() == "cooldown"
    assert reason_with(expires_at={"S": "soon"}) == "cooldown"
    assert reason_with(expires_at={"BOOL": True}) == "cooldown"


def _cooldown(until: float, now: float) -> Cooldown:
    return Cooldown(
        instance_id="down",
        modality=SearchModality.WEB,
        reason="rate_limited",
        until=until,
        failures=1,
        failed_at=now,
        fingerprint="settings-1",
    )


def _report(stage: Stage, research: StagedEnvironment) -> ProvidersReport:
    report = providers(ProvidersArguments(detail=True), research.scope(), research.tools).data
    stage.show(Kind.RESULT, report)
    assert isinstance(report, ProvidersReport)
    return report


def _api_event() -> dict[str, Any]:
    """What API Gateway hands over behind the authorizer."""
    return {
        "httpMethod": "POST",
        "headers": {"Content-Type": "application/json"},
        "requestContext": {"authorizer": {"tenant_id": "acme", "projects": "demo", "level": "1", "tools": ""}},
        "body": orjson.dumps({"query": QUERY, "modality": "WEB"}).decode(),
        "isBase64Encoded": False,
    }


SCENARIOS = (
    Scenario(number=37, fault="every audit write is throttled", run=the_audit_table_is_throttled),
    Scenario(number=38, fault="the audit table is missing or forbidden", run=the_audit_table_is_not_there),
    Scenario(number=39, fault="every read of the shared state is throttled", run=cooldowns_cannot_be_read),
    Scenario(number=40, fault="a cooldown cannot be written", run=a_cooldown_cannot_be_written),
    Scenario(number=41, fault="settings are throttled, nothing cached", run=parameter_store_is_throttled_at_cold_start),
    Scenario(number=42, fault="settings are throttled, a copy is there", run=parameter_store_is_throttled_later),
    Scenario(number=43, fault="a parameter is missing, garbled or too long", run=one_endpoint_is_misconfigured),
    Scenario(number=44, fault="audit records come back unprocessed", run=audit_records_are_left_unprocessed),
    Scenario(number=47, fault="conditions fail and transactions are cancelled", run=a_condition_fails),
    Scenario(number=48, fault="expiry in milliseconds, fractions, text or not at all", run=a_clock_is_skewed),
)
