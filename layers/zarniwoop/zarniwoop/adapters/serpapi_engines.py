"""SerpApi's engines: which of them serves a modality, and how each is told of filters, languages and pages.

https://serpapi.com/search-api and the page of each engine beside it
Quirks: an engine's page parameter and its list have names of their own; YouTube has another name for the query; Google
News takes days only as operators, which do not say at which hour they begin.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

from zarniwoop.adapters.serpapi_parameters import (
    Params,
    bing_dates,
    bing_place,
    duckduckgo_dates,
    duckduckgo_place,
    google_dates,
    google_place,
    scholar_place,
    scholar_years,
)
from zarniwoop.contract.modality import SearchDomain, SearchModality
from zarniwoop.contract.request import DateRange, Locale, SearchRequest
from zarniwoop.text.operators import Kind
from zarniwoop.text.pairs import behind
from zarniwoop.wire.filters import DATES
from zarniwoop.wire.format import SettingField

OPERATORS = frozenset((Kind.INTITLE, Kind.NOT_SITE, Kind.OR, Kind.PHRASE, Kind.SITE))
"""Google's, which Bing and DuckDuckGo have too."""
_EPOCH = date(1970, 1, 1)
_ONE_DAY = timedelta(days=1)

ENGINE = SettingField(
    name="engine",
    title="Engine",
    description="Who answers WEB and PDF: `google`, `bing` or `duckduckgo`. The other modalities have theirs.",
    default="google",
    pattern="google|bing|duckduckgo",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """`items` is the key of its list, `size` its usual length, `page` the parameter in the address of its next page.

    `operators` are the filters that go into its query as words, `understands` what it reads in it otherwise.
    """

    name: str
    items: str
    size: int = 10
    page: str | None = None
    query: str = "q"
    operators: frozenset[str] = frozenset(("site", "filetype"))
    understands: frozenset[Kind] = OPERATORS
    dates: Callable[[DateRange, int | None], Params] | None = None
    place: Callable[[Locale], Params] = google_place


_NEWS = Engine(name="google_news", items="news_results", size=100, operators=frozenset(("site",)))
_WEB = {
    engine.name: engine
    for engine in (
        Engine(name="google", items="organic_results", page="start", dates=google_dates),
        Engine(name="bing", items="organic_results", page="first", dates=bing_dates, place=bing_place),
        Engine(
            name="duckduckgo",
            items="organic_results",
            size=25,
            page="start",
            dates=duckduckgo_dates,
            place=duckduckgo_place,
        ),
    )
}
_OTHERS = {
    SearchModality.IMAGE: Engine(
        name="google_images", items="images_results", size=100, page="ijn", dates=google_dates
    ),
    SearchModality.NEWS: _NEWS,
    SearchModality.VIDEO: Engine(
        name="youtube",
        items="video_results",
        size=20,
        page="sp",
        query="search_query",
        operators=frozenset(),
        understands=frozenset((Kind.PHRASE,)),
    ),
    SearchModality.ACADEMIC: Engine(
        name="google_scholar",
        items="organic_results",
        page="start",
        operators=frozenset(("site",)),
        dates=scholar_years,
        place=scholar_place,
    ),
}
DOMAINS = frozenset((SearchDomain.WEB, SearchDomain.NEWS, SearchDomain.ACADEMIC))
MODALITIES = frozenset((SearchModality.WEB, SearchModality.PDF, *_OTHERS))


def engine_for(modality: SearchModality, setting: str | None) -> Engine:
    return _OTHERS.get(modality) or _WEB[setting or "google"]


def question(request: SearchRequest, engine: Engine) -> tuple[Params, frozenset[str]]:
    """The parameters, and the filters that they carry. Operators come first: Google ignores words beyond the 32nd."""
    expert, translated = request.expert_params, set[str]()
    place = expert.site or expert.domain
    filetype = "pdf" if request.modality is SearchModality.PDF else expert.filetype
    words = [f"{name}:{value}" for name, value in (("filetype", filetype), ("site", place)) if value]
    words = [word for word in words if word.partition(":")[0] in engine.operators]
    carried = {"filetype": filetype} if "filetype" in engine.operators else {}
    carried |= {"site": place, "domain": place} if "site" in engine.operators else {}
    translated |= {name for name, value in expert.given() if carried.get(name) == value}
    params = {"engine": engine.name}
    if request.published and engine is _NEWS:
        words += _around(request.published)
    if request.published and engine.dates:
        params |= engine.dates(request.published, expert.freshness_days)
        translated |= DATES
    if request.locale and (told := engine.place(request.locale)):
        params |= told
        translated.add("locale")
    return params | {engine.query: behind(words, request.query)}, frozenset(translated)


def _around(window: DateRange) -> list[str]:
    """A day more on both sides; the news that come back carry their moment and are filtered here."""
    first, last = window.earliest, window.latest
    after = [f"after:{first - _ONE_DAY}"] if first and first > _EPOCH else []
    return after + ([f"before:{last + 2 * _ONE_DAY}"] if last and last < date.max - 2 * _ONE_DAY else [])
