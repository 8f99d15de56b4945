"""Kept answers and flights as DynamoDB items, and back.

Quirk: an item that cannot be read counts as absent, as in `state_items`; so does one whose time is over, which TTL
deletes days later.
"""

from typing import Any

from zarniwoop.stores.attributes import (
    EXPIRES_AT,
    Item,
    expiry,
    has_lapsed,
    moment,
    number,
    read_number,
    read_text,
    text,
)
from zarniwoop.stores.failure import ILLEGIBLE
from zarniwoop.stores.kept_results import Flight, KeptAnswer, Standing
from zarniwoop.stores.keys import read_result_key, result_key
from zarniwoop.stores.project import ProjectKey
from zarniwoop.stores.state_items import item_key

_FLIGHT_REMEMBERED = 60.0


def flight_item(project: ProjectKey, identity: str, flight: Flight) -> dict[str, Any]:
    return {
        **item_key(project, result_key(identity)),
        "generation": number(flight.generation),
        "holder": text(flight.holder),
        "held_until": moment(flight.held_until),
        EXPIRES_AT: expiry(flight.held_until + _FLIGHT_REMEMBERED),
    }


def answer_item(project: ProjectKey, identity: str, answer: KeptAnswer) -> dict[str, Any]:
    """Expires a second late: whole seconds must not cut its time short."""
    return {
        **item_key(project, result_key(identity)),
        "generation": number(answer.generation),
        "stored_at": moment(answer.stored_at),
        "kept_seconds": number(answer.kept_seconds),
        **({"body": {"B": answer.body}} if answer.body is not None else {}),
        **({"file": text(answer.file)} if answer.file is not None else {}),
        EXPIRES_AT: expiry(answer.stored_at + answer.kept_seconds + 1),
    }


def read_result(item: Item, now: float) -> tuple[str, Standing] | None:
    """Identity and what stands under it; None when its time is over, or it is illegible."""
    standing = read_standing(item, now)
    try:
        return (read_result_key(read_text(item, "sk")), standing) if standing else None
    except ILLEGIBLE:
        return None


def read_standing(item: Item, now: float) -> Standing | None:
    if has_lapsed(item, now):
        return None
    try:
        generation = int(read_number(item, "generation"))
        if "holder" in item:
            held_until = read_number(item, "held_until")
            return Flight(generation=generation, holder=read_text(item, "holder"), held_until=held_until)
        return KeptAnswer(
            generation=generation,
            stored_at=read_number(item, "stored_at"),
            kept_seconds=read_number(item, "kept_seconds"),
            body=bytes(item["body"]["B"]) if "body" in item else None,
            file=read_text(item, "file") if "file" in item else None,
        )
    except ILLEGIBLE:
        return None
