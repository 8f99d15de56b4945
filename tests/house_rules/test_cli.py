"""The command line has what the registry has: every tool, every argument, every kind of answer."""

import ast
import dataclasses
import importlib
import json
import re
import sys
import tomllib
from types import UnionType
from typing import Any, get_args

import pytest

import zarniwoop_client
from reference.__main__ import documents
from reference.commands import known_tools as known_tools_file
from tests.fakes.template import ROOT
from tests.functional.command_line import zarniwoop
from tests.house_rules.test_layout import imported
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.page import PageFormat
from zarniwoop.contract.request import CacheUse, Strategy
from zarniwoop.tools.registry import TOOLS
from zarniwoop.tools.tool import Tool
from zarniwoop_cli import fields
from zarniwoop_cli.catalogue import FILE, fields_of, known_tools
from zarniwoop_cli.commands.tools import TOOL_COMMANDS, default_commands
from zarniwoop_cli.exits import MEANING
from zarniwoop_cli.show.shapes import SHAPES

_BY_COMMANDS_OF_THEIR_OWN = {
    "research_investigate": fields.INVESTIGATING,
    **{each.tool: (*each.fields, fields.PROCESS) for each in TOOL_COMMANDS},
}
_MEANT_OTHERWISE = {"project_id", "wait"}
"""--project is every command's, and `investigate` waits by watching."""


@pytest.mark.parametrize("name", sorted(_BY_COMMANDS_OF_THEIR_OWN))
def test_a_command_of_a_tool_has_an_option_for_each_of_its_arguments(name: str) -> None:
    """Named alike, so that whoever knows one knows the other; a new argument fails here until it has its line."""
    (tool,) = [each for each in TOOLS if each.name == name]
    offered = {each.name for each in _BY_COMMANDS_OF_THEIR_OWN[name]}
    assert offered == tool.arguments.model_fields.keys() - _MEANT_OTHERWISE


def test_the_words_of_options_are_those_of_the_contract() -> None:
    """Closed lists, which the shell completes."""
    pairs = [
        (fields.Modality, SearchModality),
        (fields.Strategy, Strategy),
        (fields.CacheUse, CacheUse),
        (fields.PageFormat, PageFormat),
    ]
    for offered, known in pairs:
        assert [str(each) for each in offered] == [str(each) for each in known]


def test_the_shell_completes_every_tool() -> None:
    """Of the registry; `call` takes later ones as well."""
    assert set(known_tools()) == {tool.name for tool in TOOLS}


def test_every_tool_has_one_command_of_its_own() -> None:
    """Made by hand or by default, under names that no other command has."""
    reached = [*_BY_COMMANDS_OF_THEIR_OWN, *(each.tool for each in default_commands())]
    assert sorted(reached) == sorted(tool.name for tool in TOOLS)
    shown = _commands_shown()
    assert len(shown) == len(set(shown))
    assert {each.name for each in (*TOOL_COMMANDS, *default_commands())} <= set(shown)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_could_have_a_command_by_default(tool: Tool[Any]) -> None:
    """With an option for each argument of the registry; whose project and process it is, all commands say."""
    (entry,) = [each for each in json.loads(known_tools_file()) if each["name"] == tool.name]
    offered = {each.name.removesuffix("__") for each in fields_of(entry["arguments"])}
    assert offered == tool.arguments.model_fields.keys() - {"project_id", "process_id"}


def test_what_the_command_knows_of_tools_is_installed_with_it() -> None:
    """Its text is compared with the registry's among the documents; `make docs` writes it anew."""
    package = tomllib.loads((ROOT / "cli" / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    assert FILE.name in package["package-data"]["zarniwoop_cli"]
    assert FILE in documents()


def test_what_is_installed_elsewhere_is_whole() -> None:
    """The entry point leads somewhere, and everything that is imported is asked for; the project's lock has it too."""
    package = tomllib.loads((ROOT / "cli" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, function = package["scripts"]["zarniwoop"].partition(":")
    assert callable(getattr(importlib.import_module(module), function))
    asked_for = {re.split("[<>=]", each)[0] for each in package["dependencies"]}
    folders = [ROOT / "cli" / name for name in ("zarniwoop_cli", "zarniwoop_client")]
    trees = [ast.parse(path.read_text(encoding="utf-8")) for folder in folders for path in folder.rglob("*.py")]
    names = {name.partition(".")[0] for tree in trees for name in imported(tree)}
    assert names - set(sys.stdlib_module_names) - {folder.name for folder in folders} == asked_for
    assert package["version"] == zarniwoop_client.VERSION


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_kind_of_answer_is_shown_to_people(tool: Tool[Any]) -> None:
    """As lines and tables; what is shown as bare JSON would be a tool that nobody thought of."""
    kinds = get_args(tool.answer) if isinstance(tool.answer, UnionType) else (tool.answer,)
    for kind in kinds:
        assert any(shape.members <= _members(kind) for shape in SHAPES), kind


def _members(kind: Any) -> set[str]:
    needed = getattr(kind, "__required_keys__", None)
    return set(needed) if needed else {each.name for each in dataclasses.fields(kind)}


def test_the_exit_codes_are_in_the_help_and_on_the_operations_page() -> None:
    """Scripts stand on them."""
    told = " ".join(zarniwoop("--help", variables={"COLUMNS": "200"}).stdout.split())
    page = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    for number, meaning in MEANING.items():
        assert f"{number.value} {meaning}" in told
        assert re.search(rf"^\| {number.value} \| {re.escape(meaning)} \|$", page, re.MULTILINE)


def test_every_command_is_on_the_operations_page() -> None:
    """In the first cells of its table."""
    page = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    shown = _commands_shown()
    assert shown
    told = " ".join(re.findall(r"^\| (`[a-z][^|]*) \|", page, re.MULTILINE))
    for name in shown:
        assert re.search(rf"`{name}[ `]", told), name


def _commands_shown() -> list[str]:
    return re.findall(r"^│ ([a-z][a-z-]*) ", zarniwoop("--help", variables={"COLUMNS": "200"}).stdout, re.MULTILINE)
