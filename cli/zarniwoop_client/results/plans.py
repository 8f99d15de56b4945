"""Dry runs: what a call would do, and what it would take at most."""

from collections.abc import Mapping

from pydantic import Field

from zarniwoop_client.results.record import Record


class WorstCase(Record):
    """At most so many requests to providers, so many credits of theirs, and so many dollars."""

    calls: int = 0
    credits: float = 0.0
    usd: float = 0.0


class Eligible(Record):
    """An instance that would be asked, unless one before it answers with hits; `position` counts from 1.

    `times` is how often at most: once with each of its keys. `calls` and costs are those of one time. `probe`: a
    cooldown is over, and one caller of the fleet alone may try. `remaining` is what is known to be left of its quota,
    in `unit`. `turn_every` is how many seconds lie between two searches at its published rate.
    """

    position: int
    instance_id: str
    protocol: str
    calls: int
    credits: float
    usd: float
    times: int = 1
    probe: bool = False
    remaining: float | None = None
    unit: str | None = None
    turn_every: float | None = None


class Skipped(Record):
    """An instance that would not be asked: `reason` is a word of a closed set. `retry_at` in epoch seconds."""

    instance_id: str
    reason: str
    detail: str | None = None
    retry_at: float | None = None


class DispatchPlan(Record):
    """What a search of this kind would do right now. It names no query.

    `again` is what the one that ends last may take once more, after a short stated wait; it is part of `worst_case`.
    """

    modality: str
    tier: str
    eligible: tuple[Eligible, ...]
    skipped: tuple[Skipped, ...]
    again: WorstCase
    worst_case: WorstCase
    note: str | None = None


class ForecastSearch(Record):
    """A search that an investigation would make, as the built-in planner words it."""

    query: str
    modality: str


class Forecast(Record):
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


class DryRun(Record):
    """`plans` by modality; `worst_case` is all that providers get of the call together, within its ceilings.

    `look_ups` names the instances whose quota would be asked for, which is free.
    """

    tool: str
    plans: Mapping[str, DispatchPlan]
    worst_case: WorstCase
    look_ups: tuple[str, ...] = ()
    forecast: Forecast | None = None
    notes: tuple[str, ...] = ()
    dry_run: bool = True


class ForeseenStep(Record):
    """`skipped` says why a step would not be taken. `turn_every` is the pause of its site in seconds."""

    name: str
    site: str | None = None
    turn_every: float | None = None
    skipped: str | None = None
    worst_case: WorstCase = Field(default_factory=WorstCase)


class ForeseenPage(Record):
    """The steps for one URL, in their order."""

    url: str
    steps: tuple[ForeseenStep, ...]


class FetchPlan(Record):
    """The dry run: which steps would be taken for each URL. Steps behind the first are taken only if they must be."""

    tool: str
    pages: tuple[ForeseenPage, ...]
    worst_case: WorstCase
    dry_run: bool = True
