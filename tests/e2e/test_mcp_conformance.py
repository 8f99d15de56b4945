"""MCP's own conformance suite at the deployed stack, through a door that logs in for it.

Most of its scenarios want a server that was written for it, with tools and prompts that it names. Those fail here, for
one of the reasons below and for no other.
"""

import json
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import pytest

from stack.running import Stack
from tests.clients.proxy import door_to
from tests.clients.session import FOLDER, NEWER, STATELESS, Endpoint, why_no_typescript

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(bool(why_no_typescript()), reason=why_no_typescript() or "it is there"),
]

PASSED: Mapping[str, Mapping[str, int]] = {
    STATELESS: {
        "server-stateless": 21,
        "http-header-validation": 14,
        "tools-list": 4,
        "caching": 4,
        "input-required-result-validate-input": 3,
        "input-required-result-unsupported-methods": 2,
        "sep-2164-resource-not-found": 2,
        "server-sse-multiple-streams": 1,
        "dns-rebinding-protection": 1,
    },
    NEWER: {"server-initialize": 2, "ping": 2, "tools-list": 3, "dns-rebinding-protection": 1},
}
"""So many checks of a scenario succeed, at least."""
NOT_HERE: Mapping[str, frozenset[str]] = {
    "there are tools alone: no prompts, no resources, no completion, and no log that a client would read": frozenset(
        (
            "completion-complete",
            "logging-set-level",
            "prompts-get-embedded-resource",
            "prompts-get-simple",
            "prompts-get-with-args",
            "prompts-get-with-image",
            "prompts-list",
            "resources-list",
            "resources-read-binary",
            "resources-read-text",
            "resources-subscribe",
            "resources-templates-read",
            "resources-unsubscribe",
            "sep-2322-non-tool-incomplete",
            "sep-2549-prompts-list-caching-hints",
            "sep-2549-resources-list-caching-hints",
            "sep-2549-resources-templates-list-caching-hints",
            "tools-call-with-logging",
        )
    ),
    "it wants a tool of its own, by the name that it gives": frozenset(
        (
            "json-schema-2020-12-tool-found",
            "sep-2575-http-server-no-independent-requests-on-stream",
            "sep-2575-missing-capability-http-400",
            "sep-2575-server-no-log-without-loglevel",
            "sep-2575-server-rejects-undeclared-capability",
            "tools-call-audio",
            "tools-call-embedded-resource",
            "tools-call-error",
            "tools-call-image",
            "tools-call-mixed-content",
            "tools-call-simple-text",
            "tools-call-with-progress",
        )
    ),
    "it wants a tool of its own that asks the client back, which no tool here does": frozenset(
        (
            "elicitation-sep1034-general",
            "elicitation-sep1330-general",
            "sep-2322-elicitation-incomplete",
            "sep-2322-list-roots-incomplete",
            "sep-2322-multi-round-r1",
            "sep-2322-multiple-inputs-incomplete",
            "sep-2322-reject-tampered-state",
            "sep-2322-request-state-incomplete",
            "sep-2322-respect-client-capabilities",
            "sep-2322-result-type-included",
            "sep-2322-sampling-incomplete",
            "tools-call-elicitation",
            "tools-call-sampling",
        )
    ),
    "no argument of a tool comes in a header": frozenset(
        (
            "sep-2243-server-decode-base64",
            "sep-2243-server-no-xmcp-tool",
            "sep-2243-server-reject-invalid-param-chars",
            "sep-2243-server-reject-param-mismatch",
            "sep-2243-server-validate-param-match",
        )
    ),
    "a page of localhost is a stranger's too, until the stack parameter McpAllowedOrigins names it": frozenset(
        ("localhost-host-valid-accepted",)
    ),
}
_FOLDER_NAME = re.compile(r"server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z")
Checks = Mapping[str, Mapping[str, list[str]]]
"""The ids of checks by scenario and status."""


def _checks(stack: Stack, revision: str, folder: Path) -> Checks:
    """What the suite writes down of all that applies to the revision."""
    endpoint = Endpoint(url=f"{stack.api_url}/mcp", token=stack.token)
    with door_to(endpoint) as url:
        options = ["--url", url, "--suite", "all", "--spec-version", revision, "--output-dir", str(folder)]
        subprocess.run(  # noqa: S603 - our own script
            [str(shutil.which("node")), str(FOLDER / "conformance.mjs"), "server", *options],
            capture_output=True,
            timeout=120,
            check=False,  # it ends with 1 as soon as anything failed
        )
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for path in folder.glob("*/checks.json"):
        name = _FOLDER_NAME.fullmatch(path.parent.name)
        assert name is not None, path
        for check in json.loads(path.read_text(encoding="utf-8")):
            found[name.group(1)][check["status"]].append(check["id"])
    return found


@pytest.mark.parametrize("revision", [STATELESS, NEWER])
def test_what_the_conformance_suite_finds_wrong_is_what_is_not_here(
    stack: Stack, revision: str, tmp_path: Path
) -> None:
    """And the rest of it passes."""
    checks = _checks(stack, revision, tmp_path)

    failed = {check for statuses in checks.values() for check in statuses["FAILURE"]}
    succeeded = {scenario: len(statuses["SUCCESS"]) for scenario, statuses in checks.items()}
    assert failed - frozenset().union(*NOT_HERE.values()) == set()
    few = {name: succeeded.get(name) for name, least in PASSED[revision].items() if succeeded.get(name, 0) < least}
    assert few == {}
