"""`/v1/evidence…`: what the project has read, listed, read with its text, and looked at again where it came from.

Whoever may use a tool that links to evidence may read it by its id. The list is for whoever may use `evidence_store`,
and looking again takes `web_fetch` besides.
Invoked directly it takes `{"scope": {tenant_id, project_id}, "operation": "verify", "arguments": {"evidence_id": …}}`;
what is possible is in `OPERATIONS`. Evidence of another tenant or project is unknown here: the project is part of its
key. What is read, quoted and listed are other people's words, and the answers say so (`untrusted`).
"""

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import Field

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.page import FetcherFault, FetcherUnavailable
from zarniwoop.contract.problem import InvalidArgument, UnknownThing, Unready
from zarniwoop.contract.request import SearchScope
from zarniwoop.entry.api import api, in_the_address
from zarniwoop.entry.bodies import read_body
from zarniwoop.entry.callers import Caller, caller_of_api_event, caller_of_message
from zarniwoop.entry.invocation import deadline
from zarniwoop.entry.lambda_context import LambdaContext
from zarniwoop.entry.tool import Event, Handler
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.state import ProjectKey
from zarniwoop.tools.arguments import Id, ToolArguments, parse_arguments
from zarniwoop.tools.evidence_links import link_to
from zarniwoop.tools.evidence_store import (
    EVIDENCE_STORE,
    MOST_CHARS,
    MOST_LISTED,
    USUAL_CHARS,
    evidence_and_body,
    list_evidence,
    read_evidence,
    unreadable,
)
from zarniwoop.wiring import Environment, environment

VERIFY_SECONDS = 25.0


class EvidenceAsked(ToolArguments):
    """Numbers come as text in a query string, so they are not strict as the tool's are."""

    limit: int = Field(default=20, ge=1, le=MOST_LISTED, description="How many a page holds, 1 to 100.")
    page_token: str | None = Field(
        default=None, max_length=512, description="`next_page_token` of the page before, of the same list."
    )
    task_id: Id | None = Field(default=None, description="Only evidence of this task.")
    url: str | None = Field(default=None, max_length=8_192, description="Only evidence of this URL.")


class EvidenceNamed(ToolArguments):
    """An evidence; one whose id is no id is as unknown as any other."""

    evidence_id: str = Field(max_length=64, description="The evidence's id: ev-…")


class EvidenceWithText(EvidenceNamed):
    offset: int = Field(
        default=0, ge=0, description="The character to start at: 0, a quote's start, or next_offset of the one before."
    )
    text_chars: int = Field(
        default=USUAL_CHARS, ge=0, le=MOST_CHARS, description="How many characters of the text, 0 to 200000."
    )


def _list(given: Mapping[str, Any], access: "Access") -> ToolResult:
    access.check_listing()
    asked = parse_arguments(EvidenceAsked, given)
    scope = access.scope(asked)
    listed = list_evidence(
        access.services.evidence, ProjectKey.of(scope), asked.limit, asked.page_token, asked.task_id, asked.url
    )
    return ToolResult(ok=True, data=listed, evidence=tuple(link_to(each, scope) for each in listed.evidence))


def _get(given: Mapping[str, Any], access: "Access") -> ToolResult:
    asked = parse_arguments(EvidenceWithText, given)
    scope = access.scope(asked)
    read = read_evidence(
        access.services.evidence, ProjectKey.of(scope), asked.evidence_id, asked.offset, asked.text_chars
    )
    return ToolResult(ok=True, data=read, evidence=(link_to(read.evidence, scope),))


def _verify(given: Mapping[str, Any], access: "Access") -> ToolResult:
    """Nothing is changed by it: evidence is what was read then. It fetches, so it needs the right to."""
    access.check_fetching()
    asked = parse_arguments(EvidenceNamed, given)
    scope = access.scope(asked)
    evidence, body = evidence_and_body(access.services.evidence, ProjectKey.of(scope), asked.evidence_id)
    try:
        verification = access.services.verifier(scope).verify(evidence, body, scope.deadline)
    except FetcherUnavailable as error:
        raise _unfetchable(error.fault) from error
    return ToolResult(ok=True, data=verification, evidence=(link_to(evidence, scope),))


