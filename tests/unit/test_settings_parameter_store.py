"""Parameter Store when it misbehaves, and how often it is asked."""

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ConnectTimeoutError

from tests.contract.test_parameter_store import API_KEY, PROTOCOL, ROOT, TENANT
from tests.fakes.aws import aws_in_process, count_calls, refuse, script
from tests.fakes.clock import FakeClock
from zarniwoop.contract.failure import ConfigurationUnavailable
from zarniwoop.settings.parameter_store import SsmParameterStore
from zarniwoop.settings.ssm_calls import ParameterLimitReached, ParameterStoreUnavailable, call
from zarniwoop.settings.writer import SsmSettingsWriter
from zarniwoop.stores.clients import ssm_client


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with aws_in_process(monkeypatch):
        yield ssm_client()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def store(client: Any, clock: FakeClock) -> SsmParameterStore:
    return SsmParameterStore(client, ROOT, clock, jitter=lambda: 1.0)


def test_a_level_costs_one_call_for_ten_parameters(client: Any, store: SsmParameterStore) -> None:
    """And decrypts nothing."""
    writer = SsmSettingsWriter(client, ROOT)
    for number in range(8):
        writer.put(TENANT, f"research.endpoint.e{number}.protocol", "serper")
    writer.put(TENANT, API_KEY, "key-0123456789")
    asked: list[dict[str, Any]] = []
    client.meta.events.register(
        "provide-client-params.ssm.GetParametersByPath", lambda params, **_rest: asked.append(params)
    )
    calls = count_calls(client)
    store.read_level(TENANT)
    assert calls == ["GetParametersByPath"]
    assert asked == [
        {"Path": "/zarniwoop/test/acme/_tenant", "Recursive": True, "WithDecryption": False, "MaxResults": 10}
    ]


def test_one_throttled_call_is_tried_again_after_a_short_wait(
    client: Any, store: SsmParameterStore, clock: FakeClock
) -> None:
    SsmSettingsWriter(client, ROOT).put(TENANT, PROTOCOL, "serper")
    refuse(client, "ThrottlingException", times=1)
    assert set(store.read_level(TENANT)) == {PROTOCOL}
    assert clock.slept == [0.3]


def test_a_throttled_cold_start_fails_after_one_more_try(
    client: Any, store: SsmParameterStore, clock: FakeClock
) -> None:
    """Two calls and at most 300 ms, then a typed failure that says when to come back."""
    refused = refuse(client, "ThrottlingException")
    with pytest.raises(ConfigurationUnavailable) as caught:
        store.read_level(TENANT)
    assert (len(refused), clock.slept, caught.value.retry_after) == (2, [0.3], 5.0)


@pytest.mark.parametrize("read", [lambda store: store.read_level(TENANT), lambda store: store.reveal(f"{ROOT}/a")])
def test_a_denied_call_is_not_tried_again(client: Any, store: SsmParameterStore, clock: FakeClock, read: Any) -> None:
    """A missing permission does not pass by waiting."""
    refused = refuse(client, "AccessDeniedException")
    with pytest.raises(ConfigurationUnavailable, match="AccessDeniedException"):
        read(store)
    assert (len(refused), clock.slept) == (1, [])


def test_an_unreachable_parameter_store_may_pass() -> None:
    """Our message names the kind of error and not the endpoint."""

    def fail() -> None:
        raise ConnectTimeoutError(endpoint_url="http://nowhere")

    with pytest.raises(ParameterStoreUnavailable) as caught:
        call(fail)
    assert caught.value.passing
    assert "nowhere" not in str(caught.value)


def test_an_endless_level_is_refused(client: Any, store: SsmParameterStore) -> None:
    """After 50 pages something is wrong, and half of the settings would be worse than none."""
    script(client, *[{"Parameters": [], "NextToken": "more"}] * 60)
    with pytest.raises(ConfigurationUnavailable, match="more than 500"):
        store.read_level(TENANT)


def test_an_empty_page_need_not_be_the_last(client: Any, store: SsmParameterStore) -> None:
    """Parameter Store filters after paging."""
    parameter = {"Name": "/zarniwoop/test/acme/_tenant/a", "Type": "String", "Value": "1"}
    script(client, {"Parameters": [], "NextToken": "more"}, {"Parameters": [parameter]})
    assert store.read_level(TENANT)["a"].value == "1"


def test_a_foreign_parameter_among_them_is_passed_over(client: Any, store: SsmParameterStore) -> None:
    client.put_parameter(Name="/zarniwoop/test/acme/_tenant/research/a.b", Value="1", Type="String")
    assert store.read_level(TENANT) == {}


def test_nothing_outside_of_the_stack_is_revealed(client: Any, store: SsmParameterStore) -> None:
    """A name that does not start with our root is not even asked for."""
    client.put_parameter(Name="/other/secret", Value="value", Type="SecureString")
    calls = count_calls(client)
    assert store.reveal("/other/secret") is None
    assert store.reveal("/zarniwoop/testing/secret") is None
    assert calls == []


def test_a_key_is_written_as_a_secure_string(client: Any) -> None:
    """Whatever the writer said; other settings are not."""
    writer = SsmSettingsWriter(client, ROOT)
    writer.put(TENANT, API_KEY, "key-0123456789")
    writer.put(TENANT, PROTOCOL, "serper")
    kinds = {parameter["Name"]: parameter["Type"] for parameter in client.describe_parameters()["Parameters"]}
    assert kinds == {
        "/zarniwoop/test/acme/_tenant/research/endpoint/serper-main/apiKey": "SecureString",
        "/zarniwoop/test/acme/_tenant/research/endpoint/serper-main/protocol": "String",
    }


def test_what_is_no_key_is_not_deleted(client: Any) -> None:
    calls = count_calls(client)
    assert SsmSettingsWriter(client, ROOT).delete(TENANT, "../other") is False
    assert calls == []


def test_a_secret_is_encrypted_with_the_stacks_own_key_where_there_is_one(client: Any) -> None:
    """Everything else is no secret and takes none."""
    writer = SsmSettingsWriter(client, ROOT, key_id="alias/own")
    asked: list[Any] = []
    client.meta.events.register(
        "provide-client-params.ssm.PutParameter", lambda params, **_rest: asked.append(params.get("KeyId"))
    )
    writer.put(TENANT, API_KEY, "key-0123456789")
    writer.put(TENANT, PROTOCOL, "serper")
    assert asked == ["alias/own", None]


def test_a_full_parameter_store_is_no_outage(client: Any) -> None:
    """Waiting does not help: it is told as what it is, with the way out."""
    refuse(client, "ParameterLimitExceeded")
    with pytest.raises(ParameterLimitReached) as refused:
        SsmSettingsWriter(client, ROOT).put(TENANT, PROTOCOL, "serper")
    assert (refused.value.status, refused.value.retryable) == (507, False)
    assert refused.value.suggested_action
