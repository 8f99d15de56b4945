"""A publication of dblp as a hit.

Format: https://dblp.org/faq/How+to+use+the+dblp+search+API.html
Quirks: `author` is an object where there is one, a list where there are several, and missing for proceedings; namesakes
are numbered ("Li Chen 0022"); a title ends in a full stop and holds entities; a DOI is in capitals; one field may be a
text or a list of texts; `url` beside `info` is no address. Extras: `author_ids` are dblp's for people, in their order.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.text.dates import from_parts
from zarniwoop.text.identifiers import in_a_path, work_identifiers
from zarniwoop.text.plain import plain, plain_title
from zarniwoop.text.urls import http_url

_KEY = re.compile(r"[a-z]+(?:/[\w.+-]{1,80}){1,4}")
_NAMESAKE = re.compile(r" \d{4}$")
_ARXIV = re.compile(r"https?://(?:www\.)?arxiv\.org/abs/", re.IGNORECASE)


def to_hit(publication: Mapping[str, Any]) -> SearchHit | None:
    info = publication["info"]
    title, key = _title(info.get("title")), info["key"]
    if title is None or not _KEY.fullmatch(key):
        return None
    links = [url for link in listed(info.get("ee")) if (url := http_url(link))]
    page, year = f"https://dblp.org/rec/{in_a_path(key)}", plain(info.get("year"))
    venue = ", ".join(_texts(info.get("venue"))) or None
    people = [author for author in listed((info.get("authors") or {}).get("author")) if plain(author.get("text"))]
    return SearchHit(
        title=title,
        url=links[0] if links else page,
        modality=SearchModality.ACADEMIC,
        source=venue or plain(info.get("publisher")),
        authors=tuple(_NAMESAKE.sub("", plain(author["text"]) or "") for author in people),
        published_at=from_parts(int(year)) if year else None,
        identifiers=work_identifiers(
            dblp_key=key,
            doi=info.get("doi") or next((link for link in links if "doi.org/" in link), None),
            arxiv_id=next((link for link in links if _ARXIV.match(link)), None),
        ),
        extras=_extras(info, venue, people) | {"dblp_url": page},
    )


def _title(markup: str | None) -> str | None:
    """Without the full stop that dblp ends every title with."""
    title = plain_title(markup)
    return title.removesuffix(".") or None if title and not title.endswith("..") else title


def listed(value: Any) -> list[Any]:
    """What a list holds, or the one thing that stands where there is only one."""
    return value if isinstance(value, list) else [] if value is None else [value]


def _texts(value: Any) -> Iterator[str]:
    for each in listed(value):
        text = plain(each)
        if text:
            yield text


def _extras(info: Mapping[str, Any], venue: str | None, people: list[Any]) -> dict[str, Any]:
    found = {
        "type": plain(info.get("type")),
        "venue": venue,
        "publisher": plain(info.get("publisher")),
        "volume": plain(info.get("volume")),
        "issue": plain(info.get("number")),
        "pages": plain(info.get("pages")),
        "is_open_access": {"open": True, "closed": False}.get(info.get("access", "")),
        "author_ids": tuple(author.get("@pid") or "" for author in people) or None,
    }
    return {name: value for name, value in found.items() if value is not None}
