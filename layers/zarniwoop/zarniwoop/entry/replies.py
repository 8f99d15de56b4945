"""Answers that nobody waits for: published on the event bus as `ResearchAnswered` from source `zarniwoop`."""

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
    told: dict[str, Any] = orjson.loads(encode(result, MAX_DETAIL_BYTES, shorten=shorten))
    detail = {"request_id": request_id, "tool": tool, "result": told}
    answer = services.events.put_events(
        Entries=[
            {
                "EventBusName": services.event_bus,
                "Source": "zarniwoop",
                "DetailType": "ResearchAnswered",
                "Detail": orjson.dumps(detail).decode(),
            }
        ]
    )
    if answer.get("FailedEntryCount"):
        raise UnpublishedAnswerError(tool)
    return told
