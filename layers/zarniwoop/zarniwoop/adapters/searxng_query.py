"""What is asked of SearXNG: the categories by modality, the engines, language and time range; the rest goes by words.

https://docs.searxng.org/dev/search_api.html, https://docs.searxng.org/user/search-syntax.html
Quirks: named engines are asked beside those of the named categories, so that only one of the two is said; a time range
leaves out every engine that knows none; operators are handed to engines that may not understand them, so that what they
find is looked through here, too.
"""

import re
from dataclasses import dataclass

from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.contract.request import SearchRequest
from zarniwoop.text.pairs import behind
from zarniwoop.wire.format import SettingField

MOST_PAGES = 3
_ELSEWHERE = re.compile(r"(?<!\S)!{2,}(?=\S)")
_RANGES = (("day", 1, 1), ("week", 7, 7), ("month", 28, 31), ("year", 365, 366))
"""Name of a range, and the number of days that it may stand for."""

CATEGORIES_OF = {
    SearchModality.WEB: "general",
    SearchModality.NEWS: "news",
    SearchModality.IMAGE: "images",
    SearchModality.VIDEO: "videos",
    SearchModality.ACADEMIC: "science",
    SearchModality.CODE: "it",
}
_BY_WORDS = frozenset((SearchModality.WEB, SearchModality.NEWS))
"""Modalities whose engines mostly understand operators."""

_NAMES = r"[\w .+-]{1,40}(?:,[\w .+-]{1,40}){0,29}"
CATEGORIES = SettingField(
    name="categories",
    title="Categories",
    description="Where a WEB search looks: the instance's categories, with commas. The other modalities have theirs.",
    default="general",
    pattern=_NAMES,
)
ENGINES = SettingField(
    name="engines",
    title="Engines",
    description="Who answers a WEB search instead of all engines of its categories: their names, with commas.",
    pattern=_NAMES,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The parameters of a search, and the filters that they carry."""

    params: dict[str, str]
    translated: frozenset[str]


def question(request: SearchRequest, config: ProviderInstanceConfig) -> Question:
    params = {"q": _words(request), "format": "json", **_where(request.modality, config)}
    translated = set[str]()
    if request.locale:
        params["language"] = str(request.locale)
        translated.add("locale")
    days = request.expert_params.freshness_days
    within = next((each for each in _RANGES if days is not None and days <= each[2]), None)
    if days is not None and within:
        params["time_range"] = within[0]
        translated |= {"freshness_days"} if days >= within[1] else set()
    return Question(params=params, translated=frozenset(translated))


def _where(modality: SearchModality, config: ProviderInstanceConfig) -> dict[str, str]:
    if modality is not SearchModality.WEB:
        return {"categories": CATEGORIES_OF[modality]}
    engines = config.extras.get(ENGINES.name)
    return {"engines": engines} if engines else {"categories": config.extras.get(CATEGORIES.name) or "general"}


def _words(request: SearchRequest) -> str:
    """The query and, for engines that understand them, operators; without what would send us to another site."""
    expert = request.expert_params
    if request.modality not in _BY_WORDS:
        return _ELSEWHERE.sub("", request.query)
    place = (expert.site or expert.domain or "").partition("/")[0]
    operators = [f"{name}:{value}" for name, value in (("site", place), ("filetype", expert.filetype)) if value]
    return _ELSEWHERE.sub("", behind(operators, request.query))
