"""What every tool answers with when `dry_run` is true: plans instead of results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.modality import SearchModality
from zarniwoop.dispatch.plan import DispatchPlan, WorstCase, sum_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastSearch:
    """A search that an investigation would make, as the built-in planner words it."""

    query: str
    modality: SearchModality


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """How an investigation would go. `planner` is `builtin` or the protocol of the model that would plan it.

    What a model would plan is known to nobody before it is asked: then `searches` is empty, and `most_searches` of the
    dearest kind are counted. Model calls are those that are answered. `most_tokens`, `most_cost` and `most_calls` are
    the request's own budgets; no provider's call exceeds the last two.
    """

    planner: str
    searches: tuple[ForecastSearch, ...]
    most_searches: int
    most_bodies: int
    most_model_calls: int
    most_tokens: int
    most_cost: float
    most_calls: int | None
    wall_seconds: int
    rationale: str | None = None
    refused: tuple[str, ...] = ()
    failure: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRun:
    """`plans` by modality; `worst_case` is all that providers get of the call together, within its ceilings.

    `look_ups` names the instances whose quota would be asked for, which is free.
    """

    tool: str
    plans: Mapping[str, DispatchPlan]
    worst_case: WorstCase
    look_ups: tuple[str, ...] = ()
    forecast: Forecast | None = None
    notes: tuple[str, ...] = ()
    dry_run: bool = field(default=True, init=False)


def planned(
    tool: str, plans: Sequence[DispatchPlan], *, max_calls: int | None = None, max_cost: float | None = None
) -> ToolResult:
    """The answer of a tool that makes each of these searches once, all of them within the same ceilings."""
    data = DryRun(
        tool=tool,
        plans={str(plan.modality): plan for plan in plans},
        worst_case=sum_of(plan.worst_case for plan in plans).within(max_calls, max_cost),
    )
    return ToolResult(ok=True, data=data)
