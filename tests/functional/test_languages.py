"""One encyclopedia in several languages: a search goes to the instance of its language, deployed and over sockets."""

from collections.abc import Iterator

import pytest

from tests.fakes.cloud import Cloud, cloud
from tests.simulator import Simulator
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.request import Locale, SearchRequest, SearchScope
from zarniwoop.contract.result import SearchResult
from zarniwoop.net.transport import PooledTransport


@pytest.fixture
def account() -> Iterator[Cloud]:
    """Three of them, of which routing names the English one alone."""
    with cloud() as made, Simulator() as simulator:
        for language in ("en", "de", "fr"):
            made.set_all(
                {
                    f"research.endpoint.wiki-{language}.protocol": "wikipedia",
                    f"research.endpoint.wiki-{language}.baseUrl": simulator.url("wikipedia", language=language),
                    f"research.endpoint.wiki-{language}.language": language,
                }
            )
        made.set("research.default.encyclopedia", "wiki-en")
        yield made


def search(account: Cloud, query: str, locale: Locale | None = None) -> SearchResult:
    made = account.environment()
    scope = SearchScope(tenant_id="acme", project_id="demo", deadline=Deadline.after(20.0, made.clock))
    request = SearchRequest(query=query, modality=SearchModality.ENCYCLOPEDIA, locale=locale)
    try:
        return made.tools.dispatcher.search(request, scope)
    finally:
        if isinstance(transport := made.__dict__.get("_transport"), PooledTransport):
            transport.close()


def test_a_search_in_german_is_answered_in_german_although_routing_names_the_english_one(account: Cloud) -> None:
    result = search(account, "Glocke", Locale(language="de", region="AT"))
    assert result.provider_instance_id == "wiki-de"
    assert {hit.language for hit in result.hits} == {"de"}
    assert [(entry.name, entry.handling) for entry in result.applied] == [("locale", "provider")]


def test_a_language_without_an_answer_falls_back_on_the_one_that_routing_names(account: Cloud) -> None:
    """And the answer says that the locale was not met."""
    result = search(account, "cathedral bells", Locale(language="fr"))
    assert [attempt.instance_id for attempt in result.attempts] == ["wiki-fr", "wiki-en"]
    assert {hit.language for hit in result.hits} == {"en"}
    assert [(entry.name, entry.handling) for entry in result.applied] == [("locale", "ignored")]


def test_without_a_locale_routing_decides(account: Cloud) -> None:
    assert search(account, "cathedral bells").provider_instance_id == "wiki-en"
