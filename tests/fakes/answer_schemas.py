"""Answers held against the schemas that are given out for them, member by member: none is missing, none is unknown."""

import copy
from collections.abc import Mapping
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from zarniwoop.tools.registry import TOOLS
from zarniwoop.tools.schemas import output_schema

_BY_NAME = {tool.name: tool for tool in TOOLS}
_ENVELOPE = {"ok", "data", "error", "evidence"}
_seen: set[tuple[str, Any]] = set()
"""Validating takes long: an answer of the same shape as one before is not looked at again."""


def check_answer(tool: str, answer: Any) -> None:
    """Of whatever a tool's function gave out; what is no envelope (a queue's account) is let through."""
    if tool not in _BY_NAME or not isinstance(answer, Mapping) or set(answer) != _ENVELOPE:
        return
    shape = (tool, _shape(answer))
    if shape not in _seen:
        closed_validator(tool).validate(answer)
        _seen.add(shape)


@cache
def closed_validator(tool: str) -> Draft202012Validator:
    """What is given out lets unknown members through, for the sake of later versions. Here they are told."""
    schema = copy.deepcopy(output_schema(_BY_NAME[tool]))
    Draft202012Validator.check_schema(schema)
    for node in [schema, *schema["$defs"].values()]:
        if "properties" in node:
            node.setdefault("additionalProperties", False)
    return Draft202012Validator(schema)


def _shape(value: Any) -> Any:
    """Names and types; of a list, those that occur in it."""
    if isinstance(value, Mapping):
        return tuple(sorted((name, _shape(each)) for name, each in value.items()))
    if isinstance(value, list):
        return frozenset(_shape(each) for each in value)
    return type(value).__name__
