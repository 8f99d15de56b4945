"""An article of DOAJ as a hit.

Format: https://doaj.github.io/doaj-docs/master/data_models/OutgoingAPIArticle
Quirks: all is in `bibjson`; a month is a number or a name, often a wrong one; ISSNs and the DOI are in one list; a link
to the full text is one to a page or to a PDF, and does not always say to which; languages are those of the journal.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from zarniwoop.contract.hit import ContentInline, ContentReference, PublishedAt, SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.text.abstracts import abstract_text
from zarniwoop.text.dates import from_parts, parse_date
from zarniwoop.text.identifiers import in_a_path, work_identifiers
from zarniwoop.text.plain import clip, plain, plain_title
from zarniwoop.text.urls import has_filetype, http_url

_ID = re.compile(r"[0-9a-f]{32}")


def to_hit(article: Mapping[str, Any]) -> SearchHit | None:
    record, number = article["bibjson"], article["id"]
    title, journal = plain_title(record.get("title")), record["journal"]
    if title is None or not _ID.fullmatch(number):
        return None
    abstract, venue = abstract_text(record.get("abstract")), plain_title(journal.get("title"))
    identifiers = work_identifiers(doaj_id=number, doi=_doi(record))
    page, pdf = _links(record)
    languages = {code.lower() for code in journal.get("language") or () if code}
    return SearchHit(
        title=title,
        url=page or _address(identifiers),
        modality=SearchModality.ACADEMIC,
        snippet=clip(abstract.replace("\n", " "), 300) if abstract else None,
        source=venue or plain(journal.get("publisher")),
        content=ContentReference(inline=ContentInline.EMBED_TEXT, text=abstract) if abstract else None,
        authors=tuple(name for author in record.get("author") or () if (name := plain(author.get("name")))),
        published_at=_published(record),
        language=languages.pop() if len(languages) == 1 else None,
        identifiers=identifiers,
        extras=_extras(record, number, venue, pdf),
    )


def _doi(record: Mapping[str, Any]) -> str | None:
    listed = record.get("identifier") or ()
    return next((each.get("id") for each in listed if (each.get("type") or "").lower() == "doi"), None)


def _address(identifiers: Mapping[str, str]) -> str:
    if "doi" in identifiers:
        return f"https://doi.org/{in_a_path(identifiers['doi'])}"
    return f"https://doaj.org/article/{identifiers['doaj_id']}"


def _links(record: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The first page with the full text, and the first PDF."""
    pages: list[str] = []
    pdfs: list[str] = []
    for link in record.get("link") or ():
        url = http_url(link.get("url")) if link.get("type") == "fulltext" else None
        if url:
            is_pdf = "pdf" in (link.get("content_type") or "").lower() or has_filetype(url, "pdf")
            (pdfs if is_pdf else pages).append(url)
    return pages[0] if pages else None, pdfs[0] if pdfs else None


def _published(record: Mapping[str, Any]) -> PublishedAt | None:
    year, month = str(record.get("year") or "").strip(), str(record.get("month") or "").strip()
    if not year.isdecimal():
        return None
    if month.isdecimal():
        return from_parts(int(year), int(month))
    return parse_date(f"{month} {year}") or from_parts(int(year))


def _extras(record: Mapping[str, Any], number: str, venue: str | None, pdf: str | None) -> dict[str, Any]:
    journal = record["journal"]
    pages = [page for name in ("start_page", "end_page") if (page := plain(record.get(name)))]
    found = {
        "venue": venue,
        "publisher": plain(journal.get("publisher")),
        "country": plain(journal.get("country")),
        "volume": plain(journal.get("volume")),
        "issue": plain(journal.get("number")),
        "pages": "-".join(dict.fromkeys(pages)) or None,
        "license": next((plain(each.get("type")) for each in journal.get("license") or ()), None),
        "keywords": tuple(_texts(record.get("keywords"))) or None,
        "subjects": tuple(_texts(each.get("term") for each in record.get("subject") or ())) or None,
        "is_open_access": True,
        "pdf_url": pdf,
        "doaj_url": f"https://doaj.org/article/{number}",
    }
    return {name: value for name, value in found.items() if value is not None}


def _texts(listed: Any) -> Iterator[str]:
    for each in listed or ():
        text = plain(each)
        if text:
            yield text
