"""The stores on DynamoDB when it misbehaves, and what they ask of it."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError, ReadTimeoutError

from tests.contract.test_audit_store import record
from tests.contract.test_state_store import ARXIV, NOW, PROJECT, WEB, cooldown, quota, seen, wanted
from tests.fakes.aws import (
    AUDIT_TABLE,
    STATE_TABLE,
    TOKEN_TABLE,
    aws_in_process,
    count_calls,
    create_table,
    refuse,
    script,
)
from tests.fakes.clock import FakeClock
from zarniwoop.contract.modality import SearchModality
from zarniwoop.stores.clients import dynamodb_client, s3_client, side_write_client, ssm_client
from zarniwoop.stores.dynamodb_audit import DynamoDbAuditStore
from zarniwoop.stores.dynamodb_calls import call
from zarniwoop.stores.dynamodb_state import DynamoDbStateStore
from zarniwoop.stores.dynamodb_tokens import DynamoDbTokenStore
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.keys import FLEET
from zarniwoop.stores.ledger import Account, Hold, Limits, Spent
from zarniwoop.stores.state import Turn
from zarniwoop.stores.tokens import TokenGrant

SERPER = Account.of_endpoint(PROJECT, "serper-main", "all")
HOLD = Hold(id="h", spent=Spent(amount=0.5, calls=1), until=NOW + 60)


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """One attempt per call, so that a refusal is seen at once."""
    with aws_in_process(monkeypatch):
        create_table(STATE_TABLE, "pk", "sk")
        create_table(AUDIT_TABLE, "pk", "sk")
        create_table(TOKEN_TABLE, "token_hash")
        yield side_write_client()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(NOW)


@pytest.fixture
def state(client: Any, clock: FakeClock) -> DynamoDbStateStore:
    return DynamoDbStateStore(client, STATE_TABLE, clock)


@pytest.fixture
def audit(client: Any, clock: FakeClock) -> DynamoDbAuditStore:
    return DynamoDbAuditStore(client, AUDIT_TABLE, clock)


def items(client: Any, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.scan(TableName=table)["Items"]
    return found


def test_a_snapshot_is_one_call(client: Any, state: DynamoDbStateStore) -> None:
    """Cooldowns, quotas and spent credit of 20 instances and the generation come in one BatchGetItem."""
    calls = count_calls(client)
    subjects = [(f"instance-{number}", SearchModality.WEB) for number in range(20)]
    state.snapshot(PROJECT, [wanted(subject, credit_period="all") for subject in subjects])
    assert calls == ["BatchGetItem"]


def test_every_other_decision_is_one_write(client: Any, state: DynamoDbStateStore) -> None:
    """Extending, probing, closing, keeping a quota, reserving, settling and an idle turn read nothing first."""
    calls = count_calls(client)
    state.extend_cooldown(PROJECT, cooldown())
    state.extend_cooldown(PROJECT, cooldown(until=NOW + 1))
    state.claim_probe(PROJECT, cooldown(), now=NOW, lease_seconds=15)
    state.close_cooldown(PROJECT, cooldown())
    state.bump_generation(PROJECT)
    state.save_quota(PROJECT, WEB, quota())
    state.reserve(SERPER, Limits(calls=1), HOLD, now=NOW)
    state.reserve(SERPER, Limits(calls=1), replace(HOLD, id="refused"), now=NOW)
    state.settle(SERPER, HOLD, HOLD.spent)
    state.charge(SERPER, HOLD.spent)
    state.take_turn(ARXIV, now=NOW, latest=NOW)
    assert calls == [*["PutItem"] * 2, *["UpdateItem"] * 3, "PutItem", *["UpdateItem"] * 5]


def test_a_turn_behind_others_is_two_calls_and_one_that_is_too_late_is_one(
    client: Any, state: DynamoDbStateStore
) -> None:
    state.take_turn(ARXIV, now=NOW, latest=NOW)
    calls = count_calls(client)
    state.take_turn(ARXIV, now=NOW, latest=NOW + 9)
    assert len(calls) == 2
    state.take_turn(ARXIV, now=NOW, latest=NOW + 1)
    assert len(calls) == 3


def test_every_expiry_is_written_in_whole_seconds(
    client: Any, state: DynamoDbStateStore, audit: DynamoDbAuditStore
) -> None:
    """Cooldown, quota, turn, spent credit, audit record and token: TTL ignores what is not a whole number."""
    state.extend_cooldown(PROJECT, cooldown())
    state.save_quota(PROJECT, WEB, quota(NOW + 0.5))
    for _ in range(2):
        state.take_turn(ARXIV, now=NOW + 0.25, latest=NOW + 9.125)
    state.charge(replace(SERPER, expires_at=NOW + 0.5), Spent(amount=0.5))
    audit.write([record(expires_at=NOW + 0.75)], time_limit=1)
    DynamoDbTokenStore(client, TOKEN_TABLE).save(
        TokenGrant(token_hash="0", tenant_id="acme", projects=("*",), level=1, expires_at=NOW + 0.5)
    )
    written = [item["expires_at"] for table in (STATE_TABLE, AUDIT_TABLE, TOKEN_TABLE) for item in items(client, table)]
    assert len(written) == 6
    assert all(value["N"].isdecimal() for value in written)


def test_keys_start_with_tenant_and_project_and_records_hold_no_query(
    client: Any, state: DynamoDbStateStore, audit: DynamoDbAuditStore
) -> None:
    """Only turns at a rate are the fleet's."""
    state.extend_cooldown(PROJECT, cooldown())
    state.take_turn(ARXIV, now=NOW, latest=NOW)
    audit.write([record(ok=False, error_message="rate_limited")], time_limit=1)
    assert {item["pk"]["S"] for item in items(client, STATE_TABLE)} == {"T#acme#P#demo", FLEET}
    (written,) = items(client, AUDIT_TABLE)
    assert written["pk"]["S"] == "T#acme#P#demo"
    assert set(written) == {
        *("pk", "sk", "tenant_id", "project_id", "instance_id", "protocol", "modality", "tier", "query_hash"),
        *("hit_count", "ok", "error_message", "started_at", "duration_ms", "operation", "request_id", "expires_at"),
        "calls",
    }


