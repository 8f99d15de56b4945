"""Entities and typed relations out of the surviving hits (the seed's ZarniwoopInsightsService), each with its evidence.

A model names them together with the key of a hit and a span of it. What has no span that stands verbatim in that hit is
refused and counted, and so is what its span does not speak of: it has to name the entity, or an end of the relation and
something more. Whether it says what the relation does is the model's word. Verbatim means: equal in case and characters
within the title, the snippet or the body, after both were made `harmless` as in the prompt that the model read (runs of
white space become one space, invisible characters go, template marks are neutralised).
Runs of a project merge by normalised name and type, in any order, to the same graph.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from hashlib import sha256
from typing import Any

from zarniwoop.pipelines.investigate.fence import harmless, texts_of, visible
from zarniwoop.pipelines.investigate.merge import MergedHit
from zarniwoop.pipelines.investigate.plan import ModelAnswer
from zarniwoop.text.bm25 import terms, words

MOST_EVIDENCE = 50
MAX_SPAN_CHARS = 500
MIN_SPAN_CHARS = 3
_MAX_NAME_CHARS = 200
_MAX_TYPE_CHARS = 60
_MAX_URL_CHARS = 2_048


class FoundEntity(ModelAnswer):
    """One mention of an entity."""

    name: str
    type: str
    key: str
    span: str


class FoundRelation(ModelAnswer):
    """One statement; `subject` and `object` are names of entities of the same answer."""

    subject: str
    relation: str
    object: str
    key: str
    span: str


class InsightsAnswer(ModelAnswer):
    entities: list[FoundEntity]
    relations: list[FoundRelation]


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Evidence:
    """Where it is said: `key` is a hit of run `run_id`. Ids of runs sort by time, and so does evidence."""

    run_id: str
    key: str
    url: str = ""
    span: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    id: str
    name: str
    type: str
    evidence: tuple[Evidence, ...]

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Entity":
        return cls(**_texts(cls, value), evidence=_read_evidence(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """`subject` and `object` are ids of entities."""

    id: str
    subject: str
    type: str
    object: str
    evidence: tuple[Evidence, ...]

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Relation":
        return cls(**_texts(cls, value), evidence=_read_evidence(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Insights:
    """A graph in the order of its ids; `refused` counts what was left out, by reason."""

    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    refused: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Insights":
        return cls(
            entities=tuple(Entity.from_json(each) for each in value["entities"]),
            relations=tuple(Relation.from_json(each) for each in value["relations"]),
            refused=dict(value["refused"]),
        )


def extracted(answer: InsightsAnswer, hits: Sequence[MergedHit], run_id: str) -> Insights:
    """What of the answer stands in the hits."""
    by_key = {hit.key: hit for hit in hits}
    refused: Counter[str] = Counter()
    entities: list[Entity] = []
    for named in answer.entities:
        evidence = _verified(named.key, named.span, by_key, run_id, refused)
        if evidence and (entity := _entity(named, evidence, refused)):
            entities.append(entity)
    known = {_folded_name(entity.name): entity.id for entity in reversed(entities)}
    relations: list[Relation] = []
    for stated in answer.relations:
        evidence = _verified(stated.key, stated.span, by_key, run_id, refused)
        if evidence and (relation := _relation(stated, evidence, known, refused)):
            relations.append(relation)
    return merged([Insights(entities=tuple(entities), relations=tuple(relations), refused=dict(refused))])


def merged(graphs: Iterable[Insights]) -> Insights:
    """One graph out of several, in whatever order they come. A thing keeps the newest 50 of its evidence."""
    entities: dict[str, Entity] = {}
    relations: dict[str, Relation] = {}
    refused: Counter[str] = Counter()
    for graph in graphs:
        refused.update(graph.refused)
        for entity in graph.entities:
            other = entities.get(entity.id, entity)
            entities[entity.id] = replace(
                entity, name=min(entity.name, other.name), evidence=_together(entity.evidence, other.evidence)
            )
        for relation in graph.relations:
            told = relations.get(relation.id, relation)
            relations[relation.id] = replace(relation, evidence=_together(relation.evidence, told.evidence))
    return Insights(
        entities=tuple(entities[each] for each in sorted(entities)),
        relations=tuple(relations[each] for each in sorted(relations)),
        refused=dict(sorted(refused.items())),
    )


def _verified(
    key: str, span: str, by_key: Mapping[str, MergedHit], run_id: str, refused: Counter[str]
) -> Evidence | None:
    hit = by_key.get(key)
    if hit is None:
        refused["unknown_key"] += 1
        return None
    quoted = _as_read(span)
    if not MIN_SPAN_CHARS <= len(quoted) <= MAX_SPAN_CHARS:
        refused["span_too_short_or_long"] += 1
        return None
    if not any(quoted in _as_read(text) for text in texts_of(hit.hit)):
        refused["not_verbatim"] += 1
        return None
    url = str(hit.hit.get("url") or "")
    return Evidence(run_id=run_id, key=key, url=url if url == visible(url, _MAX_URL_CHARS) else "", span=quoted)


def _as_read(text: str) -> str:
    return harmless(text, len(text))


def _entity(named: FoundEntity, evidence: Evidence, refused: Counter[str]) -> Entity | None:
    name, kind = harmless(named.name, _MAX_NAME_CHARS), _type(named.type)
    if not _folded_name(name) or not kind:
        refused["without_name_or_type"] += 1
        return None
    if not _names(evidence.span, name):
        refused["span_says_nothing"] += 1
        return None
    return Entity(id=_id(kind, _folded_name(name)), name=name, type=kind, evidence=(evidence,))


def _relation(
    stated: FoundRelation, evidence: Evidence, known: Mapping[str, str], refused: Counter[str]
) -> Relation | None:
    subject, target = known.get(_folded_name(stated.subject)), known.get(_folded_name(stated.object))
    kind = _type(stated.relation)
    if not subject or not target:
        refused["unknown_entity"] += 1
        return None
    if not kind:
        refused["without_name_or_type"] += 1
        return None
    if not _speaks_of(evidence.span, stated):
        refused["span_says_nothing"] += 1
        return None
    return Relation(id=_id(subject, kind, target), subject=subject, type=kind, object=target, evidence=(evidence,))


def _speaks_of(span: str, stated: FoundRelation) -> bool:
    """Of either end; a word alone states nothing. The other end may be "it", or an author who is named elsewhere."""
    return len(terms(span)) > 1 and (_names(span, stated.subject) or _names(span, stated.object))


def _names(span: str, name: str) -> bool:
    """Whether the span has the name, in whatever case and number; in other scripts, anywhere in its words."""
    wanted = " ".join(terms(harmless(name, _MAX_NAME_CHARS)))
    if wanted and f" {wanted} " in f" {' '.join(terms(span))} ":
        return True
    folded = _folded_name(name)
    return not folded.isascii() and folded in _folded_name(span)


def _folded_name(name: str) -> str:
    return " ".join(words(harmless(name, _MAX_NAME_CHARS)))


def _type(word: str) -> str:
    return "_".join(words(harmless(word, _MAX_TYPE_CHARS)))


def _id(*parts: str) -> str:
    return sha256("\n".join(parts).encode()).hexdigest()[:20]


def _together(one: tuple[Evidence, ...], other: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
    return tuple(sorted({*one, *other})[-MOST_EVIDENCE:])


def _read_evidence(value: Mapping[str, Any]) -> tuple[Evidence, ...]:
    return tuple(Evidence(**_texts(Evidence, each)) for each in value["evidence"])


def _texts(kind: type[Evidence | Entity | Relation], value: Mapping[str, Any]) -> dict[str, str]:
    """The fields of a thing but its evidence; what another version may have written besides is passed over."""
    found = {each.name: value[each.name] for each in fields(kind) if each.name in value and each.name != "evidence"}
    if not all(isinstance(text, str) for text in found.values()):
        raise TypeError("a field of the insights is no text")
    return found
