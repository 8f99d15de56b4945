"""Insights in the formats that other programs read: JSON-LD 1.1 and GraphML.

JSON-LD: https://www.w3.org/TR/json-ld11/ with relations as reified statements, so that they can bear their evidence.
GraphML: http://graphml.graphdrawing.org/specification.html; evidence goes as JSON in a data element.
ElementTree only writes here; nothing is parsed.
"""

from typing import Any
from xml.etree import ElementTree

import orjson

from zarniwoop.pipelines.investigate.insights import Entity, Evidence, Insights, Relation

_CONTEXT = {
    "@vocab": "urn:zarniwoop:insights:",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "schema": "https://schema.org/",
    "name": "schema:name",
    "url": {"@id": "schema:url", "@type": "@id"},
}
_GRAPHML = "http://graphml.graphdrawing.org/xmlns"
_KEYS = (("name", "node"), ("type", "all"), ("evidence", "all"))


def json_ld(insights: Insights) -> dict[str, Any]:
    """The graph as a JSON-LD document."""
    return {
        "@context": _CONTEXT,
        "@graph": [*map(_entity_node, insights.entities), *map(_statement_node, insights.relations)],
    }


def graph_ml(insights: Insights) -> bytes:
    """The graph as a GraphML document."""
    root = ElementTree.Element("graphml", {"xmlns": _GRAPHML})
    for name, of in _KEYS:
        ElementTree.SubElement(root, "key", {"id": name, "for": of, "attr.name": name, "attr.type": "string"})
    graph = ElementTree.SubElement(root, "graph", {"id": "insights", "edgedefault": "directed"})
    for entity in insights.entities:
        node = ElementTree.SubElement(graph, "node", {"id": entity.id})
        _data(node, "name", entity.name)
        _describe(node, entity)
    for relation in insights.relations:
        ends = {"id": relation.id, "source": relation.subject, "target": relation.object}
        _describe(ElementTree.SubElement(graph, "edge", ends), relation)
    document: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return document


def _entity_node(entity: Entity) -> dict[str, Any]:
    return {
        "@id": _urn("entity", entity.id),
        "@type": ["schema:Thing", entity.type],
        "name": entity.name,
        "evidence": _told(entity.evidence),
    }


def _statement_node(relation: Relation) -> dict[str, Any]:
    return {
        "@id": _urn("relation", relation.id),
        "@type": "rdf:Statement",
        "rdf:subject": {"@id": _urn("entity", relation.subject)},
        "rdf:predicate": {"@id": f"{_CONTEXT['@vocab']}{relation.type}"},
        "rdf:object": {"@id": _urn("entity", relation.object)},
        "evidence": _told(relation.evidence),
    }


def _told(evidence: tuple[Evidence, ...]) -> list[dict[str, str]]:
    return [
        {"run": each.run_id, "hit": each.key, "span": each.span, **({"url": each.url} if each.url else {})}
        for each in evidence
    ]


def _urn(kind: str, identifier: str) -> str:
    return f"urn:zarniwoop:{kind}:{identifier}"


def _describe(element: ElementTree.Element, thing: Entity | Relation) -> None:
    _data(element, "type", thing.type)
    _data(element, "evidence", orjson.dumps(_told(thing.evidence)).decode())


def _data(element: ElementTree.Element, key: str, text: str) -> None:
    ElementTree.SubElement(element, "data", {"key": key}).text = text
