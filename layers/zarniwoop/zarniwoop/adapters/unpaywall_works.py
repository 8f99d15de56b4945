"""A record of Unpaywall as a hit.

Format: https://unpaywall.org/data-format
Quirks: `best_oa_location` is null where there is no free copy; authors come as `given` and `family` or, in newer
records, as one `raw_author_name`, or not at all; a title may be the text of a whole page. Extras: `open_url` is the
best free copy, `pdf_url` its PDF, `open_version` which version of the work it is, `copies` are all.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.text.dates import from_parts, parse_date
from zarniwoop.text.identifiers import in_a_path, work_identifiers
from zarniwoop.text.plain import clip, plain, plain_title
from zarniwoop.text.urls import http_url

_LONGEST_TITLE = 500


def to_hit(work: Mapping[str, Any]) -> SearchHit | None:
    identifiers, title = work_identifiers(doi=work["doi"]), plain_title(work.get("title"))
    if "doi" not in identifiers or title is None:
        return None
    venue = plain_title(work.get("journal_name"))
    return SearchHit(
        title=clip(title, _LONGEST_TITLE),
        url=f"https://doi.org/{in_a_path(identifiers['doi'])}",
        modality=SearchModality.ACADEMIC,
        source=venue or plain(work.get("publisher")),
        authors=tuple(_authors(work)),
        published_at=parse_date(work.get("published_date")) or from_parts(work.get("year") or 0),
        identifiers=identifiers,
        extras=_extras(work, venue),
    )


def _authors(work: Mapping[str, Any]) -> Iterator[str]:
    for author in work.get("z_authors") or ():
        parts = [plain(author.get(part)) for part in ("given", "family")]
        name = " ".join(part for part in parts if part) or plain(author.get("raw_author_name") or author.get("name"))
        if name:
            yield name


def _extras(work: Mapping[str, Any], venue: str | None) -> dict[str, Any]:
    best = work.get("best_oa_location") or {}
    found = {
        "type": plain(work.get("genre")),
        "venue": venue,
        "publisher": plain(work.get("publisher")),
        "is_open_access": work.get("is_oa"),
        "open_access_status": plain(work.get("oa_status")),
        "open_url": http_url(best.get("url")) or http_url(best.get("url_for_landing_page")),
        "pdf_url": http_url(best.get("url_for_pdf")),
        "open_version": plain(best.get("version")),
        "open_host": plain(best.get("repository_institution")) or plain(best.get("host_type")),
        "open_since": plain(best.get("oa_date")),
        "license": plain(best.get("license")),
        "copies": tuple(dict.fromkeys(_copies(work))) or None,
    }
    return {name: value for name, value in found.items() if value is not None}


def _copies(work: Mapping[str, Any]) -> Iterator[str]:
    """The addresses of all free copies, the best first as Unpaywall has them."""
    for copy in work.get("oa_locations") or ():
        url = http_url(copy.get("url_for_pdf")) or http_url(copy.get("url"))
        if url:
            yield url
