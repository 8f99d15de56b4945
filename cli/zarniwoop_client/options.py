"""The arguments of every tool, as keyword arguments of its method; what is left out is left to the server.

What each means stands in the tool's own description (`client.tools()`, `GET /v1/tools`).
"""

from collections.abc import Sequence
from datetime import date
from typing import TypedDict


class Scope(TypedDict, total=False):
    """In whose name is asked."""

    project_id: str | None
    process_id: str | None


class Options(Scope, total=False):
    """What every call takes. `timeout` is the client's: seconds for the whole call, retries included."""

    timeout: float | None


class BoundedOptions(Options, total=False):
    max_chars: int | None


class SearchOptions(BoundedOptions, total=False):
    max_results: int | None
    locale: str | None
    strategy: str | None
    min_results: int | None
    cache: str | None
    max_calls: int | None
    max_cost: float | None
    free_only: bool | None
    store_evidence: bool | None


class ExpertOptions(SearchOptions, total=False):
    site: str | None
    domain: str | None
    filetype: str | None
    date_from: date | str | None
    date_to: date | str | None
    freshness_days: int | None
    pinned_provider_id: str | None


class WebSearchOptions(SearchOptions, total=False):
    domains: Sequence[str] | None
    freshness_days: int | None


class InvestigateOptions(BoundedOptions, total=False):
    modalities: Sequence[str] | None
    max_searches: int | None
    max_results: int | None
    max_concurrency: int | None
    refine: bool | None
    refine_depth: int | None
    insights: bool | None
    wall_seconds: int | None
    max_model_tokens: int | None
    max_cost: float | None
    max_calls: int | None
    free_only: bool | None
    wait: float | None
    store_evidence: bool | None
    webhook_url: str | None
    idempotency_key: str | None


class FetchOptions(BoundedOptions, total=False):
    format: str | None
    quotes: Sequence[str] | None
    store: bool | None
    refresh: bool | None
    task_id: str | None
    free_only: bool | None


class GeoOptions(Options, total=False):
    max_results: int | None
    locale: str | None
    cache: str | None
    free_only: bool | None
    store_evidence: bool | None


class EvidenceStoreOptions(BoundedOptions, total=False):
    ids: Sequence[str] | None
    format: str | None
    task_id: str | None
    url: str | None
    limit: int | None
    page_token: str | None
    offset: int | None
    text_chars: int | None


class RunStatusOptions(BoundedOptions, total=False):
    wait: float | None
