"""The Python client says what the API says: every route and tool has its method, every argument and answer its type.

All of it is compared with `docs/openapi.json`, so that a later tool, route or field that the client lacks fails here.
"""

import ast
import dataclasses
import inspect
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import SimpleNamespace
from typing import Any, get_args, get_origin

import pytest

import zarniwoop_client
from tests.fakes.openapi import DOCUMENT
from tests.fakes.paths import named_in
from tests.fakes.template import ROOT
from zarniwoop.entry.openapi import ProtectedResource
from zarniwoop.tools.fetched import PagePart
from zarniwoop.tools.registry import TOOLS
from zarniwoop_client import results
from zarniwoop_client.api import READING, SEARCHING, STARTING, VERSION, Api
from zarniwoop_client.evidence import EvidenceMethods
from zarniwoop_client.exchange import Request, Send
from zarniwoop_client.operation import Operation, Streaming
from zarniwoop_client.project import ContinuedMethods, ProjectMethods
from zarniwoop_client.results.record import Record
from zarniwoop_client.retrying import Retrying
from zarniwoop_client.runs import RunMethods
from zarniwoop_client.settings import SettingsMethods
from zarniwoop_client.tools import METHODS, ToolMethods

SURFACES = (ToolMethods, ProjectMethods, ContinuedMethods, RunMethods, EvidenceMethods, SettingsMethods)
SCHEMAS = DOCUMENT["components"]["schemas"]
NOT_FOR_IT = {"/docs": "a page for people", "/mcp": "has clients of its own"}
OF_ANY_TOOL = {"call", "plan"}
INDIRECT = {"pages", "complete"}
"""They ask by other methods' means."""
SAID_OTHERWISE = {"dry_run": "has a method of its own, plan", "If-Match": "is `version`"}
SET_BY_ITSELF = {"X-Deadline-Ms": "what is left of the timeout", "Idempotency-Key": "idempotency_key, or made here"}
VALUES: Mapping[str, Any] = {
    "every": 2.0,
    "urls": ["u"],
    "ids": ["ev-1"],
    "settings": {"a": "b"},
    "timeout": 1.0,
    "mcp": True,
}
UNNAMED: Mapping[str, Any] = {"PagePart": PagePart, "ProtectedResource": ProtectedResource}
"""What the document describes where it stands, without a name."""
ALWAYS = {"Continued": {"tool", "size"}}
CLIENT = ROOT / "cli" / "zarniwoop_client"
NEEDS = {"httpx", "pydantic", "zarniwoop_client"}


def _operations() -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (method.upper(), path): operation
        for path, each in DOCUMENT["paths"].items()
        for method, operation in each.items()
        if method in ("get", "post", "put", "delete") and path not in NOT_FOR_IT
    }


OPERATIONS = _operations()


def _methods(kind: type[Any]) -> Iterator[tuple[str, Any]]:
    for surface in SURFACES:
        for name, each in vars(surface).items():
            if isinstance(each, kind) and name not in OF_ANY_TOOL:
                yield name, each


def _given(flow: Any, *, everything: bool) -> dict[str, Any]:
    """Arguments for a method: all that it takes, or only what it must have."""
    given: dict[str, Any] = {}
    for name, parameter in list(inspect.signature(flow).parameters.items())[1:]:
        if parameter.kind is parameter.VAR_KEYWORD:
            (options,) = get_args(parameter.annotation)
            named = [key for base in (*options.__mro__, options) for key in getattr(base, "__annotations__", ())]
            given |= {key: VALUES.get(key, "x") for key in named} if everything else {}
        elif everything or parameter.default is parameter.empty:
            given[name] = VALUES.get(name, "x")
    return given


def _request(flow: Any, *, everything: bool) -> Request:
    api = Api(url="https://x", project_id=None, timeout=9.0, retrying=Retrying(random=lambda: 0.0))
    step = next(flow(SimpleNamespace(_api=api), **_given(flow, everything=everything)))
    assert isinstance(step, Send)
    return step.request


def _route(request: Request) -> tuple[str, str]:
    """The documented route that a request goes to. A path without placeholders is meant before one with."""
    for method, path in sorted(OPERATIONS, key=lambda each: each[1].count("{")):
        if method == request.method and named_in(path, request.path) is not None:
            return method, path
    raise AssertionError(f"{request.method} {request.path} is no documented route")


def _said(request: Request) -> set[str]:
    """The names of what a request says, apart from its path."""
    return {*request.params, *(request.body or {})}


def _documented(operation: Mapping[str, Any]) -> set[str]:
    """The names of what an operation takes, apart from its path."""
    parameters = {each["name"] for each in operation.get("parameters", ()) if each["in"] != "path"}
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    body = _resolved(content.get("schema", {})).get("properties", {})
    return (parameters | set(body)) - set(SAID_OTHERWISE) - set(SET_BY_ITSELF)


