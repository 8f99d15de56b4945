"""The project's graph of insights: what its runs found, merged, within a size that can be read and written at once.

Every run merges into the graph as it stands, again when another run was faster, so that none is lost. Beyond the limits
goes what was not met for the longest time; how much went is counted and told. To merge a run twice changes nothing.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import orjson

from zarniwoop.contract.deadline import Clock
from zarniwoop.pipelines.investigate.insights import MOST_EVIDENCE, Entity, Insights, Relation, merged
from zarniwoop.stores.failure import ILLEGIBLE, StoreError, StoreUnavailable
from zarniwoop.stores.insights import InsightsStore
from zarniwoop.stores.state import ProjectKey

MOST_ENTITIES = 2_000
MOST_RELATIONS = 4_000
MOST_BYTES = 3_000_000
LIMITS: Mapping[str, int] = {
    "entities": MOST_ENTITIES,
    "relations": MOST_RELATIONS,
    "evidence": MOST_EVIDENCE,
    "bytes": MOST_BYTES,
}
"""Of the graph; `evidence` is that of one entity or relation."""
_ATTEMPTS = 8
_FIRST_PAUSE = 0.05

Thing = TypeVar("Thing", Entity, Relation)


class IllegibleGraph(StoreError):  # noqa: N818 - named by what is the case
    """The object was edited by hand, or written by another version: it is left as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectGraph:
    """`cut` counts what has gone so far for the limits' sake: entities, relations and pieces of evidence."""

    insights: Insights = field(default_factory=Insights)
    cut: Mapping[str, int] = field(default_factory=dict)

    def encoded(self) -> bytes:
        document = {"entities": self.insights.entities, "relations": self.insights.relations, "cut": self.cut}
        return orjson.dumps(document)

    @classmethod
    def decoded(cls, body: bytes) -> "ProjectGraph":
        """Raises IllegibleGraph. What another version wrote besides is passed over, and goes with the next merge."""
        try:
            document: Mapping[str, Any] = orjson.loads(body)
            cut = {name: int(count) for name, count in document.get("cut", {}).items()}
            return cls(insights=Insights.from_json({**document, "refused": {}}), cut=cut)
        except ILLEGIBLE as error:
            raise IllegibleGraph("the project's insights cannot be read") from error


def add(
    found: Insights, project: ProjectKey, store: InsightsStore, clock: Clock, *, wanted: Callable[[], bool]
) -> ProjectGraph | None:
    """The project's graph with what a run found; None when it is not `wanted` there, which is asked before each write.

    Raises IllegibleGraph, and StoreUnavailable also when others are faster every time.
    """
    for attempt in range(_ATTEMPTS):
        standing = store.read(project)
        before = ProjectGraph.decoded(standing.body) if standing else ProjectGraph()
        after = together(before, found)
        if standing and after.insights == before.insights:
            return before
        if not wanted():
            return None
        if store.write(project, after.encoded(), over=standing.version if standing else None):
            return after
        clock.sleep(_FIRST_PAUSE * 2**attempt)
    raise StoreUnavailable("the project's insights change faster than they can be merged")


def together(graph: ProjectGraph, found: Insights) -> ProjectGraph:
    """Both in one graph, cut to the limits."""
    whole = replace(merged([graph.insights, found]), refused={})
    kept = _within_limits(whole)
    cut = Counter(graph.cut)
    cut["entities"] += len(whole.entities) - len(kept.entities)
    cut["relations"] += len(whole.relations) - len(kept.relations)
    cut["evidence"] += _count_evidence(graph.insights, found) - _count_evidence(whole)
    return ProjectGraph(insights=kept, cut={name: count for name, count in sorted(cut.items()) if count})


def _within_limits(graph: Insights) -> Insights:
    """Half of the bytes for each kind; a relation goes with either of its ends."""
    entities = _newest(graph.entities, MOST_ENTITIES)
    known = {entity.id for entity in entities}
    joined = tuple(each for each in graph.relations if each.subject in known and each.object in known)
    return replace(graph, entities=entities, relations=_newest(joined, MOST_RELATIONS))


def _newest(things: tuple[Thing, ...], most: int) -> tuple[Thing, ...]:
    """Those that were met last, of equals those with more evidence, in the order of their ids."""
    kept: list[Thing] = []
    left = MOST_BYTES // 2
    for thing in sorted(things, key=_last_met, reverse=True)[:most]:
        left -= len(orjson.dumps(thing)) + 1
        if left < 0:
            break
        kept.append(thing)
    return tuple(sorted(kept, key=lambda thing: thing.id))


def _last_met(thing: Entity | Relation) -> tuple[str, int, str]:
    return max((each.run_id for each in thing.evidence), default=""), len(thing.evidence), thing.id


def _count_evidence(*graphs: Insights) -> int:
    things: list[Entity | Relation] = []
    for graph in graphs:
        things += [*graph.entities, *graph.relations]
    return len({(thing.id, evidence) for thing in things for evidence in thing.evidence})
