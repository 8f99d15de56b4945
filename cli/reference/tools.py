"""The table of tools in README, out of the descriptions that models read: what a tool does, and when to use it."""

import re
from typing import Any

from zarniwoop.tools.registry import TOOLS
from zarniwoop.tools.tool import Tool

_DESCRIPTION = re.compile(r"(?P<what>.+?)\.\s.*?\bUse it (?P<when>.+?)[.:;]\s", re.DOTALL)


def tool_table() -> str:
    """A row per tool of the registry."""
    return "\n".join(("| tool | what it does | use it |", "| --- | --- | --- |", *map(_row, TOOLS)))


def _row(tool: Tool[Any]) -> str:
    told = _DESCRIPTION.match(tool.description)
    if told is None:
        raise ValueError(f"the description of {tool.name} says 'What it does. … Use it when …. …' in another way")
    return f"| `{tool.name}` | {told['what']} | {told['when']} |"
