"""What else a project has: its usage, its documents, and the rest of answers that were too long."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any, TypeVar, Unpack

from zarniwoop_client.answer import Answer, EvidenceLink, own_answer
from zarniwoop_client.api import segments
from zarniwoop_client.continuing import merged, onwards
from zarniwoop_client.exchange import Flow, Give, Stream, next_step
from zarniwoop_client.operation import Operation, Streaming
from zarniwoop_client.options import Options
from zarniwoop_client.problems import ServerFault, own_problem
from zarniwoop_client.results.continued import Continued
from zarniwoop_client.results.description import ProtectedResource
from zarniwoop_client.results.documents import DocumentRecord, DocumentsPage
from zarniwoop_client.results.record import Record
from zarniwoop_client.results.usage import Usage
from zarniwoop_client.surface import Surface, as_json, reader

T = TypeVar("T")
_NO_PROJECT: Mapping[str, Any] = {"project_id": ""}
"""What is nobody's in particular."""


class ProjectMethods(Surface):
    """Of the clients themselves."""

    @Operation
    def usage(
        self,
        *,
        date_from: date | str | None = None,
        date_to: date | str | None = None,
        instance_id: str | None = None,
        modality: str | None = None,
        **options: Unpack[Options],
    ) -> Flow[Answer[Usage]]:
        """What was asked of whom and what that cost, by day (UTC, both included); the last seven by default."""
        given = {"date_from": date_from, "date_to": date_to, "instance_id": instance_id, "modality": modality}
        return self._api.get("/v1/usage", {**given, **options}, reader(Usage))

    @Operation
    def documents(
        self,
        *,
        status: str | None = None,
        limit: int | None = None,
        after: str | None = None,
        **options: Unpack[Options],
    ) -> Flow[Answer[DocumentsPage]]:
        """A page of the project's documents: `indexed`, `refused` and why, or `pending`."""
        given = {"status": status, "limit": limit, "after": after, **options}
        return self._api.get("/v1/documents", given, reader(DocumentsPage))

    @Streaming
    def each_document(self, *, status: str | None = None, **options: Unpack[Options]) -> Stream[DocumentRecord]:
        """Every document, page after page."""
        after: str | None = None
        while True:
            given = {"status": status, "after": after, **options}
            page = yield from self._api.get("/v1/documents", given, reader(DocumentsPage))
            for document in page.data.documents:
                yield Give(document)
            after = page.data.next_after
            if after is None:
                return

    @Operation
    def openapi(self) -> Flow[Answer[Any]]:
        """The API's own description (OpenAPI 3.1): `data` is the document."""
        return self._api.get("/openapi.json", _NO_PROJECT, as_json, bare=True)

    @Operation
    def protected_resource(self, *, mcp: bool = False) -> Flow[Answer[ProtectedResource]]:
        """Who issues tokens for this API, or for its MCP endpoint (RFC 9728)."""
        path = "/.well-known/oauth-protected-resource" + ("/mcp" if mcp else "")
        return self._api.get(path, _NO_PROJECT, reader(ProtectedResource), bare=True)


class ContinuedMethods(Surface):
    """Of the clients themselves: what did not fit into an answer, for as long as it is kept (an hour)."""

    @Operation
    def result(
        self, handle: str, *, max_chars: int | None = None, **options: Unpack[Options]
    ) -> Flow[Answer[Continued]]:
        """The next hits behind `data.size.handle`, and where to go on."""
        path = segments("/v1/results/{handle}", handle=handle)
        return self._api.get(path, {"max_chars": max_chars, **options}, reader(Continued))

    @Streaming
    def pages(
        self, answer: Answer[Any], *, max_chars: int | None = None, **options: Unpack[Options]
    ) -> Stream[Answer[Continued]]:
        """What did not fit into an answer, page after page to its end; nothing of an answer that is complete."""
        return _pages(self, answer, max_chars, options)

    @Operation
    def complete(self, answer: Answer[T], **options: Unpack[Options]) -> Flow[Answer[T]]:
        """The same answer with everything that did not fit into it."""
        return _completed(self, answer, options)


def _pages(
    surface: Surface, answer: Answer[Any], max_chars: int | None, options: Mapping[str, Any]
) -> Stream[Answer[Continued]]:
    """Raises ServerFault for a continuation that leads nowhere."""
    scope, empty = {"project_id": answer.project_id, **options}, False
    way = onwards(answer.raw)
    while way is not None:
        bound = max(filter(None, (max_chars, way.max_chars)), default=None)
        path = segments("/v1/results/{handle}", handle=way.handle)
        page = yield from surface._api.get(path, {"max_chars": bound, **scope}, reader(Continued))
        if page.data.size.hits == 0 and empty:
            raise _led_nowhere(page)
        empty = page.data.size.hits == 0
        yield Give(page)
        way = onwards(page.raw)


def _completed(surface: Surface, answer: Answer[T], options: Mapping[str, Any]) -> Flow[Answer[T]]:
    rest: list[Mapping[str, Any]] = []
    stream, outcome = _pages(surface, answer, None, options), None
    while (step := next_step(stream, outcome)) is not None:
        if isinstance(step, Give):
            rest.append(step.value.raw)
            outcome = None
        else:
            outcome = yield step
    if not rest:
        return answer
    raw = merged(answer.raw, rest)
    data: Any = raw["data"]
    if isinstance(answer.data, Record):
        data = type(answer.data).model_validate(data)
    evidence = tuple(map(EvidenceLink.model_validate, raw["evidence"]))
    return replace(answer, raw=raw, data=data, evidence=evidence)


def _led_nowhere(page: Answer[Any]) -> ServerFault:
    problem = own_problem(
        "unintelligible",
        "The continuation leads nowhere",
        "no hit came twice in a row, although some are left",
        status=page.status,
    )
    return ServerFault(problem, own_answer(problem, page))
