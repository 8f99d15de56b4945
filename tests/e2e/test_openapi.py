"""The API as its own document tells it: read by a stranger without a token, and held to its word by schemathesis."""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from stack.places import ROOT
from stack.running import Stack
from stack.token import Wanted, issue

pytestmark = pytest.mark.e2e

PROJECT = "openapi"
"""Of its own, so that what is saved there is in nobody's way."""
_SCHEMATHESIS = ROOT / ".clients-venv" / "bin" / "schemathesis"
_SETUP = Path(__file__).parent / "openapi"
_MOST_SECONDS = 240
DOCUMENT = json.loads((ROOT / "docs" / "openapi.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def token(stack: Stack) -> str:
    """Of full rights, in one project, under a plan that lets a few hundred requests through."""
    gateway = stack.session().client("apigateway", endpoint_url=stack.endpoint_url)
    plan = gateway.create_usage_plan(
        name="openapi",
        apiStages=[{"apiId": stack.outputs["ApiId"], "stage": "live"}],
        throttle={"rateLimit": 1_000, "burstLimit": 1_000},
    )
    wanted = Wanted(tenant_id=stack.tenant_id, projects=(PROJECT,), level=4)
    return issue(stack.target, wanted, usage_plan_id=plan["id"])


@pytest.fixture(scope="module")
def caller(stack: Stack, token: str) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=stack.api_url, headers=headers, timeout=40, trust_env=False) as client:
        yield client


def test_a_stranger_reads_document_page_and_metadata_without_a_token(stack: Stack) -> None:
    """No authorizer, no key; everything else of the API still wants one."""
    with httpx.Client(base_url=stack.api_url, timeout=40, trust_env=False) as stranger:
        served = stranger.get("/openapi.json")
        page = stranger.get("/docs")
        metadata = stranger.get("/.well-known/oauth-protected-resource/mcp")
        assert stranger.get("/v1/tools").status_code == 401
    assert (served.status_code, page.status_code, metadata.status_code) == (200, 200, 200)
    assert {**served.json(), "servers": None} == {**DOCUMENT, "servers": None}
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert metadata.json()["resource"] == served.json()["servers"][0]["url"] + "/mcp"


def test_the_deployed_api_keeps_its_word(stack: Stack, token: str, caller: httpx.Client, tmp_path: Path) -> None:
    """No 5xx, no status and no body that the document does not tell, and nothing taken that it forbids.

    Valid and invalid requests of every operation, the same in every run.
    """
    asked = ("run", str(ROOT / "functions" / "openapi" / "openapi.json"), "--url", stack.api_url, "--no-color")
    journal = ("--report-ndjson-path", str(tmp_path / "journal.ndjson"))
    try:
        done = subprocess.run(  # noqa: S603 - locked, and made by `make setup`
            [str(_SCHEMATHESIS), "--config-file", str(_SETUP / "schemathesis.toml"), *asked, *journal],
            cwd=tmp_path,
            env={**os.environ, **_environment(stack, token, caller)},
            capture_output=True,
            timeout=_MOST_SECONDS,
        )
    except subprocess.TimeoutExpired as ran_on:
        pytest.fail(f"it was still running:\n{_said(ran_on.stdout, ran_on.stderr)}")
    told = _said(done.stdout, done.stderr)
    assert done.returncode == 0, told
    tested = _tested(tmp_path / "journal.ndjson")
    assert [name for name, modes in _modes().items() if not tested[name] >= modes] == []


def _said(stdout: bytes | None, stderr: bytes | None) -> str:
    """The end of both: also of what was stopped before it had written anything."""
    return ((stdout or b"")[-20_000:] + (stderr or b"")[-2_000:]).decode("utf-8", "replace")


def _environment(stack: Stack, token: str, caller: httpx.Client) -> dict[str, str]:
    """What hooks and configuration read; with things that are there, so that not only 404s are looked at."""
    assert stack.simulator_url is not None
    page = f"{stack.simulator_url}/web/mills/history"
    at_once = {"level": "project", "version": "*", "settings": {"fetch.site.intervalMs": "0"}}
    assert caller.put("/v1/settings", json=at_once).status_code == 200
    search = _asked(caller, "research_search", query="cathedral bells", modality="WEB", max_results=10, max_chars=2_000)
    fetched = _asked(caller, "web_fetch", urls=[page])
    run = _asked(caller, "research_investigate", question="What is the history of cathedral bells?")
    return {
        "SCHEMATHESIS_HOOKS": "hooks",
        "PYTHONPATH": str(_SETUP),
        "ZARNIWOOP_TOKEN": token,
        "ZARNIWOOP_PAGE": page,
        "ZARNIWOOP_RUN": run["data"]["run_id"],
        "ZARNIWOOP_HANDLE": search["data"]["size"]["handle"],
        "ZARNIWOOP_EVIDENCE": fetched["evidence"][0]["id"],
    }


def _asked(caller: httpx.Client, tool: str, **arguments: Any) -> Mapping[str, Any]:
    answer: Mapping[str, Any] = caller.post(f"/v1/tools/{tool}", json=arguments).json()
    assert answer["ok"], answer
    return answer


def _modes() -> dict[str, set[str]]:
    """Every operation is asked rightly, and wrongly where it takes anything."""
    return {
        f"{method.upper()} {path}": {"positive"} | ({"negative"} if _takes_anything(told) else set())
        for path, methods in DOCUMENT["paths"].items()
        for method, told in methods.items()
    }


def _takes_anything(operation: Mapping[str, Any]) -> bool:
    return bool(operation.get("parameters") or operation.get("requestBody"))


def _tested(journal: Path) -> dict[str, set[str]]:
    """By operation, in which modes its cases were made."""
    modes: dict[str, set[str]] = {}
    for line in journal.read_text(encoding="utf-8").splitlines():
        ended = json.loads(line).get("ScenarioFinished")
        if ended is None:
            continue
        made = modes.setdefault(ended["recorder"]["label"], set())
        made.update(case["value"]["meta"]["generation"]["mode"] for case in ended["recorder"].get("cases", {}).values())
    return modes
