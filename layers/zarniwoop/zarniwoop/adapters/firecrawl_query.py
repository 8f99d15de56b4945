"""What is asked of Firecrawl: the source by modality, filters as Google's operators and windows, what costs or not.

https://docs.firecrawl.dev/features/search
Quirks: PDFs are a category of the web; a country is no language; a proxy that tries harder costs five times as much,
and a PDF costs by its pages, so that both are held down.
"""

from dataclasses import dataclass
from math import ceil
from typing import Any

from zarniwoop.adapters.serpapi_parameters import google_dates
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.contract.request import SearchRequest
from zarniwoop.text.pairs import behind
from zarniwoop.text.plain import clip
from zarniwoop.wire.extras import YES_OR_NO, is_on
from zarniwoop.wire.filters import DATES
from zarniwoop.wire.format import SettingField

MOST_RESULTS = 100
MOST_CHARACTERS = 500
_PRICED_TOGETHER = 10

SOURCES = {
    SearchModality.WEB: "web",
    SearchModality.PDF: "web",
    SearchModality.NEWS: "news",
    SearchModality.IMAGE: "images",
}
SCRAPE = {"formats": ["markdown"], "proxy": "basic", "parsers": [{"type": "pdf", "maxPages": 20}]}

MARKDOWN_OF_RESULTS = SettingField(
    name="scrapeResults",
    title="Scrape results",
    description="Have the page of every result with its hit, as Markdown, at a credit for each. Answers get slow.",
    default="false",
    pattern=YES_OR_NO,
)
EXTRACT = SettingField(
    name="extract",
    title="Extract pages",
    description="Offer every page's text on demand by `/v2/scrape`, at a credit a page, or one per page of a PDF.",
    default="false",
    pattern=YES_OR_NO,
)
RATE = SettingField(
    name="requestsPerMinute",
    title="Requests per minute",
    description="The published rate of the plan: 10 of the free one, 100 of Hobby.",
    default="10",
    pattern=r"[1-9]\d{0,4}",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The body of a search, the filters that it carries, and what had to be cut."""

    body: dict[str, Any]
    translated: frozenset[str]
    note: str | None


def question(request: SearchRequest, config: ProviderInstanceConfig) -> Question:
    operators, translated = _operators(request)
    room = max(1, MOST_CHARACTERS - sum(len(operator) + 1 for operator in operators))
    query = request.query if len(request.query) <= room else clip(request.query, room).rstrip("…").rstrip()
    body: dict[str, Any] = {"query": behind(operators, query), "sources": [SOURCES[request.modality]]}
    if request.modality is SearchModality.PDF:
        body["categories"] = ["pdf"]
    if request.published and request.modality is not SearchModality.IMAGE:
        body |= google_dates(request.published, None)
        translated |= DATES
    if request.locale and request.locale.region:
        body["country"] = request.locale.region
        translated.add("locale")
    if is_on(config, MARKDOWN_OF_RESULTS) and request.modality is not SearchModality.IMAGE:
        body["scrapeOptions"] = SCRAPE
    note = None if query == request.query else "query shortened to leave room for its filters"
    body["limit"] = _limit(request, translated, scraped="scrapeOptions" in body)
    return Question(body=body, translated=frozenset(translated), note=note)


def _operators(request: SearchRequest) -> tuple[list[str], set[str]]:
    """Google's. One place is enough: two would be pages on both at once."""
    expert, is_web = request.expert_params, SOURCES[request.modality] == "web"
    place = expert.site or expert.domain
    is_pdf = request.modality is SearchModality.PDF
    carried = {"site": place, "domain": place, "filetype": "pdf" if is_pdf else expert.filetype if is_web else None}
    translated = {name for name, value in expert.given() if carried.get(name) == value}
    written = (("filetype", None if is_pdf else carried["filetype"]), ("site", place))
    return [f"{name}:{value}" for name, value in written if value], translated


def _limit(request: SearchRequest, translated: set[str], *, scraped: bool) -> int:
    """What is filtered here wants more to choose from: as many as cost the same, unless each is scraped."""
    filtered_here = {name for name, _ in request.expert_params.given()} - translated
    if not filtered_here or scraped:
        return request.max_results
    return min(MOST_RESULTS, ceil(request.max_results / _PRICED_TOGETHER) * _PRICED_TOGETHER)
