"""`tools/call`: the envelope of a tool's answer as MCP's result.

The model reads either the text or the structured content; both are the envelope, whole. Text of strangers in it is
fenced and marked there, and stays so.
"""

from collections.abc import Mapping
from typing import Any


def call_result(envelope: Mapping[str, Any], encoded: bytes) -> dict[str, Any]:
    """An answer that is not ok is an error that the model sees, with the way out in its problem details."""
    return {
        "content": [{"type": "text", "text": encoded.decode()}],
        "structuredContent": envelope,
        "isError": envelope["ok"] is not True,
    }
