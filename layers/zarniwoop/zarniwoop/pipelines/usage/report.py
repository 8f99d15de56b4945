"""What is told of a project's usage, and what is asked about it: values only."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from zarniwoop.contract.modality import SearchModality


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Whole UTC days, both included; of one instance or modality where these are named."""

    first: date
    last: date
    instance_id: str | None = None
    modality: SearchModality | None = None

    @property
    def since(self) -> float:
        return _midnight(self.first)

    @property
    def until(self) -> float:
        return _midnight(self.last + timedelta(days=1))


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageRow:
    """`asked` counts searches and loads, `calls` the requests that they took, `failed` those without an answer.

    Costs of kept hits are None where nothing was kept.
    """

    asked: int = 0
    calls: int = 0
    failed: int = 0
    hits: int = 0
    credits: float = 0.0
    usd: float = 0.0
    kept_hits: int = 0
    credits_per_kept_hit: float | None = None
    usd_per_kept_hit: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUse:
    """What the models of the runs took."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Something that was not read to its end: `records` of an instance, `instances`, `runs`, or their `results`.

    `retention`: records from before have lapsed.

    From `whole_since` on (epoch seconds) the sums are whole; None: nothing of it is in them.
    """

    what: str
    instance_id: str | None = None
    whole_since: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Sums by provider instance, modality and UTC day, and all together; `complete` is false where `cut` names gaps."""

    date_from: str
    date_to: str
    total: UsageRow
    providers: Mapping[str, UsageRow]
    modalities: Mapping[str, UsageRow]
    days: Mapping[str, UsageRow]
    runs: int
    models: ModelUse
    complete: bool
    cut: tuple[Cut, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A survivor of a run: on which day the run began, what kind of hit it is, and who found it."""

    day: str
    modality: str
    instances: frozenset[str]


def utc_day(moment: float) -> str:
    return datetime.fromtimestamp(moment, tz=UTC).date().isoformat()


def _midnight(day: date) -> float:
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
