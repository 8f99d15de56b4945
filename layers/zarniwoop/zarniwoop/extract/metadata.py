"""Title, byline, site, dates and language of a page, each from the first place that states it.

JSON-LD before meta elements before what stands on the page; of dates nothing is taken more exactly than it is written.
Quirk: trafilatura looks for authors and dates in a page's text; it is asked only where nothing is stated, and never
for what is not shown.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from zarniwoop.contract.hit import PublishedAt
from zarniwoop.extract.facts import PageFacts
from zarniwoop.extract.language import language_of
from zarniwoop.extract.limits import LONGEST_FIELD, LONGEST_TITLE
from zarniwoop.extract.linked_data import LinkedData
from zarniwoop.text.dates import from_parts, parse_day_or_instant
from zarniwoop.text.plain import clip, one_line, plain_title

_Read = TypeVar("_Read")
_TITLES = ("og:title", "citation_title", "dc.title", "dcterms.title", "twitter:title", "parsely-title")
_AUTHORS = ("author", "citation_author", "dc.creator", "dcterms.creator", "article:author", "parsely-author", "byl",
            "sailthru.author", "twitter:creator", "og:article:author")  # fmt: skip
_SITES = ("og:site_name", "application-name", "citation_journal_title", "dc.publisher", "al:ios:app_name")
_PUBLISHED = ("article:published_time", "og:article:published_time", "datepublished", "citation_publication_date",
              "citation_date", "dc.date.issued", "dcterms.issued", "dc.date", "dcterms.date", "dcterms.created",
              "dc.date.created", "date", "pubdate", "publishdate", "publish_date", "publish-date", "parsely-pub-date",
              "sailthru.date", "og:published_time", "article.published", "created")  # fmt: skip
_MODIFIED = ("article:modified_time", "og:updated_time", "datemodified", "dcterms.modified", "dc.date.modified",
             "last-modified", "lastmod", "revised", "modified", "article.updated", "og:article:modified"
                                                                                   "_time")  # fmt: skip
_LANGUAGES = ("content-language", "og:locale", "dc.language", "dcterms.language", "language")
_SLASHED = re.compile(r"(\d{4})[/.](\d{1,2})[/.](\d{1,2})(?:\D.*)?")
_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})")
_IDEOGRAPHIC = re.compile(r"(\d{4})\s?[年년]\s?(\d{1,2})\s?[月월]\s?(?:(\d{1,2})\s?[日일])?.*")
_BY = re.compile(r"^(?:written )?(?:by|von|par|por|di|door|av)\s+", re.IGNORECASE)
_SEPARATED = re.compile(r"\s{1,4}[|·•–—»-]{1,3}\s{1,4}|\s{0,4}\|\s{0,4}")
_CHANGED = re.compile(
    r"(?:last|recently) (?:updated?|modified|edited|changed|reviewed)|updated on|zuletzt (?:geändert"
    r"|aktualisiert|bearbeitet)"
    r"|dernière (?:mise à jour|modification)|(?:última|ultima) (?:actualización|modificación|modifica)"
    r"|最終更新|最后(?:更新|编辑)",
    re.IGNORECASE,
)
_ISSUED = re.compile(
    r"publish|posted|veröffentlicht|erschienen|publié|publicad|pubblicat|公開|发布|опубликован", re.IGNORECASE
)
_PERMALINKS = "¶#§🔗 \n"
_MOST_CHARS = 300_000
_DATE_SETTINGS = {"extensive_search": False, "original_date": True, "max_date": "2100-01-01"}
"""Its usual latest date is today's, so that the same page would read differently tomorrow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    title: str | None = None
    byline: str | None = None
    site_name: str | None = None
    published_at: PublishedAt | None = None
    modified_at: PublishedAt | None = None
    language: str | None = None


def metadata(facts: PageFacts, linked: LinkedData, *, markup: str, text: str, small: bool) -> Metadata:
    """`small`: the page may be given to trafilatura."""
    byline = _byline(linked.author) or _named(facts, _AUTHORS, _byline)
    published = read_date(linked.published) or _named(facts, _PUBLISHED, read_date)
    modified = read_date(linked.modified) or _named(facts, _MODIFIED, read_date)
    if published is None and modified is None and facts.times:
        published = read_date(facts.times[0])
    if small and len(markup) <= _MOST_CHARS and not (byline and published):
        shown_author, shown_date = _shown(markup)
        byline = byline or _byline(shown_author)
        if not (published or modified):
            shown = read_date(shown_date)
            changed = _CHANGED.search(markup) is not None and _ISSUED.search(markup) is None
            published, modified = (None, shown) if changed else (shown, None)
    return Metadata(
        title=_title(facts, linked),
        byline=byline,
        site_name=_field(_named(facts, _SITES, one_line) or linked.publisher),
        published_at=published,
        modified_at=modified,
        language=language_of(facts.language, linked.language, *map(facts.metas.get, _LANGUAGES), text=text),
    )


def read_date(stated: str | None) -> PublishedAt | None:
    text = (stated or "").strip()[:64]
    for pattern in (_SLASHED, _COMPACT, _IDEOGRAPHIC):
        if found := pattern.fullmatch(text):
            return from_parts(*(int(part) if part else None for part in found.groups()))  # type: ignore[arg-type]
    return parse_day_or_instant(text)


def _title(facts: PageFacts, linked: LinkedData) -> str | None:
    """Without the site's name, which many pages put behind or before it."""
    stated = linked.headline or _named(facts, _TITLES, one_line)
    whole, headline = one_line(facts.title), one_line(facts.headline.rstrip(_PERMALINKS))
    site = (_named(facts, _SITES, one_line) or linked.publisher or "").lower()
    if headline and _names(stated, headline, site):
        stated = headline
    if not stated and whole and headline and headline.lower() in whole.lower():
        stated = headline
    if not stated and whole:
        parts = _SEPARATED.split(whole)
        stated = " – ".join(part for part in parts if part.lower() != site) if site else whole
    title = plain_title(stated or headline)
    return clip(title, LONGEST_TITLE) if title else None


def _names(stated: str | None, headline: str, site: str) -> bool:
    """Whether the headline is what the title names first, before the site or the section."""
    return headline.lower() != site and headline.lower() == _SEPARATED.split((stated or "").lower())[0].strip()


def _named(facts: PageFacts, names: tuple[str, ...], read: Callable[[str], _Read | None]) -> _Read | None:
    found = (read(stated) for name in names if (stated := facts.metas.get(name)))
    return next((value for value in found if value is not None), None)


def _byline(stated: str | None) -> str | None:
    """A name or several; what is an address of a profile names nobody."""
    text = plain_title(stated)
    if not text or "://" in text or text.startswith("@"):
        return None
    return _field(_BY.sub("", text))


def _field(text: str | None) -> str | None:
    shown = plain_title(text)
    return clip(shown, LONGEST_FIELD) if shown else None


def _shown(markup: str) -> tuple[str | None, str | None]:
    """Author and date as they are written on the page, by trafilatura and htmldate."""
    from trafilatura import extract_metadata

    try:
        found = extract_metadata(markup, date_config=dict(_DATE_SETTINGS))
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - other people's parsers on other people's pages
        return None, None
    return (found.author, found.date) if found else (None, None)
