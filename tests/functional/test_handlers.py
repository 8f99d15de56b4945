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
from zarniwoop.contract.provider import Pacing
from zarniwoop.entry.authorizer import UnauthorizedError
from zarniwoop.entry.tool import tool
from zarniwoop.stores.dynamodb_tokens import DynamoDbTokenStore
from zarniwoop.stores.tokens import TokenGrant, hash_token
from zarniwoop.tools.registry import TOOLS
from zarniwoop.tools.research_search import RESEARCH_SEARCH, RESEARCH_SEARCH_EXPERT

TOKEN = "zw_sample-token-not-a-real-one"
QUERY = "cathedral bells"
ASKED = {"query": QUERY, "modality": "WEB", "max_results": 2}
NAMES = [each.name for each in TOOLS]


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
    """200, or 202 for a run, an envelope, and a header with the request's id."""
    stack.leave_behind()
    response = stack.call(name, sample(name))
    envelope = body_of(response)
    status = 202 if name == "research_investigate" else 200
    assert (response["statusCode"], envelope["ok"], envelope["error"]) == (status, True, None)
    assert response["headers"]["x-request-id"] == "request-1"
    assert envelope["data"]


@pytest.mark.parametrize("name", NAMES)
def test_a_tools_sample_invocation_is_answered_with_the_same_envelope(stack: Deployed, name: str) -> None:
    """But for the way in, nothing differs."""
    stack.leave_behind()
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
    reached = {arn.partition("/live/")[2] for arn in answer["policyDocument"]["Statement"][0]["Resource"]}
    assert reached == {
        *("GET/v1/tools", "POST/mcp", "GET/mcp", "DELETE/mcp"),
        *("POST/v1/tools/*", "GET/v1/runs", "GET/v1/runs/*", "POST/v1/runs/*/stop"),
        *("GET/v1/content/*", "GET/v1/insights", "GET/v1/documents", "GET/v1/usage", "GET/v1/results/*"),
        *("POST/v1/tools/run_status", "POST/v1/tools/result_read"),
        *("GET/v1/evidence", "GET/v1/evidence/*", "POST/v1/evidence/*/verify"),
    }
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


@pytest.mark.parametrize("waits", [0, 1, 2])
def test_a_warm_search_at_a_published_rate_writes_its_turn_first(stack: Deployed, waits: int) -> None:
    """One conditional write when nobody is before it, two when it queues up; then one read and one write as ever.

    arXiv serves one at a time, which is two more: to hold the turn, and to let go of it.
    """
    clock = FakeClock()
    own = stack.cloud.environment(clock=clock)
    handler = tool(RESEARCH_SEARCH_EXPERT, environment=lambda: own)
    event = posted(
        {"query": "graphene", "modality": "ACADEMIC", "pinned_provider_id": "arxiv-main"}, tool="research_search_expert"
    )
    assert body_of(handler(event, LambdaContext()))["ok"]
    clock.advance(0 if waits else 3)
    for _ in range(max(0, waits - 1)):
        own.state.take_turn(_arxiv(stack), now=clock.now(), latest=clock.now() + 60)
    stack.forget_calls()
    assert body_of(handler(event, LambdaContext()))["ok"]
    turns = ["UpdateItem"] * (2 if waits else 1)
    assert stack.aws_calls == [
        ("dynamodb", name) for name in ("BatchGetItem", *turns, "UpdateItem", "UpdateItem", "BatchWriteItem")
    ]
    assert sum(clock.slept) == pytest.approx(3.0 * waits)
    own._transport.close()  # type: ignore[attr-defined]


def _arxiv(stack: Deployed) -> Pacing:
    return Pacing(subject="arxiv@127.0.0.1", requests=1, seconds=3.0, exclusive=True)


def test_a_call_of_an_endpoint_with_a_credit_limit_is_two_more_writes(small: Deployed) -> None:
    """It is held, and settled; the count comes with the one read."""
    small.cloud.set("research.default.web", "serper-main")
    small.cloud.set("research.endpoint.serper-main.creditLimit", "2500")
    small.call("research_search", posted(ASKED))
    small.forget_calls()
    assert small.envelope("research_search", posted(ASKED))["ok"]
    assert small.aws_calls == [("dynamodb", name) for name in ("BatchGetItem", *["UpdateItem"] * 2, "BatchWriteItem")]
    (spent,) = [item for item in small.cloud.items("STATE_TABLE") if item["sk"]["S"].startswith("US#serper-main#")]
    assert float(spent["used"]["N"]) == float(spent["committed"]["N"]) == 2


