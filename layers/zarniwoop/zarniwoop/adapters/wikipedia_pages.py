"""The answers of a MediaWiki: pages out of any of its envelopes, and a page as a hit.

Formats: https://www.mediawiki.org/wiki/API:Query and https://www.mediawiki.org/wiki/API:REST_API/Reference
Quirks: pages of a generator come in no order but with an `index`, in version 1 as an object; a search without matches
has no `query` at all; leads are plain text, in which `<` opens no tag, while search snippets are HTML.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import quote

from zarniwoop.contract.hit import ContentInline, ContentReference, SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.text.plain import clip, plain
from zarniwoop.text.urls import host_of, http_url


def pages_of(body: Mapping[str, Any]) -> Sequence[Any]:
    """The pages in order, out of the REST search, `list=search` or a generator, whose version 1 has them by number."""
    query = body if "pages" in body else body.get("query", {})
    if "batchcomplete" in body and "search" not in query and "pages" not in query:
        return ()
    listed = query["search"] if "search" in query else query["pages"]
    pages = list(listed.values()) if isinstance(listed, dict) else listed
    if not isinstance(pages, list):
        raise TypeError("the pages are no list")
    return sorted(pages, key=_index)


def _index(page: Any) -> float:
    index = page.get("index") if isinstance(page, dict) else None
    return index if isinstance(index, int | float) else float("inf")


def to_hit(page: Mapping[str, Any], modality: SearchModality, wiki: str, language: str | None) -> SearchHit | None:
    title = _text(page["title"])
    if title is None or "missing" in page or "invalid" in page:
        return None
    lead, description = _text(page.get("extract")), _text(page.get("description"))
    passage = plain(page.get("snippet") or page.get("excerpt"))
    number = _number(page.get("pageid") or page.get("id"))
    flag = True if "disambiguation" in (page.get("pageprops") or {}) else None
    about = {"pageid": number, "description": description, "disambiguation": flag}
    path = quote((page.get("key") or title).replace(" ", "_"), safe="/:(),!*@;~$")
    url = http_url(page.get("fullurl")) or f"{wiki}/wiki/{path}"
    return SearchHit(
        title=title,
        url=url,
        modality=modality,
        snippet=clip(lead, 300) if lead else passage if passage != title else description,
        source=host_of(url),
        content=_content_reference(lead, number),
        language=language,
        extras={name: value for name, value in about.items() if value is not None},
    )


def _number(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _content_reference(lead: str | None, number: int | None) -> ContentReference | None:
    """The lead; the number beside it is what `load_content` takes for the whole text."""
    if lead is None:
        return None
    return ContentReference(inline=ContentInline.EMBED_TEXT, text=lead, reference=str(number) if number else None)


def _text(value: str | None) -> str | None:
    """Plain text made safe to show: escaped first, because its `<` opens no tag."""
    return plain(escape(value, quote=False)) if value else None


def suggestion(body: Mapping[str, Any]) -> str | None:
    suggested = ((body.get("query") or {}).get("searchinfo") or {}).get("suggestion")
    return f"did you mean: {clip(text, 200)}" if (text := _text(suggested)) else None
