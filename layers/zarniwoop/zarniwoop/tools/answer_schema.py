"""The JSON Schema (2020-12) of a tool's answer: the envelope, and in it every form that the tool's `data` may take.

Made by pydantic of the data classes themselves. Quirk: what pydantic says of a data class is not quite what
`text.as_json` makes of it: every field is written, also one that has a default, but for those that begin with `_`.
Members that are not named here may come with a later version, so none is forbidden. The dialect is not named: MCP and
OpenAPI 3.1 mean this one by themselves, and some clients' validators refuse what names another than theirs.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from zarniwoop.contract.problem import Problem

_OF_A_CLASS = frozenset(("title", "description", "default"))
"""What pydantic adds of the code: its names, its docstrings, and values that an answer always spells out."""
_NULL = {"type": "null"}


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceLink:
    """One of `evidence[]`, as `evidence_links.link_to` makes it."""

    id: str
    href: str
    source_type: str
    url: str
    title: str
    credibility_score: float
    untrusted: bool


@cache
def answer_schema(*forms: Any) -> dict[str, Any]:
    """Of an envelope whose data is of one of these types, or null. It is kept: to be read, never to be changed."""
    adapters = {"data": TypeAdapter(_either(forms)), "error": TypeAdapter(Problem), "link": TypeAdapter(EvidenceLink)}
    made, shared = TypeAdapter.json_schemas(
        [(name, "serialization", adapter) for name, adapter in adapters.items()], schema_generator=_AsWritten
    )
    data, error, link = (made[name, "serialization"] for name in adapters)
    envelope = {
        "ok": {"type": "boolean"},
        "data": {"anyOf": [*data.get("anyOf", [data]), _NULL]},
        "error": {"anyOf": [error, _NULL]},
        "evidence": {"type": "array", "items": link},
    }
    schema = {"type": "object", "properties": envelope, "required": list(envelope), "$defs": shared["$defs"]}
    return _reachable(_bare(schema))


def _either(forms: tuple[Any, ...]) -> Any:
    first, *others = forms
    for other in others:
        first = first | other
    return first


class _AsWritten(GenerateJsonSchema):
    """Fields with a default are written out like all others; only a `TypedDict` may leave some out."""

    def field_is_required(
        self,
        field: core_schema.ModelField | core_schema.DataclassField | core_schema.TypedDictField,
        total: bool,
    ) -> bool:
        return field.get("required", total) if field["type"] == "typed-dict-field" else True


def _bare(node: Any) -> Any:
    """Without what only a reader of the code could want, and without fields that are not written."""
    if isinstance(node, list):
        return [_bare(each) for each in node]
    if not isinstance(node, dict):
        return node
    told = {key: value for key, value in node.items() if key not in _OF_A_CLASS}
    for named in ("properties", "$defs"):
        if named in told:
            told[named] = {name: _bare(each) for name, each in told[named].items() if not name.startswith("_")}
    if "required" in told:
        told["required"] = [name for name in told["required"] if not name.startswith("_")]
    return {key: value if key in ("properties", "$defs") else _bare(value) for key, value in told.items()}


def _reachable(schema: dict[str, Any]) -> dict[str, Any]:
    """Without definitions that nothing refers to any more."""
    found: set[str] = set()

    def walk(node: Any) -> None:
        for each in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            walk(each)
        name = node["$ref"].rsplit("/", 1)[-1] if isinstance(node, dict) and isinstance(node.get("$ref"), str) else None
        if name is not None and name not in found:
            found.add(name)
            walk(schema["$defs"][name])

    walk({key: value for key, value in schema.items() if key != "$defs"})
    return {**schema, "$defs": {name: each for name, each in schema["$defs"].items() if name in found}}
