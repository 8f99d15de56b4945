"""`/v1/runs…`, `/v1/content/<hash>` and `/v1/insights`: what investigations leave behind, watched, stopped and read.

Invoked directly it takes `{"scope": {tenant_id, project_id}, "operation": "get", "arguments": {"run_id": …}}`; what is
possible is in `OPERATIONS`. A run of another tenant or project is unknown here: the project is part of its key.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.problem import Conflict, InvalidArgument, UnknownThing
from zarniwoop.contract.request import SearchScope
from zarniwoop.entry.api import WayIn, api, in_the_address
from zarniwoop.entry.bounding import Bounding
from zarniwoop.entry.callers import Caller, caller_of_api_event, caller_of_message
from zarniwoop.entry.content import read_content
from zarniwoop.entry.insights import read_insights
from zarniwoop.entry.invocation import deadline
from zarniwoop.entry.lambda_context import LambdaContext
from zarniwoop.entry.tool import Event, Handler
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.page_tokens import InvalidPageToken
from zarniwoop.stores.runs import RunState
from zarniwoop.stores.state import ProjectKey
from zarniwoop.tools.arguments import MAX_CHARS, MIN_CHARS, ToolArguments, parse_arguments
from zarniwoop.tools.research_investigate import MAX_WAIT_SECONDS, RESEARCH_INVESTIGATE
from zarniwoop.tools.run_report import RunReport, report, with_evidence_apart
from zarniwoop.tools.run_status import checked, known, look, unreadable
from zarniwoop.wiring import Environment, environment

LINK_SECONDS = 900
"""How long a pre-signed link works; it ends sooner when the credentials that signed it do."""


class RunNamed(ToolArguments):
    """A run; one whose id is no id is as unknown as any other."""

    run_id: str = Field(description="The run's id: r-…")


class RunWatched(RunNamed):
    wait: float = Field(
        default=0, ge=0, le=MAX_WAIT_SECONDS, allow_inf_nan=False, description="Seconds to wait for its end, 0 to 25."
    )
    max_chars: int | None = Field(
        default=None, ge=MIN_CHARS, le=MAX_CHARS, description="How many characters of JSON `data` may have."
    )


class RunsListed(ToolArguments):
    limit: int = Field(default=20, ge=1, le=100, description="How many runs a page holds, 1 to 100.")
    page_token: str | None = Field(
        default=None, max_length=512, description="`next_page_token` of the page before; of the same project."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsPage:
    """The newest first; without their results, which are told run by run."""

    runs: tuple[RunReport, ...]
    next_page_token: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunArtifact:
    """A file of a run, and a link that works without a token."""

    name: str
    size: int
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunArtifacts:
    """`expires_in` seconds the links work, or less, when the credentials that signed them end before."""

    run_id: str
    artifacts: tuple[RunArtifact, ...]
    expires_in: int


class RunEnded(Conflict):
    slug = "run-ended"
    title = "The run has ended"
    retryable = False


def _list(given: Mapping[str, Any], access: "Access") -> ToolResult:
    arguments = parse_arguments(RunsListed, given)
    project = access.project(arguments)
    try:
        page = access.services.runs.list(project, limit=arguments.limit, page_token=arguments.page_token)
    except InvalidPageToken:
        raise InvalidArgument(
            "'page_token' was not given out for this list",
            field="page_token",
            suggested_action="send the next_page_token of the page before, or leave it out to start anew",
        ) from None
    listed = RunsPage(runs=tuple(report(run) for run in page.runs), next_page_token=page.next_page_token)
    return ToolResult(ok=True, data=listed)


def _get(given: Mapping[str, Any], access: "Access") -> ToolResult:
    arguments = parse_arguments(RunWatched, given)
    scope = access.scope(arguments)
    seen = look(access.services.run_watcher, scope, arguments.run_id, arguments.wait)
    data, evidence = with_evidence_apart(seen)
    told = ToolResult(ok=True, data=data, evidence=evidence)
    return Bounding(RESEARCH_INVESTIGATE.name, access.services).within(told, arguments.max_chars, scope)


def _stop(given: Mapping[str, Any], access: "Access") -> ToolResult:
    """Asking again is the same as asking once, also when the run has stopped meanwhile."""
    arguments = parse_arguments(RunNamed, given)
    run = known(access.services.runs.request_stop(access.project(arguments), checked(arguments.run_id)))
    if run.state.is_terminal and run.state is not RunState.STOPPED:
        refusal = RunEnded(
            f"the run has ended as {run.state}; there is nothing left to stop",
            field="run_id",
            suggested_action="read its results",
        )
        return ToolResult(ok=False, data=report(run), error=refusal.problem())
    return ToolResult(ok=True, data=report(run))


def _artifacts(given: Mapping[str, Any], access: "Access") -> ToolResult:
    arguments = parse_arguments(RunNamed, given)
    project, run_id, files = access.project(arguments), checked(arguments.run_id), access.services.run_files
    known(access.services.runs.get(project, run_id))
    listed = tuple(
        RunArtifact(name=each.name, size=each.size, url=files.presigned(project, run_id, each.name, LINK_SECONDS))
        for each in files.names(project, run_id)
    )
    return ToolResult(ok=True, data=RunArtifacts(run_id=run_id, artifacts=listed, expires_in=LINK_SECONDS))


def _content(given: Mapping[str, Any], access: "Access") -> ToolResult:
    return read_content(given, access.services.content, access.project, LINK_SECONDS)


def _insights(given: Mapping[str, Any], access: "Access") -> ToolResult:
    return read_insights(given, access.services.insights, access.project)


Operation = Callable[[Mapping[str, Any], "Access"], ToolResult]

OPERATIONS: Mapping[str, Operation] = {
    "list": _list,
    "get": _get,
    "stop": _stop,
    "artifacts": _artifacts,
    "content": _content,
    "insights": _insights,
}
ROUTES: Mapping[tuple[str, str], str] = {
    ("GET", "/v1/runs"): "list",
    ("GET", "/v1/runs/{run_id}"): "get",
    ("POST", "/v1/runs/{run_id}/stop"): "stop",
    ("GET", "/v1/runs/{run_id}/artifacts"): "artifacts",
    ("GET", "/v1/content/{sha256}"): "content",
    ("GET", "/v1/insights"): "insights",
}


class Access:
    """Who asks, through which environment, and until when."""

    def __init__(self, caller: Caller, services: Environment, context: LambdaContext) -> None:
        caller.check(RESEARCH_INVESTIGATE)
        self.services = services
        self._caller = caller
        self._context = context

    def scope(self, arguments: ToolArguments) -> SearchScope:
        """Raises ProjectScopeMissing, NotAllowed, OutOfTime."""
        until = deadline(self._context, self.services.clock, RESEARCH_INVESTIGATE.max_seconds)
        return self._caller.scope(arguments, until, self._context.aws_request_id)

    def project(self, arguments: ToolArguments) -> ProjectKey:
        scope = self.scope(arguments)
        return ProjectKey.of(scope)


def runs(environment: Callable[[], Environment] = environment) -> Handler:
    """The Lambda handler of all these routes."""
    over_rest, invoked = _with_stores(_from_api), _with_stores(_from_invocation)
    return api(RESEARCH_INVESTIGATE.name, over_rest=over_rest, invoked=invoked, environment=environment)


def _from_api(event: Mapping[str, Any], services: Environment, context: LambdaContext) -> ToolResult:
    access = Access(caller_of_api_event(event), services, context)
    name = ROUTES.get((event["httpMethod"], event.get("resource", "")))
    if name is None:
        raise UnknownThing("there is no such route", slug="unknown-route", suggested_action="see GET /v1/tools")
    return OPERATIONS[name](in_the_address(event), access)


def _from_invocation(event: Mapping[str, Any], services: Environment, context: LambdaContext) -> ToolResult:
    caller, arguments = caller_of_message(event)
    name = event.get("operation")
    if not isinstance(name, str) or name not in OPERATIONS:
        raise InvalidArgument(
            "there is no such operation", field="operation", suggested_action="use one of " + ", ".join(OPERATIONS)
        )
    return OPERATIONS[name](arguments, Access(caller, services, context))


def _with_stores(way_in: WayIn) -> WayIn:
    """Nothing here can be answered without the table, and a table that is away comes back."""

    def guarded_way_in(event: Event, services: Environment, context: LambdaContext) -> ToolResult:
        try:
            return way_in(event, services, context)
        except StoreUnavailable:
            raise unreadable() from None

    return guarded_way_in
