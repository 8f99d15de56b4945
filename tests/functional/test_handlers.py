"""The deployed functions over REST and by invocation: sample events, refusals, outages, and what they ask of AWS."""

import base64
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import orjson
import pytest

from tests.fakes.aws import refuse
from tests.fakes.clock import FakeClock
from tests.fakes.cloud import LambdaContext
from tests.fakes.functions import body_of, event_names, function_names, handler_of, posted, sample
from tests.functional.deployed import CANARY, Deployed, deployed, with_canary
from tests.simulator import Simulator
from zarniwoop.contract.modality import SearchModality
from zarniwoop.entry.authorizer import UnauthorizedError
from zarniwoop.entry.tool import tool
from zarniwoop.stores.dynamodb_tokens import DynamoDbTokenStore
from zarniwoop.stores.tokens import TokenGrant, hash_token
from zarniwoop.tools.registry import TOOLS
from zarniwoop.tools.research_search import RESEARCH_SEARCH

TOKEN = "zw_sample-token-not-a-real-one"
QUERY = "cathedral bells"
ASKED = {"query": QUERY, "modality": "WEB", "max_results": 2}
NAMES = [each.name for each in TOOLS]
SEVERAL = {"projects": "demo,lab"}


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with Simulator() as running:
        yield running


@pytest.fixture
def stack(simulator: Simulator, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployed]:
    with deployed(simulator, monkeypatch) as made:
        yield made


@pytest.fixture
def small(simulator: Simulator, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployed]:
    """Three endpoints without routing: their settings fit on one page of Parameter Store."""
    wanted = with_canary(simulator, "serper-main", "hackernews-main", "openlibrary-main")
    with deployed(simulator, monkeypatch, wanted) as made:
        yield made


def _save_token(stack: Deployed, **changes: Any) -> None:
    values: dict[str, Any] = {"tenant_id": "acme", "projects": ("demo",), "level": 1, **changes}
    client = stack.cloud.client("dynamodb")
    store = DynamoDbTokenStore(client, stack.cloud.variables["TOKENS_TABLE"])
    store.save(TokenGrant(token_hash=hash_token(TOKEN), **values))


def test_every_function_has_a_sample_event_and_every_sample_its_function() -> None:
    """What is not fed to a handler is not tested; what has no handler is litter."""
    assert {name.partition(".")[0] for name in event_names()} == set(function_names())


@pytest.mark.parametrize("name", NAMES)
def test_a_tools_sample_request_is_answered(stack: Deployed, name: str) -> None:
    """200, an envelope, and a header with the request's id."""
    response = stack.call(name, sample(name))
    envelope = body_of(response)
    assert (response["statusCode"], envelope["ok"], envelope["error"]) == (200, True, None)
    assert response["headers"]["x-request-id"] == "request-1"
    assert envelope["data"]


@pytest.mark.parametrize("name", NAMES)
def test_a_tools_sample_invocation_is_answered_with_the_same_envelope(stack: Deployed, name: str) -> None:
    """But for the way in, nothing differs."""
    direct, over_rest = stack.call(name, sample(f"{name}.invoke")), stack.envelope(name, sample(name))
    assert (direct["ok"], set(direct)) == (True, {"ok", "data", "error", "evidence"})
    assert set(direct["data"]) == set(over_rest["data"])


def test_the_sample_request_for_tools_gets_them_in_its_format(stack: Deployed) -> None:
    """OpenAI's, in the sample."""
    tools = stack.envelope("tools", sample("tools"))["tools"]
    assert [each["function"]["name"] for each in tools] == NAMES
    assert {each["type"] for each in tools} == {"function"}


@pytest.mark.parametrize("event", ["authorizer", "authorizer.token"])
def test_a_saved_token_becomes_policy_and_identity(stack: Deployed, event: str) -> None:
    """The context is what the tools read their caller from."""
    _save_token(stack, usage_key="plan-key")
    stack.forget_calls()
    answer = stack.call("authorizer", sample(event))
    assert answer["context"] == {"tenant_id": "acme", "projects": "demo", "level": "1", "tools": ""}
    assert answer["usageIdentifierKey"] == "plan-key"
    assert len(answer["policyDocument"]["Statement"][0]["Resource"]) == len(NAMES) + 1
    assert stack.aws_calls == [("dynamodb", "GetItem")]


