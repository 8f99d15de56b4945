"""MCP's official client in Python of the line 1.x, at an endpoint: lists the tools, calls those that it is told to.

Run by the interpreter of `.clients-venv`. Told on stdin as JSON: `url`, `token`, `revision` and `calls`, a list of
[tool, arguments]; tells on stdout what `tests.clients.session.Session` has. It checks structured answers against the
output schemas that were listed, and raises where one does not fit.
"""

import asyncio
import importlib
import json
import sys
from typing import Any

PATIENCE = 40.0


async def session(url: str, token: str, revision: str, calls: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    """What was agreed upon, listed, and answered. The modules are of another line than the tests' own."""
    mcp: Any = importlib.import_module("mcp")
    httpx: Any = importlib.import_module("httpx")
    streams: Any = importlib.import_module("mcp.client.streamable_http")
    importlib.import_module("mcp.types").LATEST_PROTOCOL_VERSION = revision  # type: ignore[attr-defined]
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx.AsyncClient(headers=headers, timeout=PATIENCE, trust_env=False) as http,
        streams.streamable_http_client(url, http_client=http) as (reader, writer, session_id),
        mcp.ClientSession(reader, writer) as client,
    ):
        agreed = await client.initialize()
        await client.send_ping()
        assert session_id() is None, "there is no session"
        tools = [tool.name for tool in (await client.list_tools()).tools]
        results = {name: _told(await client.call_tool(name, arguments)) for name, arguments in calls}
    return {
        "revision": agreed.protocolVersion,
        "server": agreed.serverInfo.name,
        "tools": tools,
        "results": results,
    }


def _told(result: Any) -> dict[str, Any]:
    return {"text": result.content[0].text, "structured": result.structuredContent, "is_error": result.isError}


if __name__ == "__main__":
    json.dump(asyncio.run(session(**json.load(sys.stdin))), sys.stdout)
