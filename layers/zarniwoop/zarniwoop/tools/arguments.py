"""Tool arguments: validated once at the edge. `tools.refusals` says what is told of those that are refused."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta
from typing import Annotated, Any, Self, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from zarniwoop.contract.modality import SearchModality, SearchTier
from zarniwoop.contract.problem import InvalidArgument
from zarniwoop.contract.request import CacheUse, DateRange, ExpertParams, Locale, SearchRequest, Strategy
from zarniwoop.stores.keys import ID_PATTERN
from zarniwoop.text.languages import LANGUAGES, REGIONS
from zarniwoop.text.names import snake_case
from zarniwoop.text.plain import is_blank
from zarniwoop.tools.refusals import refusal

MAX_QUERY_CHARS = 2_000
MAX_RESULTS = 50
MOST_TOKENS = 25_000
"""Of one answer to a model: with more, clients cut it off or refuse it."""
BYTES_A_TOKEN = 2.5
"""Hits as JSON have 3 to 4 (o200k), prose more; of what has fewer the tokens are estimated (`text.tokens`)."""
MOST_BYTES = int(MOST_TOKENS * BYTES_A_TOKEN)
MIN_CHARS, USUAL_CHARS, MAX_CHARS = 2_000, MOST_BYTES * 4 // 5, 1_000_000
"""The usual is what models are given: with what stands around `data`, `MOST_BYTES` hold it."""
_HOST = r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}"
DOMAIN_PATTERN = rf"^{_HOST}$"
_ISO_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")

Model = TypeVar("Model", bound=BaseModel)


def _iso_day(value: Any) -> Any:
    if value is None or (isinstance(value, str) and _ISO_DAY.fullmatch(value)):
        return value
    raise PydanticCustomError("iso_day", "must be a day written as YYYY-MM-DD")


def _seen(value: str) -> str:
    if is_blank(value):
        raise PydanticCustomError("blank", "must have at least one visible character")
    return value


def locale_of(tag: str) -> Locale:
    language, _, region = tag.replace("_", "-").partition("-")
    return Locale(language=language.lower(), region=region.upper() or None)


def _known_locale(tag: str) -> str:
    locale = locale_of(tag)
    if locale.language not in LANGUAGES:
        raise PydanticCustomError("language", "there is no such language in ISO 639")
    if locale.region is not None and locale.region not in REGIONS:
        raise PydanticCustomError("region", "there is no such region in ISO 3166")
    return tag


Tag = Annotated[str, Field(pattern=r"^[A-Za-z]{2,3}(?:[-_][A-Za-z]{2})?$"), AfterValidator(_known_locale)]
Words = Annotated[str, AfterValidator(_seen)]
Count = Annotated[int, Field(strict=True)]
"""A whole number: `true` is none, nor is "3"."""
Amount = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Day = Annotated[date, BeforeValidator(_iso_day)]
Id = Annotated[str, Field(pattern=f"^{ID_PATTERN}$")]
Flag = Annotated[bool, Field(strict=True)]
"""True or false: "no" is neither, and must not pass for either."""


class ToolArguments(BaseModel):
    """What every tool takes: the project, when a token has several, and the process within it."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, str_strip_whitespace=True, hide_input_in_errors=True, defer_build=True
    )

    project_id: Id | None = Field(
        default=None, description="Which of your projects is asking. Needed only if your token has several."
    )
    process_id: Id | None = Field(default=None, description="A process within the project whose settings shall win.")


class CallArguments(ToolArguments):
    """What every tool takes besides: the wish to see what a call would do."""

    dry_run: Flag = Field(
        default=False,
        description=(
            "true: only tell what this call would do: who would be asked, who would not and why, and how many calls, "
            "credits and dollars it would take at most. Nobody is asked, nothing is spent or written."
        ),
    )


class HitArguments(CallArguments):
    """What every tool takes whose answer holds hits."""

    max_chars: Count | None = Field(
        default=None,
        ge=MIN_CHARS,
        le=MAX_CHARS,
        description=(
            f"How many characters of JSON `data` may have, 2000 to 1000000; {USUAL_CHARS} are within 25,000 tokens. "
            "Hits are never cut: those that do not fit are read by result_read with data.size.handle, for an hour. "
            "What tells of the search itself is always whole; where it leaves room for no hit, "
            "data.size.least_max_chars does."
        ),
    )


