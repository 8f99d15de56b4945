"""Evidence as DynamoDB items, and back.

What can change by itself or is looked for has an attribute of its own: quotes (by their place), the moment, the keys of
the indexes. Everything else is one document, `facts`.
Quirk: an item that cannot be read counts as absent, and so does one whose time is over, which TTL deletes days later.
"""

from dataclasses import replace
from typing import Any

import orjson

from zarniwoop.contract.evidence import Evidence, Quote, Signal, SourceType
from zarniwoop.contract.hit import DatePrecision, PublishedAt
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.page import PageAnchor
from zarniwoop.stores.attributes import EXPIRES_AT, Item, has_lapsed, moment, read_number, read_text, text
from zarniwoop.stores.evidence import evidence_url
from zarniwoop.stores.failure import ILLEGIBLE
from zarniwoop.stores.keys import (
    EVIDENCE,
    evidence_key,
    evidence_of_task,
    evidence_of_url,
    is_evidence_id,
    partition,
    seen_key,
)
from zarniwoop.stores.state import ProjectKey

_OWN = frozenset(("id", "quotes", "retrieved_at", "expires_at"))
_LISTS = ("authors", "suspicious")


def evidence_item_key(project: ProjectKey, evidence_id: str) -> dict[str, Any]:
    return {"pk": text(partition(project)), "sk": text(evidence_key(evidence_id))}


def index_attributes(project: ProjectKey, evidence: Evidence) -> dict[str, Any]:
    """What the indexes order and find it by."""
    return {
        "seen": text(seen_key(evidence.retrieved_at, evidence.id)),
        "url_key": text(evidence_of_url(project, evidence_url(evidence.url))),
        **({"task_key": text(evidence_of_task(project, evidence.task_id))} if evidence.task_id else {}),
    }


def facts_attributes(evidence: Evidence) -> dict[str, Any]:
    """What is written anew each time it is seen."""
    bare = replace(evidence, quotes=(), expires_at=None)
    facts = {name: value for name, value in orjson.loads(orjson.dumps(bare)).items() if name not in _OWN}
    return {"facts": text(orjson.dumps(facts).decode()), "retrieved_at": moment(evidence.retrieved_at)}


def quotes_attribute(quotes: tuple[Quote, ...]) -> dict[str, Any]:
    return {"M": {quote_key(quote): text(quote.text) for quote in quotes}}


def quote_key(quote: Quote) -> str:
    return f"{quote.start}-{quote.end}"


def read_evidence(item: Item | None, now: float) -> Evidence | None:
    """None when there is none, its time is over, or it is illegible."""
    if not item or has_lapsed(item, now):
        return None
    try:
        evidence_id = read_text(item, "sk").removeprefix(EVIDENCE)
        if not is_evidence_id(evidence_id):
            return None
        return Evidence(
            id=evidence_id,
            retrieved_at=read_number(item, "retrieved_at"),
            expires_at=read_number(item, EXPIRES_AT),
            quotes=_quotes(item),
            **_facts(orjson.loads(read_text(item, "facts"))),
        )
    except ILLEGIBLE:
        return None


def _quotes(item: Item) -> tuple[Quote, ...]:
    """In the order in which they stand in the text."""
    found = []
    for place, quoted in item["quotes"]["M"].items():
        start, _, end = place.partition("-")
        found.append(Quote(text=str(quoted["S"]), start=int(start), end=int(end)))
    return tuple(sorted(found, key=lambda quote: (quote.start, quote.end)))


def _facts(facts: dict[str, Any]) -> dict[str, Any]:
    """Readings that were kept before this was kept have no anchors and no second date."""
    return {
        **facts,
        **{name: tuple(facts[name]) for name in _LISTS},
        "source_type": SourceType(facts["source_type"]),
        "signals": tuple(Signal(**signal) for signal in facts["signals"]),
        "modality": SearchModality(facts["modality"]) if facts["modality"] else None,
        "published_at": _date(facts["published_at"]),
        "modified_at": _date(facts.get("modified_at")),
        "anchors": tuple(PageAnchor(**anchor) for anchor in facts.get("anchors", ())),
    }


def _date(known: dict[str, str] | None) -> PublishedAt | None:
    return PublishedAt(value=known["value"], precision=DatePrecision(known["precision"])) if known else None
