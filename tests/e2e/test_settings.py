"""Settings changed over HTTP on the deployed template, with IAM enforced: cascade, masks, drafts, and who may."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from stack.running import Stack
from tests.e2e.project import caller
from zarniwoop.settings.masking import MASK

pytestmark = pytest.mark.e2e

PROJECT = "settings-desk"
"""A project of its own: what is changed here is in no other test's way."""
ENDPOINT = "research.endpoint.serper-desk"
KEY = "planted-serper-key-0123456789"
OTHER_KEY = "planted-other-key-9876543210"


@pytest.fixture(scope="module")
def editor(stack: Stack) -> Iterator[httpx.Client]:
    """Somebody who may change all settings of the tenant."""
    with caller(stack, "*", level=4) as client:
        yield client


def _answered(response: httpx.Response, status: int = 200) -> Any:
    assert response.status_code == status, response.text
    assert KEY not in response.text
    assert OTHER_KEY not in response.text
    return response.json()


def _read(editor: httpx.Client) -> Any:
    return _answered(editor.get("/v1/settings", params={"project_id": PROJECT}))["data"]


def _row(view: Any, key: str) -> Any:
    return next((row for row in view["settings"] if row["key"] == key), None)


def _save(editor: httpx.Client, changes: dict[str, Any], version: str, *, level: str, status: int = 200) -> Any:
    project = {"project_id": PROJECT} if level == "project" else {}
    body = {"level": level, "version": version, "settings": changes, **project}
    return _answered(editor.put("/v1/settings", json=body), status)


def _search(editor: httpx.Client) -> Any:
    asked = {"project_id": PROJECT, "query": "solar energy", "modality": "WEB", "max_results": 1}
    return _answered(editor.post("/v1/tools/research_search", json=asked))["data"]


def test_settings_make_the_round_trip(stack: Stack, editor: httpx.Client) -> None:
    """Saved for the tenant, overridden by a project, seen at once by the searching function, masked, and gone again."""
    seen = _read(editor)
    try:
        _round_trip(stack, editor, seen["versions"])
    finally:
        _answered(editor.delete("/v1/settings/serper-desk", params={"level": "tenant", "version": "*"}))
    after = _read(editor)
    assert after["versions"]["tenant"] == seen["versions"]["tenant"]
    assert not [row for row in after["endpoints"] if row["id"] == "serper-desk"]


def _round_trip(stack: Stack, editor: httpx.Client, versions: dict[str, str]) -> None:
    tenants = {
        f"{ENDPOINT}.protocol": "serper",
        f"{ENDPOINT}.baseUrl": f"{stack.simulator_url}/serper",
        f"{ENDPOINT}.apiKey": KEY,
        f"{ENDPOINT}.priority": 500,
    }
    saved = _save(editor, tenants, versions["tenant"], level="tenant")["data"]
    assert (set(saved["saved"]), saved["left"], saved["takes_effect"]) == (set(tenants), [], "at once")
    _save(editor, {f"{ENDPOINT}.priority": 1}, versions["tenant"], level="tenant", status=409)

    project = _read(editor)["versions"]["project"]
    mine = {"research.default.web": "serper-desk", f"{ENDPOINT}.apiKey": OTHER_KEY, f"{ENDPOINT}.priority": 7}
    version = _save(editor, mine, project, level="project")["data"]["version"]
    view = _read(editor)
    key, priority = _row(view, f"{ENDPOINT}.apiKey"), _row(view, f"{ENDPOINT}.priority")
    assert (key["level"], key["value"], key["preview"]) == ("project", None, OTHER_KEY[:6] + MASK)
    assert (priority["level"], priority["value"]) == ("project", "7")
    assert _row(view, f"{ENDPOINT}.protocol")["level"] == "tenant"
    (endpoint,) = [row for row in view["endpoints"] if row["id"] == "serper-desk"]
    assert (endpoint["badge"], endpoint["key_from"]) == ("configured", "project")
    assert endpoint["named_by"] == ["research.default.web"]
    answer = _search(editor)
    assert answer["provider_instance_id"] == "serper-desk", answer["attempts"]

    off = _save(editor, {f"{ENDPOINT}.enabled": False, f"{ENDPOINT}.apiKey": ""}, version, level="project")["data"]
    assert off["saved"] == [f"{ENDPOINT}.enabled"]
    assert _search(editor)["provider_instance_id"] != "serper-desk"
    gone = {"level": "project", "project_id": PROJECT, "version": off["version"]}
    deleted = _answered(editor.delete("/v1/settings/serper-desk", params=gone))["data"]
    assert (deleted["left"], deleted["named_by"]) == ([], ["research.default.web"])
    key = _row(_read(editor), f"{ENDPOINT}.apiKey")
    assert (key["level"], key["preview"]) == ("tenant", KEY[:6] + MASK)
    cleared = {"level": "project", "project_id": PROJECT}
    response = editor.delete(
        "/v1/settings/research.default.web", params=cleared, headers={"If-Match": deleted["version"]}
    )
    _answered(response)


