"""Tool arguments: what is taken, and what every refusal says."""

from datetime import date
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from zarniwoop.contract.modality import SearchModality, SearchTier
from zarniwoop.contract.problem import InvalidArgument
from zarniwoop.contract.request import DateRange, ExpertParams, Locale, Strategy
from zarniwoop.tools.arguments import (
    MAX_QUERY_CHARS,
    ExpertSearchArguments,
    QueryArguments,
    SearchArguments,
    ToolArguments,
    parse_arguments,
)

TODAY = date(2026, 11, 30)
ASKED: dict[str, Any] = {"query": "cathedral bells", "modality": "WEB"}


def _expert(**more: Any) -> ExpertSearchArguments:
    return parse_arguments(ExpertSearchArguments, {**ASKED, **more})


def _refused(model: type[ToolArguments] = ExpertSearchArguments, **more: Any) -> InvalidArgument:
    with pytest.raises(InvalidArgument) as refused:
        parse_arguments(model, {**ASKED, **more})
    return refused.value


def test_a_plain_search_becomes_a_request_of_the_normal_tier() -> None:
    """Ten hits of any language, unless something else is said."""
    request = parse_arguments(SearchArguments, ASKED).to_request(TODAY)
    assert (request.query, request.modality, request.tier) == (
        "cathedral bells",
        SearchModality.WEB,
        SearchTier.NORMAL,
    )
    assert (request.max_results, request.locale, request.published) == (10, None, None)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("de", Locale(language="de")),
        ("EN-gb", Locale(language="en", region="GB")),
        ("pt_BR", Locale(language="pt", region="BR")),
        ("gsw-CH", Locale(language="gsw", region="CH")),
    ],
)
def test_a_locale_is_read_in_any_of_its_spellings(written: str, read: Locale) -> None:
    """As programs and people write them."""
    assert parse_arguments(QueryArguments, {"query": "bells", "locale": written}).parsed_locale() == read


def test_the_seeds_camel_case_names_are_taken() -> None:
    """And text is trimmed."""
    arguments = parse_arguments(
        ExpertSearchArguments,
        {"query": " bells ", "modality": "WEB", "maxResults": 3, "pinnedProviderId": "serper-main", "dateFrom": None},
    )
    assert (arguments.query, arguments.max_results, arguments.pinned_provider_id) == ("bells", 3, "serper-main")


@pytest.mark.parametrize("query", ["?", "<b>", "\u200bbells", "鐘", "🔔", "\u0928\u094d"])
def test_whatever_can_be_seen_is_a_query(query: str) -> None:
    """A tag, a mark or a picture may be just what somebody looks for."""
    assert parse_arguments(QueryArguments, {"query": query}).query == query


def test_a_name_in_two_spellings_is_refused() -> None:
    """Nobody guesses which was meant."""
    error = _refused(SearchArguments, max_results=3, maxResults=5)
    assert (error.field, error.suggested_action) == ("max_results", "give it once")


def test_an_expert_search_carries_its_filters() -> None:
    """As written, but for the file type's dot and case."""
    request = _expert(
        site="arxiv.org/abs",
        domain="nature.com",
        filetype=".PDF",
        date_from="2024-02-29",
        date_to="2026-01-01",
        pinned_provider_id="serper-main",
    ).to_request(TODAY)
    assert request.tier is SearchTier.EXPERT
    assert request.pinned_provider_id == "serper-main"
    assert request.expert_params == ExpertParams(
        site="arxiv.org/abs",
        domain="nature.com",
        filetype="pdf",
        date_from=date(2024, 2, 29),
        date_to=date(2026, 1, 1),
    )


@pytest.mark.parametrize(
    ("filters", "window"),
    [
        ({}, None),
        ({"date_to": "2026-01-01"}, DateRange(latest=date(2026, 1, 1))),
        ({"date_from": "2026-01-01"}, DateRange(earliest=date(2026, 1, 1))),
        ({"freshness_days": 7}, DateRange(earliest=date(2026, 11, 23))),
        ({"freshness_days": 7, "date_from": "2026-11-29"}, DateRange(earliest=date(2026, 11, 29))),
        ({"freshness_days": 7, "date_from": "2020-01-01"}, DateRange(earliest=date(2026, 11, 23))),
    ],
)
def test_the_window_is_resolved_once_and_the_narrower_start_wins(
    filters: dict[str, Any], window: DateRange | None
) -> None:
    """Every candidate of a cascade is asked for the same days."""
    assert _expert(**filters).to_request(TODAY).published == window