OPERATIONS: dict[str, Callable[[DynamoDbStateStore], object]] = {
    "snapshot": lambda store: seen(store, WEB),
    "extend": lambda store: store.extend_cooldown(PROJECT, cooldown()),
    "claim": lambda store: store.claim_probe(PROJECT, cooldown(), now=NOW, lease_seconds=15),
    "close": lambda store: store.close_cooldown(PROJECT, cooldown()),
    "clear": lambda store: store.clear_project(PROJECT),
    "bump": lambda store: store.bump_generation(PROJECT),
    "quota": lambda store: store.save_quota(PROJECT, WEB, quota()),
    "reserve": lambda store: store.reserve(SERPER, Limits(calls=1), HOLD, now=NOW),
    "settle": lambda store: store.settle(SERPER, HOLD, HOLD.spent),
    "charge": lambda store: store.charge(SERPER, HOLD.spent),
    "balance": lambda store: store.balance(SERPER),
    "turn": lambda store: store.take_turn(ARXIV, now=NOW, latest=NOW),
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("ProvisionedThroughputExceededException", 400),
        ("ThrottlingException", 400),
        ("AccessDeniedException", 400),
        ("InternalServerError", 500),
    ],
)
def test_whatever_dynamodb_refuses_is_store_unavailable(
    client: Any, state: DynamoDbStateStore, operation: str, code: str, status: int
) -> None:
    """Throttled, denied or broken: the caller meets one typed failure."""
    refuse(client, code, status=status)
    with pytest.raises(StoreUnavailable, match=code):
        OPERATIONS[operation](state)


def test_a_missing_table_is_store_unavailable(client: Any, clock: FakeClock) -> None:
    with pytest.raises(StoreUnavailable):
        seen(DynamoDbStateStore(client, "no-such-table", clock), WEB)


@pytest.mark.parametrize(
    "error",
    [EndpointConnectionError(endpoint_url="http://nowhere"), ReadTimeoutError(endpoint_url="http://nowhere")],
)
def test_an_unreachable_dynamodb_is_store_unavailable(error: Exception) -> None:
    """Our message names the kind of error and not the endpoint."""

    def fail() -> None:
        raise error

    with pytest.raises(StoreUnavailable) as caught:
        call(fail)
    assert "nowhere" not in str(caught.value)


def unread(answered: int) -> list[dict[str, Any]]:
    key = {"pk": {"S": "T#acme#P#demo"}, "sk": {"S": "GEN"}}
    left = {"Responses": {}, "UnprocessedKeys": {STATE_TABLE: {"Keys": [key]}}}
    return [left] * answered


def test_keys_left_unread_are_asked_for_once_more(client: Any, state: DynamoDbStateStore) -> None:
    """A partial answer is completed, and twice a partial answer is a failure, not an empty state."""
    state.bump_generation(PROJECT)
    calls = count_calls(client)
    script(client, *unread(1))
    assert seen(state, WEB).generation == 1
    assert calls == ["BatchGetItem"] * 2
    script(client, *unread(2))
    with pytest.raises(StoreUnavailable, match="unread"):
        seen(state, WEB)


