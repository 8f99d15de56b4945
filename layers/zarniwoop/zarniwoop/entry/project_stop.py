"""The seed's ProjectEnginesStopRequested: dispose a project's instances everywhere and delete its temporary state.

This function builds none itself. Warm environments of the others drop theirs when they see that the project's
generation was raised, which every search reads anyway.
"""

from collections.abc import Callable, Mapping
from typing import Any

from zarniwoop.contract.problem import InvalidArgument
from zarniwoop.entry.lambda_context import LambdaContext
from zarniwoop.stores.state import ProjectKey
from zarniwoop.tools.arguments import Id, ToolArguments, parse_arguments
from zarniwoop.wiring import Environment, environment


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
            return _stop(event, services)
        finally:
            services.finish()

    return handler


def _stop(event: Mapping[str, Any], services: Environment) -> dict[str, Any]:
    detail = event.get("detail")
    if not isinstance(detail, Mapping):
        raise InvalidArgument("'detail' is missing", field="detail", suggested_action="send tenant_id and project_id")
    named = parse_arguments(StopDetail, detail)
    if named.project_id is None:
        raise InvalidArgument("'project_id' is missing", field="project_id", suggested_action="name the project")
    project = ProjectKey(tenant_id=named.tenant_id, project_id=named.project_id)
    generation = services.state.bump_generation(project)
    return {
        "generation": generation,
        "deleted_state_items": services.state.clear_project(project),
        "deleted_content_objects": services.content.delete_project(project),
    }
