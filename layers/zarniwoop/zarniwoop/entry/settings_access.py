"""Who edits settings, through which environment, at which level, and until when."""

from enum import StrEnum

from pydantic import Field

from zarniwoop.contract.problem import NotAllowed
from zarniwoop.contract.request import SearchScope
from zarniwoop.entry.callers import Caller
from zarniwoop.entry.invocation import deadline
from zarniwoop.entry.lambda_context import LambdaContext
from zarniwoop.settings.desk import Editor
from zarniwoop.settings.levels import Level, Place
from zarniwoop.tools.arguments import ToolArguments
from zarniwoop.wiring import Environment

SECONDS = 24.0
"""A form of twenty settings takes seven seconds at three writes a second."""


class EditedLevel(StrEnum):
    """The levels that can be edited here; what a process overrides is its own business."""

    TENANT = "tenant"
    PROJECT = "project"


class SettingsPlaced(ToolArguments):
    """Which settings are meant."""

    level: EditedLevel = Field(default=EditedLevel.PROJECT, description="tenant, or project, which is the default.")


class SettingsAccess:
    """One call of the settings API."""

    def __init__(self, caller: Caller, actor: str, services: Environment, context: LambdaContext) -> None:
        caller.check_settings()
        self.services = services
        self._caller = caller
        self._context = context
        self._until = deadline(context, services.clock, SECONDS)
        self.editor = Editor(actor=actor, request_id=context.aws_request_id, deadline=self._until)

    def scope(self, arguments: ToolArguments) -> SearchScope:
        """Raises ProjectScopeMissing, NotAllowed."""
        return self._caller.scope(arguments, self._until, self._context.aws_request_id)

    def seen(self, arguments: ToolArguments) -> Place:
        """The place to look from: a process, a project, or, for a token of all projects that names none, the tenant."""
        if arguments.project_id is None and self._caller.has_every_project:
            return Place(tenant_id=self._caller.tenant_id)
        scope = self.scope(arguments)
        return Place(tenant_id=scope.tenant_id, project_id=scope.project_id, process_id=scope.process_id)

    def edited(self, arguments: SettingsPlaced) -> Place:
        """The level to change. Raises NotAllowed where it is not this token's to change, ProjectScopeMissing."""
        if arguments.level is EditedLevel.PROJECT:
            scope = self.scope(arguments)
            return Place(tenant_id=scope.tenant_id, project_id=scope.project_id)
        if not self._caller.has_every_project:
            raise NotAllowed(
                "the tenant's own settings are in force in all its projects, and this token has only some of them",
                field="level",
                suggested_action="use a token for all projects, or level = project",
            )
        return Place(tenant_id=self._caller.tenant_id)

    def writable(self, place: Place) -> list[str]:
        """The levels in sight that this token may change."""
        levels = [Level.TENANT] if self._caller.has_every_project else []
        return [level.value for level in (*levels, *([Level.PROJECT] if place.project_id is not None else []))]
