"""A record of Europe PMC as a hit.

Format: https://europepmc.org/RestfulWebService, results `core` and `lite`
Quirks: `source` tells where a record comes from (MED, PMC, PPR for preprints, PAT for patents …) and is part of its id;
authors are a list or one string, markup in a title may be escaped; whole study groups are listed, so a hit keeps the
first hundred names. Extras: `updated_by` and `update_to` list corrections and retractions, as they do for Crossref.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from zarniwoop.contract.hit import ContentInline, ContentReference, SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.text.abstracts import abstract_text
from zarniwoop.text.dates import parse_date
from zarniwoop.text.identifiers import bare_pmcid, work_identifiers
from zarniwoop.text.languages import LANGUAGE_OF_MARC
from zarniwoop.text.plain import clip, plain, plain_title
from zarniwoop.text.urls import http_url

_MOST_AUTHORS = 100
_NOTICE = re.compile(
    r"(retraction|partial retraction|withdrawal|erratum|expression of concern|corrected and republished)\b.*\b"
    r"(in|of|from|for)",
    re.IGNORECASE,
)
_ID = re.compile(r"[A-Z]{3}/[\w.:-]{1,60}")
_OPEN = ("OA", "F")


def page_of(source: str, number: str) -> str:
    return f"https://europepmc.org/article/{source}/{number}"


def to_hit(record: Mapping[str, Any]) -> SearchHit | None:
    source, number, title = record["source"], record["id"], plain_title(record.get("title"))
    if title is None or not _ID.fullmatch(f"{source}/{number}"):
        return None
    abstract, names = abstract_text(record.get("abstractText")), list(_authors(record))
    venue, language = _venue(record), plain(record.get("language"))
    return SearchHit(
        title=title,
        url=page_of(source, number),
        modality=SearchModality.ACADEMIC,
        snippet=clip(abstract.replace("\n", " "), 300) if abstract else None,
        source=venue or plain((record.get("bookOrReportDetails") or {}).get("publisher")),
        content=_content(record, abstract),
        authors=tuple(names[:_MOST_AUTHORS]),
        published_at=parse_date(record.get("firstPublicationDate")) or parse_date(record.get("pubYear")),
        language=LANGUAGE_OF_MARC.get(language, language) if language else None,
        identifiers=work_identifiers(
            europepmc_id=f"{source}/{number}",
            doi=record.get("doi"),
            pmid=record.get("pmid"),
            pmcid=record.get("pmcid"),
        ),
        extras=_extras(record, venue) | ({"authors_truncated": True} if len(names) > _MOST_AUTHORS else {}),
    )


def _content(record: Mapping[str, Any], abstract: str | None) -> ContentReference | None:
    """The abstract, and the way to the full text where that is open."""
    full_text = bare_pmcid(record.get("pmcid")) if record.get("isOpenAccess") == "Y" else None
    if abstract:
        return ContentReference(inline=ContentInline.EMBED_TEXT, text=abstract, reference=full_text)
    return ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference=full_text) if full_text else None


def _authors(record: Mapping[str, Any]) -> Iterator[str]:
    listed = (record.get("authorList") or {}).get("author")
    if listed is None:
        listed = [{"fullName": name} for name in (record.get("authorString") or "").rstrip(".").split(", ")]
    for author in listed:
        name = plain(author.get("fullName")) or plain(author.get("collectiveName"))
        if name:
            yield name


def _venue(record: Mapping[str, Any]) -> str | None:
    journal = (record.get("journalInfo") or {}).get("journal") or {}
    return plain(journal.get("title")) or plain(record.get("journalTitle"))


def _extras(record: Mapping[str, Any], venue: str | None) -> dict[str, Any]:
    journal, kinds = record.get("journalInfo") or {}, _kinds(record)
    updated_by, update_to = _notices(record)
    retracted = any(kind.lower() == "retracted publication" for kind in kinds)
    found = {
        "record_source": record["source"],
        "publication_types": kinds or None,
        "venue": venue,
        "volume": plain(journal.get("volume") or record.get("journalVolume")),
        "issue": plain(journal.get("issue") or record.get("issue")),
        "pages": plain(record.get("pageInfo")),
        "cited_by_count": record.get("citedByCount"),
        "is_retracted": retracted or any(notice["type"] == "retraction" for notice in updated_by),
        "updated_by": updated_by or None,
        "update_to": update_to or None,
        "is_open_access": _flag(record, "isOpenAccess"),
        "has_full_text": _flag(record, "inEPMC"),
        "has_pdf": _flag(record, "hasPDF"),
        "pdf_url": _pdf(record),
        "license": plain(record.get("license")),
    }
    return {name: value for name, value in found.items() if value is not None}


def _flag(record: Mapping[str, Any], name: str) -> bool | None:
    return {"Y": True, "N": False}.get(record.get(name, ""))


def _kinds(record: Mapping[str, Any]) -> tuple[str, ...]:
    listed = (record.get("pubTypeList") or {}).get("pubType")
    kinds = (record.get("pubType") or "").split(";") if listed is None else listed
    return tuple(text for kind in kinds if (text := plain(kind)))


def _notices(record: Mapping[str, Any]) -> tuple[tuple[dict[str, str], ...], tuple[dict[str, str], ...]]:
    """What was done to this work, and what it does to others: "Retraction in" and "Retraction of"."""
    updated_by: list[dict[str, str]] = []
    update_to: list[dict[str, str]] = []
    for each in (record.get("commentCorrectionList") or {}).get("commentCorrection") or ():
        found = _NOTICE.fullmatch(plain(each.get("type")) or "")
        if found is None:
            continue
        other = f"{each.get('source')}/{each.get('id')}"
        known = {
            "type": found[1].lower().replace(" ", "_"),
            "europepmc_id": other if _ID.fullmatch(other) else None,
            "reference": plain(each.get("reference")),
        }
        side = updated_by if found[2].lower() == "in" else update_to
        side.append({name: value for name, value in known.items() if value})
    return tuple(updated_by), tuple(update_to)


def _pdf(record: Mapping[str, Any]) -> str | None:
    links = (record.get("fullTextUrlList") or {}).get("fullTextUrl") or ()
    pdfs = [link for link in links if link.get("documentStyle") == "pdf" and link.get("availabilityCode") in _OPEN]
    return next((url for link in pdfs if (url := http_url(link.get("url")))), None)
