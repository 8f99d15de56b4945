"""The graph of a project: merged by whoever ends, within its limits, and nobody's findings lost."""

import threading
from itertools import pairwise

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.clock import FakeClock
from tests.fakes.insights_store import InMemoryInsightsStore
from zarniwoop.pipelines.investigate import insights_graph
from zarniwoop.pipelines.investigate.insights import Entity, Evidence, Insights, Relation, merged
from zarniwoop.pipelines.investigate.insights_graph import IllegibleGraph, ProjectGraph, together
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.state import ProjectKey

PROJECT = ProjectKey(tenant_id="acme", project_id="demo")


def evidence(run: int, span: str = "bells") -> Evidence:
    return Evidence(run_id=f"r-{run:04d}", key="h001", url="https://site.example/1", span=span)


def entity(name: str, *runs: int) -> Entity:
    return Entity(id=name, name=name, type="thing", evidence=tuple(evidence(run) for run in runs))


def found(run: int, *names: str) -> Insights:
    """Things that a run met, each related to the next."""
    relations = tuple(
        Relation(id=f"{one}-{other}", subject=one, type="next_to", object=other, evidence=(evidence(run),))
        for one, other in pairwise(names)
    )
    return Insights(entities=tuple(entity(name, run) for name in sorted(names)), relations=relations)


def add(run: Insights, project: ProjectKey, store: InMemoryInsightsStore, clock: FakeClock) -> ProjectGraph:
    """Merged, whoever stops."""
    graph = insights_graph.add(run, project, store, clock, wanted=lambda: True)
    assert graph is not None
    return graph


def names(graph: ProjectGraph) -> list[str]:
    return [each.id for each in graph.insights.entities]


def test_runs_merge_into_one_graph() -> None:
    """What both met has the evidence of both."""
    store = InMemoryInsightsStore()
    add(found(1, "bell", "tower"), PROJECT, store, FakeClock())
    graph = add(found(2, "bell", "rope"), PROJECT, store, FakeClock())
    assert names(graph) == ["bell", "rope", "tower"]
    assert [each.id for each in graph.insights.relations] == ["bell-rope", "bell-tower"]
    assert [each.run_id for each in graph.insights.entities[0].evidence] == ["r-0001", "r-0002"]
    standing = store.read(PROJECT)
    assert standing is not None
    assert ProjectGraph.decoded(standing.body) == graph
    assert graph.cut == {}


def test_a_run_that_is_merged_twice_changes_nothing() -> None:
    """A step that is tried again finds its work done, and writes nothing."""
    store = InMemoryInsightsStore()
    first = add(found(1, "bell", "tower"), PROJECT, store, FakeClock())
    assert add(found(1, "bell", "tower"), PROJECT, store, FakeClock()) == first
    assert store.calls["write"] == 1


def test_of_two_runs_that_end_at_once_both_are_kept() -> None:
    """The one that comes second reads and merges again."""
    store, clock = InMemoryInsightsStore(), FakeClock()

    def faster() -> None:
        store.before_write = lambda: None
        add(found(2, "rope"), PROJECT, store, clock)

    store.before_write = faster
    assert names(add(found(1, "bell"), PROJECT, store, clock)) == ["bell", "rope"]
    assert clock.slept == [0.05]


