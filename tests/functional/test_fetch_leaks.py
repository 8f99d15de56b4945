"""Whatever a page or its host does: no key, no query and nothing of the page in a log, a metric, an error or a trace.

Through `web_fetch` with its fetching function behind it. The canary stands in the URL's query, in the quote that is
asked for, in keys, and in what hosts say; it is looked for in four spellings.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson
import pytest

from tests.fakes.cloud import LambdaContext
from tests.fakes.fetching import environment_on
from tests.fakes.page_reader import FakePageReader
from tests.functional.test_page_fetcher import _CANARY as CANARY
from tests.functional.test_page_fetcher import _FAULTS as FAULTS
from tests.functional.test_page_fetcher import _HOSTS as HOSTS
from tests.functional.test_page_fetcher import _QUERY as QUERY
from tests.functional.test_page_fetcher import _SPELLINGS as SPELLINGS
from tests.functional.test_page_fetcher import _TOLD as TOLD
from tests.functional.test_page_fetcher import _web
from tests.functional.test_web_fetch_corpus import asking
from tests.functional.test_web_fetch_fallbacks import BELL, HOSTED, Opened, opened, reader, simulator, web
from tests.simulator import Simulator
from zarniwoop.entry.tool import tool
from zarniwoop.pages.reasons import FetchReason
from zarniwoop.tools.web_fetch import WEB_FETCH

__all__ = ["opened", "reader", "simulator", "web"]

URLS = {
    **{fault: f"http://t.evil.test/{fault}{QUERY}" for fault in FAULTS},
    **{host: f"http://{host}/{QUERY}" for host in HOSTS},
    "userinfo": f"http://user:{CANARY}@t.evil.test/{QUERY}",
    "no URL": f"t.evil.test {CANARY}",
}
OWN_WORDS = ("outcome", "reason", "status", "steps", "attempts", "not_kept", "hidden", "suspicious", "source_type")
"""What an answer says of a page in words of ours."""


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A sampled invocation, and the segments that the recorder would have sent, as JSON."""
    monkeypatch.setenv("AWS_XRAY_CONTEXT_MISSING", "IGNORE_ERROR")
    monkeypatch.setenv("_X_AMZN_TRACE_ID", "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1")
    from aws_xray_sdk.core import xray_recorder

    sent: list[str] = []
    monkeypatch.setattr(xray_recorder.emitter, "send_entity", lambda entity: sent.append(entity.serialize()))
    xray_recorder.configure(sampling=False, context_missing="IGNORE_ERROR")
    xray_recorder.begin_segment("function")
    yield sent
    xray_recorder.clear_trace_entities()
    xray_recorder.emitter._socket.close()


def _close() -> None:
    from aws_xray_sdk.core import xray_recorder

    xray_recorder.end_segment()


def _own_words(answer: Mapping[str, Any]) -> str:
    pages = (answer["data"] or {"pages": ()})["pages"]
    return orjson.dumps([answer["error"], [{name: page[name] for name in OWN_WORDS} for page in pages]]).decode()


def _leaks(text: str, *more: str) -> list[str]:
    return [spelling for spelling in (*SPELLINGS, *more) if spelling in text]


@pytest.mark.parametrize("case", URLS)
def test_no_fault_of_a_page_writes_down_a_query_a_page_or_a_key(
    case: str, traced: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    """Not in the log of either function, with its metrics; not in the problem, the steps or the trace."""
    variables = {"SERPER_API_KEY": CANARY, "AWS_SECRET_ACCESS_KEY": CANARY}
    with _web() as served, environment_on(served, FakePageReader(), variables) as fetching:
        arguments = {"urls": [URLS[case]], "quotes": [f"{TOLD} {CANARY}"], "refresh": True}
        event = {"scope": {"tenant_id": "acme", "project_id": "demo"}, "arguments": arguments}
        milliseconds = 4_500 if case.startswith(("drip", "slow")) else 12_000
        answer = tool(WEB_FETCH, lambda: asking(fetching))(event, LambdaContext(remaining_ms=milliseconds))
    _close()
    logged = "".join(capfd.readouterr())
    assert ('"message":"page fetched"' in logged) == (answer["data"] is not None)
    assert FetchReason.INTERNAL not in logged + _own_words(answer)
    assert traced != []
    assert _leaks(logged, TOLD, "t.evil.test") == []
    assert _leaks(_own_words(answer), TOLD) == []
    assert _leaks("".join(traced), TOLD, "t.evil.test") == []
    for request in served.requests:
        assert CANARY not in str(dict(request.headers))


def test_no_fault_of_a_hosted_reader_writes_down_its_key_or_the_url(
    opened: Opened, simulator: Simulator, traced: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    """The key is the canary; one provider refuses it, the other one breaks."""
    with opened(HOSTED) as tools:
        for name, fault in (("tavily", "500"), ("firecrawl", "401")):
            tools.stack.cloud.set(f"research.endpoint.{name}-main.apiKey", CANARY, secure=True)
            simulator.fault(f"/{name}", fault)
        answer = tools.fetch(f"{BELL}{QUERY}", refresh=True)
        records = orjson.dumps(tools.stack.cloud.items("CALLS_TABLE")).decode()
    _close()
    attempts = answer["data"]["pages"][0]["attempts"]
    assert [(each["instance_id"], each["outcome"]) for each in attempts] == [
        ("tavily-main", "failure"),
        ("firecrawl-main", "failure"),
    ]
    for written in (_own_words(answer), "".join(traced), records, "".join(capfd.readouterr())):
        assert _leaks(written, "realpython.com") == []
