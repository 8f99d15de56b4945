"""The Lambda authorizer: a bearer token in, a policy and an identity out, or one word."""

import subprocess
import sys
from typing import Any

import pytest

from tests.fakes.cloud import LambdaContext
from tests.fakes.environment import FakeEnvironment
from tests.fakes.functions import ROOT, sample
from zarniwoop.entry.authorizer import UnauthorizedError, authorizer
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.tokens import LEAVES_EVIDENCE, LISTS_EVIDENCE, TokenGrant, hash_token
from zarniwoop.tools.registry import TOOLS

TOKEN = "zw_sample-token-not-a-real-one"
STAGE = "arn:aws:execute-api:us-east-1:123456789012:abc123/live"
FOR_ALL = [f"{STAGE}/{route}" for route in ("GET/v1/tools", "POST/mcp", "GET/mcp", "DELETE/mcp")]
RUN_ROUTES = [
    f"{STAGE}/GET/v1/runs",
    f"{STAGE}/GET/v1/runs/*",
    f"{STAGE}/POST/v1/runs/*/stop",
    f"{STAGE}/GET/v1/content/*",
    f"{STAGE}/GET/v1/insights",
    f"{STAGE}/POST/v1/tools/run_status",
]
DOCUMENTS_ROUTE = f"{STAGE}/GET/v1/documents"
USAGE_ROUTE = f"{STAGE}/GET/v1/usage"
RESULTS_ROUTES = [f"{STAGE}/GET/v1/results/*", f"{STAGE}/POST/v1/tools/result_read"]
EVIDENCE_ROUTES = [
    f"{STAGE}/GET/v1/evidence",
    f"{STAGE}/GET/v1/evidence/*",
    f"{STAGE}/POST/v1/evidence/*/verify",
]
SETTINGS_ROUTES = [
    ("GET", ""),
    ("GET", "/form"),
    ("PUT", ""),
    ("DELETE", "/*"),
    ("POST", "/endpoints/*/test"),
    ("POST", "/reveal"),
]
LAYER = ROOT / "layers" / "zarniwoop"


def _grant(**changes: Any) -> TokenGrant:
    values: dict[str, Any] = {
        "token_hash": hash_token(TOKEN),
        "tenant_id": "acme",
        "projects": ("demo", "lab"),
        "level": 1,
        **changes,
    }
    return TokenGrant(**values)


def _ask(environment: FakeEnvironment, authorization: str | None = f"Bearer {TOKEN}") -> dict[str, Any]:
    event = sample("authorizer.token") | {"authorizationToken": authorization}
    return authorizer(environment=lambda: environment)(event, LambdaContext())


@pytest.mark.parametrize("event", ["authorizer", "authorizer.token"])
def test_both_kinds_of_authorizer_event_are_read(event: str) -> None:
    """TOKEN is what the template uses; REQUEST is what WebSocket and HTTP APIs send."""
    environment = FakeEnvironment(grants=[_grant()])
    answer = authorizer(environment=lambda: environment)(sample(event), LambdaContext())
    assert answer["context"] == {"tenant_id": "acme", "projects": "demo,lab", "level": "1", "tools": ""}
    assert answer["principalId"] == hash_token(TOKEN)[:16]


def test_the_policy_names_every_route_of_the_token_not_just_this_one() -> None:
    """API Gateway keeps it per token and would refuse the next route."""
    answer = _ask(FakeEnvironment(grants=[_grant()]))
    (statement,) = answer["policyDocument"]["Statement"]
    assert (statement["Effect"], statement["Action"]) == ("Allow", "execute-api:Invoke")
    assert statement["Resource"] == [
        *FOR_ALL,
        f"{STAGE}/POST/v1/tools/*",
        *RUN_ROUTES,
        DOCUMENTS_ROUTE,
        USAGE_ROUTE,
        *EVIDENCE_ROUTES,
        *RESULTS_ROUTES,
    ]


@pytest.mark.parametrize(
    ("changes", "tools"),
    [
        ({"tools": ("research_rich", "research_providers")}, ["research_rich", "research_providers"]),
        ({"tools": ("research_investigate",)}, ["research_investigate"]),
        ({"tools": ("research_search",)}, ["research_search"]),
        ({"tools": ("evidence_store",)}, ["evidence_store"]),
        ({"tools": ("web_fetch",)}, ["web_fetch"]),
        ({"tools": ("research_providers",)}, ["research_providers"]),
        ({"level": 0}, ["*"]),
        ({"level": 0, "tools": ("research_rich",)}, ["research_rich"]),
    ],
)
def test_level_and_list_narrow_the_policy(changes: dict[str, Any], tools: list[str]) -> None:
    """The list of tools is always there; a tool above the token's level refuses it itself, in words."""
    (statement,) = _ask(FakeEnvironment(grants=[_grant(**changes)]))["policyDocument"]["Statement"]
    assert statement["Resource"] == [
        *FOR_ALL,
        *(f"{STAGE}/POST/v1/tools/{tool}" for tool in tools),
        *(RUN_ROUTES if "research_investigate" in tools else ()),
        *([DOCUMENTS_ROUTE] if "research_search" in tools else ()),
        *([USAGE_ROUTE] if "research_providers" in tools else ()),
        *(EVIDENCE_ROUTES[:1] if "evidence_store" in tools else ()),
        *(EVIDENCE_ROUTES[1:] if changes.get("level") != 0 and tools != ["research_providers"] else ()),
        *(RESULTS_ROUTES if changes.get("level") != 0 else ()),
    ]


