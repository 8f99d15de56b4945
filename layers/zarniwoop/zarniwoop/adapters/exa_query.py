"""What is asked of Exa: the query, the filters as parameters, the settings that cost or not.

https://exa.ai/docs/reference/search
Quirks: names are in camelCase, and contents lie in an object of their own; Exa knows no `site:`, only lists of domains;
whether "after" and "before" include their moment is nowhere said, so that both are asked just outside of the window.
"""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.contract.request import DateRange, SearchRequest
from zarniwoop.wire.extras import YES_OR_NO, is_on
from zarniwoop.wire.filters import DATES
from zarniwoop.wire.format import SettingField

MOST_RESULTS = 100
LARGEST_TEXT = 200_000
_TEXT_OF_A_HIT = 10_000
_HIGHLIGHTS_OF_A_HIT = 1_000
_ORDINARY_PAGE = 10

CATEGORIES: dict[SearchModality, str | None] = {
    SearchModality.WEB: None,
    SearchModality.NEWS: "news",
    SearchModality.ACADEMIC: "research paper",
}

KIND = SettingField(
    name="searchType",
    title="Search type",
    description="`auto` mixes the ways to search, `instant` and `fast` are quicker, `deep` is slow and costs thrice.",
    default="auto",
    pattern="auto|instant|fast|neural|keyword|deep",
)
TEXT = SettingField(
    name="includeText",
    title="Include text",
    description="Have the text of every page with its hit, up to 10000 characters. It costs by the page.",
    default="false",
    pattern=YES_OR_NO,
)
HIGHLIGHTS = SettingField(
    name="includeHighlights",
    title="Include highlights",
    description="Have the passages that answer as a hit's snippet: without them it has none. It costs by the page.",
    default="false",
    pattern=YES_OR_NO,
)
EXTRACT = SettingField(
    name="extract",
    title="Extract pages",
    description="Offer every page's text on demand by `/contents`, at a price per page.",
    default="false",
    pattern=YES_OR_NO,
)
RATE = SettingField(
    name="requestsPerSecond",
    title="Requests per second",
    description="The published rate, where the plan has another one.",
    default="10",
    pattern=r"[1-9]\d{0,3}",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The body of a search, and the filters that it carries."""

    body: dict[str, Any]
    translated: frozenset[str]


def question(request: SearchRequest, config: ProviderInstanceConfig) -> Question:
    expert = request.expert_params
    place, translated = expert.site or expert.domain, set[str]()
    translated |= {name for name in ("site", "domain") if place and getattr(expert, name) == place and "/" not in place}
    body: dict[str, Any] = {"query": request.query, "type": config.extras.get(KIND.name) or KIND.default}
    body |= {"category": CATEGORIES[request.modality], "contents": _contents(config)}
    body |= {"includeDomains": [place.partition("/")[0]] if place else list(request.sites)}
    body |= {"excludeDomains": list(request.unwanted_sites)}
    if request.published:
        body |= _window(request.published)
        translated |= DATES
    if request.locale and request.locale.region:
        body["userLocation"] = request.locale.region
        translated.add("locale")
    filtered_here = {name for name, _ in expert.given()} - translated
    body["numResults"] = max(request.max_results, _ORDINARY_PAGE) if filtered_here else request.max_results
    return Question(
        body={name: value for name, value in body.items() if value},
        translated=frozenset(translated),
    )


def _contents(config: ProviderInstanceConfig) -> dict[str, Any]:
    wanted = {"text": (TEXT, _TEXT_OF_A_HIT), "highlights": (HIGHLIGHTS, _HIGHLIGHTS_OF_A_HIT)}
    return {name: {"maxCharacters": most} for name, (field, most) in wanted.items() if is_on(config, field)}


def _window(published: DateRange) -> dict[str, str]:
    """The last moment before the first day, and the last one of the last day: no day's midnight is at an end."""
    first, last = published.earliest, published.latest
    before = first - timedelta(days=1) if first and first > date.min else first
    ends = (("startPublishedDate", before), ("endPublishedDate", last))
    return {name: f"{day}T23:59:59.999Z" for name, day in ends if day}
