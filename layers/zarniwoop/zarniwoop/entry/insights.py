"""`GET /v1/insights`: the project's graph as JSON, JSON-LD or GraphML, whole when it fits and else in stretches.

Stretches belong together only while no run merges into the graph: `version` tells, and a reader who sends it back is
told when it is another one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import orjson
from pydantic import Field

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.problem import Conflict, InvalidArgument, UnknownThing
from zarniwoop.pipelines.investigate.insights_export import graph_ml, json_ld
from zarniwoop.pipelines.investigate.insights_graph import LIMITS, IllegibleGraph, ProjectGraph
from zarniwoop.stores.content_text import cut_page
from zarniwoop.stores.insights import InsightsStore
from zarniwoop.stores.state import ProjectKey
from zarniwoop.tools.arguments import ToolArguments, parse_arguments

MAX_CHARS = 200_000


class InsightsAsked(ToolArguments):
    """`offset` counts bytes of the document; within a character it means the next one."""

    format: Literal["json", "jsonld", "graphml"] = Field(
        default="json", description="One of json (the default), jsonld and graphml."
    )
    offset: int = Field(default=0, ge=0, description="Where to start: 0, or the next_offset of the answer before.")
    max_chars: int = Field(
        default=MAX_CHARS, ge=1, le=MAX_CHARS, description="How many characters at most, 1 to 200000 (the default)."
    )
    version: str | None = Field(
        default=None, max_length=100, description="The version of the answer before, when its next stretch is wanted."
    )


class InsightsChanged(Conflict):
    slug = "insights-changed"
    title = "The insights have changed meanwhile"


class InsightsIllegible(Conflict):
    slug = "insights-illegible"
    title = "The project's insights cannot be read"
    retryable = False


@dataclass(frozen=True, slots=True, kw_only=True)
class InsightsAnswer:
    """`document` when the whole is JSON and fits; else `text`, with `next_offset` where there is more.

    `cut` counts what has gone from the graph so far, because it would have been larger than `limits`. What it quotes
    are other people's words.
    """

    format: str
    media_type: str
    version: str
    entities: int
    relations: int
    cut: Mapping[str, int]
    limits: Mapping[str, int]
    size: int
    document: Any = None
    text: str | None = None
    offset: int | None = None
    next_offset: int | None = None


def _json(graph: ProjectGraph) -> bytes:
    return orjson.dumps({"entities": graph.insights.entities, "relations": graph.insights.relations})


_FORMATS: Mapping[str, tuple[str, Callable[[ProjectGraph], bytes]]] = {
    "json": ("application/json", _json),
    "jsonld": ("application/ld+json", lambda graph: orjson.dumps(json_ld(graph.insights))),
    "graphml": ("application/graphml+xml", lambda graph: graph_ml(graph.insights)),
}


def read_insights(
    given: Mapping[str, Any], store: InsightsStore, project_of: Callable[[ToolArguments], ProjectKey]
) -> ToolResult:
    """Raises CallerError, and StoreUnavailable when AWS does not answer."""
    asked = parse_arguments(InsightsAsked, given)
    stored = store.read(project_of(asked))
    if stored is None:
        raise _none_yet()
    if asked.version not in (None, stored.version):
        raise InsightsChanged(
            "a run has merged into the graph since that version",
            field="version",
            suggested_action="start again at offset 0, without a version",
        )
    graph = _decoded(stored.body)
    media_type, render = _FORMATS[asked.format]
    raw = render(graph)
    answer = InsightsAnswer(
        format=asked.format,
        media_type=media_type,
        version=stored.version,
        entities=len(graph.insights.entities),
        relations=len(graph.insights.relations),
        cut=graph.cut,
        limits=LIMITS,
        size=len(raw),
        **_content(raw, asked),
    )
    return ToolResult(ok=True, data=answer)


def _decoded(body: bytes) -> ProjectGraph:
    try:
        return ProjectGraph.decoded(body)
    except IllegibleGraph as error:
        raise InsightsIllegible(
            "the stored graph was edited, or written by another version",
            suggested_action="read those of single runs, in their artifacts, until it ages away or the project stops",
        ) from error


def _content(raw: bytes, asked: InsightsAsked) -> dict[str, Any]:
    if asked.offset > len(raw):
        raise InvalidArgument(
            f"'offset' lies behind the end of the document, which has {len(raw)} bytes",
            field="offset",
            suggested_action="start at 0, or at the next_offset of an answer",
        )
    page = cut_page(raw[asked.offset :], offset=asked.offset, size=len(raw), max_chars=asked.max_chars)
    if asked.format != "graphml" and asked.offset == 0 and page.next_offset is None:
        return {"document": orjson.loads(raw)}
    return {"text": page.text, "offset": page.offset, "next_offset": page.next_offset}


def _none_yet() -> UnknownThing:
    return UnknownThing(
        "this project has no insights (yet, or any more)",
        slug="no-insights",
        suggested_action="start research_investigate with insights: true, with a model configured",
    )
