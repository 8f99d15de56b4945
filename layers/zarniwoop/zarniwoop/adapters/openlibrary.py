"""Open Library: the Internet Archive's index of books, one hit per work with the ISBNs of its editions.

Wire format: JSON, one GET. https://openlibrary.org/dev/docs/api/search
Quirks: `key` is a path ("/works/OL45804W"), not a URL. Dates are years and languages MARC codes ("ger"). A work's
`description` is a string or `{type, value}`, and most works have none.
"""

import re
from typing import Any

from zarniwoop.contract.failure import QueryRejected
from zarniwoop.contract.hit import ContentInline, ContentReference, LoadedContent, SearchHit
from zarniwoop.contract.modality import SearchDomain, SearchModality
from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.transport import HttpRequest
from zarniwoop.text.dates import from_parts
from zarniwoop.text.languages import LANGUAGE_OF_MARC, MARC_CODES
from zarniwoop.text.operators import Kind
from zarniwoop.text.plain import plain
from zarniwoop.wire.driver import WireProtocol
from zarniwoop.wire.filters import DATES
from zarniwoop.wire.format import ContentExchange, Exchange, Found, WireFormat
from zarniwoop.wire.reading import read_hits, read_json

_SITE = "https://openlibrary.org"
_FIELDS = "key,title,subtitle,author_name,first_publish_year,isbn,cover_i,language,edition_count"
_KEY = re.compile(r"/(?:works|books)/(?P<id>OL\d+[WM])")
_ISBN_13 = re.compile(r"97[89]\d{10}")


def exchange(request: SearchRequest, config: ProviderInstanceConfig) -> Exchange:
    query, translated = _query(request)
    params = {"q": query, "fields": _FIELDS, "limit": str(request.max_results)}
    body = read_json((yield HttpRequest(url=f"{config.base_url}/search.json", params=params)))
    hits, dropped = read_hits(body["docs"], _to_hit)
    return Found(hits=hits, dropped_count=dropped, translated=translated)


def _query(request: SearchRequest) -> tuple[str, frozenset[str]]:
    """The query with its filters in Solr's syntax, and which filters those are; a date filter is one of years."""
    words, translated = [request.query], frozenset[str]()
    if request.published:
        ends = (request.published.earliest, request.published.latest)
        first, last = (day.year if day else "*" for day in ends)
        words.append(f"first_publish_year:[{first} TO {last}]")
        translated |= DATES
    if request.locale and request.locale.language in MARC_CODES:
        words.append(f"language:{MARC_CODES[request.locale.language]}")
        translated |= {"locale"}
    return " ".join(words), translated


def _to_hit(work: dict[str, Any]) -> SearchHit | None:
    found, title = _KEY.fullmatch(work["key"]), plain(work.get("title"))
    if found is None or title is None:
        return None
    subtitle, year = plain(work.get("subtitle")), work.get("first_publish_year")
    languages = [code for written in work.get("language") or [] if (code := plain(written))]
    return SearchHit(
        title=f"{title}: {subtitle}" if subtitle else title,
        url=_SITE + found.group(),
        modality=SearchModality.BOOK,
        source="Open Library",
        content=ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference=found.group()),
        authors=tuple(name for author in work.get("author_name") or [] if (name := plain(author))),
        published_at=from_parts(year) if year else None,
        language=LANGUAGE_OF_MARC.get(languages[0], languages[0]) if len(languages) == 1 else None,
        identifiers=_identifiers(found["id"], work.get("isbn") or []),
        extras=_extras(work, languages),
    )


def _identifiers(work_id: str, isbns: list[str]) -> dict[str, str]:
    """One ISBN out of those of all editions: the first of 13 digits, else the first."""
    isbn = next((isbn for isbn in isbns if _ISBN_13.fullmatch(isbn)), isbns[0] if isbns else None)
    return {"openlibrary_id": work_id, **({"isbn": isbn} if isbn else {})}


def _extras(work: dict[str, Any], languages: list[str]) -> dict[str, Any]:
    extras: dict[str, Any] = {"languages": languages} if languages else {}
    if (cover := work.get("cover_i") or 0) > 0:  # -1 stands for a cover that was removed
        extras["cover_url"] = f"https://covers.openlibrary.org/b/id/{cover:d}-L.jpg"
    if editions := work.get("edition_count"):
        extras["edition_count"] = editions
    return extras


def content_exchange(reference: ContentReference, config: ProviderInstanceConfig) -> ContentExchange:
    """A work's description. Raises QueryRejected for a foreign reference and for a work that has none."""
    key = reference.reference or ""
    if _KEY.fullmatch(key) is None:
        raise QueryRejected("this is no reference to a work of Open Library")
    work = read_json((yield HttpRequest(url=f"{config.base_url}{key}.json")))
    description = work.get("description") or ""
    text = description["value"] if isinstance(description, dict) else description
    lines = [plain(line) or "" for line in text.splitlines()]
    if not any(lines):
        raise QueryRejected("this work has no description at Open Library")
    return LoadedContent(body="\n".join(lines).encode(), media_type="text/plain", source_url=_SITE + key)


PROTOCOL = WireProtocol(
    WireFormat(
        protocol_id="openlibrary",
        display_name="Open Library",
        modalities=frozenset((SearchModality.BOOK,)),
        domains=frozenset((SearchDomain.BOOKS,)),
        exchange=exchange,
        filters=DATES | {"locale"},
        prompt_hint="""Open Library catalogues **books**: authors, first year, languages and ISBNs, free of charge.
Choose it to find or check a book by title, author or subject. It does not search inside books and holds no papers or
reviews; its data come from volunteers.""",
        operators=frozenset((Kind.OR, Kind.PHRASE)),
        index_family="openlibrary",
        documentation="https://openlibrary.org/dev/docs/api/search",
        default_base_url=_SITE,
        ignores={"locale": "Open Library's code for this language is not known here"},
        content_exchange=content_exchange,
    )
)