def test_a_window_without_a_day_in_it_is_refused() -> None:
    """Each filter is right by itself; together they ask for nothing."""
    with pytest.raises(InvalidArgument) as refused:
        _expert(freshness_days=7, date_to="2020-01-01").to_request(TODAY)
    assert refused.value.field == "freshness_days"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"query": ""}, "query"),
        ({"query": " \t\n"}, "query"),
        ({"query": "a" * (MAX_QUERY_CHARS + 1)}, "query"),
        ({"query": "half \ud83d"}, "query"),
        ({"query": None}, "query"),
        ({"query": "\u200b"}, "query"),
        ({"query": "\x00\x01"}, "query"),
        ({"query": "\u202e \ufeff\u00ad"}, "query"),
        ({"query": "\u2800\u3164\ufe0f"}, "query"),
        ({"query": "\U000e0041\u180e"}, "query"),
        ({"query": ["bells"]}, "query"),
        ({"modality": "SMELL"}, "modality"),
        ({"tier": "EXPERT"}, "tier"),
        ({"tenant_id": "other"}, "tenant_id"),
        ({"max_results": 0}, "max_results"),
        ({"max_results": -1}, "max_results"),
        ({"max_results": 51}, "max_results"),
        ({"max_results": "ten"}, "max_results"),
        ({"max_results": 2.5}, "max_results"),
        ({"max_results": True}, "max_results"),
        ({"max_results": "3"}, "max_results"),
        ({"freshness_days": True}, "freshness_days"),
        ({"locale": "english"}, "locale"),
        ({"locale": "de-DE-1996"}, "locale"),
        ({"locale": "xx"}, "locale"),
        ({"locale": "deu"}, "locale"),
        ({"locale": "xx-QQ"}, "locale"),
        ({"locale": "de-QQ"}, "locale"),
        ({"locale": "en-UK"}, "locale"),
        ({"project_id": "../other"}, "project_id"),
        ({"process_id": "A#B"}, "process_id"),
        ({"site": "https://arxiv.org"}, "site"),
        ({"site": "arxiv.org/a b"}, "site"),
        ({"site": "arxiv.org/\ud83d"}, "site"),
        ({"domain": "arxiv.org/abs"}, "domain"),
        ({"filetype": "p d f"}, "filetype"),
        ({"date_from": "2024-02-30"}, "date_from"),
        ({"date_from": "29.02.2024"}, "date_from"),
        ({"date_from": 1_700_000_000}, "date_from"),
        ({"date_to": "tomorrow"}, "date_to"),
        ({"date_from": "2026-01-02", "date_to": "2026-01-01"}, "date_to"),
        ({"freshness_days": 0}, "freshness_days"),
        ({"freshness_days": 4_000}, "freshness_days"),
        ({"pinned_provider_id": "Serper Main"}, "pinned_provider_id"),
    ],
)
def test_every_refusal_names_the_field_and_the_way_out(given: dict[str, Any], field: str) -> None:
    """And never repeats what was given."""
    error = _refused(**given)
    assert (error.status, error.field) == (400, field)
    assert error.suggested_action
    assert not any(str(value) in error.detail for value in given.values() if len(str(value)) > 2)


class _Listed(ToolArguments):
    """Arguments with elements."""

    names: Annotated[tuple[Annotated[str, Field(min_length=1, max_length=3)], ...], Field(max_length=2)] = Field(
        description="Up to two names."
    )


@pytest.mark.parametrize(
    ("names", "field", "detail"),
    [
        (["a", "b", "c"], "names", "'names': must have at most 2 elements"),
        ("a", "names", "'names': must be a list, as in [\"…\"]"),
        ({"a": 1}, "names", "'names': must be a list, as in [\"…\"]"),
        (["a", 1], "names.1", "'names.1': must be text"),
        ([""], "names.0", "'names.0': must have at least 1 characters"),
        (["long"], "names.0", "'names.0': must have at most 3 characters"),
    ],
)
def test_lists_are_told_of_in_words_of_json_and_their_elements_with_their_advice(
    names: Any, field: str, detail: str
) -> None:
    """Who sends JSON knows no tuples."""
    with pytest.raises(InvalidArgument) as refused:
        parse_arguments(_Listed, {"names": names})
    error = refused.value
    assert (error.field, error.detail, error.suggested_action) == (field, detail, "Up to two names.")


