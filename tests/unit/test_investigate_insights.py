"""Entities and relations, each with the words that carry it."""

from itertools import permutations
from typing import Any

import defusedxml.ElementTree as DefusedTree
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.hits import merged_hit
from zarniwoop.pipelines.investigate.insights import (
    MOST_EVIDENCE,
    Insights,
    InsightsAnswer,
    extracted,
    merged,
)
from zarniwoop.pipelines.investigate.insights_export import graph_ml, json_ld

HIT = merged_hit(
    1,
    title="Metformin and cancer",
    snippet="Metformin lowers\u00a0 the risk of <b>colorectal</b> cancer [PMID].",
    body='In a cohort, metformin inhibited mTOR. R&D "<x>". The glands grew. 大聖堂の鐘が鳴る。 Müllers Café schloss.',
)


def entity(name: str, kind: str = "Drug", key: str = "h001", span: str = "Metformin") -> dict[str, Any]:
    return {"name": name, "type": kind, "key": key, "span": span}


def relation(
    subject: str, word: str, target: str, key: str = "h001", span: str = "metformin inhibited mTOR"
) -> dict[str, Any]:
    return {"subject": subject, "relation": word, "object": target, "key": key, "span": span}


def insights(entities: list[dict[str, Any]], relations: list[dict[str, Any]] = [], run_id: str = "run-1") -> Insights:  # noqa: B006
    answer = InsightsAnswer.model_validate({"entities": entities, "relations": relations})
    return extracted(answer, [HIT], run_id)


BOTH = [entity("Metformin"), entity("mTOR", "Protein", span="mTOR")]


def test_what_stands_in_a_hit_becomes_part_of_the_graph() -> None:
    """Each thing with hit, URL and span."""
    graph = insights(BOTH, [relation("metformin", "Inhibits", "MTOR")])
    by_name = {each.name: each for each in graph.entities}
    assert by_name["Metformin"].type == "drug"
    assert by_name["Metformin"].evidence[0].span == "Metformin"
    told = graph.relations[0]
    assert (told.subject, told.type, told.object) == (by_name["Metformin"].id, "inhibits", by_name["mTOR"].id)
    evidence = told.evidence[0]
    assert (evidence.run_id, evidence.key, evidence.url) == ("run-1", "h001", "https://site.example/1")
    assert evidence.span == "metformin inhibited mTOR"
    assert graph.refused == {}


@pytest.mark.parametrize(
    "span",
    [
        "Metformin lowers the risk",
        "Metformin lowers \n the   risk",
        "the risk of ‹b>colorectal‹/b> cancer (PMID)",
        "the risk of <b>colorectal</b> cancer [PMID].",
        "In a cohort",
    ],
)
def test_a_span_is_verbatim_after_white_space_and_template_marks_are_folded(span: str) -> None:
    """As the model read it, or as the hit has it."""
    named = next(name for name in ("Metformin", "colorectal", "cohort") if name in span)
    assert len(insights([entity(named, span=span)]).entities) == 1


@pytest.mark.parametrize(
    ("key", "span", "reason"),
    [
        ("h001", "Metformin raises the risk", "not_verbatim"),
        ("h001", "metformin lowers", "not_verbatim"),
        ("h001", "cancer Metformin", "not_verbatim"),
        ("h002", "Metformin", "unknown_key"),
        ("h001", " \u200b ", "span_too_short_or_long"),
        ("h001", "x" * 501, "span_too_short_or_long"),
    ],
)
def test_what_has_no_verbatim_span_is_refused_and_counted(key: str, span: str, reason: str) -> None:
    """Invented, changed in case, glued together from two fields, of a hit that was not shown, or empty."""
    graph = insights([*BOTH, entity("X", key=key, span=span)], [relation("Metformin", "r", "mTOR", key=key, span=span)])
    assert len(graph.entities) == 2
    assert graph.relations == ()
    assert graph.refused == {reason: 2}


@pytest.mark.parametrize(
    ("name", "span", "named"),
    [
        ("Metformin", "the risk", False),
        ("Elon Musk", "the", False),
        ("land", "The glands grew", False),
        ("metformins", "Metformin lowers", True),
        ("gland", "The glands grew", True),
        ("Muller's", "Müllers Café", False),
        ("müllers cafe", "Müllers Café schloss", True),
        ("鐘", "大聖堂の鐘", True),
        ("大聖堂", "大聖堂の鐘", True),
        ("塔", "大聖堂の鐘", False),
    ],
)
def test_an_entity_is_one_that_its_span_names(name: str, span: str, named: bool) -> None:
    """In whatever case and number, but not as a piece of another word; "the" is evidence of nothing."""
    graph = insights([entity(name, span=span)])
    assert (len(graph.entities), graph.refused) == ((1, {}) if named else (0, {"span_says_nothing": 1}))


@pytest.mark.parametrize(
    ("span", "said"),
    [
        ("In a cohort", False),
        ("the", False),
        ("Metformin", False),
        ("大聖堂の鐘が鳴る", False),
        ("inhibited mTOR", True),
        ("metformin inhibited", True),
    ],
)
def test_a_relation_is_one_whose_span_speaks_of_an_end(span: str, said: bool) -> None:
    """A word alone states nothing, and a sentence of other things nothing of these."""
    graph = insights(BOTH, [relation("Metformin", "committed", "mTOR", span=span)])
    assert (len(graph.relations), graph.refused) == ((1, {}) if said else (0, {"span_says_nothing": 1}))