def test_what_a_tool_links_to_can_be_read_by_whoever_may_use_it() -> None:
    """Every tool that can keep something is among those whose tokens read evidence, and no other."""
    keeping = {tool.name for tool in TOOLS if not {"store", "store_evidence"}.isdisjoint(tool.arguments.model_fields)}
    assert set(LEAVES_EVIDENCE) == keeping
    assert LISTS_EVIDENCE in {tool.name for tool in TOOLS}


@pytest.mark.parametrize(
    ("changes", "edits"),
    [
        ({"level": 4}, True),
        ({"level": 4, "tools": ("settings",)}, True),
        ({"level": 4, "tools": ("research_search",)}, False),
        ({"level": 3}, False),
        ({"level": 3, "tools": ("settings",)}, False),
    ],
)
def test_settings_are_for_level_4_and_for_a_list_that_names_them(changes: dict[str, Any], edits: bool) -> None:
    """The routes by method: a GET of the list does not open the PUT."""
    (statement,) = _ask(FakeEnvironment(grants=[_grant(**changes)]))["policyDocument"]["Statement"]
    found = [resource for resource in statement["Resource"] if "/v1/settings" in resource]
    assert found == [f"{STAGE}/{method}/v1/settings{rest}" for method, rest in SETTINGS_ROUTES if edits]


def test_the_authorizer_imports_neither_tools_nor_dispatcher() -> None:
    """It starts before every cold call, and all it needs is the token's grant."""
    code = "import sys, zarniwoop.entry.authorizer; print(*sorted(sys.modules))"
    ran = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], env={"PYTHONPATH": str(LAYER)}, capture_output=True, text=True, check=True
    )
    heavy = ("pydantic", "boto3", "zarniwoop.tools", "zarniwoop.dispatch", "zarniwoop.adapters")
    assert not [name for name in ran.stdout.split() if name.startswith(heavy)]


def test_the_usage_plans_key_is_named_where_there_is_one() -> None:
    """It is what throttles the token."""
    assert _ask(FakeEnvironment(grants=[_grant(usage_key="plan-key")]))["usageIdentifierKey"] == "plan-key"
    assert "usageIdentifierKey" not in _ask(FakeEnvironment(grants=[_grant()]))


@pytest.mark.parametrize(
    "authorization",
    [None, "", TOKEN, "Bearer", "Bearer short", f"Basic {TOKEN}", f"Bearer {TOKEN} {TOKEN}", f"Bearer {'x' * 300}"],
)
def test_a_malformed_token_is_the_one_word_that_means_401(authorization: str | None) -> None:
    """API Gateway makes a 500 of any other message; and the table is not asked."""
    environment = FakeEnvironment(grants=[_grant()])
    with pytest.raises(UnauthorizedError, match=r"^Unauthorized$"):
        _ask(environment, authorization)
    assert environment.fake_tokens.calls["grant"] == 0


def test_a_request_without_headers_is_nobodys() -> None:
    """Such an event has `headers: null`."""
    with pytest.raises(UnauthorizedError):
        authorizer(environment=FakeEnvironment)(sample("authorizer") | {"headers": None}, LambdaContext())


def test_an_unknown_token_is_unauthorized() -> None:
    """Only the hash is looked up."""
    with pytest.raises(UnauthorizedError):
        _ask(FakeEnvironment())


def test_a_token_expires_to_the_second() -> None:
    """By the clock, not by the deletion of its item."""
    environment = FakeEnvironment()
    now = environment.clock.now()
    environment.fake_tokens.save(_grant(expires_at=now + 10))
    assert _ask(environment)["context"]["tenant_id"] == "acme"
    environment.hands.advance(10)
    with pytest.raises(UnauthorizedError):
        _ask(environment)


def test_a_token_table_that_is_down_lets_nobody_in(capsys: pytest.CaptureFixture[str]) -> None:
    """That is a fault of ours, so a 500 and not a 401; the log says which."""
    environment = FakeEnvironment(grants=[_grant()])
    environment.fake_tokens.fail_with = StoreUnavailable("down")
    with pytest.raises(StoreUnavailable):
        _ask(environment)
    assert "token table unavailable" in capsys.readouterr().out