def test_a_kept_answer_is_one_read_and_one_that_is_kept_two_writes_more(small: Deployed) -> None:
    """One to take off, one for the answer; a hit makes no provider call, so there is nothing to audit."""
    small.cloud.set("research.cache.ttlSeconds.web", "600")
    first = small.envelope("research_search", posted(ASKED))
    first_look = ["BatchGetItem", "BatchGetItem"]
    assert small.calls_of("dynamodb") == [*first_look, "PutItem", "PutItem", "BatchWriteItem"]
    small.forget_calls()
    second = small.envelope("research_search", posted(ASKED))
    assert small.aws_calls == [("dynamodb", "BatchGetItem")]
    assert second["data"]["hits"] == first["data"]["hits"]
    assert (second["data"]["cached"], second["data"]["cost"]) == (True, 0)
    small.forget_calls()
    assert not small.envelope("research_search", posted({**ASKED, "cache": "no-store"}))["data"]["cached"]
    assert small.calls_of("dynamodb") == ["BatchGetItem", "BatchWriteItem"]


@pytest.mark.parametrize(
    ("settings", "writes"),
    [
        ({"research.budget.project.calls": "100"}, 2),
        ({"research.budget.project.calls": "100", "research.budget.tenant.calls": "100"}, 4),
        ({"research.budget.project.usd": "100"}, 0),
        ({"research.budget.project.usd": "100", "research.endpoint.serper-main.costPerCall": "0.001"}, 2),
    ],
)
def test_a_budget_costs_two_writes_where_a_call_counts_towards_it(
    small: Deployed, settings: dict[str, str], writes: int
) -> None:
    """And none where it does not; where budgets stand comes with the one read."""
    small.cloud.set_all({"research.default.web": "serper-main", **settings})
    small.call("research_search", posted(ASKED))
    small.forget_calls()
    assert small.envelope("research_search", posted(ASKED))["ok"]
    names = ("BatchGetItem", *["UpdateItem"] * writes, "BatchWriteItem")
    assert small.aws_calls == [("dynamodb", name) for name in names]


def test_a_cold_search_reads_each_setting_and_key_once(small: Deployed) -> None:
    """Two levels of settings, one provider key, and the stack's hash key; the generation once before all that."""
    small.cloud.set("research.default.web", "serper-main")
    small.forget_calls()
    assert small.envelope("research_search", posted(ASKED))["ok"]
    assert small.calls_of("ssm") == ["GetParametersByPath", "GetParametersByPath", "GetParameter", "GetParameter"]
    assert small.calls_of("dynamodb") == ["BatchGetItem", "BatchGetItem", "BatchWriteItem"]
    assert {service for service, _ in small.aws_calls} == {"ssm", "dynamodb"}


def test_a_cold_rich_search_reads_the_hash_key_once_for_all_its_threads(small: Deployed) -> None:
    """Every thread may need the provider's key at once; the stack's own is read under a lock."""
    assert small.envelope("research_rich", posted({"query": QUERY}, tool="research_rich"))["ok"]
    assert small.calls_of("ssm")[:2] == ["GetParametersByPath", "GetParametersByPath"]
    assert small.calls_of("ssm").count("GetParameter") == 2
    assert small.calls_of("dynamodb") == ["BatchGetItem", "BatchGetItem", "BatchWriteItem"]


@pytest.mark.parametrize(("name", "calls"), [("tools", 0), ("authorizer", 1)])
def test_what_does_not_search_does_not_pay_for_searching(stack: Deployed, name: str, calls: int) -> None:
    """No dispatcher is built for the catalogue, nor for the authorizer."""
    _save_token(stack)
    stack.forget_calls()
    stack.call(name, sample(name))
    assert len(stack.aws_calls) == calls
    assert "tools" not in stack.environment.__dict__


FREE_OF_CHARGE = {
    *("/serper/account", "/openalex/rate-limit", "/tavily/usage", "/serpapi/account.json"),
    *("/firecrawl/v2/team/credit-usage", "/github/rate_limit"),
}


def test_providers_spend_no_search(stack: Deployed) -> None:
    """Quotas come from free endpoints and from our own records."""
    data = stack.envelope("research_providers", sample("research_providers"))["data"]
    assert [row["id"] for row in data["providers"]] == sorted(row["id"] for row in data["providers"])
    assert {seen.path for seen in stack.simulator.requests()} <= FREE_OF_CHARGE
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
    wrong = ({"locale": QUERY}, {"max_results": QUERY}, {"modality": QUERY}, {"project_id": QUERY})
    refused = [small.call("research_search", posted({**ASKED, **each}))["body"] for each in wrong]
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