Operation = Callable[[Mapping[str, Any], "Access"], ToolResult]

OPERATIONS: Mapping[str, Operation] = {"list": _list, "get": _get, "verify": _verify}
ROUTES: Mapping[tuple[str, str], str] = {
    ("GET", "/v1/evidence"): "list",
    ("GET", "/v1/evidence/{evidence_id}"): "get",
    ("POST", "/v1/evidence/{evidence_id}/verify"): "verify",
}


class Access:
    """Who asks, through which environment, and until when."""

    def __init__(self, caller: Caller, services: Environment, context: LambdaContext) -> None:
        """Raises NotAllowed for a token that no link to evidence can have been given to."""
        caller.check_reading_evidence()
        self.services = services
        self._caller = caller
        self._context = context

    def check_listing(self) -> None:
        """Raises NotAllowed: a link opens one evidence, and not what everybody else has read."""
        self._caller.check(EVIDENCE_STORE)

    def check_fetching(self) -> None:
        """Raises NotAllowed."""
        from zarniwoop.tools.web_fetch import WEB_FETCH

        self._caller.check(WEB_FETCH)

    def scope(self, arguments: ToolArguments) -> SearchScope:
        """Raises ProjectScopeMissing, NotAllowed, OutOfTime."""
        until = deadline(self._context, self.services.clock, VERIFY_SECONDS)
        return self._caller.scope(arguments, until, self._context.aws_request_id)


def evidence(environment: Callable[[], Environment] = environment) -> Handler:
    """The Lambda handler of all these routes."""
    return api("evidence", over_rest=_over_rest, invoked=_invoked, environment=environment)


def _over_rest(event: Event, services: Environment, context: LambdaContext) -> ToolResult:
    access = Access(caller_of_api_event(event), services, context)
    name = ROUTES.get((event["httpMethod"], event.get("resource", "")))
    if name is None:
        raise UnknownThing("there is no such route", slug="unknown-route", suggested_action="see GET /v1/tools")
    return _answered(name, _asked_for(event), access)


def _asked_for(event: Event) -> dict[str, Any]:
    """The arguments in the address, and of a POST those in its body, which it need not have."""
    in_address = in_the_address(event)
    in_body = read_body(event) if event["httpMethod"] == "POST" and event.get("body") else {}
    for name in in_body.keys() & in_address.keys():
        if str(in_body[name]) != in_address[name]:
            raise InvalidArgument(
                f"'{name}' is one thing in the address and another in the body",
                field=name,
                suggested_action="give it once",
            )
    return {**in_body, **in_address}


def _invoked(event: Event, services: Environment, context: LambdaContext) -> ToolResult:
    caller, arguments = caller_of_message(event)
    name = event.get("operation", "get" if "evidence_id" in arguments else "list")
    if not isinstance(name, str) or name not in OPERATIONS:
        raise InvalidArgument(
            "there is no such operation", field="operation", suggested_action="use one of " + ", ".join(OPERATIONS)
        )
    return _answered(name, arguments, Access(caller, services, context))


def _answered(name: str, given: Mapping[str, Any], access: Access) -> ToolResult:
    """Nothing here can be answered without the table and the bucket, and they come back."""
    try:
        return OPERATIONS[name](given, access)
    except StoreUnavailable:
        raise unreadable() from None


def _unfetchable(fault: FetcherFault) -> Unready:
    return Unready(
        f"the page cannot be fetched right now: {fault.value}",
        slug="fetcher-unavailable",
        suggested_action="ask again after wait_seconds",
        wait_seconds=2.0,
    )