def test_an_illegible_item_does_not_take_a_snapshot_along(client: Any, state: DynamoDbStateStore) -> None:
    state.save_quota(PROJECT, WEB, quota())
    for sort_key in ("CD#serper-main#WEB#settings-1", "US#serper-main#all"):
        client.put_item(TableName=STATE_TABLE, Item={"pk": {"S": "T#acme#P#demo"}, "sk": {"S": sort_key}})
    snapshot = state.snapshot(PROJECT, [wanted(WEB, credit_period="all")])
    assert (dict(snapshot.cooldowns), set(snapshot.quotas), dict(snapshot.spent)) == ({}, {WEB}, {})


def test_a_project_is_cleared_over_several_pages(client: Any, state: DynamoDbStateStore) -> None:
    """A query ends at a megabyte and goes on from there."""
    page = {"Items": [], "Count": 0, "LastEvaluatedKey": {"pk": {"S": "T#acme#P#demo"}, "sk": {"S": "CD#a#WEB#f"}}}
    state.extend_cooldown(PROJECT, cooldown())
    script(client, page)
    assert state.clear_project(PROJECT) == 1


def undeleted(times: int) -> list[dict[str, Any]]:
    key = {"pk": {"S": "T#acme#P#demo"}, "sk": {"S": "CD#serper-main#WEB#settings-1"}}
    left = {"UnprocessedItems": {STATE_TABLE: [{"DeleteRequest": {"Key": key}}]}}
    return [left] * times


def test_deletions_left_undone_are_tried_again_for_a_while(
    client: Any, state: DynamoDbStateStore, clock: FakeClock
) -> None:
    state.extend_cooldown(PROJECT, cooldown())
    page = {"Items": items(client, STATE_TABLE), "Count": 1}
    nothing = [{"Items": [], "Count": 0}] * 4
    script(client, page, *nothing, *undeleted(1))
    assert state.clear_project(PROJECT) == 1
    assert items(client, STATE_TABLE) == []
    script(client, page, *nothing, *undeleted(4))
    with pytest.raises(StoreUnavailable, match="undeleted"):
        state.clear_project(PROJECT)
    assert sum(clock.slept) < 1


def test_a_turn_whose_item_vanished_between_two_calls_is_tried_once_more(
    client: Any, state: DynamoDbStateStore
) -> None:
    """TTL may delete it at any time; after four calls the caller goes without."""
    state.take_turn(ARXIV, now=NOW, latest=NOW)
    calls = count_calls(client)
    failed: list[str] = []

    def vanish(model: Any, **_rest: Any) -> None:
        failed.append(model.name)
        if len(failed) == 2:
            other = dynamodb_client()
            other.delete_item(TableName=STATE_TABLE, Key={"pk": {"S": FLEET}, "sk": {"S": "RATE#export.arxiv.org"}})

    client.meta.events.register("before-call", vanish)
    assert state.take_turn(ARXIV, now=NOW, latest=NOW + 9) == Turn(at=NOW, granted=True)
    assert len(calls) == 3


def test_a_throttled_audit_table_loses_the_records_and_no_time(
    client: Any, audit: DynamoDbAuditStore, clock: FakeClock
) -> None:
    """One refused call, everything counted as lost, nothing raised, nobody waited."""
    refused = refuse(client, "ProvisionedThroughputExceededException")
    assert audit.write([record()] * 3, time_limit=0.15) == 3
    assert (len(refused), clock.slept) == (1, [])


def test_records_are_read_by_a_client_that_waits_longer_than_the_one_that_writes_them(
    client: Any, clock: FakeClock
) -> None:
    """Whoever asks for them wants to know: what cannot be read in 150 ms is not unknown yet."""
    reader = dynamodb_client()
    store = DynamoDbAuditStore(client, AUDIT_TABLE, clock, reader=reader)
    written, read = count_calls(client), count_calls(reader)
    store.write([record()], time_limit=0.15)
    store.between(PROJECT, "serper-main", 0.0, NOW + 60, at_most=1)
    store.count_since(PROJECT, "serper-main", 0.0, at_most=1)
    store.instances(PROJECT, at_most=1)
    assert (len(written), len(read)) == (1, 3)


def unwritten(*requests: dict[str, Any]) -> dict[str, Any]:
    return {"UnprocessedItems": {AUDIT_TABLE: list(requests)}}


PUT = {"PutRequest": {"Item": {"pk": {"S": "T#acme#P#demo"}, "sk": {"S": "AU#serper-main#left"}}}}


def test_records_left_unwritten_are_tried_again(client: Any, audit: DynamoDbAuditStore, clock: FakeClock) -> None:
    """After a growing pause, while there is time."""
    script(client, unwritten(PUT), unwritten(PUT))
    assert audit.write([record()] * 2, time_limit=0.15) == 0
    assert clock.slept == [0.01, 0.02]
    assert [item["sk"]["S"] for item in items(client, AUDIT_TABLE)] == ["AU#serper-main#left"]


