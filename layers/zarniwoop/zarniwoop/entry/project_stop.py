"""The seed's ProjectEnginesStopRequested: end a project's runs, dispose its instances, delete its temporary state.

Evidence goes last, since there may be months of it: what this invocation does not manage, its retry does. From the
first moment until then no call keeps any, and afterwards none that was begun before.
Runs go first, so that none of them writes what is deleted afterwards: all are asked to stop, which their steps see
before they do anything; then each execution is broken off and the run closed with what it has. Files of runs stay, as
long as the bucket keeps them: a project that was stopped may still read what it found.
Documents are their owner's and stay; their index goes, and is made anew when somebody searches it again.
This function builds no instance itself. Warm environments of the others drop theirs when they see that the project's
generation was raised, which every search reads anyway.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from zarniwoop.contract.problem import InvalidArgument
from zarniwoop.entry.lambda_context import LambdaContext
from zarniwoop.entry.many_runs import LEFT, each_run
from zarniwoop.pipelines.investigate.closing import close
from zarniwoop.stores.runs import Ending, Run, RunState
from zarniwoop.stores.state import ProjectKey
from zarniwoop.tools.arguments import Id, ToolArguments, parse_arguments
from zarniwoop.wiring import Environment, environment

PROJECT_STOPPED = "project_stopped"
LONGEST_OPEN_SECONDS = 3_600.0
"""No run is open for longer: its wall time is 15 minutes at most, and the reconciler ends it soon after."""
_SECONDS_TO_DELETE = 15.0
"""Kept for deleting what is left, after the last run that is closed."""

_SECONDS_TO_RETRY = 180.0
"""Lambda asks again within that time."""


class StopDetail(ToolArguments):
    """The event's detail: which project of which tenant stops."""

    tenant_id: Id


def project_stop(
    environment: Callable[[], Environment] = environment,
) -> Callable[[Mapping[str, Any], LambdaContext], dict[str, Any]]:
    """The Lambda handler behind the EventBridge rule; an event delivered twice does no harm."""

    def handler(event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
        services = environment()
        services.begin(context.aws_request_id)
        try:
            return _stop(event, services, context)
        finally:
            services.finish()

    return handler


def _stop(event: Mapping[str, Any], services: Environment, context: LambdaContext) -> dict[str, Any]:
    detail = event.get("detail")
    if not isinstance(detail, Mapping):
        raise InvalidArgument("'detail' is missing", field="detail", suggested_action="send tenant_id and project_id")
    named = parse_arguments(StopDetail, detail)
    if named.project_id is None:
        raise InvalidArgument("'project_id' is missing", field="project_id", suggested_action="name the project")
    project = ProjectKey(tenant_id=named.tenant_id, project_id=named.project_id)
    stopped_at = services.clock.now()
    services.evidence.stop(project, stopped_at + context.get_remaining_time_in_millis() / 1000 + _SECONDS_TO_RETRY)
    generation = services.state.bump_generation(project)
    ended = _stop_runs(project, services, context)
    services.insights.delete(project)
    deleted = {
        "generation": generation,
        "stopped_runs": ended[RunState.STOPPED],
        "stopping_runs": ended[LEFT],
        "deleted_state_items": services.state.clear_project(project),
        "deleted_content_objects": services.content.delete_project(project),
        "deleted_index_objects": services.documents.delete_index(project),
    }
    services.continuations.stop(project, stopped_at)  # behind the content, among which it stands
    evidence = services.evidence.delete_project(project)
    services.evidence.stop(project, services.clock.now())
    return {**deleted, "deleted_evidence": evidence.items, "deleted_evidence_objects": evidence.objects}


def _stop_runs(project: ProjectKey, services: Environment, context: LambdaContext) -> Counter[str]:
    """What there is no time to close has been asked to stop by then: its own steps end it, or the reconciler does."""

    executions, ends, files = services.executions, services.run_ends, services.run_files  # made before the threads

    def close_one(run: Run) -> str:
        executions.stop(run.execution_arn, PROJECT_STOPPED)
        ending = Ending(state=RunState.STOPPED, error=PROJECT_STOPPED)
        return RunState.STOPPED if close(run, ending, ends, files) else "ended_before"

    found = services.runs.open_since(project, services.clock.now() - LONGEST_OPEN_SECONDS)
    asked = [services.runs.request_stop(project, run.run_id) for run in found]
    stopping = [run for run in asked if run is not None and not run.state.is_terminal]
    return each_run(stopping, close_one, services, context, seconds_each=_SECONDS_TO_DELETE)
