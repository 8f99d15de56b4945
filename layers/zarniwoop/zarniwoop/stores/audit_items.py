"""Audit records as DynamoDB items, and back.

Quirk: records written before calls and costs were counted have none; they count as one call that cost nothing.
"""

from typing import Any

from zarniwoop.contract.modality import SearchModality, SearchTier
from zarniwoop.stores.attributes import (
    EXPIRES_AT,
    Item,
    expiry,
    flag,
    moment,
    number,
    read_flag,
    read_number,
    read_text,
    text,
)
from zarniwoop.stores.audit import CallRecord
from zarniwoop.stores.failure import ILLEGIBLE
from zarniwoop.stores.keys import call_key, partition
from zarniwoop.stores.state import ProjectKey


def call_item(record: CallRecord, mark: str) -> dict[str, Any]:
    """Raises ValueError for an id that fits no key. `mark` keeps calls of one millisecond apart."""
    project = ProjectKey(tenant_id=record.tenant_id, project_id=record.project_id)
    item = {
        "pk": text(partition(project)),
        "sk": text(call_key(record.instance_id, record.started_at, mark)),
        "tenant_id": text(record.tenant_id),
        "project_id": text(record.project_id),
        "instance_id": text(record.instance_id),
        "protocol": text(record.protocol),
        "modality": text(record.modality.value),
        "tier": text(record.tier.value),
        "query_hash": text(record.query_hash),
        "hit_count": number(record.hit_count),
        "ok": flag(record.ok),
        "started_at": moment(record.started_at),
        "duration_ms": number(record.duration_ms),
        "request_id": text(record.request_id),
        "operation": text(record.operation),
        "calls": number(record.calls),
        EXPIRES_AT: expiry(record.expires_at),
    }
    item |= {name: number(cost) for name, cost in (("credits", record.credits), ("usd", record.usd)) if cost}
    if record.diagnostics:
        item["diagnostics"] = flag(True)
    if record.error_message is not None:
        item["error_message"] = text(record.error_message)
    return item


def calls_of(item: Item) -> int:
    """How many requests the provider got; one where that was not counted, or cannot be read."""
    try:
        return int(read_number(item, "calls")) if "calls" in item else 1
    except ILLEGIBLE:
        return 1


def read_call(item: Item) -> CallRecord | None:
    """None for an item that cannot be read: it must not take the others along."""
    try:
        return CallRecord(
            tenant_id=read_text(item, "tenant_id"),
            project_id=read_text(item, "project_id"),
            instance_id=read_text(item, "instance_id"),
            protocol=read_text(item, "protocol"),
            modality=SearchModality(read_text(item, "modality")),
            tier=SearchTier(read_text(item, "tier")),
            query_hash=read_text(item, "query_hash"),
            hit_count=int(read_number(item, "hit_count")),
            ok=read_flag(item, "ok"),
            error_message=read_text(item, "error_message") if "error_message" in item else None,
            started_at=read_number(item, "started_at"),
            duration_ms=int(read_number(item, "duration_ms")),
            expires_at=read_number(item, EXPIRES_AT),
            request_id=read_text(item, "request_id"),
            operation=read_text(item, "operation"),
            diagnostics=read_flag(item, "diagnostics"),
            calls=calls_of(item),
            credits=read_number(item, "credits") if "credits" in item else 0.0,
            usd=read_number(item, "usd") if "usd" in item else 0.0,
        )
    except ILLEGIBLE:
        return None