def test_records_that_stay_unwritten_are_counted_lost_in_time(
    client: Any, audit: DynamoDbAuditStore, clock: FakeClock
) -> None:
    script(client, *[unwritten(PUT, PUT)] * 20)
    assert audit.write([record()] * 3, time_limit=0.15) == 2
    assert clock.slept == [0.01, 0.02, 0.04]


def test_no_batch_is_larger_than_dynamodb_takes(client: Any, audit: DynamoDbAuditStore) -> None:
    """25 items a call; moto would take more."""
    sizes: list[int] = []
    client.meta.events.register(
        "provide-client-params.dynamodb.BatchWriteItem",
        lambda params, **_rest: sizes.append(len(params["RequestItems"][AUDIT_TABLE])),
    )
    audit.write([record()] * 60, time_limit=1)
    assert sizes == [25, 25, 10]


def test_a_record_with_an_impossible_id_is_lost_alone(audit: DynamoDbAuditStore) -> None:
    assert audit.write([record(), record(instance_id="a#b"), record()], time_limit=1) == 1
    assert audit.count_since(PROJECT, "serper-main", NOW, at_most=9) == 2


@pytest.mark.parametrize(
    ("changes", "expires_at"),
    [
        ({"expires_at": {"N": "1800000000000"}}, NOW),
        ({"expires_at": {"S": "1800000000"}}, NOW),
        ({"expires_at": {"S": "never"}}, 0.0),
    ],
)
def test_a_token_whose_expiry_cannot_be_read_has_expired(
    client: Any, changes: dict[str, Any], expires_at: float
) -> None:
    """Odd spellings are understood; nonsense is not taken for "never"."""
    usual = {"token_hash": {"S": "0"}, "tenant_id": {"S": "acme"}, "level": {"N": "1"}}
    client.put_item(TableName=TOKEN_TABLE, Item={**usual, **changes})
    grant = DynamoDbTokenStore(client, TOKEN_TABLE).grant("0")
    assert grant is not None
    assert grant.expires_at == expires_at


def test_an_illegible_grant_is_no_grant(client: Any) -> None:
    client.put_item(TableName=TOKEN_TABLE, Item={"token_hash": {"S": "0"}, "level": {"N": "4"}})
    assert DynamoDbTokenStore(client, TOKEN_TABLE).grant("0") is None


def test_tokens_raise_when_dynamodb_does_not_answer(client: Any) -> None:
    """Fail closed is for the authorizer to say; it must be able to tell "unknown" from "not answered"."""
    refuse(client, "InternalServerError", status=500)
    with pytest.raises(StoreUnavailable):
        DynamoDbTokenStore(client, TOKEN_TABLE).grant("0")


def test_importing_stores_and_settings_does_not_import_boto3() -> None:
    """It costs a quarter of a second, which the cold start pays only where a client is made."""
    modules = "stores.dynamodb_state, stores.dynamodb_audit, stores.dynamodb_tokens, stores.clients, settings.endpoints"
    modules += ", settings.key_ring, settings.writer"
    names = ", ".join(f"zarniwoop.{name.strip()}" for name in modules.split(","))
    check = f"import sys, {names}; sys.exit(any(name.startswith('boto') for name in sys.modules))"
    environment = {"PYTHONPATH": ":".join(sys.path)}
    finished = subprocess.run([sys.executable, "-c", check], env=environment, check=False)  # noqa: S603 - our own text
    assert finished.returncode == 0


def test_clients_have_explicit_attempts_and_timeouts(client: Any) -> None:
    """None of boto3's defaults, which take seconds, is left."""
    attempts = {}
    for made in (dynamodb_client(), side_write_client(), ssm_client()):
        config: Any = made.meta.config
        attempts[made.meta.service_model.service_name, config.read_timeout] = config.retries["total_max_attempts"]
    assert attempts == {("dynamodb", 0.75): 2, ("dynamodb", 0.15): 1, ("ssm", 2.0): 1}


def test_links_to_objects_name_the_regions_own_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """The global host redirects to the region's, and a signature does not survive that; an emulator is left alone."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    link = s3_client().generate_presigned_url("get_object", Params={"Bucket": "bodies", "Key": "k"})
    assert link.startswith("https://bodies.s3.eu-central-1.amazonaws.com/k?")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:4566")
    assert (
        s3_client()
        .generate_presigned_url("get_object", Params={"Bucket": "bodies", "Key": "k"})
        .startswith("http://127.0.0.1:4566/bodies/k?")
    )
