"""A work of OpenAlex as a hit.

Format: https://developers.openalex.org/api-reference/works
Quirk: identifiers beyond the DOI stand in `ids` or only in the addresses of the work's copies.
"""

import re
from collections.abc import Mapping
from typing import Any

from zarniwoop.contract.hit import ContentInline, ContentReference, SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.text.dates import from_parts, parse_date
from zarniwoop.text.identifiers import bare_arxiv_id, bare_doi
from zarniwoop.text.inverted_index import in_reading_order
from zarniwoop.text.plain import clip, plain
from zarniwoop.text.urls import http_url

_PMID = re.compile(r"pubmed\.ncbi\.nlm\.nih\.gov/(\d+)")
_PMCID = re.compile(r"pmc(?:\.ncbi\.nlm\.nih\.gov|\.org)?/articles/(?:pmc)?(\d+)", re.IGNORECASE)
_MOST_AUTHORS = 100


def to_hit(work: Mapping[str, Any]) -> SearchHit | None:
    openalex_id = re.fullmatch(r"https://openalex\.org/(W\d+)", work["id"])
    title = plain(work.get("title") or work.get("display_name"))
    if openalex_id is None or title is None:
        return None
    location, authorships = work.get("primary_location") or {}, work.get("authorships") or ()
    names = ((item.get("author") or {}).get("display_name") or item.get("raw_author_name") for item in authorships)
    abstract = plain(in_reading_order(work.get("abstract_inverted_index")))
    return SearchHit(
        title=title,
        url=http_url(location.get("landing_page_url")) or http_url(work.get("doi")) or work["id"],
        modality=SearchModality.ACADEMIC,
        snippet=clip(abstract, 300) if abstract else None,
        source=plain((location.get("source") or {}).get("display_name")),
        content=ContentReference(inline=ContentInline.EMBED_TEXT, text=abstract) if abstract else None,
        authors=tuple(name for given in names if (name := plain(given))),
        published_at=parse_date(work.get("publication_date")) or from_parts(work.get("publication_year") or 0),
        language=plain(work.get("language")),
        identifiers={"openalex_id": openalex_id.group(1), **_identifiers(work)},
        extras=_extras(work, location) | ({"authors_truncated": True} if len(authorships) >= _MOST_AUTHORS else {}),
    )


def _identifiers(work: Mapping[str, Any]) -> dict[str, str]:
    """What `ids` and the addresses of the work's copies say; arXiv's own DOIs hold the arXiv id."""
    copies = (copy.get("landing_page_url") for copy in work.get("locations") or ())
    urls = " ".join(str(url) for url in (work.get("doi"), *(work.get("ids") or {}).values(), *copies) if url)
    pmid, pmcid = _PMID.search(urls), _PMCID.search(urls)
    found = {
        "doi": bare_doi(work.get("doi")),
        "pmid": pmid and pmid.group(1),
        "pmcid": pmcid and f"PMC{pmcid.group(1)}",
        "arxiv_id": bare_arxiv_id(urls.replace("doi.org/10.48550/arxiv.", "arxiv.org/abs/")),
    }
    return {name: value for name, value in found.items() if value}


def _extras(work: Mapping[str, Any], location: Mapping[str, Any]) -> dict[str, Any]:
    access = work.get("open_access") or {}
    found = {name: work.get(name) for name in ("type", "cited_by_count", "is_retracted")}
    found["venue"] = plain((location.get("source") or {}).get("display_name"))
    found["open_access"] = access.get("oa_status")
    found["pdf_url"] = http_url(location.get("pdf_url")) or http_url(access.get("oa_url"))
    return {name: value for name, value in found.items() if value is not None}
