"""What holds for every result of every adapter, whatever the provider sent."""

import re

import orjson

from zarniwoop.contract.hit import ContentInline, ContentReference, DatePrecision, PublishedAt, SearchHit
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.result import SearchResult
from zarniwoop.text.dates import days_covered
from zarniwoop.text.urls import http_url

_WRITTEN = {
    DatePrecision.YEAR: r"\d{4}",
    DatePrecision.MONTH: r"\d{4}-\d{2}",
    DatePrecision.DAY: r"\d{4}-\d{2}-\d{2}",
    DatePrecision.SECOND: r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z",
}


def assert_valid(result: SearchResult, request: SearchRequest) -> None:
    """The result keeps the contract: counts, ranks, and every field of every hit of its declared type."""
    assert len(result.hits) == result.returned_count <= request.max_results
    assert result.dropped_count >= 0
    assert [hit.rank for hit in result.hits] == list(range(1, len(result.hits) + 1))
    assert result.note is None or isinstance(result.note, str)
    for hit in result.hits:
        assert hit.modality is request.modality
        _assert_valid_hit(hit)


def _assert_valid_hit(hit: SearchHit) -> None:
    assert isinstance(hit.title, str)
    assert hit.title.strip()
    assert http_url(hit.url) == hit.url
    for text in (hit.snippet, hit.source, hit.language):
        assert text is None or (isinstance(text, str) and text.strip()), text
    assert isinstance(hit.authors, tuple)
    assert all(isinstance(name, str) and name.strip() for name in hit.authors)
    assert all(isinstance(value, str) and value for pair in hit.identifiers.items() for value in pair)
    assert orjson.dumps(dict(hit.extras))
    _assert_valid_date(hit.published_at)
    _assert_valid_content(hit.content)


def _assert_valid_date(published: PublishedAt | None) -> None:
    if published is not None:
        assert re.fullmatch(_WRITTEN[published.precision], published.value)
        assert days_covered(published)


def _assert_valid_content(content: ContentReference | None) -> None:
    if content is not None:
        carried = content.text if content.inline is ContentInline.EMBED_TEXT else content.reference
        assert isinstance(carried, str)
        assert carried.strip()
