"""The table of routes in `docs/api.md`; what the tools take and answer has one of its own."""

from zarniwoop.entry.route import Route
from zarniwoop.entry.routes import ROUTES


def route_table() -> str:
    """A row per route beside the tools: what it is for, and which tokens it takes."""
    rows = [_row(route) for route in ROUTES if not route.path.startswith("/v1/tools/")]
    return "\n".join(("| route | what it does | token |", "| --- | --- | --- |", *rows))


def _row(route: Route) -> str:
    return f"| `{route.method} {route.path}` | {route.summary} | {_token(route)} |"


def _token(route: Route) -> str:
    if route.public:
        return "none"
    level = f"level {route.level}" if route.level else "any"
    return f"{level}, `{route.right}`" if route.right else level
