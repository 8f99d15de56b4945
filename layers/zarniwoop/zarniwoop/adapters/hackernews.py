"""Hacker News: stories, questions and comments of the technology forum, through Algolia's search.

Wire format: JSON, one GET. https://hn.algolia.com/api
Quirks: an "Ask HN" story has no `url`; a comment has neither `title` nor `url` but those of its story. Texts are HTML.
`nbHits` is an estimate that cannot be paged to, so one request is all. Typos are tolerated: "java" finds "japanese".
"""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from zarniwoop.contract.hit import ContentInline, ContentReference, SearchHit
from zarniwoop.contract.modality import SearchDomain, SearchModality
from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.contract.request import DateRange, SearchRequest
from zarniwoop.contract.transport import HttpRequest
from zarniwoop.text.dates import parse_date
from zarniwoop.text.operators import Kind
from zarniwoop.text.plain import clip, plain
from zarniwoop.text.urls import http_url
from zarniwoop.wire.driver import WireProtocol
from zarniwoop.wire.filters import DATES
from zarniwoop.wire.format import Exchange, Found, SettingField, WireFormat
from zarniwoop.wire.reading import read_hits, read_json

_ITEM = "https://news.ycombinator.com/item?id="
_MOST_HITS = 100
_SNIPPET = 400
_TAGS = SettingField(
    name="tags",
    title="Kinds of items",
    description="What is searched: `story`, `comment`, or `(story,comment)` for both.",
    default="story",
    pattern=r"[A-Za-z0-9_]+|\([A-Za-z0-9_]+(?:,[A-Za-z0-9_]+)*\)",
)


def exchange(request: SearchRequest, config: ProviderInstanceConfig) -> Exchange:
    params = {
        "query": request.query,
        "tags": config.extras.get(_TAGS.name) or "story",
        "hitsPerPage": str(_hits_wanted(request)),
    }
    if request.published:
        params["numericFilters"] = _created_in(request.published)
    body = read_json((yield HttpRequest(url=f"{config.base_url}/search", params=params)))
    hits, dropped = read_hits(body["hits"], lambda item: _to_hit(item, request.modality))
    return Found(hits=hits, dropped_count=dropped, translated=DATES)


def _hits_wanted(request: SearchRequest) -> int:
    """As many as are asked for, and all that fit into one answer where filters will be applied here."""
    filters = {name for name, _ in request.expert_params.given()} - DATES
    return _MOST_HITS if filters else request.max_results


def _created_in(window: DateRange) -> str:
    bounds = []
    if window.earliest:
        bounds.append(f"created_at_i>={_midnight(window.earliest)}")
    if window.latest:
        bounds.append(f"created_at_i<{_midnight(window.latest + timedelta(days=1))}")
    return ",".join(bounds)


def _midnight(day: date) -> int:
    return int(datetime.combine(day, time(), tzinfo=UTC).timestamp())


def _to_hit(item: dict[str, Any], modality: SearchModality) -> SearchHit | None:
    title = plain(item.get("title")) or plain(item.get("story_title"))
    if title is None:
        return None
    number = int(item["objectID"])
    discussion = f"{_ITEM}{number}"
    text, author = plain(item.get("comment_text") or item.get("story_text")), plain(item.get("author"))
    return SearchHit(
        title=title,
        url=http_url(item.get("url")) or discussion,
        modality=modality,
        snippet=clip(text, _SNIPPET) if text else None,
        source="Hacker News",
        content=ContentReference(inline=ContentInline.EMBED_TEXT, text=text) if text else None,
        authors=(author,) if author else (),
        published_at=parse_date(item.get("created_at")),
        identifiers={"hackernews_id": str(number)},
        extras=_extras(item, discussion),
    )


def _extras(item: dict[str, Any], discussion: str) -> dict[str, Any]:
    extras = {
        "points": item.get("points"),
        "num_comments": item.get("num_comments"),
        "story_url": http_url(item.get("story_url")),
        "hn_url": discussion,
    }
    return {name: value for name, value in extras.items() if value is not None}


PROTOCOL = WireProtocol(
    WireFormat(
        protocol_id="hackernews",
        display_name="Hacker News",
        modalities=frozenset((SearchModality.NEWS, SearchModality.WEB)),
        domains=frozenset((SearchDomain.NEWS, SearchDomain.WEB)),
        exchange=exchange,
        filters=DATES,
        prompt_hint="""Hacker News holds what **software developers and founders** have shared and discussed since 2006,
free of charge. Choose it for technology news, launches and practitioners' experience. It is no index of general news,
and its comments are opinions, not evidence.""",
        operators=frozenset((Kind.PHRASE,)),
        index_family="hackernews",
        documentation="https://hn.algolia.com/api",
        default_base_url="https://hn.algolia.com/api/v1",
        max_results=_MOST_HITS,
        ignores={"locale": "Hacker News is written in English and has no language filter"},
        setting_fields=(_TAGS,),
    )
)
