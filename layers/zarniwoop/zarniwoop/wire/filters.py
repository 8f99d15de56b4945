"""The account of filters: what the provider applied, what is applied to its hits here, what is ignored and why."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.request import DateRange, SearchRequest
from zarniwoop.contract.result import AppliedFilter, FilterHandling
from zarniwoop.text.dates import lies_in
from zarniwoop.text.urls import ending_of, has_filetype, host_of, is_below, is_on_site
from zarniwoop.wire.format import Found

DATES = frozenset(("date_from", "date_to", "freshness_days"))
"""The filters by day, which become one window."""
_FILES = frozenset(
    ("pdf", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "odt", "ods", "odp", "rtf", "epub", "htm", "html")
)
"""Endings that say what a file is; behind any other, as of a paper's number or a script, may be anything."""


def account_for_filters(
    request: SearchRequest, found: Found, ignores: Mapping[str, str]
) -> tuple[Found, tuple[AppliedFilter, ...]]:
    """Apply here what the provider did not, look after what it did, and tell of every filter that was asked for.

    A hit that a filter applied here cannot be shown to pass is dropped and counted: an undated hit under a date filter,
    unless no hit carries a date, in which case the filter is reported as ignored.
    """
    asked = list(request.expert_params.given())
    if request.locale is not None:
        asked.append(("locale", str(request.locale)))
    applied: list[AppliedFilter] = []
    for name, value in asked:
        found, entry = _handle(name, value, request, found, ignores)
        applied.append(entry)
    return found, tuple(applied)


def _handle(
    name: str, value: str, request: SearchRequest, found: Found, ignores: Mapping[str, str]
) -> tuple[Found, AppliedFilter]:
    if name in found.translated:
        found = _kept(found, lambda hit: not is_broken(name, value, hit)) if name in _BREAKS else found
        return found, AppliedFilter(name=name, value=value, handling=FilterHandling.PROVIDER)
    reason = ignores.get(name) or _not_here(name, found)
    if reason:
        return found, AppliedFilter(name=name, value=value, handling=FilterHandling.IGNORED, reason=reason)
    keeps = _KEEPS[name](value, request.published or DateRange())
    return _kept(found, keeps), AppliedFilter(name=name, value=value, handling=FilterHandling.HERE)


def is_broken(name: str, value: str, hit: SearchHit) -> bool:
    """Whether a hit shows that it breaks a filter that its provider says it applied: words of a query may undo it."""
    breaks = _BREAKS.get(name)
    return breaks is not None and breaks(hit, value)


def _is_elsewhere(hit: SearchHit, site: str) -> bool:
    """Letter case and a slash at the end are the provider's to judge."""
    return not is_on_site(hit.url.lower(), site.lower().rstrip("/"))


def _is_outside(hit: SearchHit, domain: str) -> bool:
    return not is_below(host_of(hit.url), domain)


def _is_other_file(hit: SearchHit, filetype: str) -> bool:
    """An image's URL is that of its page. `docx` is a kind of `doc`, and `htm` is `html`."""
    ending = ending_of(hit.url)
    other = ending in _FILES and ending[:3] != filetype.lower().lstrip(".")[:3]
    return other and hit.modality is not SearchModality.IMAGE


_BREAKS: Mapping[str, Callable[[SearchHit, str], bool]] = {
    "site": _is_elsewhere,
    "domain": _is_outside,
    "filetype": _is_other_file,
}


def _not_here(name: str, found: Found) -> str | None:
    if name not in _KEEPS:
        return "this provider has no such filter and its hits do not show it"
    if name in DATES and found.hits and not any(hit.published_at for hit in found.hits):
        return "no hit of this provider carries a date"
    return None


Keeps = Callable[[SearchHit], bool]


def _kept(found: Found, keeps: Keeps) -> Found:
    """The others are counted."""
    kept = tuple(hit for hit in found.hits if keeps(hit))
    return replace(found, hits=kept, dropped_count=found.dropped_count + len(found.hits) - len(kept))


def _in_window(_value: str, window: DateRange) -> Keeps:
    return lambda hit: hit.published_at is not None and lies_in(hit.published_at, window)


_KEEPS: Mapping[str, Callable[[str, DateRange], Keeps]] = {
    "site": lambda value, _window: lambda hit: is_on_site(hit.url, value),
    "domain": lambda value, _window: lambda hit: is_below(host_of(hit.url), value),
    "filetype": lambda value, _window: lambda hit: has_filetype(hit.url, value),
    "date_from": _in_window,
    "date_to": _in_window,
    "freshness_days": _in_window,
}