def test_twelve_runs_that_end_at_once_are_all_kept() -> None:
    """Each round one of them is written."""
    store = InMemoryInsightsStore()

    def end(run: int) -> None:
        while True:
            try:
                add(found(run, "bell", f"thing-{run:02d}"), PROJECT, store, FakeClock())
            except StoreUnavailable:
                continue  # as the state machine does
            return

    threads = [threading.Thread(target=end, args=(run,)) for run in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    standing = store.read(PROJECT)
    assert standing is not None
    graph = ProjectGraph.decoded(standing.body)
    assert names(graph) == ["bell", *(f"thing-{run:02d}" for run in range(12))]
    assert len(graph.insights.entities[0].evidence) == 12


def test_one_that_is_never_the_fastest_gives_up_for_now() -> None:
    """The state machine tries again; nothing of others is overwritten."""
    store, clock = InMemoryInsightsStore(), FakeClock()
    runs = iter(range(2, 100))

    def faster() -> None:
        mark = store.before_write
        store.before_write = lambda: None
        add(found(next(runs), "rope"), PROJECT, store, clock)
        store.before_write = mark

    store.before_write = faster
    with pytest.raises(StoreUnavailable):
        add(found(1, "bell"), PROJECT, store, clock)
    standing = store.read(PROJECT)
    assert standing is not None
    assert names(ProjectGraph.decoded(standing.body)) == ["rope"]


def test_beyond_the_limit_goes_what_was_not_met_for_the_longest_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the relations that lose an end; and it is counted."""
    monkeypatch.setattr(insights_graph, "MOST_ENTITIES", 3)
    graph = ProjectGraph()
    for run, met in enumerate([("bell", "tower"), ("rope",), ("bell", "iron")], 1):
        graph = together(graph, found(run, *met))
    assert names(graph) == ["bell", "iron", "rope"]
    assert [each.id for each in graph.insights.relations] == ["bell-iron"]
    assert graph.cut == {"entities": 1, "relations": 1}
    assert together(graph, found(4, "bell")).cut == graph.cut


def test_relations_have_a_limit_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their ends stay."""
    monkeypatch.setattr(insights_graph, "MOST_RELATIONS", 1)
    graph = together(together(ProjectGraph(), found(1, "a", "b")), found(2, "c", "d"))
    assert names(graph) == ["a", "b", "c", "d"]
    assert [each.id for each in graph.insights.relations] == ["c-d"]
    assert graph.cut == {"relations": 1}


def test_evidence_beyond_fifty_is_counted() -> None:
    """The newest stays."""
    graph = ProjectGraph()
    for run in range(53):
        graph = together(graph, found(run, "bell"))
    (bell,) = graph.insights.entities
    assert (len(bell.evidence), bell.evidence[0].run_id, graph.cut) == (50, "r-0003", {"evidence": 3})


def test_a_graph_stays_within_its_bytes() -> None:
    """Whatever the lengths of its texts: as many of the newest as there is room for."""
    graph = ProjectGraph()
    for run in range(30):
        things = tuple(
            Entity(id=f"{run:02d}-{number:03d}", name="鐘" * 200, type="thing", evidence=(evidence(run, "鐘" * 500),))
            for number in range(100)
        )
        graph = together(graph, Insights(entities=things))
    assert 1_000_000 < len(graph.encoded()) <= insights_graph.MOST_BYTES
    assert graph.cut["entities"] == 3_000 - len(graph.insights.entities)
    assert {name[:2] for name in names(graph)} >= {"28", "29"}
    assert "00" not in {name[:2] for name in names(graph)}


@given(st.permutations(range(5)), st.data())
def test_within_the_limits_the_order_of_runs_makes_no_difference(order: list[int], data: st.DataObject) -> None:
    """Whoever ends first."""
    runs = [found(run, *data.draw(st.lists(st.sampled_from("abcdef"), unique=True, max_size=4))) for run in range(5)]
    graph = ProjectGraph()
    for run in order:
        graph = together(graph, runs[run])
    assert graph == ProjectGraph(insights=merged(runs))


def test_a_run_that_is_not_wanted_any_more_is_not_merged() -> None:
    """Asked before each write: it may have been stopped since the graph was read, or since another run was faster."""
    store, clock = InMemoryInsightsStore(), FakeClock()
    assert insights_graph.add(found(1, "bell"), PROJECT, store, clock, wanted=lambda: False) is None
    assert store.objects == {}
    add(found(1, "bell"), PROJECT, store, clock)
    wanted = True

    def project_stops() -> None:
        nonlocal wanted
        wanted = False
        store.delete(PROJECT)

    store.before_write = project_stops
    assert insights_graph.add(found(2, "rope"), PROJECT, store, clock, wanted=lambda: wanted) is None
    assert store.objects == {}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"entities": 3}',
        orjson.dumps({"entities": [{}], "relations": []}),
        orjson.dumps({"entities": [{"id": "a", "name": 3, "type": "b", "evidence": []}], "relations": []}),
        orjson.dumps({"entities": [], "relations": [], "cut": {"entities": "many"}}),
    ],
)
def test_a_graph_that_cannot_be_read_is_left_as_it_is(body: bytes) -> None:
    """Edited by hand, or written by another version: nobody writes his own finds over everybody's."""
    store = InMemoryInsightsStore()
    store.write(PROJECT, body, over=None)
    with pytest.raises(IllegibleGraph):
        add(found(1, "bell"), PROJECT, store, FakeClock())
    assert [*store.objects.values()] == [body]


def test_a_graph_of_another_version_is_merged_into() -> None:
    """One field more on each thing, and one less on the whole, lose nothing of what this version knows."""
    store = InMemoryInsightsStore()
    document = orjson.loads(together(ProjectGraph(), found(1, "bell", "tower")).encoded())
    for thing in (*document["entities"], *document["relations"]):
        thing["score"] = 0.5
    del document["cut"]
    store.write(PROJECT, orjson.dumps(document), over=None)
    graph = add(found(2, "bell", "rope"), PROJECT, store, FakeClock())
    assert graph == ProjectGraph(insights=merged([found(1, "bell", "tower"), found(2, "bell", "rope")]))
