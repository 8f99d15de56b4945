"""Runs as DynamoDB items, and back.

Quirk: a node's finished items are a string set (`done:<node>`), because adding to a set twice is adding once; what is
expected of it is `total:<node>`, and sums are `count:<name>`. Two sparse indexes have keys of their own: a run that has
not ended carries `open`, one whose end has yet to be told `untold`.
An item that cannot be read counts as absent.
"""

from collections.abc import Mapping
from typing import Any

from zarniwoop.contract.chat import ModelUsage
from zarniwoop.stores.attributes import (
    EXPIRES_AT,
    Item,
    expiry,
    flag,
    has_lapsed,
    moment,
    read_flag,
    read_moment,
    read_number,
    read_text,
    text,
)
from zarniwoop.stores.failure import ILLEGIBLE
from zarniwoop.stores.keys import RUN, checked_run_id, partition, project_of, run_key
from zarniwoop.stores.runs import NodeProgress, Run, RunState
from zarniwoop.stores.state import ProjectKey

OPEN = "OPEN"
UNTOLD = "UNTOLD"
DONE = "done:"
TOTAL = "total:"
COUNT = "count:"


def run_item_key(project: ProjectKey, run_id: str) -> dict[str, Any]:
    return {"pk": text(partition(project)), "sk": text(run_key(run_id))}


def new_run_item(run: Run) -> dict[str, Any]:
    """A run that has neither started nor ended."""
    return {
        **run_item_key(run.project, run.run_id),
        "tool": text(run.tool),
        "request_id": text(run.request_id),
        "execution_arn": text(run.execution_arn),
        "webhook": flag(run.webhook),
        "created_at": moment(run.created_at),
        "updated_at": moment(run.updated_at),
        "deadline_at": moment(run.deadline_at),
        "open": text(OPEN),
        EXPIRES_AT: expiry(run.expires_at),
    }


def usage_sums(usage: ModelUsage, cost: float) -> dict[str, float]:
    """What a step adds to the run's sums, by attribute; what is nothing is left out."""
    sums = {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "model_calls": usage.calls,
        "model_cost": usage.cost,
        "cost": cost + usage.cost,
    }
    return {name: value for name, value in sums.items() if value}


def read_run(item: Item, now: float) -> Run | None:
    """The run in an item; None when it is forgotten by now, or illegible."""
    if has_lapsed(item, now):
        return None
    try:
        return _read(item)
    except ILLEGIBLE:
        return None


def _read(item: Item) -> Run:
    return Run(
        run_id=checked_run_id(read_text(item, "sk").removeprefix(RUN)),
        project=project_of(read_text(item, "pk")),
        tool=read_text(item, "tool"),
        request_id=read_text(item, "request_id"),
        execution_arn=read_text(item, "execution_arn"),
        created_at=read_number(item, "created_at"),
        updated_at=read_number(item, "updated_at"),
        deadline_at=read_number(item, "deadline_at"),
        expires_at=read_number(item, EXPIRES_AT),
        webhook=read_flag(item, "webhook"),
        webhook_outcome=_optional_text(item, "webhook_outcome"),
        tell_at=read_moment(item, "tell_at"),
        started_at=read_moment(item, "started_at"),
        stop_requested=read_flag(item, "stop_requested"),
        ended_at=read_moment(item, "ended_at"),
        ended_as=RunState(read_text(item, "ended_as")) if "ended_as" in item else None,
        outcome=_optional_text(item, "outcome"),
        error=_optional_text(item, "error"),
        progress=_progress(item),
        counts={name.removeprefix(COUNT): int(read_number(item, name)) for name in _named(item, COUNT)},
        usage=_usage(item),
        cost=_sum(item, "cost"),
    )


def _progress(item: Item) -> Mapping[str, NodeProgress]:
    nodes = {name.partition(":")[2] for prefix in (DONE, TOTAL) for name in _named(item, prefix)}
    return {
        node: NodeProgress.of(len(item.get(DONE + node, {}).get("SS", ())), int(_sum(item, TOTAL + node)))
        for node in sorted(nodes)
    }


def _usage(item: Item) -> ModelUsage:
    return ModelUsage(
        input_tokens=int(_sum(item, "input_tokens")),
        output_tokens=int(_sum(item, "output_tokens")),
        reasoning_tokens=int(_sum(item, "reasoning_tokens")),
        cost=_sum(item, "model_cost"),
        calls=int(_sum(item, "model_calls")),
    )


def _named(item: Item, prefix: str) -> list[str]:
    return [name for name in item if name.startswith(prefix)]


def _sum(item: Item, name: str) -> float:
    return read_number(item, name) if name in item else 0.0


def _optional_text(item: Item, name: str) -> str | None:
    return read_text(item, name) if name in item else None