def test_relations_need_both_ends_and_everything_needs_a_name() -> None:
    """An end is an entity of the same answer that was accepted."""
    graph = insights(
        [*BOTH, entity("…"), entity("Cohort", "?!", span="In a cohort")],
        [
            relation("Metformin", "treats", "cancer"),
            relation("cancer", "r", "mTOR"),
            relation("Metformin", "—", "mTOR"),
        ],
    )
    assert len(graph.entities) == 2
    assert graph.refused == {"unknown_entity": 2, "without_name_or_type": 3}


def test_runs_merge_by_name_and_type_in_any_order() -> None:
    """Spellings of one name are one entity; the same name of another type is another."""
    graphs = [
        insights(BOTH, [relation("Metformin", "inhibits", "mTOR")], "run-1"),
        insights(
            [entity("metformin"), entity("MTOR", "protein", span="mTOR")],
            [relation("metformin", "INHIBITS", "mtor")],
            "run-2",
        ),
        insights([entity("Metformin", "Company"), entity("x", span="nowhere")], run_id="run-3"),
    ]
    together = merged(graphs)
    assert [
        (each.name, each.type, len(each.evidence)) for each in sorted(together.entities, key=lambda e: (e.name, e.type))
    ] == [
        ("MTOR", "protein", 2),
        ("Metformin", "company", 1),
        ("Metformin", "drug", 2),
    ]
    assert [len(each.evidence) for each in together.relations] == [2]
    assert together.refused == {"not_verbatim": 1}
    assert all(merged(order) == together for order in permutations(graphs))
    assert merged([merged(graphs[:2]), graphs[2]]) == together
    assert merged([]) == Insights()


@given(st.lists(st.integers(0, 99), max_size=80))
def test_evidence_is_bounded_whatever_the_order_of_runs(runs: list[int]) -> None:
    """The newest 50 of it."""
    graphs = [insights([entity("Metformin")], run_id=f"run-{run:02d}") for run in runs]
    one_by_one = Insights()
    for graph in graphs:
        one_by_one = merged([one_by_one, graph])
    assert one_by_one == merged(reversed(graphs))
    newest = sorted({f"run-{run:02d}" for run in runs})[-MOST_EVIDENCE:]
    assert all([told.run_id for told in each.evidence] == newest for each in one_by_one.entities)


@pytest.mark.parametrize("rest", ["x" * 2_048, "\uffff", "\x0b", " a  b"])
def test_a_url_that_no_document_can_hold_is_left_out_of_the_evidence(rest: str) -> None:
    """Cut or mended, it would lead elsewhere."""
    strange = merged_hit(1, title="Metformin", url=f"https://site.example/{rest}")
    answer = InsightsAnswer.model_validate({"entities": [entity("Metformin")], "relations": []})
    (found,) = extracted(answer, [strange], "run-1").entities
    assert found.evidence[0].url == ""


def test_a_graph_survives_its_run_file() -> None:
    """Written by orjson, read by `from_json`."""
    graph = insights([*BOTH, entity("x", span="nowhere")], [relation("Metformin", "inhibits", "mTOR")])
    assert Insights.from_json(orjson.loads(orjson.dumps(graph))) == graph


def test_what_another_version_wrote_besides_is_passed_over() -> None:
    """And a piece of evidence may be without a URL; what is no text is not taken for one."""
    graph = insights(BOTH, [relation("Metformin", "inhibits", "mTOR")])
    document = orjson.loads(orjson.dumps(graph))
    for thing in (*document["entities"], *document["relations"]):
        thing["score"] = 3
        for evidence in thing["evidence"]:
            evidence |= {"url": "", "offset": 7}
    bare = Insights.from_json(document)
    for thing in (*document["entities"], *document["relations"]):
        for evidence in thing["evidence"]:
            del evidence["url"]
    assert Insights.from_json(document) == bare
    assert [each.id for each in bare.entities] == [each.id for each in graph.entities]
    document["entities"][0]["name"] = 3
    with pytest.raises(TypeError):
        Insights.from_json(document)


def test_json_ld_reifies_relations_with_their_evidence() -> None:
    """Every reference points at a node of the graph."""
    document = json_ld(insights(BOTH, [relation("Metformin", "inhibits", "mTOR")]))
    nodes = {node["@id"]: node for node in document["@graph"]}
    statement = next(node for node in nodes.values() if node["@type"] == "rdf:Statement")
    assert nodes[statement["rdf:subject"]["@id"]]["name"] == "Metformin"
    assert nodes[statement["rdf:object"]["@id"]]["@type"] == ["schema:Thing", "protein"]
    assert statement["rdf:predicate"]["@id"] == "urn:zarniwoop:insights:inhibits"
    assert statement["evidence"] == [
        {"run": "run-1", "hit": "h001", "span": "metformin inhibited mTOR", "url": "https://site.example/1"}
    ]
    assert orjson.loads(orjson.dumps(document)) == document


def test_graph_ml_is_well_formed_and_escapes_what_it_quotes() -> None:
    """Nodes, edges, and evidence as JSON."""
    graph = insights(
        [*BOTH, entity('R&D "<x>"', "Thing", span='R&D "<x>"')], [relation("Metformin", "inhibits", "mTOR")]
    )
    root = DefusedTree.fromstring(graph_ml(graph))
    space = "{http://graphml.graphdrawing.org/xmlns}"
    nodes = {node.get("id"): {data.get("key"): data.text for data in node} for node in root.iter(f"{space}node")}
    edge = next(root.iter(f"{space}edge"))
    assert nodes[edge.get("source")]["name"] == "Metformin"
    assert nodes[edge.get("target")]["name"] == "mTOR"
    assert {node["name"] for node in nodes.values()} >= {'R&D "‹x>"'}
    evidence = orjson.loads(next(data.text or "" for data in edge if data.get("key") == "evidence"))
    assert evidence[0]["span"] == "metformin inhibited mTOR"
