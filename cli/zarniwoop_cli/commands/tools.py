"""The tools: those that people use most by commands of their own, and each of the registry by `call`."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from zarniwoop_cli.catalogue import as_arguments, catalogue, command_name, fields_of, known_tools
from zarniwoop_cli.command import command
from zarniwoop_cli.fields import (
    CACHE,
    DRY_RUN,
    FILTERS,
    FREE_ONLY,
    LOCALE,
    MAX_CHARS,
    MODALITY,
    PROCESS,
    QUERY,
    SEARCHING,
    STORE_EVIDENCE,
    Field,
    PageFormat,
    field,
    given,
)
from zarniwoop_cli.session import Form, Session


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCommand:
    """A command that is nothing but a call of one tool."""

    name: str
    tool: str
    help: str
    fields: tuple[Field, ...]


TOOL_COMMANDS = (
    ToolCommand(
        name="search",
        tool="research_search",
        help="Search the best index for the kind of thing that you look for.",
        fields=(QUERY, MODALITY, *SEARCHING, STORE_EVIDENCE),
    ),
    ToolCommand(
        name="expert",
        tool="research_search_expert",
        help="Search with filters, or by one provider alone.",
        fields=(QUERY, MODALITY, *FILTERS, *SEARCHING, STORE_EVIDENCE),
    ),
    ToolCommand(
        name="rich",
        tool="research_rich",
        help="Search web, images, videos and news side by side.",
        fields=(QUERY, *SEARCHING, STORE_EVIDENCE),
    ),
    ToolCommand(
        name="web",
        tool="web_search",
        help="Search the web and keep the hits as evidence.",
        fields=(
            QUERY,
            field("domains", str, "Only this domain and everything below it; repeatable.", "--domain", many=True),
            field("freshness_days", int, "Published within so many days before today."),
            *SEARCHING,
            field("store_evidence", bool, "Whether the hits are kept.", "--store-evidence/--no-store-evidence"),
        ),
    ),
    ToolCommand(
        name="fetch",
        tool="web_fetch",
        help="Read pages as text, and keep them as evidence.",
        fields=(
            field("urls", str, "The pages to read, up to ten.", positional=True, many=True),
            field("format", PageFormat, "What to have of them.", "--format", "-f"),
            field("quotes", str, "A passage that is looked for in every page; repeatable.", "--quote", "-q", many=True),
            field("store", bool, "Whether what is read is kept as evidence.", "--store/--no-store"),
            field("refresh", bool, "Ask for the whole page although it is stored."),
            field("task_id", str, "A task of yours that the evidence is kept under."),
            FREE_ONLY,
            MAX_CHARS,
            DRY_RUN,
        ),
    ),
    ToolCommand(
        name="geo",
        tool="geo_resolve",
        help="Turn a place or an address into coordinates, or these into a place.",
        fields=(
            field("query", str, "A place or address, or `latitude, longitude`.", positional=True),
            field("max_results", int, "How many places at most, 1 to 20.", "--max-results", "-n"),
            LOCALE,
            CACHE,
            FREE_ONLY,
            STORE_EVIDENCE,
            DRY_RUN,
        ),
    ),
    ToolCommand(
        name="providers",
        tool="research_providers",
        help="Show who can be asked, and in what state they are.",
        fields=(
            field("provider_id", str, "Tell of this instance alone.", "--id"),
            field("detail", bool, "Tell everything of each."),
            MAX_CHARS,
            DRY_RUN,
        ),
    ),
    ToolCommand(
        name="more",
        tool="result_read",
        help="Read on where an answer had to end, for up to an hour.",
        fields=(
            field("handle", str, "`size.handle` of the answer before.", positional=True),
            field("max_chars", int, "Another bound than the answer before had."),
            DRY_RUN,
        ),
    ),
)


def register(app: typer.Typer) -> None:
    for each in (*TOOL_COMMANDS, *default_commands()):
        _register_tool(app, each)
    command(app, "call")(call)
    command(app, "tools")(tools)


def default_commands() -> tuple[ToolCommand, ...]:
    """For every tool that nobody made a command for, under its own name."""
    made = {*(each.tool for each in TOOL_COMMANDS), "research_investigate"}
    return tuple(
        ToolCommand(
            name=command_name(tool["name"]),
            tool=tool["name"],
            help=tool["description"],
            fields=fields_of(tool["arguments"]),
        )
        for tool in catalogue()
        if tool["name"] not in made
    )


def _register_tool(app: typer.Typer, spec: ToolCommand) -> None:
    def body(session: Session, **values: Any) -> None:
        session.call(spec.tool, given(as_arguments(values)))

    body.__doc__ = spec.help
    command(app, spec.name, fields=(*spec.fields, PROCESS))(body)


def call(
    session: Session,
    tool: Annotated[str, typer.Argument(help="The tool's name: `tools` lists them.", autocompletion=known_tools)],
    arguments: Annotated[
        list[str] | None, typer.Argument(help="name=text, or name:=JSON: query=graphene max_results:=3")
    ] = None,
    json_arguments: Annotated[
        str | None, typer.Option(help="All of them as a JSON object; @FILE reads a file, - stdin.")
    ] = None,
) -> None:
    """Call any tool by its name, be it newer than this command."""
    session.call(tool, {**_object(json_arguments), **_pairs(arguments or ())})


def tools(
    session: Session,
    shape: Annotated[
        str | None, typer.Option("--format", "-f", help="Only schemas, as json_schema, openai, anthropic, bedrock …")
    ] = None,
) -> None:
    """List the tools that your token may use, with their schemas by --json or --format."""
    answer = session.client.tools(shape)
    listed = answer.data["tools"]
    if session.form is Form.PEOPLE and shape is None:
        from zarniwoop_cli.show.state import show_tools

        show_tools(listed, session.printer)
    elif session.form is Form.JSONL:
        session.write_lines(listed)
    else:
        session.write_json(answer.data, indent=2)


def _object(text: str | None) -> Mapping[str, Any]:
    if text is None:
        return {}
    try:
        source = sys.stdin.read() if text == "-" else Path(text[1:]).read_text("utf-8") if text[:1] == "@" else text
        value = json.loads(source)
    except OSError as error:
        raise typer.BadParameter(f"--json-arguments: {text[1:]} cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise typer.BadParameter("--json-arguments is no JSON") from error
    if not isinstance(value, dict):
        raise typer.BadParameter('--json-arguments must be an object: {"query": "graphene"}')
    return value


def _pairs(words: Sequence[str]) -> Mapping[str, Any]:
    """`name:=JSON` or `name=text`; what stands before the first `=` decides."""
    told: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.rstrip(":"):
            raise typer.BadParameter(f"{word!r} is neither name=text nor name:=JSON")
        if not name.endswith(":"):
            told[name] = value
            continue
        try:
            told[name[:-1]] = json.loads(value)
        except ValueError as error:
            raise typer.BadParameter(f"{name[:-1]} is no JSON; for text write {name[:-1]}=…") from error
    return told