class QueryArguments(HitArguments):
    """What every searching tool takes."""

    query: Words = Field(
        min_length=1, max_length=MAX_QUERY_CHARS, description="What to look for, in plain words of any language."
    )
    max_results: Count = Field(default=10, ge=1, le=MAX_RESULTS, description="How many hits at most, 1 to 50.")
    locale: Tag | None = Field(
        default=None, description="Language and optional region of the answers as a BCP 47 tag: de, en-GB."
    )
    strategy: Strategy = Field(
        default=Strategy.CASCADE,
        description=(
            "cascade: one provider after the other until one has hits. fanout: several at once, their lists fused into "
            "one by reciprocal rank, each work once and with its contributors; it takes several provider calls."
        ),
    )
    min_results: Count | None = Field(
        default=None,
        ge=1,
        le=MAX_RESULTS,
        description="Of a fanout: ask further providers while it has fewer different works than that, 1 to 50.",
    )
    cache: CacheUse = Field(
        default=CacheUse.PREFER,
        description=(
            "prefer: a kept answer where the project keeps answers and has one, which costs nothing. only: that or "
            "nothing. no-store: ask anew, and keep nothing."
        ),
    )
    max_calls: Count | None = Field(
        default=None, ge=1, le=100, description="How many requests this call may send to providers at most, 1 to 100."
    )
    max_cost: Amount | None = Field(
        default=None, ge=0, le=100, description="What this call may cost at most in USD, 0 to 100, credits aside."
    )
    free_only: Flag = Field(default=False, description="true: ask only providers whose calls cost nothing.")
    store_evidence: Flag = Field(default=False, description="true: keep hits as evidence that `evidence` links to.")

    @model_validator(mode="after")
    def _only_a_fan_out_has_a_least(self) -> Self:
        if self.min_results is not None and self.strategy is not Strategy.FANOUT:
            raise PydanticCustomError("needs_fanout", "needs strategy=fanout", {"field": "min_results"})
        return self

    def parsed_locale(self) -> Locale | None:
        return None if self.locale is None else locale_of(self.locale)

    def request_for(self, modality: SearchModality) -> SearchRequest:
        """What all searching tools take, as a request of the NORMAL tier."""
        return SearchRequest(
            query=self.query,
            modality=modality,
            max_results=self.max_results,
            locale=self.parsed_locale(),
            strategy=self.strategy,
            min_results=self.min_results or 1,
            cache=self.cache,
            max_calls=self.max_calls,
            max_cost=self.max_cost,
            free_only=self.free_only,
        )


class SearchArguments(QueryArguments):
    """Arguments of `research_search`."""

    modality: SearchModality = Field(
        description="What kind of thing to look for: WEB pages, NEWS, ACADEMIC papers, ENCYCLOPEDIA articles, BOOK, …"
    )

    def to_request(self, today: date) -> SearchRequest:  # noqa: ARG002 - the expert form needs the day
        return self.request_for(self.modality)


class ExpertSearchArguments(SearchArguments):
    """Arguments of `research_search_expert`."""

    site: str | None = Field(
        default=None,
        max_length=200,
        pattern=rf"^{_HOST}(?:/[^\s?#]*)?$",
        description="Only this host, optionally with a path prefix: arxiv.org or example.com/docs.",
    )
    domain: str | None = Field(
        default=None,
        max_length=200,
        pattern=DOMAIN_PATTERN,
        description="Only this domain and everything below it: nature.com covers www.nature.com.",
    )
    filetype: str | None = Field(
        default=None, pattern=r"^\.?[A-Za-z0-9]{1,10}$", description="Only files with this extension: pdf."
    )
    date_from: Day | None = Field(default=None, description="Published on or after this day, YYYY-MM-DD.")
    date_to: Day | None = Field(default=None, description="Published on or before this day, YYYY-MM-DD.")
    freshness_days: Count | None = Field(
        default=None, ge=1, le=3650, description="Published within so many days before today (UTC)."
    )
    pinned_provider_id: Id | None = Field(
        default=None,
        description="Ask exactly this provider instance (see research_providers); it is never replaced by another.",
    )

    @model_validator(mode="after")
    def _range_runs_forward(self) -> "ExpertSearchArguments":
        if self.date_from and self.date_to and self.date_from > self.date_to:
            raise PydanticCustomError("reversed_range", "date_to lies before date_from", {"field": "date_to"})
        return self

    @model_validator(mode="after")
    def _a_pin_is_asked_alone(self) -> Self:
        if self.pinned_provider_id and self.strategy is Strategy.FANOUT:
            raise PydanticCustomError("pinned_fanout", "a pinned provider is asked alone", {"field": "strategy"})
        return self

    def to_request(self, today: date) -> SearchRequest:
        """The request, with its date window resolved once, against `today` in UTC. Raises InvalidArgument."""
        params = ExpertParams(
            site=self.site,
            domain=self.domain,
            filetype=self.filetype.lstrip(".").lower() if self.filetype else None,
            date_from=self.date_from,
            date_to=self.date_to,
            freshness_days=self.freshness_days,
        )
        return replace(
            super().to_request(today),
            tier=SearchTier.EXPERT,
            pinned_provider_id=self.pinned_provider_id,
            expert_params=params,
            published=_window(params, today),
        )


def _window(params: ExpertParams, today: date) -> DateRange | None:
    starts = [params.date_from, today - timedelta(days=params.freshness_days) if params.freshness_days else None]
    given = [start for start in starts if start]
    if not given and not params.date_to:
        return None
    earliest = max(given, default=None)
    if earliest and params.date_to and earliest > params.date_to:
        raise InvalidArgument(
            "'freshness_days' and 'date_to' leave no day between them",
            field="freshness_days",
            suggested_action="leave one of them out",
        )
    return DateRange(earliest=earliest, latest=params.date_to)


def parse_arguments(model: type[Model], given: Mapping[str, Any]) -> Model:
    """The typed arguments out of JSON; camelCase names are accepted. Raises InvalidArgument."""
    named: dict[str, Any] = {}
    for name, value in given.items():
        snake = snake_case(name)
        if snake in named:
            raise InvalidArgument(f"'{snake}' is given twice", field=snake, suggested_action="give it once")
        named[snake] = value
    try:
        return model.model_validate(named)
    except ValidationError as error:
        raise refusal(model, error.errors(include_url=False, include_input=False)) from None
