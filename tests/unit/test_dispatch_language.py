"""Several instances that search one language each: the request's language is asked first."""

import pytest

from tests.fakes.providers import found
from tests.fakes.research import Research
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.request import Locale, SearchRequest

THREE = {
    "research.endpoint.wiki-en.language": "en",
    "research.endpoint.wiki-de.language": "de",
    "research.endpoint.wiki-ja.language": "ja",
}
ENGLISH_FIRST = {**THREE, "research.default.web": "wiki-en", "research.fallback.web": "wiki-de,wiki-ja,any"}


def asked(settings: dict[str, str], query: str = "cathedral bells", locale: Locale | None = None) -> list[str]:
    """Who is asked, in which order, when nobody finds anything."""
    names = ("any", "wiki-de", "wiki-en", "wiki-ja")
    research = Research({name: [found(0)] for name in names}, settings=settings)
    request = SearchRequest(query=query, modality=SearchModality.WEB, locale=locale)
    research.dispatcher.search(request, research.scope())
    return research.protocol.asked_ids


@pytest.mark.parametrize(
    ("locale", "first"),
    [("de", "wiki-de"), ("ja", "wiki-ja"), ("en", "wiki-en")],
)
def test_the_locale_s_language_comes_first_whatever_routing_names_first(locale: str, first: str) -> None:
    """What searches every language keeps its place before those that search another."""
    order = asked(ENGLISH_FIRST, locale=Locale(language=locale, region="AT"))
    assert order[:2] == [first, "any"]
    assert set(order) == {"any", "wiki-de", "wiki-en", "wiki-ja"}


def test_a_language_that_nobody_searches_leaves_those_of_others_last() -> None:
    assert asked(ENGLISH_FIRST, locale=Locale(language="fr")) == ["any", "wiki-en", "wiki-de", "wiki-ja"]


def test_without_a_locale_the_order_of_routing_stands() -> None:
    """Latin letters say nothing of a language."""
    assert asked(ENGLISH_FIRST, query="Glockenläuten") == ["wiki-en", "wiki-de", "wiki-ja", "any"]


def test_without_a_locale_a_script_tells_the_language() -> None:
    """A locale, where there is one, knows better."""
    assert asked(ENGLISH_FIRST, query="お寺の鐘")[0] == "wiki-ja"
    assert asked(ENGLISH_FIRST, query="お寺の鐘", locale=Locale(language="de"))[0] == "wiki-de"


def test_routing_that_names_one_language_stands_for_its_siblings() -> None:
    """Nobody has to list thirty of them: the fitting one steps in before the one that is named."""
    routing = {**THREE, "research.default.web": "any", "research.fallback.web": "wiki-en"}
    assert asked(routing, locale=Locale(language="de")) == ["any", "wiki-de", "wiki-en"]
    assert asked(routing, locale=Locale(language="en")) == ["any", "wiki-en"]
    assert asked(routing) == ["any", "wiki-en"]


@pytest.mark.parametrize(
    "more",
    [
        {"research.endpoint.wiki-de.enabled": "false"},
        {"research.endpoint.wiki-de.costPerCall": "1"},
    ],
)
def test_a_sibling_that_is_off_or_costs_money_does_not_step_in(more: dict[str, str]) -> None:
    """What costs money is asked where somebody named it."""
    routing = {**THREE, **more, "research.default.web": "wiki-en"}
    assert asked(routing, locale=Locale(language="de")) == ["wiki-en"]


def test_without_routing_the_language_s_instance_comes_first_too() -> None:
    assert asked(dict(THREE), locale=Locale(language="ja")) == ["any", "wiki-ja", "wiki-de", "wiki-en"]


def test_both_names_of_norwegian_and_a_dialect_s_wiki_are_one_language() -> None:
    settings = {**ENGLISH_FIRST, "research.endpoint.wiki-de.language": "no"}
    assert asked(settings, locale=Locale(language="nb"))[0] == "wiki-de"
    settings = {**ENGLISH_FIRST, "research.endpoint.wiki-de.language": "zh-yue"}
    assert asked(settings, locale=Locale(language="zh"))[0] == "wiki-de"
