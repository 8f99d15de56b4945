"""Runs: the receipt, the report, and what they leave behind."""

from collections.abc import Mapping
from typing import Any

from zarniwoop_client.results.record import Record
from zarniwoop_client.results.searches import AnswerSize


class ModelUsage(Record):
    """What was used. `output_tokens` includes `reasoning_tokens`; `cost` follows the prices in the settings."""

    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cost: float = 0.0
    calls: int = 0


class NodeProgress(Record):
    """How far a node of the pipeline is; `done` never exceeds `total`."""

    done: int
    total: int


class RunAccepted(Record):
    """The run is under way; `status_url`, a path of this API, tells how far. Over REST this is a 202."""

    run_id: str
    state: str
    status_url: str

    @property
    def ended(self) -> bool:
        """Whether nothing will change any more: of a receipt nobody knows."""
        return False


class RunReport(RunAccepted):
    """A run as its owner sees it. Times are epoch seconds; `cost` holds models and providers.

    `results` is the best that there is so far: the result, else the ranked, else the merged hits; `results_note` says
    why there are none although there should be. `size` is there when the answer was bounded.
    """

    project_id: str
    tool: str
    outcome: str | None
    error: str | None
    request_id: str
    created_at: float
    started_at: float | None
    updated_at: float
    ended_at: float | None
    deadline_at: float
    progress: Mapping[str, NodeProgress]
    counts: Mapping[str, int]
    usage: ModelUsage
    cost: float
    webhook: str | None
    results: Mapping[str, Any] | None = None
    results_note: str | None = None
    size: AnswerSize | None = None
    untrusted: bool = True

    @property
    def ended(self) -> bool:
        """Whether the run is over: as succeeded, stopped, failed or timed_out."""
        return self.ended_at is not None


class RunsPage(Record):
    """A page of the project's runs, the newest first; `next_page_token` is None where the list ends."""

    runs: tuple[RunReport, ...]
    next_page_token: str | None = None


class RunArtifact(Record):
    """A file of a run; `url` needs no token, and works for `expires_in` seconds of its list."""

    name: str
    size: int
    url: str


class RunArtifacts(Record):
    run_id: str
    artifacts: tuple[RunArtifact, ...]
    expires_in: int


class ContentAnswer(Record):
    """`text` with `next_offset` where there is more, or a `url` to what is no text. Both are other people's words."""

    sha256: str
    media_type: str
    source_url: str
    instance_id: str
    size: int
    expires_at: float
    text: str | None = None
    offset: int | None = None
    next_offset: int | None = None
    url: str | None = None
    url_expires_in: int | None = None


class InsightsAnswer(Record):
    """`document` when the whole is JSON and fits; else `text`, with `next_offset` where there is more.

    `cut` counts what has gone from the graph so far, because it would have been larger than `limits`. What it quotes
    are other people's words.
    """

    format: str
    media_type: str
    version: str
    entities: int
    relations: int
    cut: Mapping[str, int]
    limits: Mapping[str, int]
    size: int
    document: Any = None
    text: str | None = None
    offset: int | None = None
    next_offset: int | None = None
