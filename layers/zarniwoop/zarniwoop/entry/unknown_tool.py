"""Events that ask for a tool that there is not: refused on the bus, where whoever asked listens for an answer.

A rule per tool matches the events that name it; without this one, an event with a misspelt name would match none and
be gone. Its pattern lists every tool's name under `anything-but`, which a house rule keeps in step with the registry.
Quirk: to a pattern, a `tool` that is an object or an empty list is no field at all, so such an event reaches the tool
that answers events without one; that tool refuses it in the same words (`entry.tool`).
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from zarniwoop.entry.answers import refused
from zarniwoop.entry.lambda_context import LambdaContext
from zarniwoop.entry.replies import publish
from zarniwoop.entry.tool import Handler, read_back
from zarniwoop.tools.registry import no_such_tool
from zarniwoop.wiring import Environment, environment

NAMELESS = "unknown"
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def unknown_tool(environment: Callable[[], Environment] = environment) -> Handler:
    """The Lambda handler behind the rule for every other name."""

    def handler(event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
        services = environment()
        services.begin(context.aws_request_id)
        try:
            result = refused(no_such_tool())
            publish(services, _named(event.get("detail")), str(event.get("id") or context.aws_request_id), result)
            return read_back(result)
        finally:
            services.finish()

    return handler


def _named(detail: Any) -> str:
    """The name as it was given, so that the answer can be told by it; whatever could not be one is not repeated."""
    name = detail.get("tool") if isinstance(detail, Mapping) else None
    return name if isinstance(name, str) and _NAME.fullmatch(name) else NAMELESS