def test_a_draft_is_tried_out_on_the_deployed_stack_and_not_saved(stack: Stack, editor: httpx.Client) -> None:
    """A good one, a refused key, a moved address without the key, and one that the guard refuses."""
    before = _read(editor)["versions"]
    url = "/v1/settings/endpoints/serper-main/test"
    where = {"level": "tenant", "project_id": PROJECT}
    good = _answered(editor.post(url, json={**where, "settings": {"apiKey": KEY}}))
    assert (good["ok"], good["data"]["outcome"], good["data"]["asked"]) == (True, "success", "quota")
    bad = _answered(editor.post(url, json={**where, "settings": {"apiKey": "bad-key-0123456789"}}))
    assert (bad["ok"], bad["error"]["field"]) == (False, "research.endpoint.serper-main.apiKey")
    moved = _answered(editor.post(url, json={**where, "settings": {"baseUrl": f"{stack.simulator_url}/x"}}), 400)
    assert moved["error"]["type"] == "urn:zarniwoop:problem:saved-key-kept-back"
    private = _answered(editor.post(url, json={**where, "settings": {"baseUrl": "http://10.0.0.1"}}), 400)
    assert private["error"]["type"] == "urn:zarniwoop:problem:address-refused"
    assert _read(editor)["versions"] == before


def test_settings_are_for_those_who_may_change_them(stack: Stack, api: httpx.Client, editor: httpx.Client) -> None:
    """The gateway refuses a token of level 1; the function one of a project that reaches for the tenant's."""
    assert _answered(api.get("/v1/settings"), 403)["error"]["type"] == "urn:zarniwoop:problem:not-allowed"
    refused = api.put("/v1/settings", json={"version": "*", "settings": {"research.default.web": "x"}})
    assert refused.status_code == 403
    with caller(stack, PROJECT, level=4, tools=("settings",)) as owner:
        assert _answered(owner.get("/v1/settings"))["data"]["writable"] == ["project"]
        tenants = {"level": "tenant", "version": "*", "settings": {"research.default.web": "x"}}
        assert _answered(owner.put("/v1/settings", json=tenants), 403)["error"]["field"] == "level"
    hidden = _answered(editor.post("/v1/settings/reveal", json={"level": "tenant", "key": f"{ENDPOINT}.apiKey"}), 403)
    assert hidden["error"]["type"] == "urn:zarniwoop:problem:reveal-off"
    form = _answered(editor.get("/v1/settings/form"))["data"]
    assert "serper" in {part["id"] for part in form["endpoint"]["protocols"]}


def test_whatever_was_done_to_settings_left_a_record_and_no_key(stack: Stack, editor: httpx.Client) -> None:
    """Tables and log lines of the whole stack, read by the test with the account's own rights."""
    session = stack.session()
    tables = session.client("dynamodb", endpoint_url=stack.endpoint_url)
    records = tables.scan(TableName=stack.outputs["CallsTableName"])["Items"]
    done = {item["action"]["S"] for item in records if item["sk"]["S"].startswith("SE#")}
    assert {"save", "delete"} <= done
    assert [item for item in records if item.get("diagnostics", {}).get("BOOL")]
    logs = session.client("logs", endpoint_url=stack.endpoint_url)
    lines = logs.filter_log_events(logGroupName=stack.outputs["FunctionLogGroupName"])["events"]
    state = tables.scan(TableName=stack.outputs["StateTableName"])["Items"]
    everything = json.dumps([records, state, lines], default=str)
    assert KEY not in everything
    assert OTHER_KEY not in everything
