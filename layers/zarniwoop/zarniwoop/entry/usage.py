"""`GET /v1/usage`: what a project asked of which provider, what that cost, and what a kept hit cost, by day.

Invoked directly it takes `{"scope": {tenant_id, project_id}, "arguments": {"date_from": "2026-11-01"}}`.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from pydantic import Field

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.problem import InvalidArgument, Unready
from zarniwoop.entry.api import reading
from zarniwoop.entry.callers import Caller
from zarniwoop.entry.invocation import deadline
from zarniwoop.entry.lambda_context import LambdaContext
from zarniwoop.entry.tool import Handler
from zarniwoop.pipelines.usage.report import Span
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.state import ProjectKey
from zarniwoop.tools.arguments import Day, Id, ToolArguments, parse_arguments
from zarniwoop.tools.research_providers import RESEARCH_PROVIDERS
from zarniwoop.wiring import Environment, environment

EARLIEST = date(2000, 1, 1)
MOST_DAYS = 92
USUAL_DAYS = 7


class UsageAsked(ToolArguments):
    """Days in UTC, both included: the last seven where none is named, and never more than 92."""

    date_from: Day | None = Field(default=None, description="The first day, YYYY-MM-DD: six days before the last.")
    date_to: Day | None = Field(default=None, description="The last day, YYYY-MM-DD: today.")
    instance_id: Id | None = Field(default=None, description="Only what this provider instance was asked.")
    modality: SearchModality | None = Field(default=None, description="Only this kind of source: ACADEMIC.")

    def span(self, now: float) -> Span:
        """Raises InvalidArgument for days that are too many, or lie ahead."""
        today = datetime.fromtimestamp(now, tz=UTC).date()
        last = self.date_to or today
        if not EARLIEST <= last <= today + timedelta(days=1):  # tomorrow: somewhere it has begun
            raise InvalidArgument(
                "'date_to' must be a day of this century that has begun",
                field="date_to",
                suggested_action="leave date_to out: then today is the last day",
            )
        first = self.date_from or last - timedelta(days=USUAL_DAYS - 1)
        if first > last:
            raise InvalidArgument(
                "'date_from' lies after 'date_to'",
                field="date_from",
                suggested_action="put date_from before date_to; without date_to, today is the last day",
            )
        if (last - first).days >= MOST_DAYS:
            raise InvalidArgument(
                f"'date_from' must lie at most {MOST_DAYS - 1} days before 'date_to'",
                field="date_from",
                suggested_action="ask for fewer days at a time; without date_to, today is the last",
            )
        return Span(first=first, last=last, instance_id=self.instance_id, modality=self.modality)


def usage(environment: Callable[[], Environment] = environment) -> Handler:
    """The Lambda handler."""
    return reading("usage", _told, environment)


def _told(caller: Caller, given: Mapping[str, Any], services: Environment, context: LambdaContext) -> ToolResult:
    """Whoever may see the providers may see what they cost."""
    caller.check(RESEARCH_PROVIDERS)
    asked = parse_arguments(UsageAsked, given)
    scope = caller.scope(asked, deadline(context, services.clock), context.aws_request_id)
    span = asked.span(services.clock.now())
    try:
        return ToolResult(ok=True, data=services.usage.usage(ProjectKey.of(scope), span, scope.deadline))
    except StoreUnavailable:
        raise Unready(
            "the records cannot be read right now", suggested_action="ask again after wait_seconds", wait_seconds=1.0
        ) from None
