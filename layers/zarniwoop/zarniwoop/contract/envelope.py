"""The envelope of every tool, over REST, queue, event and direct invocation alike (seed 2, `ToolResult`)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from zarniwoop.contract.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """`ok` with `data`, or not `ok` with an `error`; `evidence` lists what the answer stands on.

    `ok` is false with `data` present when the request was right but nobody could answer it: the data then holds the
    attempts.
    """

    ok: bool
    data: Any = None
    error: Problem | None = None
    evidence: tuple[Mapping[str, Any], ...] = ()
