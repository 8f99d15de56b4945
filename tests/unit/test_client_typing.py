"""One signature, two clients: what type checkers and `help()` see of both. `make check` is what checks the types."""

import inspect
from collections.abc import AsyncIterator, Iterator
from typing import Any, assert_type

import httpx
import pytest

from tests.fakes.client_api import TOKEN, URL
from zarniwoop_client import Answer, AsyncZarniwoop, Zarniwoop
from zarniwoop_client.operation import Operation, Streaming
from zarniwoop_client.results.continued import Continued
from zarniwoop_client.results.evidence import Verification
from zarniwoop_client.results.pages import FetchedPages
from zarniwoop_client.results.runs import RunReport
from zarniwoop_client.results.searches import SearchResult
from zarniwoop_client.tools import ToolMethods

NOBODY = httpx.MockTransport(lambda _request: httpx.Response(500))
CLIENTS: tuple[Zarniwoop | AsyncZarniwoop, ...] = (
    Zarniwoop(URL, TOKEN, transport=NOBODY),
    AsyncZarniwoop(URL, TOKEN, transport=NOBODY),
)


def seen_of_the_blocking(client: Zarniwoop, answer: Answer[FetchedPages]) -> None:
    """Never called: mypy reads it."""
    assert_type(client.search("bells", max_results=3), Answer[SearchResult])
    assert_type(client.runs.each(), Iterator[RunReport])
    assert_type(client.evidence.verify("ev-1"), Answer[Verification])
    assert_type(client.complete(answer), Answer[FetchedPages])
    client.search("bells", max_result=3)  # type: ignore[call-arg] # misspelt
    client.search()  # type: ignore[call-arg] # nothing to look for


async def seen_of_the_asynchronous(client: AsyncZarniwoop, answer: Answer[FetchedPages]) -> None:
    """Never called either."""
    assert_type(await client.search("bells"), Answer[SearchResult])
    assert_type(await client.wait_for(await client.investigate("why?")), Answer[RunReport])
    assert_type(client.pages(answer), AsyncIterator[Answer[Continued]])
    assert_type(client.runs.watch("r-1"), AsyncIterator[Answer[RunReport]])


@pytest.mark.parametrize("client", CLIENTS, ids=["blocking", "awaited"])
def test_a_method_shows_its_name_signature_and_documentation(client: Any) -> None:
    """As if it had been written for that client."""
    method = client.search
    assert (method.__name__, method.__doc__.split(":")[0]) == ("search", "`research_search`")
    assert list(inspect.signature(method).parameters) == ["query", "modality", "options"]


def test_read_off_its_class_a_method_is_its_declaration() -> None:
    """What the house rules read."""
    assert isinstance(ToolMethods.search, Operation)
    assert isinstance(Zarniwoop.pages, Streaming)
    assert inspect.getdoc(ToolMethods.search) == inspect.getdoc(ToolMethods.search.flow)


def test_both_clients_have_the_same_methods() -> None:
    """None was written for one of them alone."""

    def public(kind: type[Any]) -> set[str]:
        return {name for name in dir(kind) if not name.startswith("_")}

    assert public(Zarniwoop) == public(AsyncZarniwoop)
    for name in ("runs", "evidence", "settings"):
        blocking, awaited = (public(type(getattr(client, name))) for client in CLIENTS)
        assert blocking == awaited
