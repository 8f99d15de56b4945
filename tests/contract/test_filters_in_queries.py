"""No query undoes a filter that an adapter writes into it as a word, and no hit that shows it breaks one comes in."""

from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

from tests.contract.fixtures import RecordedTransport, all_settings_for, answers_for
from tests.contract.test_conformance import CASES, every_modality, made
from tests.contract.test_operators import texts_of
from tests.fakes.instances import request, scope
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.result import FilterHandling, SearchResult
from zarniwoop.text.pairs import behind, paired
from zarniwoop.text.urls import ending_of
from zarniwoop.wire.driver import WireProtocol

QUERIES = (
    "bells OR",
    "OR bells",
    "bells |",
    "| bells",
    "(OR bells)",
    "(bells OR)",
    ") OR bells",
    "bells AND",
    "bells NOT",
    '"bells',
    "bells (",
    "bells) OR (",
    '(bells "OR',
)
FILTERS: dict[str, Any] = {
    "site": "museum.example",
    "domain": "museum.example",
    "filetype": "pdf",
    "date_from": date(2024, 1, 1),
}
WRITTEN = ("site:", "user:", "filetype:", "extension:", "is:issue", "after:", "created:")
WRITERS = {"brave", "firecrawl", "github", "gitlab", "searxng", "serpapi", "serper"}


def asked(
    protocol: WireProtocol, modality: SearchModality, extras: dict[str, str], query: str, **filters: Any
) -> tuple[SearchResult, list[str]]:
    """The result of one search, and every text that was sent which has a filter among its words."""
    transport = RecordedTransport(*answers_for(protocol.id(), modality))
    result = made(protocol, transport, extras).search(request(query, modality, **filters), scope())
    texts = [text for sent in transport.sent for text in texts_of(sent.request)]
    return result, [text for text in texts if any(written in text for written in WRITTEN)]


def filters_of(protocol: WireProtocol) -> Iterator[tuple[str, Any]]:
    yield from FILTERS.items()
    if protocol.id() == "github":
        yield "site", "github.com/ringers"


@every_modality
def test_nothing_in_a_query_reaches_a_filter_that_stands_in_it(
    protocol: WireProtocol, modality: SearchModality
) -> None:
    """It stands first; behind it no operator joins it, and every mark has its partner."""
    writes = set[str]()
    for extras in all_settings_for(protocol.id()):
        for name, value in filters_of(protocol):
            for query in QUERIES:
                _, texts = asked(protocol, modality, extras, query, **{name: value})
                for text in texts:
                    writes.add(protocol.id())
                    first, *rest = text.split()
                    assert first.startswith(WRITTEN), text
                    words = [word for word in rest if not word.startswith(WRITTEN)]
                    assert words[0].strip("()") not in ("OR", "AND", "|", ""), text
                    assert words[-1].strip("()") not in ("OR", "AND", "NOT", "|", ""), text
                    assert paired(text) == text
    assert writes <= WRITERS


def test_every_adapter_that_writes_filters_is_among_those_that_are_looked_at() -> None:
    """Else the test above would hold of none."""
    writes = {
        protocol.id()
        for protocol, modality in CASES
        for extras in all_settings_for(protocol.id())
        for name, value in filters_of(protocol)
        if asked(protocol, modality, extras, "bells", **{name: value})[1]
    }
    assert writes == WRITERS


@every_modality
def test_hits_of_elsewhere_are_dropped_and_counted_also_where_the_provider_says_that_it_filtered(
    protocol: WireProtocol, modality: SearchModality
) -> None:
    """No fixture has a hit there; where a place means nothing, that is told."""
    for extras in all_settings_for(protocol.id()):
        everything, _ = asked(protocol, modality, extras, "bells")
        places = {"site": "elsewhere.example", "domain": "elsewhere.example"}
        for name, value in (
            *places.items(),
            *([("site", "github.com/elsewhere")] if protocol.id() == "github" else []),
        ):
            result, _ = asked(protocol, modality, extras, "bells OR", **{name: value})
            (told,) = [each for each in result.applied if each.name == name]
            if told.handling is not FilterHandling.IGNORED:
                assert result.hits == (), told
                assert result.dropped_count >= len(everything.hits), told


def test_files_of_another_type_are_dropped_where_the_provider_was_asked_for_one() -> None:
    """An address that says nothing may be of any type, and a picture's is that of its page."""
    dropped = set[str]()
    for protocol, modality in CASES:
        for extras in all_settings_for(protocol.id()):
            result, _ = asked(protocol, modality, extras, "bells", filetype="xlsx")
            if modality is SearchModality.IMAGE or result.applied[0].handling is not FilterHandling.PROVIDER:
                continue
            everything, _ = asked(protocol, modality, extras, "bells")
            others = [hit.url for hit in everything.hits if ending_of(hit.url) in ("html", "pdf")]
            assert [hit.url for hit in result.hits] == [hit.url for hit in everything.hits if hit.url not in others]
            assert result.dropped_count == everything.dropped_count + len(others)
            dropped |= {protocol.id()} if others else set()
    assert dropped


@pytest.mark.parametrize(
    ("query", "whole"),
    [
        ("bells", "site:x bells"),
        ("(bells OR gongs) OR", "site:x (bells OR gongs)"),
        ("(bells OR gongs OR)", "site:x bells OR gongs"),
        ("ORACLE OR", "site:x ORACLE"),
        ("NOT bells", "site:x NOT bells"),
        ("OR | AND", "site:x"),
        ('"bells OR"', 'site:x "bells OR"'),
        ("[bells", "site:x bells"),
        ("bells|", "site:x bells"),
        ("well-", "site:x well-"),
    ],
)
def test_a_query_behind_filters_is_whole(query: str, whole: str) -> None:
    """No more of it goes than would reach them; without filters it stays as it was written."""
    assert " ".join(behind(["site:x"], query).split()) == whole
    assert behind([], query) is query
