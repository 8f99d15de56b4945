"""`tools/list`: tools as MCP describes them, a page at a time.

A cursor says which tool comes next by its name, so that it holds for another environment, and across a deployment that
adds tools. Nothing is kept of it.
"""

import base64
import binascii
from collections.abc import Sequence
from typing import Any

from zarniwoop.mcp.faults import ProtocolFault
from zarniwoop.mcp.revisions import Code
from zarniwoop.tools.schemas import SchemaFormat, output_schema, tool_schema
from zarniwoop.tools.tool import Tool

PAGE = 50
"""All of them: some clients read the first page only."""


def described(tool: Tool[Any]) -> dict[str, Any]:
    """One tool, with the schema of its answers."""
    return {**tool_schema(tool, SchemaFormat.MCP), "outputSchema": output_schema(tool)}


def page_of(tools: Sequence[Tool[Any]], usable: Sequence[Tool[Any]], cursor: Any, page: int = PAGE) -> dict[str, Any]:
    """Those of `usable` from the cursor on; `tools` are all there are, in their order. Raises ProtocolFault."""
    rest = usable
    if cursor is not None:
        after = [tool.name for tool in tools].index(_next_of(tools, cursor))
        allowed = {tool.name for tool in usable}
        rest = [tool for tool in tools[after:] if tool.name in allowed]
    listed = {"tools": [described(tool) for tool in rest[:page]]}
    return listed if len(rest) <= page else {**listed, "nextCursor": cursor_to(rest[page])}


def cursor_to(tool: Tool[Any]) -> str:
    return base64.urlsafe_b64encode(tool.name.encode()).decode()


def _next_of(tools: Sequence[Tool[Any]], cursor: Any) -> str:
    try:
        name = base64.urlsafe_b64decode(cursor).decode() if isinstance(cursor, str) else ""
    except (binascii.Error, ValueError):
        name = ""
    if name not in {tool.name for tool in tools}:
        raise ProtocolFault(Code.INVALID_PARAMS, "params.cursor is none of this server's")
    return name
