"""Answers that go on: a provider that has another page whenever it is asked for one."""

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

import orjson

from tests.fakes.transport import Sent, answer
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.transport import Authentication, HttpAnswer, HttpRequest, Secret
from zarniwoop.wire.driver import WireProtocol

_TOO_MANY = 40


def _full(body: Any, name: str, size: int) -> Any:
    """The list of that name as long as a page is, with the same items again and again."""
    return body | {name: (body[name] * size)[:size]}


def _serper(body: Any, _page: int) -> Any:
    name = next(key for key, value in body.items() if isinstance(value, list) and key != "relatedSearches")
    return _full(body, name, 10)


def _serpapi(body: Any, page: int) -> Any:
    """Every engine finds its own parameter in there."""
    address = f"https://serpapi.com/search.json?start={page}0&first={page}1&ijn={page}&sp=token{page}"
    return body | {"serpapi_pagination": {"next": address}}


def _searxng(body: Any, page: int) -> Any:
    """Other hits than before: the same ones would be the end."""
    return body | {"results": [result | {"url": f"{result['url']}?page={page}"} for result in body["results"]]}


ONWARDS: dict[str, Callable[[Any, int], Any]] = {
    "brave": lambda body, _page: body | {"query": {"more_results_available": True}},
    "gitlab": lambda body, _page: body,
    "searxng": _searxng,
    "serpapi": _serpapi,
    "serper": _serper,
    "unpaywall": lambda body, _page: _full(body, "results", 50),
}
"""How an answer of these is made into one that has more behind it. GitLab says so in a header, which is always sent."""


def turns_pages(protocol: WireProtocol) -> bool:
    """Whether its exchange asks within a loop."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(protocol.format.exchange)))
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While)]
    return any(isinstance(node, ast.Yield) for loop in loops for node in ast.walk(loop))


class EndlessTransport:
    """A transport that always has more; after its bodies the last one is sent again. Whoever goes on for ever fails."""

    def __init__(self, protocol: WireProtocol, bodies: tuple[bytes, ...]) -> None:
        self._onwards = ONWARDS.get(protocol.id())
        self._bodies = bodies
        self.sent: list[Sent] = []

    def send(
        self,
        request: HttpRequest,
        *,
        deadline: Deadline,
        authentication: Authentication | None = None,
        secret: Secret | None = None,
    ) -> HttpAnswer:
        self.sent.append(Sent(request, authentication, secret))
        number = len(self.sent)
        if number > _TOO_MANY:
            raise AssertionError(f"an exchange of more than {_TOO_MANY} requests does not end")
        body = self._bodies[min(number, len(self._bodies)) - 1]
        if self._onwards is not None:
            body = orjson.dumps(self._onwards(orjson.loads(body), number))
        return answer(body, headers={"x-next-page": str(number + 1), "x-total": "500"})
