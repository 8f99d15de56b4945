"""The Wayback Machine, looked up: whether it holds a page, and where. Nothing is ever asked to be saved.

Format: https://archive.org/help/wayback_api.php
Quirk: the snapshot's address comes with http, and with the archive's own frame around the page; `id_` behind the
moment gives the page as it was. The look-up is fetched and read as any page is, so its JSON comes in a block of code.
"""

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

import orjson

from zarniwoop.contract.page import ExtractedPage
from zarniwoop.text.urls import host_of

STEP = "archive"
NO_SNAPSHOT = "no_snapshot"
_LOOK_UP = "https://archive.org/wayback/available?url="
_HOST = "web.archive.org"
_SNAPSHOT = re.compile(r"https?://web\.archive\.org/web/([0-9]{14})(?:[a-z]{2}_)?/(\S{1,8000})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """`moment` is when the archive read the page: YYYYMMDDhhmmss, in UTC."""

    url: str
    moment: str


def look_up_of(url: str) -> str:
    """The address that tells of the snapshot closest to now."""
    return _LOOK_UP + quote(url, safe="")


def is_of_archive(url: str) -> bool:
    """Whether it is the archive that answers there: a snapshot may lead on to the living web."""
    return host_of(url) == _HOST


def snapshot_in(page: ExtractedPage | None, url: str) -> Snapshot | None:
    """The snapshot of `url` that an answer names; None where it names none that was a page, or another page's."""
    text = page.markdown if page is not None else ""
    begin, end = text.find("{"), text.rfind("}")
    try:
        closest = orjson.loads(text[begin : end + 1])["archived_snapshots"]["closest"]
        found = _SNAPSHOT.fullmatch(closest["url"]) if closest["available"] is True else None
        usable = found is not None and str(closest["status"]) == "200"
    except (orjson.JSONDecodeError, LookupError, TypeError):
        return None
    if found is None or not usable or not _same_page(found[2], url):
        return None
    return Snapshot(url=f"https://web.archive.org/web/{found[1]}id_/{found[2]}", moment=found[1])


def _same_page(one: str, other: str) -> bool:
    """As the archive counts: neither the scheme nor `www.`, letters' case, a last slash, or the query's order tell."""
    try:
        return _spelled(one) == _spelled(other)
    except ValueError:
        return False


def _spelled(url: str) -> tuple[str, int | None, str, list[str]]:
    """Raises ValueError."""
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("www.")
    port = None if parts.port in (80, 443) else parts.port
    return host, port, unquote(parts.path).casefold().rstrip("/"), sorted(unquote(parts.query).casefold().split("&"))
