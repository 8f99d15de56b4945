"""The lines of a file of questions, each a call of a searching tool, and the line that each is answered with.

`{"arguments": {…}, "tool"?: "research_search" | "research_search_expert", "id"?: "…"}`. A line that asks wrongly is
answered like every other: by its number, with the field and the way out. What it says is not repeated.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, Field

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.problem import InvalidArgument
from zarniwoop.entry.answers import Shorten, encode, refused
from zarniwoop.entry.bodies import MAX_DEPTH
from zarniwoop.entry.bounding import Bounding
from zarniwoop.entry.callers import Caller
from zarniwoop.entry.invocation import call_tool, guarded
from zarniwoop.entry.lambda_context import LambdaContext
from zarniwoop.stores.project import ProjectKey
from zarniwoop.text.as_json import is_deeper
from zarniwoop.tools.arguments import parse_arguments
from zarniwoop.tools.research_search import RESEARCH_SEARCH, SEARCHES, SearchName
from zarniwoop.wiring import Environment

MAX_FILE_BYTES = 1_000_000
MAX_LINES = 200
MAX_ANSWER_BYTES = 240_000
"""As over the event bus: what does not fit is read on by its handle. 200 of these are 48 MB."""
_MAX_ID_CHARS = 128
_NOT_NOW = frozenset((503, 504))
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """`number` counts from 1, blank lines included, as editors do."""

    number: int
    raw: bytes


class Question(BaseModel):
    """What a line says."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, defer_build=True)

    arguments: dict[str, Any] = Field(description='the arguments of the tool: {"query": …, "modality": …}')
    tool: SearchName = Field(default="research_search", description="name research_search or research_search_expert")
    id: str | None = Field(
        default=None, max_length=_MAX_ID_CHARS, description="a text of at most 128 characters, which the answer repeats"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """One line of JSON, and whether it is a result."""

    ok: bool
    told: bytes


class NotNowError(Exception):
    """Nobody could ask for this line, or for any other: not a matter of the line."""


def lines_of(raw: bytes) -> tuple[Line, ...]:
    """All that are not blank. Raises InvalidArgument for a file that is not answered at all."""
    if len(raw) > MAX_FILE_BYTES:
        raise _of_the_file(f"the file has more than {MAX_FILE_BYTES:,} bytes", "divide it into several")
    split = raw.removeprefix(_BYTE_ORDER_MARK).split(b"\n")
    lines = tuple(Line(number=number, raw=each) for number, each in enumerate(split, 1) if each.strip())
    if not lines:
        raise _of_the_file("the file has no questions", 'put one JSON object on each line: {"arguments": {…}}')
    if len(lines) > MAX_LINES:
        raise _of_the_file(f"the file has more than {MAX_LINES} questions", "divide it into several")
    return lines


def answer_to(line: Line, project: ProjectKey, services: Environment, context: LambdaContext) -> Answered:
    """Raises NotNowError when time may heal what is wrong with us."""
    named, shorten = None, None

    def work() -> ToolResult:
        nonlocal named, shorten
        said = _read(line.raw)
        named = _id_in(said)
        question = parse_arguments(Question, said)
        tool = SEARCHES[question.tool]
        bounding = Bounding.unawaited(tool.name, services)
        shorten = bounding.shorten
        caller = Caller(tenant_id=project.tenant_id, projects=(project.project_id,), level=4)
        return call_tool(tool, caller, question.arguments, services, context, bounding=bounding)

    result = guarded(services, context.aws_request_id, RESEARCH_SEARCH, work)
    if result.error is not None and result.error.retryable and result.error.status in _NOT_NOW:
        raise NotNowError(result.error.type)
    return Answered(ok=result.ok, told=_told(line.number, named, result, shorten))


def answer_to_the_file(refusal: InvalidArgument) -> bytes:
    """The one line that a file is answered with which is not answered line by line."""
    return _told(None, None, refused(refusal), None)


def _told(number: int | None, named: str | None, result: ToolResult, shorten: Shorten | None) -> bytes:
    """The envelope behind the line's number and id."""
    head = orjson.dumps({"line": number, "id": named})
    return head[:-1] + b"," + encode(result, MAX_ANSWER_BYTES, shorten=shorten)[1:] + b"\n"


def _read(raw: bytes) -> dict[str, Any]:
    """Raises InvalidArgument."""
    try:
        said = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise _of_the_line(f"the line is not valid JSON (column {error.colno})") from None
    if not isinstance(said, dict) or is_deeper(said, MAX_DEPTH):
        raise _of_the_line(f"the line is no JSON object of at most {MAX_DEPTH} levels")
    return said


def _id_in(said: Mapping[str, Any]) -> str | None:
    """Also that of a line that is refused for something else."""
    named = said.get("id")
    return named if isinstance(named, str) and len(named) <= _MAX_ID_CHARS else None


def _of_the_line(detail: str) -> InvalidArgument:
    return InvalidArgument(
        detail, field="line", suggested_action='write one JSON object without line breaks, in UTF-8: {"arguments": {…}}'
    )


def _of_the_file(detail: str, way_out: str) -> InvalidArgument:
    return InvalidArgument(detail, field="file", suggested_action=way_out)
