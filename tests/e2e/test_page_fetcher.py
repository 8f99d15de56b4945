"""The deployed fetching function, asked as its askers ask it: what it refuses, it refuses there too."""

import pytest

from stack.running import Stack
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.page import PageAnswer, PageOutcome, PageQuestion
from zarniwoop.observe.clock import SystemClock
from zarniwoop.pages.remote import RemoteFetcher

pytestmark = pytest.mark.e2e

_INSIDE = (
    "http://169.254.169.254/latest/meta-data/iam/security-credentials/",
    "http://127.0.0.1:9001/2018-06-01/runtime/invocation/next",
    "http://[::ffff:a9fe:a9fe]/",
    "http://2130706433/",
    "http://localhost:8080/",
    "file:///proc/self/environ",
)


def _fetched(stack: Stack, url: str) -> PageAnswer:
    client = stack.session().client("lambda", endpoint_url=stack.endpoint_url)
    remote = RemoteFetcher(lambda _seconds: client, stack.outputs["PageFetcherFunctionName"])
    return remote.fetch(PageQuestion(url=url, seconds=10.0), deadline=Deadline.after(30.0, SystemClock()))


@pytest.mark.parametrize("url", _INSIDE)
def test_nothing_inside_is_fetched(stack: Stack, url: str) -> None:
    """Not even what was opened for search servers, which in this stack is loopback."""
    answer = _fetched(stack, url)
    assert (answer.outcome, answer.status) == (PageOutcome.ADDRESS_REFUSED, None)


def test_the_api_is_no_page_of_its_own(stack: Stack) -> None:
    """Its host is known to the function from the template, although the API's definition names whoever asks it."""
    region = stack.session().region_name
    answer = _fetched(stack, f"https://{stack.outputs['ApiId']}.execute-api.{region}.amazonaws.com/live/v1/tools")
    assert answer.outcome is PageOutcome.ADDRESS_REFUSED


def test_a_name_that_is_not_found_is_told_as_such(stack: Stack) -> None:
    """So the function looks names up, and talks to nobody else."""
    answer = _fetched(stack, "https://nowhere.zarniwoop-does-not-exist.example/")
    assert (answer.outcome, answer.reason) == (PageOutcome.UNAVAILABLE, "dns")
