"""How each snippet of README is run against the deployed stack, and what must come of it."""

import io
import json
import re
from contextlib import closing
from dataclasses import replace

import httpx
from rich.console import Console

from stack import places
from stack.demo import Demo, farewell
from stack.token import Wanted, issue
from tests.e2e.bus import heard
from tests.fakes.mcp import headers, request
from tests.snippets.blocks import Block
from tests.snippets.shapes import assert_shows
from tests.snippets.world import World
from zarniwoop.tools.registry import TOOLS

_FOUND = re.compile(r"The search found “.+” at https?://\S+\.")
_LANGCHAIN_MODEL = """
import asyncio
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult

class Scripted(BaseChatModel):
    _llm_type = "scripted"
    def bind_tools(self, tools, **options):
        print(*sorted(tool.name for tool in tools))
        return self
    def _generate(self, messages, stop=None, run_manager=None, **options):
        call = {"name": "research_search", "args": {"query": "bells", "modality": "ENCYCLOPEDIA"}, "id": "1"}
        last = messages[-1]
        said = AIMessage(str(last.content)) if last.type == "tool" else AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=said)])

print(asyncio.run(ask(Scripted(), "What is known of bells?")))
"""


def the_demo(world: World, command: Block, shown: Block) -> None:
    """Its last act in a project of its own, because that leaves a cooldown; make would begin it."""
    world.bash(command.text)
    project = "snippets-demo"
    token = issue(world.stack.target, Wanted(tenant_id=world.stack.tenant_id, projects=(project,)))
    told = io.StringIO()
    with closing(Demo(replace(world.stack, token=token, project_id=project), Console(file=told, width=200))) as demo:
        demo.failover()
    came = told.getvalue().replace(" (cold start)", "")  # there, it is not the first call
    assert_shows(shown.text, came + farewell(38))


def the_first_answer(world: World, commands: Block, shown: Block) -> None:
    """As it is printed, with a stack that is up already."""
    assert_shows(shown.text, world.bash(f"{commands.text}\nwait $!"))


def the_variables(world: World, line: Block) -> None:
    """Out of the file of the stack."""
    told = world.bash(f'{line.text}\necho "$ZARNIWOOP_URL" "$ZARNIWOOP_TOKEN"', ZARNIWOOP_URL="", ZARNIWOOP_TOKEN="")
    assert told.split() == [world.stack.api_url, world.stack.token]


def claude(world: World, configuration: Block) -> None:
    """What Claude Code would connect to lists the tools."""
    variables = {"${ZARNIWOOP_URL}": world.stack.api_url, "${ZARNIWOOP_TOKEN}": world.stack.token}
    filled = re.sub(r"\$\{\w+\}", lambda named: variables[named.group()], configuration.text)
    server = json.loads(filled)["mcpServers"]["zarniwoop"]
    assert server.pop("type") == "http"
    message = request("tools/list")
    given = {"Accept": "application/json, text/event-stream", **headers(message), **server.pop("headers")}
    listed = httpx.post(json=message, headers=given, timeout=40, trust_env=False, **server).json()
    assert {tool["name"] for tool in listed["result"]["tools"]} == {tool.name for tool in TOOLS}


def anthropic_sdk(world: World, code: Block) -> None:
    """Its model finds something by a tool."""
    assert _FOUND.fullmatch(world.python(code.text).strip())


def openai_agent(world: World, code: Block) -> None:
    """It lists the tools over MCP, and its model finds something by one."""
    assert _FOUND.fullmatch(world.python(code.text).strip())


def mcp_sdk(world: World, code: Block) -> None:
    """The title of a hit."""
    assert world.python(code.text).strip()


def langchain(world: World, code: Block) -> None:
    """In the environment of strangers' clients, with a model that calls one tool and repeats what it said."""
    python = places.ROOT / ".clients-venv" / "bin" / "python"
    names, said = world.python(code.text + _LANGCHAIN_MODEL, python=python).split("\n", 1)
    assert set(names.split()) == {tool.name for tool in TOOLS}
    assert "https://" in said


def curl(world: World, code: Block) -> None:
    """An envelope with hits."""
    found = json.loads(world.bash(code.text))
    assert found["ok"] is True
    assert 1 <= len(found["data"]["hits"]) <= 3


def from_aws(world: World, line: Block, code: Block) -> None:
    """The title of a hit, in a shell that knows of AWS what the line tells it."""
    nothing = {name: "" for name in world.stack.target.environment() if name.startswith("AWS_")}
    assert world.bash(f"{line.text}\npython - <<'END'\n{code.text}\nEND", **nothing).strip()


def queue_and_bus(world: World, code: Block) -> None:
    """Two answers on the bus: to the message, and to the event."""
    with heard(world.stack) as events:
        world.python(code.text)
        told = events(2)
    assert [(each["type"], each["tool"], each["result"]["ok"]) for each in told] == [
        ("ResearchAnswered", "research_search", True)
    ] * 2


def command_line(world: World, code: Block) -> None:
    """A hit a line, an investigation's survivors, and what the doctor says."""
    told = world.bash(code.text)
    assert json.loads(told.splitlines()[0])["title"]
    assert "history of cathedral bells" in told or "succeeded" in told
    assert "✓ it is there, and it is Zarniwoop" in told


def python(world: World, code: Block) -> None:
    """Three hits, and the survivors of an investigation in their order."""
    *hits, first = (line for line in world.python(code.text).splitlines() if re.search(r" https?://\S+$|^1 ", line))
    assert len(hits) == 3
    assert first.startswith("1 ")


def deploying(world: World, code: Block) -> None:
    """What make would do; a token and a parameter are made, in the emulator."""
    token = world.bash(code.text).split()[-1]
    assert token.startswith("zw_")
    name = "/zarniwoop/zarniwoop/acme/_tenant/research/endpoint/wiki-en/protocol"
    ssm = world.stack.session().client("ssm", endpoint_url=world.stack.endpoint_url)
    assert ssm.get_parameter(Name=name)["Parameter"]["Value"] == "wikipedia"
    ssm.delete_parameter(Name=name)