def _resolved(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    return SCHEMAS[schema["$ref"].rsplit("/", 1)[-1]] if "$ref" in schema else schema


def test_every_tool_has_its_method() -> None:
    """And there is no method for a tool that is gone."""
    assert set(METHODS) == {tool.name for tool in TOOLS}
    for tool, method in METHODS.items():
        assert _request(vars(ToolMethods)[method].flow, everything=False).path == f"/v1/tools/{tool}"


def test_the_client_knows_which_tools_spend_and_which_keep_keys_themselves() -> None:
    """So that nothing is started or paid for twice by a request that is sent again."""
    spends = {tool.name for tool in TOOLS if "free_only" in tool.arguments.model_fields}
    starts = {tool.name for tool in TOOLS if "idempotency_key" in tool.arguments.model_fields}
    assert {tool.name for tool in TOOLS} - spends == READING
    assert starts == STARTING
    assert spends - starts - {"web_fetch"} == SEARCHING
    assert {tool.name for tool in TOOLS if {"max_cost", "max_calls", "cache"} & tool.arguments.model_fields.keys()} <= (
        SEARCHING | STARTING
    )


def test_every_route_has_a_method_and_no_method_asks_for_another() -> None:
    """With as little as a method needs, and with everything that it takes."""
    reached = {
        _route(_request(each.flow, everything=everything))
        for kind in (Operation, Streaming)
        for name, each in _methods(kind)
        if name not in INDIRECT
        for everything in (False, True)
    }
    assert reached == set(OPERATIONS)


@pytest.mark.parametrize("route", OPERATIONS, ids=" ".join)
def test_a_routes_arguments_are_those_of_its_methods(route: tuple[str, str]) -> None:
    """Together they can say all that the API takes, and nothing that it does not."""
    said: set[str] = set()
    for name, each in _methods(Operation):
        if name not in INDIRECT:
            request = _request(each.flow, everything=True)
            said |= _said(request) if _route(request) == route else set()
    assert said == _documented(OPERATIONS[route])


@pytest.mark.parametrize("route", OPERATIONS, ids=" ".join)
def test_a_methods_answer_is_what_the_document_says(route: tuple[str, str]) -> None:
    """By its name; where several are possible, the method names those that it asks for."""
    documented = _answers_of(OPERATIONS[route])
    for name, each in _methods(Operation):
        if name not in INDIRECT and _route(_request(each.flow, everything=True)) == route:
            assert _record_names(each.flow) - set(UNNAMED) <= documented, name


def _answers_of(operation: Mapping[str, Any]) -> set[str]:
    """The names of all schemas that `data` of a good answer can have, or the body of one without an envelope."""
    names = set()
    for status in {"200", "202"} & set(operation["responses"]):
        schema = operation["responses"][status]["content"]["application/json"]["schema"]
        names |= set(_named(schema))
        for name in _named(schema):
            names |= set(_named(SCHEMAS[name]["properties"].get("data", {})))
    return names


def _named(schema: Mapping[str, Any]) -> Iterator[str]:
    """The names of the schemas that it is made of."""
    if "$ref" in schema:
        yield schema["$ref"].rsplit("/", 1)[-1]
    for kind in ("allOf", "anyOf", "oneOf"):
        for each in schema.get(kind, ()):
            yield from _named(each)


def _record_names(flow: Any) -> set[str]:
    (data,) = get_args(get_args(inspect.signature(flow).return_annotation)[2])
    if get_origin(data) is None:
        return {data.__name__} if isinstance(data, type) and issubclass(data, Record) else set()
    return {each.__name__ for each in get_args(data)}


def _records() -> list[type[Record]]:
    modules = [import_module(f"{results.__name__}.{each.name}") for each in iter_modules(results.__path__)]
    named = {name: each for module in modules for name, each in vars(module).items() if inspect.isclass(each)}
    found = [each for each in named.values() if issubclass(each, Record) and each is not Record]
    return [*found, zarniwoop_client.EvidenceLink]


@pytest.mark.parametrize("record", _records(), ids=lambda record: record.__name__)
def test_a_record_has_the_fields_of_its_schema(record: type[Record]) -> None:
    """All of them under their own names, and it insists on none that the API may leave out."""
    fields, always = _fields_of(record.__name__)
    assert set(record.model_fields) == fields
    assert {name for name, each in record.model_fields.items() if each.is_required()} <= always


def _fields_of(name: str) -> tuple[set[str], set[str]]:
    """All fields of an answer's part, and those that are always there."""
    if name in UNNAMED:
        known = dataclasses.fields(UNNAMED[name])
        return {each.name for each in known}, {each.name for each in known if each.default is dataclasses.MISSING}
    schema = SCHEMAS[name]
    return set(schema["properties"]), set(schema.get("required", ())) | ALWAYS.get(name, set())


def test_the_client_needs_httpx_and_pydantic_and_nothing_of_the_stack() -> None:
    """It ships to users, who have neither the layer nor its dependencies."""
    imported = {name.partition(".")[0] for path in CLIENT.rglob("*.py") for name in _imports(path)}
    assert imported - set(sys.stdlib_module_names) == NEEDS
    assert (CLIENT / "py.typed").is_file()


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            yield node.module or ""


def test_the_client_has_the_version_of_the_stack() -> None:
    """They are released together."""
    assert DOCUMENT["info"]["version"] == VERSION
