"""A search that is made again and again and reports what it had not found before, as `ResearchChanged` on the bus.

`{"name", "scope": {tenant_id, project_id}, "arguments", "tool"?, "baseline"?, "keep_days"?}` is the input of a schedule
(EventBridge Scheduler, a rule, an invocation): IAM vouches for it. A query is known by its name within its project.
Schedules fire at least once, so a round takes the query's lease first: of two at once one searches. It reports before
it remembers: who dies in between is repeated by the next round, under the same `report_id`; nothing is lost.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.problem import InvalidArgument
from zarniwoop.entry.bounding import Bounding
from zarniwoop.entry.callers import Caller, caller_of_message
from zarniwoop.entry.invocation import call_tool, guarded
from zarniwoop.entry.lambda_context import LambdaContext
from zarniwoop.entry.replies import put
from zarniwoop.observe.metrics import Metric
from zarniwoop.pipelines.standing_query import Changes, Watch
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.keys import standing_key
from zarniwoop.stores.leased import Held
from zarniwoop.stores.project import ProjectKey
from zarniwoop.text.names import snake_case
from zarniwoop.tools.arguments import Count, Flag, Id, parse_arguments
from zarniwoop.tools.research_search import SEARCHES, SearchName
from zarniwoop.wiring import Environment, environment

REPORT = "ResearchChanged"
_NOT_HERE = frozenset(("dry_run", "max_chars", "store_evidence"))
"""A plan finds nothing, a bound hides hits, and what was evidence before would be made so again by every round."""
_DAY = 86_400
_LEASE_MARGIN_SECONDS = 5.0
_TRIES = 3
_PAUSE_SECONDS = 0.3

Event = Mapping[str, Any]


class StandingQuery(BaseModel):
    """What a schedule says."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, defer_build=True)

    name: Id = Field(description="What the query is known by in its project: a-z, 0-9, '_' and '-', at most 63.")
    scope: dict[str, Any] = Field(description="{tenant_id, project_id, process_id?}")
    arguments: dict[str, Any] = Field(description="The arguments of the search.")
    tool: SearchName = Field(default="research_search", description="research_search or research_search_expert.")
    baseline: Flag = Field(default=False, description="true: what the first round finds is known, not reported.")
    keep_days: Annotated[Count, Field(ge=1, le=365)] = Field(
        default=30, description="Days without a round after which what was reported is forgotten, 1 to 365."
    )


class UnansweredRoundError(Exception):
    """The search was refused or failed: nothing is reported, nothing forgotten, and Lambda tries again."""


def standing_query(
    environment: Callable[[], Environment] = environment,
) -> Callable[[Event, LambdaContext], dict[str, Any]]:
    """The Lambda handler behind the schedule: what became of the round."""

    def handler(event: Event, context: LambdaContext) -> dict[str, Any]:
        services = environment()
        services.begin(context.aws_request_id)
        try:
            return _round(event, services, context)
        finally:
            services.finish()

    return handler


def _round(event: Event, services: Environment, context: LambdaContext) -> dict[str, Any]:
    """Raises CallerError, StoreUnavailable, UnansweredRoundError, UnpublishedAnswerError."""
    asked = _asked(event)
    caller, arguments = caller_of_message({"scope": asked.scope, "arguments": asked.arguments})
    project = ProjectKey(tenant_id=caller.tenant_id, project_id=caller.projects[0])
    held = services.leased_memory.take(
        project,
        standing_key(asked.name),
        lease_seconds=context.get_remaining_time_in_millis() / 1000 + _LEASE_MARGIN_SECONDS,
        keep_seconds=asked.keep_days * _DAY,
    )
    if held is None:
        return _account(services, asked, "concurrent", 0)
    with _given_back_unless_kept(services, held):
        found = _search(asked, held, caller, arguments, services, context)
    _remember(held, found, asked, services)
    first = held.memory is None
    outcome = "unchanged" if not found.hits else "baseline" if first and asked.baseline else "changed"
    return _account(services, asked, outcome, len(found.hits))


def _asked(event: Event) -> StandingQuery:
    asked = parse_arguments(StandingQuery, event if isinstance(event, Mapping) else {})
    for name in map(snake_case, asked.arguments):
        if name in _NOT_HERE:
            raise InvalidArgument(
                f"a standing query takes no '{name}'", field=f"arguments.{name}", suggested_action="leave it out"
            )
    return asked


@contextmanager
def _given_back_unless_kept(services: Environment, held: Held) -> Iterator[None]:
    """So that Lambda's next try, a minute later, finds it free; where the table is away, the lease ends by itself."""
    try:
        yield
    except BaseException:
        services.metrics.count(Metric.STANDING, outcome="failed")
        with suppress(StoreUnavailable):
            services.leased_memory.let_go(held)
        raise


def _search(
    asked: StandingQuery,
    held: Held,
    caller: Caller,
    arguments: Mapping[str, Any],
    services: Environment,
    context: LambdaContext,
) -> Changes:
    """Search, and report what is new."""
    tool = SEARCHES[asked.tool]
    watch, bounding = Watch(tool.handle, held.memory), Bounding.unawaited(tool.name, services)
    watched = replace(tool, handle=watch.handle)
    result = guarded(
        services,
        context.aws_request_id,
        tool,
        lambda: call_tool(watched, caller, arguments, services, context, bounding=bounding),
    )
    if watch.found is None or not result.ok:
        raise UnansweredRoundError(result.error.type if result.error else "no search result")
    first = held.memory is None
    if watch.found.hits and not (first and asked.baseline):
        head = {
            "tenant_id": held.project.tenant_id,
            "project_id": held.project.project_id,
            "name": asked.name,
            "report_id": held.turn,
            "first": first,
            "tool": tool.name,
        }
        told = put(services, REPORT, head, result, bounding.shorten)
        return watch.without(_untold(watch.found, told))
    return watch.found


def _untold(found: Changes, told: Mapping[str, Any]) -> Sequence[SearchHit]:
    """New hits for which the event had no room, and which could not be put aside for its handle either."""
    data = told["data"] or {}
    if (data.get("size") or {}).get("handle"):
        return ()
    return found.hits[len(data.get("hits", ())) :]


def _remember(held: Held, found: Changes, asked: StandingQuery, services: Environment) -> None:
    """What was reported has been reported: failing now would only have Lambda report it again."""
    for _ in range(_TRIES):
        try:
            if not services.leased_memory.put_back(held, found.memory, keep_seconds=asked.keep_days * _DAY):
                services.log.warning(
                    "a standing query was forgotten or taken over meanwhile", extra={"standing_query": asked.name}
                )
        except StoreUnavailable:
            services.clock.sleep(_PAUSE_SECONDS)
        else:
            return
    services.metrics.count(Metric.STATE_UNAVAILABLE, operation="standing")
    services.log.error("what was reported could not be remembered", extra={"standing_query": asked.name})


def _account(services: Environment, asked: StandingQuery, outcome: str, hits: int) -> dict[str, Any]:
    services.metrics.count(Metric.STANDING, outcome=outcome)
    services.log.info("standing query", extra={"standing_query": asked.name, "outcome": outcome, "new_hits": hits})
    return {"name": asked.name, "outcome": outcome, "new_hits": hits}
