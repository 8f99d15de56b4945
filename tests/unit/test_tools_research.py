"""The searching tools on scripted providers: one search, a pinned one, and four side by side."""

from dataclasses import asdict
from datetime import date
from typing import get_args

from tests.fakes.providers import found
from tests.fakes.research import Research
from zarniwoop.contract.failure import ProviderUnavailable, RateLimited
from zarniwoop.contract.modality import SearchModality, SearchTier
from zarniwoop.contract.result import DispatchFailure, SearchResult
from zarniwoop.tools.arguments import ExpertSearchArguments, QueryArguments, SearchArguments
from zarniwoop.tools.research_rich import MODALITIES, RichResult, rich
from zarniwoop.tools.research_search import SEARCHES, SearchName, search

WEB_ONLY = frozenset({SearchModality.WEB})


def test_a_search_answers_with_hits_and_their_account() -> None:
    """The day is that of the clock, in UTC."""
    research = Research({"main": [found(2)]})
    arguments = ExpertSearchArguments(query="bells", modality=SearchModality.WEB, freshness_days=1)
    answered = search(arguments, research.scope(), research.services)
    assert answered.ok
    assert answered.data.returned_count == 2
    (asked,) = research.protocol.asked
    assert asked[1].tier is SearchTier.EXPERT
    assert asked[1].published is not None
    assert asked[1].published.earliest == date(2027, 1, 14)


def test_a_search_that_nobody_could_answer_says_when_to_come_again() -> None:
    """The problem stands beside the attempts."""
    research = Research({"main": [ProviderUnavailable("503")]})
    answered = search(SearchArguments(query="bells", modality=SearchModality.WEB), research.scope(), research.services)
    assert not answered.ok
    assert answered.error is not None
    assert answered.error.wait_seconds == 30.0
    assert [attempt.instance_id for attempt in answered.data.attempts] == ["main"]


METERED = {"research.endpoint.main.costPerCall": "0.5", "research.endpoint.main.autoAllow": "true"}


def _rich(research: Research, **more: object) -> tuple[bool, RichResult, object]:
    answered = rich(QueryArguments(query="bells", **more), research.scope(), research.services)  # type: ignore[arg-type]
    assert isinstance(answered.data, RichResult)
    return answered.ok, answered.data, answered.error


def test_rich_asks_for_four_modalities_and_sums_the_cost() -> None:
    """One question, one answer with four parts."""
    research = Research({"main": [found(1)]}, settings=METERED)
    ok, data, error = _rich(research, max_results=3, locale="de")
    assert data.untrusted
    assert (ok, data.partial, data.problems, error, data.cost) == (True, False, {}, None, 2.0)
    assert list(data.results) == [str(modality) for modality in MODALITIES]
    assert {request.max_results for _, request in research.protocol.asked} == {3}
    assert {str(request.locale) for _, request in research.protocol.asked} == {"de"}


def test_rich_is_partial_when_one_modality_fails_and_another_does_not() -> None:
    """What was found is given, what was not is named."""
    research = Research({"web": [found(1)]}, modalities=WEB_ONLY)
    ok, data, error = _rich(research)
    assert (ok, data.partial, error) == (True, True, None)
    assert set(data.problems) == {"IMAGE", "VIDEO", "NEWS"}
    assert data.results["IMAGE"].failure is DispatchFailure.NO_ENDPOINT


def test_rich_fails_only_when_every_modality_does() -> None:
    """The problem that time heals soonest stands for all."""

    def throttled(request: object) -> SearchResult:
        modality = getattr(request, "modality")  # noqa: B009 - the script takes any request
        raise RateLimited("429", retry_after=60.0 if modality is SearchModality.WEB else 600.0)

    research = Research({"main": [throttled]})
    ok, data, error = _rich(research)
    assert (ok, data.partial) == (False, False)
    assert error == data.problems["WEB"]
    assert asdict(data.problems["WEB"])["wait_seconds"] == 60.0


def test_what_may_be_asked_without_anybody_waiting_is_named_as_it_is_called() -> None:
    """Standing queries and files of questions have one list, which the type checker and pydantic read as well."""
    assert {name: tool.name for name, tool in SEARCHES.items()} == {name: name for name in get_args(SearchName)}
