"""What is left to a run: searches, model tokens, cost and wall time, as the step that looks sees them.

Budgets are looked at before a piece of work, and work under way is not broken off: a run may exceed a budget by what
was under way when it was reached. A part of the wall time is kept for judging and ranking what there is.
"""

from dataclasses import dataclass

from zarniwoop.settings.models import ModelSettings
from zarniwoop.stores.runs import Run
from zarniwoop.tools.research_investigate import InvestigateArguments

OUT_OF_TIME = "wall_seconds"
OUT_OF_TOKENS = "max_model_tokens"
OUT_OF_MONEY = "max_cost"
FREE_ONLY = "free_only"
"""No budget, but as good a reason not to ask a model that costs money."""

SHORTEST_WORK_SECONDS = 1.5
_RESERVED_SHARE = 0.2
_MOST_RESERVED_SECONDS = 20.0
_SMALLEST_SPLIT = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """`seconds` until the wall time is over; the last `reserved` of them are for judging and ranking."""

    seconds: float
    reserved: float
    tokens: int
    cost: float
    free_only: bool = False

    @classmethod
    def of(cls, run: Run, asked: InvestigateArguments, now: float) -> "Budget":
        return cls(
            seconds=run.created_at + asked.wall_seconds - now,
            reserved=min(asked.wall_seconds * _RESERVED_SHARE, _MOST_RESERVED_SECONDS),
            tokens=asked.max_model_tokens - run.usage.input_tokens - run.usage.output_tokens,
            cost=asked.max_cost - run.cost,
            free_only=asked.free_only,
        )

    @property
    def seconds_to_gather(self) -> float:
        """For planning, searching and loading."""
        return max(self.seconds - self.reserved, 0.0)

    @property
    def seconds_to_judge(self) -> float:
        """For judging; half of the reserve stays for ranking and writing down."""
        return max(self.seconds - self.reserved / 2, 0.0)

    def stands_against_search(self, cost: float) -> str | None:
        """Which budget does not allow another search of this cost, by the name of its argument."""
        if self.seconds_to_gather < SHORTEST_WORK_SECONDS:
            return OUT_OF_TIME
        return OUT_OF_MONEY if cost > self.cost or self.cost < 0 else None

    def stands_against_model(self, tokens: float, model: ModelSettings, seconds: float) -> str | None:
        """Which budget does not allow a model to be asked, when that takes so many tokens within so many seconds."""
        if self.free_only and model.is_priced:
            return FREE_ONLY
        if seconds < SHORTEST_WORK_SECONDS:
            return OUT_OF_TIME
        if tokens > self.tokens:
            return OUT_OF_TOKENS
        price = max(model.cost_per_million_input, model.cost_per_million_output)
        return OUT_OF_MONEY if tokens * price / 1_000_000 > max(self.cost, 0.0) else None


def searches_of_first_wave(asked: InvestigateArguments) -> int:
    """All of them, but a quarter where a second wave may follow."""
    kept_back = asked.max_searches // _SMALLEST_SPLIT if asked.refine else 0
    return asked.max_searches - kept_back


def why_spared(reason: str) -> str:
    """In words, why no model was asked."""
    return "free_only leaves out what costs money" if reason == FREE_ONLY else f"{reason} is nearly spent"
