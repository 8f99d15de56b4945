"""Answers that nobody waits for, put on the event bus from source `zarniwoop`: as `ResearchAnswered`, or as what a
standing query reports."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import orjson

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.entry.answers import Shorten, encode

if TYPE_CHECKING:
    from zarniwoop.wiring import Environment

MAX_DETAIL_BYTES = 240_000
"""EventBridge takes 256 KB an entry, names and times included."""


class UnpublishedAnswerError(Exception):
    """The bus did not take an answer; the message that asked for it must come again."""


def publish(
    services: "Environment", tool: str, request_id: str, result: ToolResult, shorten: Shorten | None = None
) -> dict[str, Any]:
    """Put the answer on the bus, trimmed to its limit, and return it as it was put there.

    Raises UnpublishedAnswerError when the bus refuses it.
    """
    return put(services, "ResearchAnswered", {"request_id": request_id, "tool": tool}, result, shorten)


def put(
    services: "Environment", kind: str, head: Mapping[str, Any], result: ToolResult, shorten: Shorten | None = None
) -> dict[str, Any]:
    """An event of this kind with the result behind its head. Returns and raises as `publish` does."""
    told: dict[str, Any] = orjson.loads(encode(result, MAX_DETAIL_BYTES, shorten=shorten))
    answer = services.events.put_events(
        Entries=[
            {
                "EventBusName": services.event_bus,
                "Source": "zarniwoop",
                "DetailType": kind,
                "Detail": orjson.dumps({**head, "result": told}).decode(),
            }
        ]
    )
    if answer.get("FailedEntryCount"):
        raise UnpublishedAnswerError(kind)
    return told
