"""A paper of Semantic Scholar as a hit.

Format: https://api.semanticscholar.org/api-docs/graph
Quirks: nothing but the id is sure to be there; a list stops at 500 authors without a word; `openAccessPdf` is an object
with an empty address where there is no PDF; PubMed Central's ids come without their letters.
"""

import re
from collections.abc import Mapping
from typing import Any

from zarniwoop.contract.hit import ContentInline, ContentReference, SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.text.dates import from_parts, parse_date
from zarniwoop.text.identifiers import in_a_path, work_identifiers
from zarniwoop.text.plain import clip, plain
from zarniwoop.text.urls import http_url

FIELDS = (
    "paperId,externalIds,title,abstract,tldr,venue,journal,year,publicationDate,publicationTypes,authors,"
    "citationCount,influentialCitationCount,isOpenAccess,openAccessPdf"
)
_PAPER_ID = re.compile(r"[0-9a-f]{40}")
_MOST_AUTHORS = 500


def to_hit(paper: Mapping[str, Any]) -> SearchHit | None:
    title, abstract = plain(paper.get("title")), plain(paper.get("abstract"))
    if title is None or not _PAPER_ID.fullmatch(paper["paperId"]):
        return None
    identifiers = _identifiers(paper)
    authors = [plain(author.get("name")) for author in paper.get("authors") or ()]
    extras = _extras(paper) | ({"authors_truncated": True} if len(authors) >= _MOST_AUTHORS else {})
    return SearchHit(
        title=title,
        url=_address(identifiers),
        modality=SearchModality.ACADEMIC,
        snippet=clip(abstract, 300) if abstract else None,
        source=_venue(paper),
        content=ContentReference(inline=ContentInline.EMBED_TEXT, text=abstract) if abstract else None,
        authors=tuple(name for name in authors if name),
        published_at=parse_date(paper.get("publicationDate")) or from_parts(paper.get("year") or 0),
        identifiers=identifiers,
        extras=extras,
    )


def _identifiers(paper: Mapping[str, Any]) -> dict[str, str]:
    known = paper.get("externalIds") or {}
    return work_identifiers(
        semanticscholar_id=paper["paperId"],
        doi=known.get("DOI"),
        arxiv_id=known.get("ArXiv"),
        pmid=known.get("PubMed"),
        pmcid=known.get("PubMedCentral"),
    )


def _address(identifiers: Mapping[str, str]) -> str:
    """Where the paper itself is, or else where Semantic Scholar tells of it."""
    if "doi" in identifiers:
        return f"https://doi.org/{in_a_path(identifiers['doi'])}"
    if "arxiv_id" in identifiers:
        return f"https://arxiv.org/abs/{identifiers['arxiv_id']}"
    return f"https://www.semanticscholar.org/paper/{identifiers['semanticscholar_id']}"


def _venue(paper: Mapping[str, Any]) -> str | None:
    return plain(paper.get("venue")) or plain((paper.get("journal") or {}).get("name"))


def _extras(paper: Mapping[str, Any]) -> dict[str, Any]:
    pdf = paper.get("openAccessPdf") or {}
    found = {
        "publication_types": tuple(paper.get("publicationTypes") or ()) or None,
        "venue": _venue(paper),
        "cited_by_count": paper.get("citationCount"),
        "influential_citation_count": paper.get("influentialCitationCount"),
        "is_open_access": paper.get("isOpenAccess"),
        "pdf_url": http_url(pdf.get("url")),
        "license": plain(pdf.get("license")),
        "tldr": plain((paper.get("tldr") or {}).get("text")),
        "semanticscholar_url": f"https://www.semanticscholar.org/paper/{paper['paperId']}",
    }
    return {name: value for name, value in found.items() if value is not None}
