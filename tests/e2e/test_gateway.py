"""What API Gateway and the authorizer decide before any tool sees a request."""

import httpx
import pytest

from stack.running import Stack
from stack.token import Wanted, issue, revoke

pytestmark = pytest.mark.e2e

_TOOLS = "/v1/tools"
_SEARCH = "/v1/tools/research_search"


def _get(stack: Stack, path: str, authorization: str | None = None) -> httpx.Response:
    headers = {} if authorization is None else {"Authorization": authorization}
    return httpx.get(stack.api_url + path, headers=headers, timeout=40, trust_env=False)


def _post(stack: Stack, path: str, token: str) -> httpx.Response:
    return httpx.post(
        stack.api_url + path, json={}, headers={"Authorization": f"Bearer {token}"}, timeout=40, trust_env=False
    )


@pytest.mark.parametrize(
    "authorization",
    [None, "Bearer", "Bearer zw_tooshort", f"Bearer zw_{'a' * 43}", f"Basic zw_{'a' * 43}"],
    ids=["none", "empty", "malformed", "unknown", "another scheme"],
)
def test_without_a_valid_token_nobody_gets_in(stack: Stack, authorization: str | None) -> None:
    """A request without a token that the stack knows is answered 401, in the envelope of every other answer."""
    answer = _get(stack, _TOOLS, authorization)

    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer ")
    body = answer.json()
    assert (body["ok"], body["data"], body["error"]["status"]) == (False, None, 401)
    assert "make token" in body["error"]["suggested_action"]


def test_an_expired_token_is_refused(stack: Stack) -> None:
    """A token whose day has passed is answered 401, although its item may still lie in the table."""
    token = issue(stack.target, Wanted(tenant_id="local", projects=("*",), days=1e-6))

    assert _get(stack, _TOOLS, f"Bearer {token}").status_code == 401


def test_a_token_reaches_only_the_tools_it_lists(stack: Stack) -> None:
    """A token for research_providers alone is answered 403 by research_search, and 200 by research_providers."""
    token = issue(stack.target, Wanted(tenant_id="local", projects=("demo",), tools=("research_providers",)))

    refused = _post(stack, _SEARCH, token)

    assert refused.status_code == 403
    assert refused.json()["error"]["type"] == "urn:zarniwoop:problem:not-allowed"
    assert _post(stack, "/v1/tools/research_providers", token).status_code == 200


def test_an_unknown_route_is_404_in_the_same_envelope(stack: Stack, api: httpx.Client) -> None:
    """A path that is none of the API's says so, and where to look."""
    answer = api.get("/v1/nothing-here")

    assert answer.status_code == 404
    assert "GET /v1/tools" in answer.json()["error"]["suggested_action"]


def test_a_token_over_its_rate_is_429_until_it_waits(stack: Stack) -> None:
    """The usage plan that the authorizer names throttles this token, and no other."""
    plan = _plan_of_one_request(stack)
    slow = issue(stack.target, Wanted(tenant_id="local", projects=("demo",)), usage_plan_id=plan)

    statuses = [_get(stack, _TOOLS, f"Bearer {slow}") for _ in range(2)]

    assert [answer.status_code for answer in statuses] == [200, 429]
    assert statuses[1].headers["retry-after"] == "1"
    assert statuses[1].json()["error"]["retryable"] is True
    assert _get(stack, _TOOLS, f"Bearer {stack.token}").status_code == 200


def _plan_of_one_request(stack: Stack) -> str:
    gateway = stack.session().client("apigateway", endpoint_url=stack.endpoint_url)
    plan = gateway.create_usage_plan(
        name="one request",
        apiStages=[{"apiId": stack.outputs["ApiId"], "stage": "live"}],
        throttle={"rateLimit": 0.01, "burstLimit": 1},
    )
    return plan["id"]


def test_a_revoked_token_is_refused(stack: Stack) -> None:
    """Its grant and its key in the usage plan are gone; nobody else's are."""
    token = issue(stack.target, Wanted(tenant_id="local", projects=("*",)))
    assert revoke(stack.target, token) is True
    assert revoke(stack.target, token) is False
    answer = httpx.get(f"{stack.api_url}/v1/tools", headers={"Authorization": f"Bearer {token}"}, trust_env=False)
    assert answer.status_code == 401