@pytest.mark.parametrize(
    ("wrong", "detail"),
    [
        ({"process_id": "UPPER"}, "'process_id' must match ^[a-z0-9][a-z0-9_-]{0,62}$"),
        ({"site": "a b"}, "'site' is not written as it must be"),
        ({"max_results": "3"}, "'max_results': must be a whole number"),
        ({"max_results": 99}, "'max_results': must be at most 50"),
        ({"free_only": "no"}, "'free_only': must be true or false"),
        ({"max_cost": "1"}, "'max_cost': must be a number"),
        ({"strategy": "race"}, "'strategy': must be 'cascade' or 'fanout'"),
        ({"query": 7}, "'query': must be text"),
    ],
)
def test_what_a_value_must_be_is_told(wrong: dict[str, Any], detail: str) -> None:
    """A pattern too, where it can be read at a glance."""
    assert _refused(**wrong).detail == detail


def test_what_is_missing_is_named_with_what_it_takes() -> None:
    """A modality's advice is the list of them all."""
    with pytest.raises(InvalidArgument, match="'modality' is missing") as refused:
        parse_arguments(SearchArguments, {"query": "bells"})
    assert all(modality in str(refused.value.suggested_action) for modality in SearchModality)


def test_an_unknown_parameters_advice_is_the_list_of_known_ones() -> None:
    """Cut where a name has no end."""
    error = _refused(SearchArguments, **{"x" * 500: 1})
    assert error.field == "x" * 64
    assert error.suggested_action == "use only: " + ", ".join(sorted(SearchArguments.model_fields))


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"qery": "bells", "modality": "WEB"}, "query"),
        ({"query": "bells", "modalities": "WEB"}, "modality"),
        ({"query": "bells", "modality": "WEB", "max_result": 3, "max_cost": "1"}, "max_results"),
    ],
)
def test_a_misspelt_parameter_is_told_before_what_is_missing_or_wrong(given: dict[str, Any], meant: str) -> None:
    """With the one that was meant, and all that there are."""
    with pytest.raises(InvalidArgument, match="there is no parameter") as refused:
        parse_arguments(SearchArguments, given)
    assert refused.value.field in given
    assert str(refused.value.suggested_action).startswith(f"did you mean '{meant}'? use only: ")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner), max_leaves=5
)


@given(st.dictionaries(st.sampled_from([*ExpertSearchArguments.model_fields, "maxResults", "x"]), _JSON))
def test_whatever_json_says_is_taken_or_refused(given: dict[str, Any]) -> None:
    """By nothing but the one refusal."""
    try:
        arguments = parse_arguments(ExpertSearchArguments, {**ASKED, **given})
        arguments.to_request(TODAY)
    except InvalidArgument as error:
        assert error.field


def test_a_fan_out_is_asked_for_by_name_and_never_with_a_pin() -> None:
    """`min_results` means nothing without it, and a pinned provider is asked alone; both refusals name the field."""
    asked = {"query": "q", "modality": "WEB"}
    request = parse_arguments(SearchArguments, {**asked, "strategy": "fanout", "minResults": 3}).to_request(
        date(2026, 1, 1)
    )
    assert (request.strategy, request.min_results) == (Strategy.FANOUT, 3)
    assert parse_arguments(SearchArguments, asked).to_request(date(2026, 1, 1)).strategy is Strategy.CASCADE
    with pytest.raises(InvalidArgument) as needless:
        parse_arguments(SearchArguments, {**asked, "min_results": 3})
    assert needless.value.field == "min_results"
    with pytest.raises(InvalidArgument) as pinned:
        parse_arguments(ExpertSearchArguments, {**asked, "strategy": "fanout", "pinned_provider_id": "a"})
    assert pinned.value.field == "strategy"
