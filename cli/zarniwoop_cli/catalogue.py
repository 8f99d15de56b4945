"""The tools as the command was made for them, and their arguments as options of commands.

`tools.json` is written by `make docs` out of the registry, so that a new tool has its command by itself.
"""

import json
import keyword
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

import typer

from zarniwoop_cli.fields import DRY_RUN, MAX_CHARS, Field

FILE = Path(__file__).parent / "tools.json"
_KINDS: Mapping[str, Any] = {"text": str, "integer": int, "number": float, "boolean": bool}
_OF_EVERY_COMMAND = {"project_id", "process_id"}
_TAKEN = {"url", "token", "project", "process", "timeout", "as_json", "as_lines", "json", "jsonl", "help", "session"}
_MARKUP = re.compile(r"(\[[a-z#/@])")


def catalogue() -> list[dict[str, Any]]:
    """Every tool of the registry."""
    read: list[dict[str, Any]] = json.loads(FILE.read_text("utf-8"))
    return read


def known_tools(incomplete: str = "") -> list[str]:
    """What the shell completes, which asks at every key, so that no stack is asked."""
    return sorted(tool["name"] for tool in catalogue() if tool["name"].startswith(incomplete))


def command_name(tool: str) -> str:
    return tool.replace("_", "-")


def fields_of(arguments: Sequence[Mapping[str, Any]]) -> tuple[Field, ...]:
    """What stands first without its name is the one text that has to be there, if there is one alone."""
    own = [each for each in arguments if each["name"] not in _OF_EVERY_COMMAND]
    texts = [each["name"] for each in own if each.get("required") and _is_text(each)]
    shared = {each.name: each for each in (DRY_RUN, MAX_CHARS)}
    return tuple(shared.get(each["name"]) or _field(each, positional=texts == [each["name"]]) for each in own)


def as_arguments(values: Mapping[str, Any]) -> dict[str, Any]:
    """Under the tool's names again."""
    return {name.removesuffix("__"): value for name, value in values.items()}


def _is_text(argument: Mapping[str, Any]) -> bool:
    return argument["type"] == "text" and not argument.get("choices")


def _field(argument: Mapping[str, Any], *, positional: bool) -> Field:
    name = argument["name"]
    taken = name in _TAKEN
    return Field(
        name=f"{name}__" if taken or keyword.iskeyword(name) else name,
        kind=_kind(argument),
        help=_help(argument),
        flags=_flags(f"--argument-{name}" if taken else f"--{name}", argument),
        positional=positional,
        many=bool(argument.get("many")),
        required=bool(argument.get("required")),
        parser=_json if argument["type"] == "json" else None,
    )


def _flags(flag: str, argument: Mapping[str, Any]) -> tuple[str, ...]:
    flag = flag.replace("_", "-")
    if argument["type"] == "boolean":
        return (f"{flag}/--no-{flag[2:]}",)
    return (flag,)


def _kind(argument: Mapping[str, Any]) -> Any:
    if choices := argument.get("choices"):
        return StrEnum("Choice", {f"choice_{place}": word for place, word in enumerate(choices)})
    return _KINDS.get(argument["type"], str)


def _help(argument: Mapping[str, Any]) -> str:
    told = argument["description"]
    if "default" in argument:
        told += f" Usually {json.dumps(argument['default'], ensure_ascii=False)}."
    if argument["type"] == "json":
        told += " As JSON."
    return _MARKUP.sub(r"\\\1", told.strip())


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise typer.BadParameter("it is no JSON") from error
