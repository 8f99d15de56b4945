"""What is asked of Brave: the path by modality, filters as operators and parameters, and the limits of a query.

https://api-dashboard.search.brave.com/documentation
Quirks: a query has at most 50 words, its operators among them; a span of days needs both its ends; countries and
languages that are not on Brave's own lists are refused, and some languages have another code there than anywhere else.
"""

from dataclasses import dataclass

from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.request import Locale, SearchRequest
from zarniwoop.text.dates import closed
from zarniwoop.text.operators import Kind as Operator
from zarniwoop.text.pairs import behind
from zarniwoop.wire.filters import DATES

MOST_CHARACTERS = 400
OPERATORS = frozenset((Operator.INTITLE, Operator.NOT_SITE, Operator.OR, Operator.PHRASE, Operator.SITE))
"""Those of its search for pages; the others' are not documented."""
_MOST_WORDS = 50
_CODES = (
    "ar bg bn ca cs da de en es et eu fi fr gl gu he hi hr hu is it kn ko lt lv ml mr ms nb nl pa pl ro ru sk sl sr sv "
    "ta te th tr uk vi"
)
_OTHER_CODES = "ja:jp no:nb pt:pt-pt pt-BR:pt-br en-GB:en-gb zh:zh-hans zh-HK:zh-hant zh-MO:zh-hant zh-TW:zh-hant"
_LISTED = "AR AT AU BE BR CA CH CL CN DE DK ES FI FR GB HK ID IN IT JP KR MX MY NL NO NZ PH PL PT RU SA SE TR TW US ZA"
_LANGUAGES = {code: code for code in _CODES.split()} | dict(pair.split(":") for pair in _OTHER_CODES.split())
_COUNTRIES = frozenset(_LISTED.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One of Brave's searches: how many results a page may have, how many pages, whether it takes a span of days."""

    path: str
    most: int
    pages: int = 1
    dated: bool = True
    operators: bool = False


_WEB = Kind(path="web", most=20, pages=3, operators=True)
KINDS = {
    SearchModality.WEB: _WEB,
    SearchModality.PDF: _WEB,
    SearchModality.NEWS: Kind(path="news", most=50),
    SearchModality.VIDEO: Kind(path="videos", most=50),
    SearchModality.IMAGE: Kind(path="images", most=200, dated=False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The parameters of a search, the filters that they carry, and what had to be cut."""

    params: dict[str, str]
    translated: frozenset[str]
    note: str | None


def question(request: SearchRequest) -> Question:
    kind = KINDS[request.modality]
    operators, translated = _operators(request) if kind.operators else ([], set[str]())
    query = _cut(request.query, operators)
    params = {"q": behind(operators, query)}
    if kind is _WEB:
        params["result_filter"] = "web,query"
    if request.published and kind.dated:
        first, last = closed(request.published, request.expert_params.freshness_days)
        params["freshness"] = f"{first}to{last}"
        translated |= DATES
    if request.locale and (language := _language(request.locale)):
        params["search_lang"] = language
        translated.add("locale")
    if request.locale and request.locale.region in _COUNTRIES:
        params["country"] = request.locale.region
    filtered_here = {name for name, _ in request.expert_params.given()} - translated
    params["count"] = str(kind.most if filtered_here else min(kind.most, request.max_results))
    note = None if query == request.query else f"query shortened to {_MOST_WORDS} words or {MOST_CHARACTERS} characters"
    return Question(params=params, translated=frozenset(translated), note=note)


def _operators(request: SearchRequest) -> tuple[list[str], set[str]]:
    """Google's, which Brave knows too. One place is enough: two are pages on both at once."""
    expert = request.expert_params
    place = expert.site or expert.domain
    filetype = "pdf" if request.modality is SearchModality.PDF else expert.filetype
    carried = {"site": place, "domain": place, "filetype": filetype}
    translated = {name for name, value in expert.given() if carried.get(name) == value}
    return [f"{name}:{value}" for name, value in (("site", place), ("filetype", filetype)) if value], translated


def _cut(query: str, operators: list[str]) -> str:
    """As many words as leave room for the operators."""
    words = query.split()[: _MOST_WORDS - len(operators)]
    room = MOST_CHARACTERS - sum(len(operator) + 1 for operator in operators)
    while len(words) > 1 and len(" ".join(words)) > room:
        words.pop()
    short = " ".join(words)[: max(1, room)]
    return query if short == " ".join(query.split()) else short


def _language(locale: Locale) -> str | None:
    return _LANGUAGES.get(str(locale)) or _LANGUAGES.get(locale.language)
