"""Events that ask for a tool in every way that there is, and whose rule each of them is for."""

from typing import Any

from tests.fakes.template import resources
from zarniwoop.tools.registry import TOOLS

ABSENT = object()
"""The event has no `detail.tool`."""

ASKED_FOR: dict[str, tuple[Any, set[str]]] = {
    **{tool.name: (tool.name, {tool.name}) for tool in TOOLS},
    "none": (ABSENT, {"research_search"}),
    "misspelt": ("reserach_search", {"unknown_tool"}),
    "in capitals": ("Research_Search", {"unknown_tool"}),
    "with a blank": ("research_search ", {"unknown_tool"}),
    "empty": ("", {"unknown_tool"}),
    "null": (None, {"unknown_tool"}),
    "number": (7, {"unknown_tool"}),
    "truth": (True, {"unknown_tool"}),
    "list of one unknown": (["web_crawl"], {"unknown_tool"}),
    "list of one tool": (["research_rich"], {"research_rich"}),
    "list of both": (["research_rich", "web_crawl"], {"research_rich", "unknown_tool"}),
    "object": ({"name": "research_rich"}, {"research_search"}),
}
NO_LEAF: dict[str, tuple[Any, set[str]]] = {
    "empty object": ({}, {"research_search"}),
    "empty list": ([], {"research_search"}),
}
"""To a pattern, these are no field at all. moto takes them for one; AWS and the emulator do not."""


def detail(tool: Any) -> dict[str, Any]:
    """What such an event says; nobody could carry it out, whoever gets it."""
    return {"scope": {"tenant_id": "acme", "project_id": "demo"}, **({} if tool is ABSENT else {"tool": tool})}


def patterns() -> dict[str, Any]:
    """The patterns of all rules for requests, by the folder of their function, as the template has them."""
    found = {}
    for properties in resources("AWS::Serverless::Function").values():
        for event in properties.get("Events", {}).values():
            pattern = event["Properties"].get("Pattern", {})
            if pattern.get("detail-type") == ["ResearchRequested"]:
                found[properties["CodeUri"].split("/")[1]] = pattern
    return found
