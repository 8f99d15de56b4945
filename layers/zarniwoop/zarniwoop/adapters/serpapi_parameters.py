"""Days and places as each of SerpApi's engines writes them.

https://serpapi.com/google-languages, https://serpapi.com/bing-search-api, https://serpapi.com/duckduckgo-search-api
Quirks: Bing counts days since 1970; Scholar knows years alone; Google has codes of its own for some languages; Google
and DuckDuckGo write `uk` for Great Britain; Bing and DuckDuckGo want a language together with a country.
"""

from datetime import date

from zarniwoop.contract.request import DateRange, Locale
from zarniwoop.text.dates import closed

Params = dict[str, str]
_EPOCH = date(1970, 1, 1)


def google_dates(window: DateRange, _freshness: int | None) -> Params:
    ends = (("cd_min", window.earliest), ("cd_max", window.latest))
    days = (f"{name}:{day.month}/{day.day}/{day.year}" for name, day in ends if day)
    return {"tbs": ",".join(("cdr:1", *days))}


def bing_dates(window: DateRange, freshness: int | None) -> Params:
    first, last = (max(0, (day - _EPOCH).days) for day in closed(window, freshness))
    return {"filters": f'ex1:"ez5_{first}_{last}"'}


def duckduckgo_dates(window: DateRange, freshness: int | None) -> Params:
    first, last = closed(window, freshness)
    return {"df": f"{first}..{last}"}


def scholar_years(window: DateRange, _freshness: int | None) -> Params:
    ends = (("as_ylo", window.earliest), ("as_yhi", window.latest))
    return {name: str(day.year) for name, day in ends if day}


def google_place(locale: Locale) -> Params:
    return {"hl": _google_language(locale), **({"gl": _country(locale.region)} if locale.region else {})}


def bing_place(locale: Locale) -> Params:
    return {"mkt": str(locale)} if locale.region else {}


def duckduckgo_place(locale: Locale) -> Params:
    return {"kl": f"{_country(locale.region)}-{locale.language}"} if locale.region else {}


def scholar_place(locale: Locale) -> Params:
    return {"hl": _google_language(locale)}


def _google_language(locale: Locale) -> str:
    """Google's own codes; Chinese is one of two."""
    if locale.language == "zh":
        return "zh-tw" if locale.region in ("TW", "HK", "MO") else "zh-cn"
    return {"he": "iw", "nb": "no"}.get(locale.language, locale.language)


def _country(region: str) -> str:
    return "uk" if region == "GB" else region.lower()
