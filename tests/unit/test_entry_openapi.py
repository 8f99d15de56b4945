"""What anybody may read: the document with the address that was asked, its page, and who issues tokens."""

import hashlib
import re
import subprocess
import sys
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import orjson
import pytest

from tests.fakes.cloud import LambdaContext
from tests.fakes.environment import FakeEnvironment
from tests.fakes.functions import ROOT, body_of, sample
from zarniwoop.entry.openapi import openapi

APP = ROOT / "functions" / "openapi" / "app.py"
AT_AWS = "https://abc123.execute-api.us-east-1.amazonaws.com/live"


def asked(name: str, variables: Mapping[str, str] | None = None, **changes: Any) -> dict[str, Any]:
    environment = FakeEnvironment()
    environment._variables = {**environment._variables, **(variables or {})}
    event = sample(name)
    event["requestContext"] |= changes
    return openapi(str(APP), environment=lambda: environment)(event, LambdaContext())


def test_the_document_names_the_address_that_was_asked() -> None:
    """Stage included; all else of it is as it was made."""
    response = asked("openapi")
    served = body_of(response)
    assert (response["statusCode"], response["headers"]["content-type"]) == (200, "application/json")
    assert served["servers"] == [{"url": AT_AWS}]
    assert {**served, "servers": None} == {**orjson.loads(APP.with_name("openapi.json").read_bytes()), "servers": None}


@pytest.mark.parametrize(
    ("variables", "changes", "url"),
    [
        ({"PUBLIC_URL": "https://api.example.org/"}, {}, "https://api.example.org"),
        ({}, {"domainName": "api.example.org", "path": "/research/openapi.json"}, "https://api.example.org/research"),
        ({}, {"domainName": None}, "."),
    ],
    ids=["as the operator says", "a domain with a base path", "nobody tells: relative to the document"],
)
def test_the_address_is_one_that_a_caller_can_reach(
    variables: dict[str, str], changes: dict[str, Any], url: str
) -> None:
    """Never one that a header of the request made up."""
    served = body_of(asked("openapi", variables, **changes))
    assert served["servers"] == [{"url": url}]


def test_the_page_loads_nothing_and_runs_nothing_but_itself() -> None:
    """Its policy names its two scripts by their hashes, and no host; the document's address is relative."""
    response = asked("openapi.docs")
    page, headers = response["body"], response["headers"]
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    named = re.findall(r"'sha256-([^']+)'", headers["content-security-policy"])
    assert headers["content-type"] == "text/html; charset=utf-8"
    assert named == [b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in scripts]
    assert len(scripts) == page.count("</script") == 2
    assert "<!--" not in page
    assert not re.search(r"<(link|img|iframe|base)\b", page.replace(scripts[0], ""))
    assert 'url: "openapi.json"' in scripts[1]
    assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'sha256-")
    assert "connect-src 'self'" in headers["content-security-policy"]
    assert "http" not in headers["content-security-policy"]
    assert len(orjson.dumps(response)) < 5_500_000


@pytest.mark.parametrize(
    ("name", "resource"), [("openapi.protected_resource", AT_AWS), ("openapi.protected_resource_mcp", f"{AT_AWS}/mcp")]
)
def test_the_metadata_names_the_resource_and_who_issues_tokens(name: str, resource: str) -> None:
    """RFC 9728: the resource is what the metadata was asked for; without an issuer none is named."""
    told = body_of(asked(name))
    assert told["resource"] == resource
    assert (told["bearer_methods_supported"], told["resource_documentation"]) == (["header"], f"{AT_AWS}/docs")
    assert "authorization_servers" not in told
    named = body_of(asked(name, {"AUTHORIZATION_SERVERS": "https://id.example.org, https://other.example.org/x"}))
    assert named["authorization_servers"] == ["https://id.example.org", "https://other.example.org/x"]


def test_the_metadata_of_an_emulator_names_the_host_that_was_asked() -> None:
    """A resource must be absolute."""
    told = body_of(asked("openapi.protected_resource", domainName=None))
    assert told["resource"] == AT_AWS


def test_another_route_is_unknown_and_a_fault_of_ours_is_an_envelope(tmp_path: Any) -> None:
    """The function is deployed with four routes; a document that is missing is told in the log alone."""
    environment = FakeEnvironment()
    handler = openapi(str(tmp_path / "app.py"), environment=lambda: environment)
    unknown = handler(sample("openapi") | {"resource": "/nothing"}, LambdaContext())
    assert (unknown["statusCode"], body_of(unknown)["error"]["type"]) == (404, "urn:zarniwoop:problem:unknown-route")
    broken = handler(sample("openapi"), LambdaContext())
    assert (broken["statusCode"], body_of(broken)["error"]["type"]) == (500, "urn:zarniwoop:problem:internal")
    assert "openapi.json" not in broken["body"]


def test_serving_imports_neither_tools_nor_powertools_resolvers() -> None:
    """What the document is made of is imported where it is made."""
    code = (
        "import sys; from zarniwoop.entry.openapi import openapi;"
        "print([name for name in sys.modules if name.startswith((\n"
        "'zarniwoop.entry.routes', 'zarniwoop.tools.registry', 'aws_lambda_powertools.event_handler'))])"
    )
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", code],
        capture_output=True,
        check=True,
        text=True,
        env={"PYTHONPATH": str(ROOT / "layers" / "zarniwoop")},
    )
    assert done.stdout.strip() == "[]"
