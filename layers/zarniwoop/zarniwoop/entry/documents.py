"""`GET /v1/documents`: what became of each document of a project: indexed, refused and why, or pending.

Invoked directly it takes `{"scope": {tenant_id, project_id}, "arguments": {"status": "refused"}}`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.problem import Unready
from zarniwoop.documents.records import DocumentRecord, Status, joined, recorded
from zarniwoop.entry.api import reading
from zarniwoop.entry.callers import Caller
from zarniwoop.entry.invocation import deadline
from zarniwoop.entry.lambda_context import LambdaContext
from zarniwoop.entry.tool import Handler
from zarniwoop.stores.documents import DocumentStore, Manifest
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.state import ProjectKey
from zarniwoop.tools.arguments import ToolArguments, parse_arguments
from zarniwoop.tools.research_search import RESEARCH_SEARCH
from zarniwoop.wiring import Environment, environment

if TYPE_CHECKING:
    from zarniwoop.documents.library import OpenIndex

_MOST_SCANNED = 5_000
"""How many names are looked through for pending ones before a page ends."""


class DocumentsListed(ToolArguments):
    """`after` is the name that the page before ended with."""

    status: Literal["indexed", "refused", "pending"] | None = Field(
        default=None, description="Only documents of this status: indexed, refused or pending."
    )
    limit: int = Field(default=100, ge=1, le=500, description="How many documents a page holds, 1 to 500.")
    after: str = Field(default="", max_length=1_024, description="`next_after` of the page before.")


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentsPage:
    """`place` is where documents are put; `index` tells what is served now, None where nothing is yet."""

    documents: tuple[DocumentRecord, ...]
    next_after: str | None
    place: str
    index: Manifest | None


def documents(environment: Callable[[], Environment] = environment) -> Handler:
    """The Lambda handler."""
    return reading("documents", _list, environment)


def _list(caller: Caller, given: Mapping[str, Any], services: Environment, context: LambdaContext) -> ToolResult:
    from zarniwoop.documents.database import UnusableIndexError

    caller.check(RESEARCH_SEARCH)
    arguments = parse_arguments(DocumentsListed, given)
    scope = caller.scope(arguments, deadline(context, services.clock), context.aws_request_id)
    project = ProjectKey.of(scope)
    try:
        with services.library.opened(project, scope.deadline) as index:
            page = _page(project, arguments, services.documents, index)
    except (StoreUnavailable, UnusableIndexError):
        raise Unready(
            "the documents cannot be looked at right now",
            suggested_action="ask again after wait_seconds",
            wait_seconds=1.0,
        ) from None
    return ToolResult(ok=True, data=page)


def _page(
    project: ProjectKey, asked: DocumentsListed, store: DocumentStore, index: "OpenIndex | None"
) -> DocumentsPage:
    if asked.status in (None, "pending"):
        found, more = _in_bucket(project, asked, store, index)
    else:
        found, more = _in_index(asked, index)
    return DocumentsPage(
        documents=found,
        next_after=more,
        place=store.place(project),
        index=index.manifest if index else None,
    )


def _in_index(asked: DocumentsListed, index: "OpenIndex | None") -> tuple[tuple[DocumentRecord, ...], str | None]:
    if index is None:
        return (), None
    refused = asked.status == "refused"
    rows = recorded(index.connection, after=asked.after, most=asked.limit + 1, refused=refused)
    found = tuple(record for _, record in rows.values())
    return _cut(found, asked.limit)


def _in_bucket(
    project: ProjectKey, asked: DocumentsListed, store: DocumentStore, index: "OpenIndex | None"
) -> tuple[tuple[DocumentRecord, ...], str | None]:
    """Those that lie there, with their records; of pending ones, those among the next few thousand names."""
    most = asked.limit + 1 if asked.status is None else _MOST_SCANNED
    listed = store.documents(project, after=asked.after, most=most)
    if not listed:
        return (), None
    until = listed[-1].name
    known = recorded(index.connection, after=asked.after, most=most, until=until) if index else {}
    found = joined(listed, known)
    if asked.status is None:
        return _cut(found, asked.limit)
    pending, more = _cut(tuple(each for each in found if each.status is Status.PENDING), asked.limit)
    return pending, more or (until if len(listed) == most else None)


def _cut(found: tuple[DocumentRecord, ...], limit: int) -> tuple[tuple[DocumentRecord, ...], str | None]:
    return found[:limit], found[limit - 1].name if len(found) > limit else None