def test_a_token_that_is_unknown_expired_or_malformed_is_unauthorized(stack: Deployed) -> None:
    """One word, and API Gateway makes a 401 of it."""
    malformed = sample("authorizer.token") | {"authorizationToken": "Bearer short"}
    with pytest.raises(UnauthorizedError, match=r"^Unauthorized$"):
        stack.call("authorizer", sample("authorizer"))
    with pytest.raises(UnauthorizedError, match=r"^Unauthorized$"):
        stack.call("authorizer", malformed)
    _save_token(stack, expires_at=stack.environment.clock.now() - 1)
    with pytest.raises(UnauthorizedError, match=r"^Unauthorized$"):
        stack.call("authorizer", sample("authorizer"))


def _expert(**more: Any) -> dict[str, Any]:
    return posted({**ASKED, **more}, tool="research_search_expert")


REFUSED: dict[str, tuple[dict[str, Any], int, str | None]] = {
    "blank query": (_expert(query="  "), 400, "query"),
    "over-long query": (_expert(query="a" * 2_001), 400, "query"),
    "unknown modality": (_expert(modality="SMELL"), 400, "modality"),
    "tier from outside": (_expert(tier="EXPERT"), 400, "tier"),
    "unknown parameter": (_expert(verbose=True), 400, "verbose"),
    "tenant from outside": (_expert(tenant_id="other"), 400, "tenant_id"),
    "no results": (_expert(max_results=0), 400, "max_results"),
    "negative results": (_expert(max_results=-1), 400, "max_results"),
    "too many results": (_expert(max_results=51), 400, "max_results"),
    "results in words": (_expert(max_results="ten"), 400, "max_results"),
    "no such day": (_expert(date_from="2024-02-30"), 400, "date_from"),
    "day in words": (_expert(date_to="tomorrow"), 400, "date_to"),
    "reversed range": (_expert(date_from="2026-01-02", date_to="2026-01-01"), 400, "date_to"),
    "empty window": (_expert(freshness_days=7, date_to="2020-01-01"), 400, "freshness_days"),
    "bad locale": (_expert(locale="english"), 400, "locale"),
    "unknown instance": (_expert(pinned_provider_id="ghost"), 404, "pinned_provider_id"),
    "instance of another kind": (_expert(pinned_provider_id="openlibrary-main"), 400, "pinned_provider_id"),
    "no JSON": (posted('{"query": '), 400, "body"),
    "no body": (posted(None), 400, "body"),
    "another content type": (posted(ASKED, headers={"Content-Type": "text/plain"}), 415, "content-type"),
    "too large": (posted('{"query": "' + "a" * 262_144 + '"}'), 413, "body"),
    "too deep": (posted('{"query": ' + "[" * 50_000 + "]" * 50_000 + "}"), 400, "body"),
    "project of others": (posted({**ASKED, "project_id": "theirs"}), 403, "project_id"),
    "no project named": (posted(ASKED, identity=SEVERAL), 400, "project_id"),
    "no such right": (posted(ASKED, identity={"tools": "research_rich"}), 403, None),
    "too low a level": (posted(ASKED, identity={"level": "0"}), 403, None),
    "nobody": (posted(ASKED, identity={"tenant_id": ""}), 401, None),
    "a name in two spellings": (posted({**ASKED, "maxResults": 3}), 400, "max_results"),
    "a deadline in words": (posted(ASKED, headers={"X-Deadline-Ms": "soon"}), 400, "x-deadline-ms"),
    "an endless key": (posted(ASKED, headers={"Idempotency-Key": "k" * 300}), 400, "idempotency-key"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_bad_request_is_a_problem_of_its_own_and_nobody_is_asked(small: Deployed, case: str) -> None:
    """It names the field and the way out; no provider hears of it, and nothing is written or charged."""
    event, status, field = REFUSED[case]
    response = small.call(event["path"].rpartition("/")[2], event)
    error = body_of(response)["error"]
    assert (response["statusCode"], error["status"], error["field"]) == (status, status, field)
    assert error["suggested_action"]
    assert error["type"].startswith("urn:zarniwoop:problem:")
    assert (small.simulator.requests(), small.writes()) == ([], [])


def test_a_modality_that_nobody_serves_names_the_setting_to_add(small: Deployed) -> None:
    """The request was right, so it is answered, with nothing."""
    response = small.call("research_search", posted({**ASKED, "modality": "ENCYCLOPEDIA"}))
    envelope = body_of(response)
    assert (response["statusCode"], envelope["ok"]) == (200, False)
    assert envelope["error"]["type"] == "urn:zarniwoop:problem:no-endpoint"
    assert envelope["error"]["suggested_action"] == "add the setting research.endpoint.<id>.protocol = wikipedia"
    unserved = small.envelope("research_search", posted({**ASKED, "modality": "MAP"}))
    assert "research.endpoint.<id>.protocol" in unserved["error"]["suggested_action"]


def test_with_every_provider_down_the_answer_tells_who_was_asked_and_when_to_come_again(small: Deployed) -> None:
    """Not an error of HTTP: a search that brought nothing, with its account."""
    small.simulator.fault("/", "503")
    response = small.call("research_search", posted(ASKED))
    envelope = body_of(response)
    assert (response["statusCode"], envelope["ok"]) == (200, False)
    assert [(each["instance_id"], each["reason"]) for each in envelope["data"]["attempts"]] == [
        ("hackernews-main", "provider_unavailable"),
        ("serper-main", "provider_unavailable"),
    ]
    assert 0 < envelope["error"]["wait_seconds"] <= 30
    cooling = small.envelope("research_search", posted(ASKED))
    assert cooling["error"]["type"] == "urn:zarniwoop:problem:all-cooling"
    assert {each["reason"] for each in cooling["data"]["attempts"]} == {"cooldown"}


def test_with_dynamodb_down_a_search_is_answered_all_the_same(
    small: Deployed, capsys: pytest.CaptureFixture[str]
) -> None:
    """State and audit are lost, and counted as lost; the answer is not."""
    for variable in ("STATE_TABLE", "CALLS_TABLE"):
        small.cloud.client("dynamodb").delete_table(TableName=small.cloud.variables[variable])
    assert small.envelope("research_search", posted(ASKED))["ok"]
    out = capsys.readouterr().out
    assert '"vance.research.state.unavailable":[1.0' in out
    assert '"vance.research.audit.lost":[1.0]' in out


def test_with_parameter_store_down_a_warm_environment_goes_on_with_its_copy(small: Deployed) -> None:
    """For an hour; a cold one says that it is not ready."""
    small.cloud.set("research.factory.cache.ttlMinutes", "0")
    assert small.envelope("research_search", posted(ASKED))["ok"]
    _break_parameter_store(small)
    assert small.envelope("research_search", posted(ASKED))["ok"]
    assert small.envelope("research_providers", sample("research_providers"))["data"]["settings_are_stale"]
    small.freeze()
    _break_parameter_store(small)
    response = small.call("research_search", posted(ASKED))
    assert (response["statusCode"], response["headers"]["retry-after"]) == (503, "5")
    assert body_of(response)["error"]["type"] == "urn:zarniwoop:problem:config-unavailable"


def _break_parameter_store(stack: Deployed) -> None:
    refuse(SimpleNamespace(meta=SimpleNamespace(events=_ssm_events(stack))), "ThrottlingException")


def _ssm_events(stack: Deployed) -> Any:
    client = stack.environment._parameters._client  # type: ignore[attr-defined]
    return client.meta.events


@pytest.mark.parametrize("name", ["research_search", "research_search_expert", "research_rich"])
def test_a_warm_search_is_one_read_and_one_write(small: Deployed, name: str) -> None:
    """And nothing else of AWS: no settings, no keys, no second look, however many modalities there are."""
    event = posted({"query": QUERY} if name == "research_rich" else ASKED, tool=name)
    small.call(name, event)
    small.forget_calls()
    assert small.envelope(name, event)["ok"]
    assert small.aws_calls == [("dynamodb", "BatchGetItem"), ("dynamodb", "BatchWriteItem")]


def test_a_cold_search_reads_each_setting_and_key_once(small: Deployed) -> None:
    """Two levels of settings, one provider key, and the stack's hash key."""
    small.cloud.set("research.default.web", "serper-main")
    small.forget_calls()
    assert small.envelope("research_search", posted(ASKED))["ok"]
    assert small.calls_of("ssm") == ["GetParametersByPath", "GetParametersByPath", "GetParameter", "GetParameter"]
    assert small.calls_of("dynamodb") == ["BatchGetItem", "BatchWriteItem"]
    assert {service for service, _ in small.aws_calls} == {"ssm", "dynamodb"}


def test_a_cold_rich_search_reads_the_hash_key_once_for_all_its_threads(small: Deployed) -> None:
    """Every thread may need the provider's key at once; the stack's own is read under a lock."""
    assert small.envelope("research_rich", posted({"query": QUERY}, tool="research_rich"))["ok"]
    assert small.calls_of("ssm")[:2] == ["GetParametersByPath", "GetParametersByPath"]
    assert 2 <= small.calls_of("ssm").count("GetParameter") <= 5
    assert small.calls_of("dynamodb") == ["BatchGetItem", "BatchWriteItem"]


@pytest.mark.parametrize(("name", "calls"), [("tools", 0), ("authorizer", 1)])
def test_what_does_not_search_does_not_pay_for_searching(stack: Deployed, name: str, calls: int) -> None:
    """No dispatcher is built for the catalogue, nor for the authorizer."""
    _save_token(stack)
    stack.forget_calls()
    stack.call(name, sample(name))
    assert len(stack.aws_calls) == calls
    assert "tools" not in stack.environment.__dict__


def test_providers_spend_no_search(stack: Deployed) -> None:
    """Quotas come from free endpoints and from our own records."""
    data = stack.envelope("research_providers", sample("research_providers"))["data"]
    assert [row["id"] for row in data["providers"]] == sorted(row["id"] for row in data["providers"])
    assert {seen.path for seen in stack.simulator.requests()} <= {"/serper/account", "/openalex/rate-limit"}
    assert data["routing"]["BOOK"] == ["openlibrary-main"]
    assert stack.cloud.items("CALLS_TABLE") == []


def test_an_idempotency_key_works_on_the_templates_table(small: Deployed) -> None:
    """The same answer, and one request to the provider."""
    event = posted(ASKED, headers={"Idempotency-Key": "2f1c"})
    first, second = small.call("research_search", event), small.call("research_search", event)
    assert first == second
    assert len(small.simulator.requests()) == 1


def test_neither_a_key_nor_a_query_leaves_the_stack(small: Deployed, capsys: pytest.CaptureFixture[str]) -> None:
    """Not in log, metric, audit record, state item or error, whether the search succeeds, fails or breaks."""
    spoken: list[str] = []
    for name in NAMES:
        event = posted({"query": QUERY} if name == "research_rich" else ASKED, tool=name)
        if name != "research_providers":
            spoken.append(small.call(name, event)["body"])
    small.simulator.fault("/", "401")
    small.call("research_search", posted({**ASKED, "modality": "IMAGE"}))
    spoken.append(small.call("research_providers", sample("research_providers"))["body"])
    refused = [small.call(event["path"].rpartition("/")[2], event)["body"] for event, _, _ in REFUSED.values()]
    capture = capsys.readouterr()
    kept = [str(small.cloud.items(table)) for table in ("STATE_TABLE", "CALLS_TABLE", "IDEMPOTENCY_TABLE")]
    spellings = (CANARY, quote(CANARY, safe=""), base64.b64encode(CANARY.encode()).decode(), _in_json(CANARY))
    for text in (capture.out, capture.err, *kept, *refused, *spoken):
        assert not [spelling for spelling in spellings if spelling in text]
    for text in (capture.out, capture.err, *kept, *refused):
        assert QUERY not in text


def _in_json(text: str) -> str:
    return orjson.dumps(text).decode()[1:-1]


def test_a_handler_takes_an_environment_of_its_own(small: Deployed) -> None:
    """The seam that the unit tests stand on, on the real data plane: its own clock, and no shared memory."""
    clock = FakeClock()
    own = small.cloud.environment(clock=clock)
    handler = tool(RESEARCH_SEARCH, environment=lambda: own)
    assert body_of(handler(posted(ASKED), LambdaContext()))["ok"]
    (item,) = small.cloud.items("CALLS_TABLE")
    assert float(item["started_at"]["N"]) == pytest.approx(clock.now())
    assert (item["tenant_id"]["S"], item["project_id"]["S"], item["request_id"]["S"]) == ("acme", "demo", "request-1")
    own._transport.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", function_names())
def test_a_handler_starts_without_its_variables(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Importing a function does nothing: no variable is read and no client is made before the first invocation."""
    for variable in ("STATE_TABLE", "CALLS_TABLE", "TOKENS_TABLE", "SETTINGS_ROOT"):
        monkeypatch.delenv(variable, raising=False)
    assert callable(handler_of(name))


def test_every_modality_that_is_routed_is_answered(stack: Deployed) -> None:
    """Eight of the twelve; each by the instance that its setting names."""
    routed = ("WEB", "IMAGE", "VIDEO", "PDF", "NEWS", "ACADEMIC", "ENCYCLOPEDIA", "BOOK")
    assert set(routed) <= set(SearchModality)
    for modality in routed:
        envelope = stack.envelope("research_search", posted({"query": "graphene", "modality": modality}))
        assert envelope["ok"], modality
