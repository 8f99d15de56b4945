"""Results as SerpApi describes them: the items of every engine's list, and the panels around Google's.

Quirks: a source is a name or an object, a thumbnail an address or an object; news come in clusters, whose stories are
the items; Scholar packs authors, venue and year into one line.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from zarniwoop.contract.hit import PublishedAt, SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.text.dates import from_parts, parse_date
from zarniwoop.text.identifiers import bare_arxiv_id
from zarniwoop.text.plain import plain
from zarniwoop.text.publication import read_publication
from zarniwoop.text.urls import http_url, url_and_host


def _number(value: Any) -> int | None:
    return value if type(value) is int else None


def _named(value: Any) -> str | None:
    return plain(value.get("name") if isinstance(value, dict) else value)


def _picture(value: Any) -> str | None:
    return http_url((value.get("static") or value.get("rich")) if isinstance(value, dict) else value)


_EXTRAS: tuple[tuple[str, str, Callable[[Any], Any]], ...] = (  # key of an item, name in `extras`, how it is read
    ("thumbnail", "thumbnail_url", _picture),
    ("original", "image_url", http_url),
    ("original_width", "width", _number),
    ("original_height", "height", _number),
    ("length", "duration", plain),
    ("views", "views", _number),
    ("channel", "channel", _named),
)


def stories_of(items: Any) -> Iterator[Any]:
    """The items one by one: of a cluster of news its highlight and its stories."""
    for item in items:
        if isinstance(item, dict) and "link" not in item and ("stories" in item or "highlight" in item):
            stories = item.get("stories")
            yield from ([item["highlight"]] if "highlight" in item else [])
            yield from (stories if isinstance(stories, list) else [])
        else:
            yield item


def to_hit(item: Mapping[str, Any], modality: SearchModality, engine: str) -> SearchHit | None:
    title, link = plain(item["title"]), url_and_host(item["link"])
    if title is None or link is None:
        return None
    url, host = link
    written = item.get("iso_date") or item.get("date") or item.get("published_date")
    date_text = plain(written)
    published = parse_date(date_text) or _american(date_text)
    extras = {name: extra for key, name, read in _EXTRAS if (extra := read(item.get(key))) is not None}
    authors, work = _scholarly(item)
    if date_text and not published:
        extras["date_text"] = date_text
    arxiv_id = bare_arxiv_id(url) if "arxiv" in url else None
    return SearchHit(
        title=title,
        url=url,
        modality=modality,
        snippet=plain(item.get("snippet") or item.get("description")),
        source=_named(item.get("source")) or host,
        authors=authors or _reporters(item.get("source")),
        published_at=published or parse_date(work.pop("year", None)),
        identifiers={"arxiv_id": arxiv_id} if arxiv_id else {},
        extras={"engine": engine, **extras, **work},
    )


def _reporters(source: Any) -> tuple[str, ...]:
    named = source.get("authors") if isinstance(source, dict) else None
    return tuple(name for each in named or [] if (name := plain(each)))


def _american(text: str | None) -> PublishedAt | None:
    """`11/12/2024, 09:08 AM, +0000 UTC`, as Google News is dated where there is no `iso_date`; the day is enough."""
    month, _, rest = (text or "").partition("/")
    day, _, year = rest[:7].partition("/")
    return from_parts(int(year), int(month), int(day)) if f"{month}{day}{year}".isdecimal() and year else None


def _scholarly(item: Mapping[str, Any]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The authors of a work, and what else only Scholar says: `year`, `venue`, `cited_by`, `pdf_url`."""
    info = item.get("publication_info")
    if info is None:
        return (), {}
    authors, venue, year = read_publication(info.get("summary"))
    listed = [plain(author["name"]) for author in info.get("authors") or []]
    cited = item.get("inline_links", {}).get("cited_by", {}).get("total")
    pdf = next((http_url(one["link"]) for one in item.get("resources", []) if one.get("file_format") == "PDF"), None)
    told = {"year": year, "venue": venue, "cited_by": _number(cited), "pdf_url": pdf}
    # the line shortens long lists of authors, the list names only those who have a profile
    longer = tuple(filter(None, listed)) if len(listed) > len(authors) else authors
    return longer, {name: value for name, value in told.items() if value is not None}


def panels_of(body: Mapping[str, Any]) -> dict[str, str]:
    """What stands beside the results and is no page: texts by their name in `extras`."""
    graph, box = (
        block if isinstance(block, dict) else {} for block in map(body.get, ("knowledge_graph", "answer_box"))
    )
    texts = {"knowledge_graph": graph.get("description"), "answer_box": box.get("answer") or box.get("snippet")}
    return {name: text for name, markup in texts.items() if isinstance(markup, str) and (text := plain(markup))}
