"""Who is calling: out of the authorizer's context, or out of an invocation that IAM has let through."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.problem import InvalidArgument, NotAllowed
from zarniwoop.contract.request import SearchScope
from zarniwoop.dispatch.candidates.factory import ProjectScopeMissing
from zarniwoop.stores.tokens import EVIDENCE_LEVEL, LEAVES_EVIDENCE, LISTS_EVIDENCE, SETTINGS, SETTINGS_LEVEL
from zarniwoop.tools.arguments import Count, Id, ToolArguments, parse_arguments
from zarniwoop.tools.tool import Tool

EVERY_PROJECT = "*"
HIGHEST_LEVEL = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """What the caller may do. `tools` empty means every tool of its level."""

    tenant_id: str
    projects: tuple[str, ...]
    level: int
    tools: tuple[str, ...] = ()

    def may_use(self, tool: Tool[Any]) -> bool:
        return self.level >= tool.level and tool.is_named_by(self.tools)

    def check(self, tool: Tool[Any]) -> None:
        """Raises NotAllowed when the token is not good for this tool."""
        if not self.may_use(tool):
            raise NotAllowed(
                f"this token may not use {tool.name}",
                suggested_action=f"use a token of level {tool.level} or higher that lists the tool",
            )

    def check_settings(self) -> None:
        """Raises NotAllowed when the token is not good for reading and changing settings."""
        if not self._may(SETTINGS, SETTINGS_LEVEL):
            raise NotAllowed(
                "this token may not see or change settings",
                suggested_action=f"use a token of level {SETTINGS_LEVEL}; if it lists tools, it must list {SETTINGS}",
            )

    def check_reading_evidence(self) -> None:
        """Raises NotAllowed when the token is good neither for a tool that links to evidence nor for evidence's own."""
        if not any(self._may(name, EVIDENCE_LEVEL) for name in (LISTS_EVIDENCE, *LEAVES_EVIDENCE)):
            raise NotAllowed(
                "this token may not read evidence",
                suggested_action=f"use a token of level {EVIDENCE_LEVEL} or higher; if it lists tools, it must list "
                f"{LISTS_EVIDENCE} or a tool that leaves evidence, such as web_fetch",
            )

    def _may(self, name: str, level: int) -> bool:
        return self.level >= level and (not self.tools or name in self.tools)

    @property
    def has_every_project(self) -> bool:
        return EVERY_PROJECT in self.projects

    def scope(self, arguments: ToolArguments, deadline: Deadline, request_id: str) -> SearchScope:
        """The scope of a call. Raises ProjectScopeMissing, or NotAllowed for a project that is not the caller's."""
        project_id = arguments.project_id or (self.projects[0] if len(self.projects) == 1 else EVERY_PROJECT)
        if project_id == EVERY_PROJECT:
            raise ProjectScopeMissing
        if EVERY_PROJECT not in self.projects and project_id not in self.projects:
            raise NotAllowed(
                "this token has no such project",
                field="project_id",
                suggested_action="name one of your token's projects, or leave project_id out",
            )
        return SearchScope(
            tenant_id=self.tenant_id,
            project_id=project_id,
            process_id=arguments.process_id,
            request_id=request_id,
            deadline=deadline,
            tools=self.tools,
            level=self.level,
        )


def caller_of_api_event(event: Mapping[str, Any]) -> Caller:
    """The authorizer's context (all strings). Raises NotAllowed when there is none: such a route has no authorizer."""
    context = (event.get("requestContext") or {}).get("authorizer") or {}
    if not context.get("tenant_id"):
        raise NotAllowed("the request carries no identity", status=401, suggested_action="send a bearer token")
    return Caller(
        tenant_id=context["tenant_id"],
        projects=_listed(context.get("projects", "")),
        level=int(context.get("level", "0")),
        tools=_listed(context.get("tools", "")),
    )


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part for part in text.split(",") if part)


class InvocationScope(ToolArguments):
    """The scope that a direct invocation, a queue message or an event names itself; IAM vouches for the sender.

    `tools` and `level` are those of the token that the sender itself was asked with, if it was: they only take away
    from what an invocation may do.
    """

    tenant_id: Id
    tools: tuple[Id, ...] = ()
    level: Count = Field(default=HIGHEST_LEVEL, ge=0, le=HIGHEST_LEVEL)


def caller_of_message(message: Mapping[str, Any]) -> tuple[Caller, dict[str, Any]]:
    """Caller and arguments of `{"scope": {tenant_id, project_id, process_id?, tools?, level?}, "arguments": {…}}`.

    Raises InvalidArgument, or ProjectScopeMissing when the scope names no project.
    """
    outer = message if isinstance(message, Mapping) else {}
    scope, arguments = outer.get("scope"), outer.get("arguments", {})
    if not isinstance(scope, Mapping):
        raise InvalidArgument(
            "'scope' is missing",
            field="scope",
            suggested_action="send {scope: {tenant_id, project_id}, arguments: {…}}",
        )
    if not isinstance(arguments, Mapping):
        raise InvalidArgument("'arguments' must be an object", field="arguments", suggested_action="send an object")
    named = parse_arguments(InvocationScope, scope)
    if named.project_id is None:
        raise ProjectScopeMissing
    caller = Caller(tenant_id=named.tenant_id, projects=(named.project_id,), level=named.level, tools=named.tools)
    return caller, {**({"process_id": named.process_id} if named.process_id else {}), **arguments}
