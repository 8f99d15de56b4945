"""Usage: what was asked of whom, and what that cost."""

from collections.abc import Mapping

from zarniwoop_client.results.record import Record


class UsageRow(Record):
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


class ModelUse(Record):
    """What the models of the runs took."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0


class Cut(Record):
    """Something that was not read to its end: `records` of an instance, `instances`, `runs`, or their `results`.

    `retention`: records from before have lapsed.

    From `whole_since` on (epoch seconds) the sums are whole; None: nothing of it is in them.
    """

    what: str
    instance_id: str | None = None
    whole_since: float | None = None


class Usage(Record):
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
