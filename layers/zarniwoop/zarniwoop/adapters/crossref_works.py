"""A work of Crossref as a hit.

Format: https://github.com/CrossRef/rest-api-doc/blob/master/api_format.md
Quirks: a title is a list, in several languages, and may be missing or escaped twice; dates are lists of numbers with a
null where there is none; abstracts are JATS; an author is a person in two parts or a group with a `name`. A notice says
in `update-to` what it corrects or retracts, a work in `updated-by` what was done to it, often twice, by its publisher
and by Retraction Watch; of some the title alone tells. Extras: `updated_by` and `update_to` list those notices.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from zarniwoop.contract.hit import ContentInline, ContentReference, PublishedAt, SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.text.abstracts import abstract_text
from zarniwoop.text.dates import from_parts
from zarniwoop.text.identifiers import bare_doi, in_a_path, work_identifiers
from zarniwoop.text.plain import clip, plain, plain_title
from zarniwoop.text.urls import http_url

FIELDS = (
    "DOI,title,subtitle,author,container-title,publisher,type,published,issued,abstract,resource,link,ISBN,volume,"
    "issue,page,is-referenced-by-count,update-to,updated-by,relation"
)
_DATES = ("published", "issued", "published-online", "published-print", "posted")
_RETRACTS = frozenset(("retraction", "withdrawal", "removal"))
_SAYS_RETRACTED = re.compile(r"\W{0,3}(?:retracted|withdrawn)(?: (?:article|paper|chapter))?\s?[\]):]", re.IGNORECASE)
_ISBN_13 = re.compile(r"97[89]\d{10}")


def to_hit(work: Mapping[str, Any]) -> SearchHit | None:
    identifiers = work_identifiers(doi=work["DOI"], isbn=_isbn(work))
    titles = tuple(_texts(work.get("title")))
    if "doi" not in identifiers or not titles:
        return None
    abstract = abstract_text(work.get("abstract"))
    landing_page = ((work.get("resource") or {}).get("primary") or {}).get("URL")
    return SearchHit(
        title=titles[0],
        url=http_url(landing_page) or f"https://doi.org/{in_a_path(identifiers['doi'])}",
        modality=SearchModality.ACADEMIC,
        snippet=clip(abstract.replace("\n", " "), 300) if abstract else None,
        source=next(_texts(work.get("container-title")), None) or plain(work.get("publisher")),
        content=ContentReference(inline=ContentInline.EMBED_TEXT, text=abstract) if abstract else None,
        authors=tuple(name for author in work.get("author") or () if (name := _name(author))),
        published_at=_published(work),
        language=plain(work.get("language")),
        identifiers=identifiers,
        extras=_extras(work, titles),
    )


def _texts(value: Any) -> Iterator[str]:
    """The texts of a list, or the one that stands where a list should be."""
    for each in [value] if isinstance(value, str) else value or ():
        text = plain_title(each)
        if text:
            yield text


def _name(author: Mapping[str, Any]) -> str | None:
    parts = [plain(author.get(part)) for part in ("given", "family")]
    return " ".join(part for part in parts if part) or plain(author.get("name"))


def _published(work: Mapping[str, Any]) -> PublishedAt | None:
    return next((date for name in _DATES if (date := _date(work.get(name)))), None)


def _date(written: Mapping[str, Any] | None) -> PublishedAt | None:
    parts = ((written or {}).get("date-parts") or [[None]])[0]
    return from_parts(*parts[:3]) if parts and parts[0] else None


def _isbn(work: Mapping[str, Any]) -> str | None:
    found = (_ISBN_13.search(each.replace("-", "")) for each in work.get("ISBN") or ())
    return next((isbn.group() for isbn in found if isbn), None)


def _extras(work: Mapping[str, Any], titles: tuple[str, ...]) -> dict[str, Any]:
    updated_by, update_to = _notices(work.get("updated-by")), _notices(work.get("update-to"))
    retracted = any(notice["type"] in _RETRACTS for notice in updated_by)
    relations = work.get("relation") or {}
    found: dict[str, Any] = {name: plain(work.get(name)) for name in ("type", "publisher", "volume", "issue")}
    found |= {
        "pages": plain(work.get("page")),
        "venue": next(_texts(work.get("container-title")), None),
        "subtitle": next(_texts(work.get("subtitle")), None),
        "other_titles": titles[1:] or None,
        "cited_by_count": work.get("is-referenced-by-count"),
        "is_retracted": retracted or (not update_to and _SAYS_RETRACTED.match(titles[0]) is not None),
        "updated_by": updated_by or None,
        "update_to": update_to or None,
        "preprint_of": _related(relations.get("is-preprint-of")) or None,
        "preprints": _related(relations.get("has-preprint")) or None,
        "pdf_url": _pdf(work),
    }
    return {name: value for name, value in found.items() if value is not None}


def _notices(listed: Any) -> tuple[dict[str, str], ...]:
    """Each notice once: what kind it is of, its DOI, its day, and who says so."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for each in listed or ():
        kind, doi, date = (plain(each.get("type")) or "").lower(), bare_doi(each.get("DOI")), _date(each.get("updated"))
        known = {"type": kind, "doi": doi, "date": date and date.value, "source": plain(each.get("source"))}
        found.setdefault((kind, doi or ""), {name: value for name, value in known.items() if value})
    return tuple(notice for notice in found.values() if "type" in notice)


def _related(listed: Any) -> tuple[str, ...]:
    """The DOIs of related works."""
    return tuple(doi for each in listed or () if each.get("id-type") == "doi" and (doi := bare_doi(each.get("id"))))


def _pdf(work: Mapping[str, Any]) -> str | None:
    links = (link.get("URL") for link in work.get("link") or () if link.get("content-type") == "application/pdf")
    return next((url for link in links if (url := http_url(link))), None)
