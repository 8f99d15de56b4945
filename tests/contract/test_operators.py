"""No query reaches a provider with an operator that it does not understand, whichever adapter it goes through."""

from collections.abc import Iterator
from datetime import date
from typing import Any
from urllib.parse import unquote_plus

import pytest

from tests.contract.fixtures import RecordedTransport, all_settings_for, answers_for
from tests.contract.test_conformance import every_builtin, every_modality, made
from tests.fakes.instances import request, scope
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.result import SearchResult
from zarniwoop.contract.transport import HttpRequest
from zarniwoop.text.operators import Kind, tokens_of
from zarniwoop.wire.driver import WireProtocol

QUERIES = {
    Kind.SITE: "bells site:example.org",
    Kind.NOT_SITE: "bells -site:example.org",
    Kind.FILETYPE: "bells filetype:pdf",
    Kind.INTITLE: "bells intitle:tower",
    Kind.BEFORE: "bells before:2024-06-30",
    Kind.AFTER: "bells after:2024-01-01",
    Kind.PHRASE: 'bells "church tower"',
    Kind.OR: "bells OR gongs",
}
WORDS = {Kind.INTITLE: "bells tower", Kind.PHRASE: "bells church tower", Kind.OR: "bells gongs"}
HARDER = (
    "-site:example.org",
    "site:example.org OR site:example.com bells",
    '"site:example.org bells" OR intitle:"filetype:pdf tower"',
    'bells "OR" gongs "or"',
    "bells SITE:example.org ext:pdf after:2024 before:2025-02",
)
KNOW_NO_MARKS = {"agentcore", "exa", "tavily"}
"""Declared as understood, since their exchanges read it and say it otherwise; none may get through."""
FILTERS: dict[str, Any] = {
    "site": "example.org",
    "filetype": "pdf",
    "date_from": date(2024, 1, 1),
    "date_to": date(2024, 6, 30),
}
TOLD_AS = {
    Kind.SITE: {"site"},
    Kind.NOT_SITE: {"-site"},
    Kind.FILETYPE: {"filetype"},
    Kind.INTITLE: {"intitle"},
    Kind.BEFORE: {"date_to", "before"},
    Kind.AFTER: {"date_from", "after"},
    Kind.PHRASE: {"phrase"},
    Kind.OR: {"or"},
}


def searched(
    protocol: WireProtocol, modality: SearchModality, extras: dict[str, str], query: str, **filters: Any
) -> tuple[SearchResult, set[Kind]]:
    """The result, and the kinds of operators in whatever text was sent."""
    transport = RecordedTransport(*answers_for(protocol.id(), modality))
    asked = request(query, modality=modality, max_results=2, **filters)
    result = made(protocol, transport, extras).search(asked, scope())
    texts = [text for sent in transport.sent for text in texts_of(sent.request)]
    return result, {token.kind for text in texts for token in tokens_of(text) if token.kind}


def sent_for(protocol: WireProtocol, modality: SearchModality, extras: dict[str, str], query: str) -> list[str]:
    """Everything that was sent, as text."""
    transport = RecordedTransport(*answers_for(protocol.id(), modality))
    made(protocol, transport, extras).search(request(query, modality=modality, max_results=2), scope())
    return [repr(sent.request) for sent in transport.sent]


def texts_of(sent: HttpRequest) -> Iterator[str]:
    yield from (unquote_plus(part) for part in sent.url.partition("?")[2].split("&"))
    yield from _leaves([dict(sent.params), sent.json, dict(sent.form or {})])


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _leaves(each)
    elif isinstance(value, list):
        for each in value:
            yield from _leaves(each)


@every_modality
def test_no_query_reaches_a_provider_with_an_operator_that_it_does_not_understand(
    protocol: WireProtocol, modality: SearchModality
) -> None:
    """What an adapter writes for filters by itself is its own word; each operator of the query is accounted for."""
    for extras in all_settings_for(protocol.id()):
        config: Any = made(protocol, RecordedTransport(), extras)._config
        understood = protocol.format.understood(modality, config)
        assert understood <= protocol.format.operators
        _, own = searched(protocol, modality, extras, "bells", **FILTERS)
        for query in (*QUERIES.values(), *HARDER):
            result, sent = searched(protocol, modality, extras, query)
            allowed = own | (set() if protocol.id() in KNOW_NO_MARKS else understood)
            assert sent <= allowed, query
            told = {each.name for each in result.applied}
            kinds = {token.kind for token in tokens_of(query) if token.kind}
            assert [kind for kind in kinds if not TOLD_AS[kind] & told] == [], query


@every_builtin
def test_what_is_declared_as_understood_makes_another_request(protocol: WireProtocol) -> None:
    """Than its words alone: a declaration that nothing comes of would keep an operator from being seen to here."""
    of_no_effect = set(protocol.format.operators)
    for modality in protocol.modalities_supported():
        for extras in all_settings_for(protocol.id()):
            for kind in list(of_no_effect):
                words = WORDS.get(kind, "bells")
                if sent_for(protocol, modality, extras, QUERIES[kind]) != sent_for(protocol, modality, extras, words):
                    of_no_effect.remove(kind)
    assert of_no_effect == set()


@pytest.mark.parametrize("modality", [SearchModality.RAG, SearchModality.INTERNAL_DOC])
def test_a_knowledge_base_is_asked_in_words_alone(modality: SearchModality) -> None:
    """It searches by meaning: marks would be words to it. What its hits show is filtered here, all else is told of."""
    (protocol,) = [each for each in every_builtin.args[1] if each.id() == "bedrock-kb"]
    result, sent = searched(protocol, modality, {"knowledgeBaseId": "ABCDEFGHIJ"}, 'bells "of bronze" OR intitle:gong')
    assert sent == set()
    assert [(each.name, each.handling) for each in result.applied] == [
        ("phrase", "ignored"),
        ("or", "ignored"),
        ("intitle", "ignored"),
    ]


def test_brave_gets_operators_for_pages_only_and_youtube_no_sites() -> None:
    """The others' are not documented."""
    by_id = {protocol.id(): protocol for protocol in every_builtin.args[1]}
    for query in (QUERIES[Kind.SITE], QUERIES[Kind.INTITLE]):
        assert searched(by_id["brave"], SearchModality.WEB, {}, query)[1]
        assert searched(by_id["brave"], SearchModality.NEWS, {}, query)[1] == set()
        assert searched(by_id["serpapi"], SearchModality.WEB, {}, query)[1]
        assert searched(by_id["serpapi"], SearchModality.VIDEO, {}, query)[1] == set()
