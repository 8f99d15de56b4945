"""Parameters of the stack that cannot be used: refused at deployment, and told by name where they come all the same."""

import re
from collections.abc import Iterator

import pytest

from tests.fakes.cloud import Cloud, LambdaContext, cloud
from tests.fakes.functions import body_of, posted
from tests.fakes.template import template
from tests.simulator import Simulator
from zarniwoop.entry.tool import tool
from zarniwoop.net.address import AllowedNetworks
from zarniwoop.net.transport import PooledTransport, is_contact
from zarniwoop.tools.research_search import RESEARCH_SEARCH

CONTACTS = ["", "ops@example.org", "https://example.org/bot?a=b"]
BAD_CONTACTS = ["grüße@example.org", "a b@example.org", "ops@example.org)", "a\nX-Evil: 1", "x" * 201]
NETWORKS = ["", "10.20.0.0/16", "10.20.0.0/16, 127.0.0.1/32", "[::1]:8080,fd00::/8", "search.internal:9200", "::1"]
BAD_NETWORKS = ["10.20.0.0/16;127.0.0.1/32", "http://search.internal", "127.0.0.1/32 10.0.0.0/8", "nät.internal", ","]


@pytest.fixture
def account() -> Iterator[Cloud]:
    with cloud() as made, Simulator() as simulator:
        made.set_all(
            {
                "research.endpoint.books.protocol": "openlibrary",
                "research.endpoint.books.baseUrl": simulator.url("openlibrary"),
            }
        )
        yield made


def _answered(account: Cloud, **variables: str) -> tuple[int, dict[str, object]]:
    account.variables.update(variables)
    made = account.environment()
    response = tool(RESEARCH_SEARCH, lambda: made)(posted({"query": "bells", "modality": "BOOK"}), LambdaContext())
    if isinstance(transport := made.__dict__.get("_transport"), PooledTransport):
        transport.close()
    return response["statusCode"], body_of(response)


@pytest.mark.parametrize("contact", BAD_CONTACTS)
def test_a_contact_that_no_header_can_carry_is_left_out(
    account: Cloud, contact: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Searches go on, and the log says which parameter to mend, without repeating it."""
    status, envelope = _answered(account, CONTACT=contact)
    assert (status, envelope["ok"]) == (200, True)
    logged = capsys.readouterr().out
    assert '"parameter":"Contact"' in logged
    assert "example.org" not in logged


def test_networks_that_cannot_be_read_stop_every_search_with_a_reason(
    account: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not a fault of ours without a word: the operator is told which parameter, the log repeats no value."""
    for _ in range(2):
        status, envelope = _answered(account, ALLOWED_PRIVATE_NETWORKS="10.99.0.1/8")
        error = envelope["error"]
        assert isinstance(error, dict)
        assert (status, error["type"], error["retryable"]) == (503, "urn:zarniwoop:problem:stack-misconfigured", False)
        assert "AllowedPrivateNetworks" in error["detail"]
    logged = capsys.readouterr().out
    assert '"parameter":"AllowedPrivateNetworks"' in logged
    assert "10.99" not in logged


def _pattern(parameter: str) -> str:
    return str(template()["Parameters"][parameter]["AllowedPattern"])


def test_the_template_takes_the_contacts_that_can_be_sent() -> None:
    """And no other: CloudFormation matches the whole value."""
    for contact in CONTACTS:
        assert is_contact(contact), contact
        assert re.fullmatch(_pattern("Contact"), contact), contact
    for contact in BAD_CONTACTS:
        assert not is_contact(contact), contact
        assert not re.fullmatch(_pattern("Contact"), contact), contact


def test_the_template_takes_the_networks_that_can_be_read() -> None:
    """What only looks right is found when it is read."""
    for networks in NETWORKS:
        AllowedNetworks.parse(networks)
        assert re.fullmatch(_pattern("AllowedPrivateNetworks"), networks), networks
    for networks in BAD_NETWORKS:
        assert not re.fullmatch(_pattern("AllowedPrivateNetworks"), networks), networks
