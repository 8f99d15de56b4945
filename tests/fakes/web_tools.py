"""The tools that read pages, deployed in this process: their own handlers, and the fetching function's behind them.

`web_fetch` asks the fetching function as it does in AWS, over Lambda's client and as JSON; that function sees the
test's web and no other network. Providers are the simulator's.
"""

import io
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson

from tests.fakes.cloud import LambdaContext
from tests.fakes.fetching import Fetched, FetchPage, environment_on
from tests.fakes.functions import posted
from tests.fakes.web import Web
from tests.functional.deployed import Deployed, deployed
from tests.simulator import Simulator
from zarniwoop.contract.page import PageOutcome
from zarniwoop.entry.page_fetcher import page_fetcher
from zarniwoop.entry.tool import tool
from zarniwoop.net.guard import AddressGuard
from zarniwoop.pages.remote import RemoteFetcher
from zarniwoop.tools.web_fetch import WEB_FETCH
from zarniwoop.wiring import Environment

if TYPE_CHECKING:
    import pytest

    from zarniwoop.pages.fetcher import PageReader

NO_PAUSE = {"fetch.site.intervalMs": "0"}


@dataclass
class InProcessLambda:
    """The one method of Lambda's client that is used; question and answer are text on the way, as they are there."""

    environment: Environment
    questions: list[dict[str, Any]] = field(default_factory=list)
    before: Callable[[dict[str, Any]], None] = lambda _question: None
    function_error: bool = False

    def invoke(self, *, FunctionName: str, InvocationType: str, Payload: bytes) -> dict[str, Any]:  # noqa: N803
        assert (FunctionName, InvocationType) == ("page-fetcher", "RequestResponse")
        question = json.loads(Payload)
        self.questions.append(question)
        self.before(question)
        if self.function_error:
            return {"FunctionError": "Unhandled", "Payload": io.BytesIO(b'{"errorMessage": "boom"}')}
        answer = page_fetcher(lambda: self.environment)(question, LambdaContext())
        return {"Payload": io.BytesIO(json.dumps(answer).encode())}


@dataclass
class WebTools:
    """A deployed stack whose pages are those of a test's web."""

    stack: Deployed
    web: Web
    fetcher: InProcessLambda

    def fetch(self, *urls: str, **arguments: Any) -> Any:
        """The envelope of `web_fetch` over REST."""
        return self.call("web_fetch", {"urls": list(urls), **arguments})

    def page(self, url: str, **arguments: Any) -> Any:
        """The one page of an answer."""
        (page,) = self.fetch(url, **arguments)["data"]["pages"]
        return page

    def call(self, tool: str, arguments: Mapping[str, Any], *, identity: Mapping[str, str] | None = None) -> Any:
        return self.stack.envelope(tool, posted(arguments, tool=tool, identity=identity))

    def evidence(self) -> list[dict[str, Any]]:
        """The items that are stored, bodies aside."""
        return [item for item in self.stack.cloud.items("EVIDENCE_TABLE") if item["sk"]["S"].startswith("EV#")]


@contextmanager
def web_tools(
    simulator: Simulator,
    monkeypatch: "pytest.MonkeyPatch",
    web: Web,
    settings: Mapping[str, str] | None = None,
    *,
    reader: "PageReader | None" = None,
    keys: Mapping[str, str] | None = None,
) -> Iterator[WebTools]:
    """`settings` and `keys` of tenant `acme`; without a setting, sites are not left alone between two pages."""
    wanted = {**NO_PAUSE, **(settings or {})}
    with environment_on(web, reader) as fetching, deployed(simulator, monkeypatch, wanted) as stack:
        for name, key in (keys or {}).items():
            stack.cloud.set(name, key, secure=True)
        fetcher = InProcessLambda(fetching)
        stack.environment.__dict__["page_fetcher"] = RemoteFetcher(lambda _seconds: fetcher, "page-fetcher")
        stack.environment.__dict__["_addresses"] = AddressGuard(web.resolve)
        yield WebTools(stack, web, fetcher)


def through_web_fetch(environment: Environment, *, milliseconds: int = 6_500) -> FetchPage:
    """The handler of `web_fetch`, invoked directly: the public way in for whatever an agent takes for a URL."""
    handler = tool(WEB_FETCH, lambda: environment)

    def fetch_page(url: str) -> Fetched:
        event = {"scope": {"tenant_id": "acme", "project_id": "demo"}, "arguments": {"urls": [url], "refresh": True}}
        answer = handler(event, LambdaContext(remaining_ms=milliseconds))
        told = orjson.dumps(answer).decode()
        if answer["data"] is None:
            assert answer["error"]["type"] == "urn:zarniwoop:problem:invalid-argument"
            return Fetched(PageOutcome.ADDRESS_REFUSED, "invalid_argument", None, told)
        (page,) = answer["data"]["pages"]
        return Fetched(PageOutcome(page["outcome"]), page["reason"], page["status"], told)

    return fetch_page
