"""What an operation answers: the envelope with its data, and by status every kind of problem that may come with it.

Examples of what went well are recorded (`docs/examples.json`), those of problems are made of their catalogue.
"""

import json
from collections.abc import Iterable
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from reference.openapi_components import Components
from zarniwoop.entry.problems import PROBLEMS, TYPE_PREFIX, ProblemKind
from zarniwoop.entry.route import TO_ANYBODY, TO_BODIES, TO_TOKENS, Route, RpcAnswer
from zarniwoop.tools.answer_schema import answer_schema
from zarniwoop.tools.run_report import RunAccepted

_EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples.json"
_OK, _ACCEPTED = 200, 202
_COMMON = frozenset((*TO_TOKENS, *TO_ANYBODY, *TO_BODIES))
_NULL = {"type": "null"}
_REQUEST_ID = {
    "X-Request-Id": {"description": "What the log calls this request by.", "schema": {"type": "string"}},
}
_RETRY_AFTER = {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer", "minimum": 0}}}
_WAITING = frozenset((429, 502, 503, 504))


def responses(route: Route, components: Components) -> dict[str, Any]:
    """By status, the lowest first."""
    kinds = [kind for kind in PROBLEMS if kind.slug in route.problems]
    made = {} if route.rpc and route.answer is None else {_OK: _answer(route, components)}
    if route.accepts:
        made[_ACCEPTED] = _accepted(route, components)
    for told, example in _recorded().get(route.name, {}).items():
        made[int(told)]["content"]["application/json"]["examples"] = {"recorded": {"value": example}}
    for status in sorted({status for kind in kinds for status in kind.statuses} - {_OK}):
        made[status] = _refusal(status, [kind for kind in kinds if status in kind.statuses], route, components)
    return {str(status): told for status, told in sorted(made.items())}


@cache
def _recorded() -> dict[str, dict[str, Any]]:
    """By operation and status."""
    examples: dict[str, dict[str, Any]] = json.loads(_EXAMPLES.read_text(encoding="utf-8"))
    return examples


def _accepted(route: Route, components: Components) -> dict[str, Any]:
    if route.rpc:
        return {"description": "A notification was taken.", "headers": _REQUEST_ID}
    told = components.schema("RunAcceptedAnswer", components.taken_in(answer_schema(RunAccepted)))
    return _response("The run is under way.", told)


def _answer(route: Route, components: Components) -> dict[str, Any]:
    if route.answer is None:
        return {"description": "The page.", "headers": _REQUEST_ID, "content": {route.media_type: {"schema": _TEXT}}}
    if not route.envelope:
        return _response("What was asked for.", _bare(route.answer, components))
    name = "".join(part.capitalize() for part in route.name.split("_")) + "Answer"
    whole = answer_schema(route.answer)  # type: ignore[arg-type] # types are hashable
    told = components.schema(name, components.taken_in(whole))
    kinds = [kind for kind in PROBLEMS if kind.slug in route.problems and _OK in kind.statuses]
    if not kinds:
        return _response("What was asked for.", {"allOf": [told, {"properties": {"error": _NULL}}]})
    problem = {"anyOf": [_NULL, {"properties": {"type": {"enum": [kind.type for kind in kinds]}}}]}
    described = f"What was asked for; or, where `ok` is false, the account of who was asked.\n\n{_listed(kinds)}"
    return _response(described, {"allOf": [told, {"properties": {"error": problem}}]})


_TEXT = {"type": "string"}


def _bare(answer: Any, components: Components) -> dict[str, Any]:
    return components.taken_in(TypeAdapter(answer).json_schema(mode="serialization"))


def _refusal(status: int, kinds: Iterable[ProblemKind], route: Route, components: Components) -> dict[str, Any]:
    """Of several operations with the same problems, it is the same."""
    kinds = list(kinds)
    slugs = [kind.slug for kind in kinds]
    of_its_own = [slug for slug in slugs if slug not in _COMMON]
    whose = "rpc" if route.rpc else "public" if route.public else "body" if route.in_body else "token"
    name = "_".join((f"{status}", whose, *of_its_own))
    problem = {"properties": {"type": {"enum": [kind.type for kind in kinds]}, "status": {"const": status}}}
    schema: dict[str, Any] = {"allOf": [_refused(components), {"properties": {"error": problem}}]}
    if route.rpc:
        schema = {"anyOf": [schema, _bare(RpcAnswer, components)]}
    made = _response(f"{HTTPStatus(status).phrase}.\n\n{_listed(kinds)}", schema)
    if status in _WAITING:
        made["headers"] = {**made["headers"], **_RETRY_AFTER}
    made["content"]["application/json"]["examples"] = {kind.slug: {"value": _example(kind, status)} for kind in kinds}
    return components.response(name, made)


def _refused(components: Components) -> dict[str, Any]:
    whole = components.taken_in(answer_schema(RunAccepted))
    problem = next(each for each in whole["properties"]["error"]["anyOf"] if each != _NULL)
    return components.schema(
        "Refusal",
        {
            "type": "object",
            "properties": {**whole["properties"], "ok": {"const": False}, "data": {}, "error": problem},
            "required": whole["required"],
        },
    )


def _example(kind: ProblemKind, status: int) -> dict[str, Any]:
    error = {
        "type": TYPE_PREFIX + kind.slug,
        "title": kind.meaning,
        "status": status,
        "detail": kind.meaning,
        "field": None,
        "retryable": status in _WAITING,
        "wait_seconds": 1.0 if status in _WAITING else None,
        "suggested_action": None,
    }
    return {"ok": False, "data": None, "error": error, "evidence": []}


def _listed(kinds: Iterable[ProblemKind]) -> str:
    return "\n".join(f"- `{kind.slug}`: {kind.meaning}" for kind in kinds)


def _response(description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, "headers": _REQUEST_ID, "content": {"application/json": {"schema": schema}}}
