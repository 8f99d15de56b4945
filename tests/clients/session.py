"""One session of each of MCP's official clients: connect, list the tools, call them.

The newest in Python runs here; the others where they are installed, by `make`: `.clients-venv` and `node_modules`.
"""

import asyncio
import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
STATELESS, NEWER, OLDER = "2026-07-28", "2025-11-25", "2025-06-18"
PATIENCE = 120.0

Call = tuple[str, Mapping[str, Any]]
"""A tool's name and its arguments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where to speak MCP, and as whom."""

    url: str
    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What a client made of it; `results` by tool: the `text` and the `structured` content, and `is_error`."""

    revision: str
    server: str
    tools: list[str]
    results: dict[str, dict[str, Any]]


def newest_python(endpoint: Endpoint, mode: str, calls: Sequence[Call]) -> Session:
    """By `mcp` 2.x: `auto` negotiates by `server/discover`, `legacy` shakes hands."""

    async def talk() -> Session:
        headers = {"Authorization": f"Bearer {endpoint.token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=40, trust_env=False) as http,
            Client(streamable_http_client(endpoint.url, http_client=http), mode=mode) as client,
        ):
            listed = await client.list_tools()
            results = {name: _told(await client.call_tool(name, dict(given))) for name, given in calls}
            assert client.server_info is not None
            return Session(
                revision=client.protocol_version,
                server=client.server_info.name,
                tools=[tool.name for tool in listed.tools],
                results=results,
            )

    return asyncio.run(talk())


def _told(result: Any) -> dict[str, Any]:
    text = result.content[0].text
    return {"text": text, "structured": result.structured_content, "is_error": bool(result.is_error)}


def older_python(endpoint: Endpoint, revision: str, calls: Sequence[Call]) -> Session:
    """By `mcp` 1.x."""
    command = [str(ROOT / ".clients-venv" / "bin" / "python"), str(FOLDER / "mcp_1x.py")]
    return _asked(command, endpoint, {"revision": revision, "calls": calls})


def typescript(endpoint: Endpoint, line: int, revision: str, calls: Sequence[Call]) -> Session:
    """By @modelcontextprotocol/sdk (line 1) or @modelcontextprotocol/client (line 2)."""
    command = [str(shutil.which("node")), str(FOLDER / "mcp_client.mjs")]
    return _asked(command, endpoint, {"line": line, "revision": revision, "calls": calls})


def why_no_typescript() -> str:
    """Why the clients in TypeScript cannot run here; nothing if they can."""
    if shutil.which("node") is None:
        return "there is no Node.js"
    if not (FOLDER / "node_modules" / ".ready").exists():
        return "make test installs the clients in TypeScript where npm reaches a registry"
    told = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    return "" if int(told.strip().removeprefix("v").partition(".")[0]) >= 20 else "they need Node.js 20"


def _asked(command: list[str], endpoint: Endpoint, told: Mapping[str, Any]) -> Session:
    given = json.dumps({"url": endpoint.url, "token": endpoint.token, **told})
    ended = subprocess.run(  # noqa: S603 - our own script
        command, input=given, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert ended.returncode == 0, ended.stderr.replace(endpoint.token, "…")[-4000:]
    return Session(**json.loads(ended.stdout))
