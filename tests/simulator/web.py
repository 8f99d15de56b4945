"""The simulator's web: pages for whoever fetches them, under `/web/<site>/…`, and the server's robots.txt.

`corpus/web.json` says how each page is sent, `corpus/web/` holds what is sent; all of it is our own invention. Pages
carry an ETag and a Last-Modified and answer conditional requests (https://www.rfc-editor.org/rfc/rfc9110#section-13).
Quirk: a page can be changed while the simulator runs, and is then another page with validators of its own.
"""

import hashlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from http import HTTPStatus
from typing import Any

from tests.simulator.corpus import FOLDER, Page, read
from tests.simulator.messages import Answer, Request

ROBOTS = "/robots.txt"
_PREFIX = "/web/"
_PAGES = FOLDER / "web"
_HTML = "text/html; charset=utf-8"
_MADE = datetime(2026, 9, 14, 8, 30, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class WebPage:
    """What is sent for a path; in `location`, `{port}` is the server's own."""

    body: bytes = b""
    media_type: str = _HTML
    status: int = 200
    location: str | None = None
    changed: datetime = _MADE

    @property
    def etag(self) -> str:
        return f'"{hashlib.sha256(self.body).hexdigest()[:16]}"'


class Web:
    """Safe to ask and to change from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pages = _read_pages()

    def serves(self, path: str) -> bool:
        return path == ROBOTS or path.startswith(_PREFIX)

    def answer(self, request: Request) -> Answer:
        if request.method != "GET":
            return refusal(405)
        with self._lock:
            page = self._pages.get(request.path)
        if page is None:
            return refusal(404)
        if page.location is not None:
            port = request.headers.get("host", "").rpartition(":")[2]
            return Answer(status=page.status, headers={"Location": page.location.replace("{port}", port)})
        if page.status != 200:
            return Answer(status=page.status, body=page.body, media_type=page.media_type)
        validators = {"ETag": page.etag, "Last-Modified": format_datetime(page.changed, usegmt=True)}
        if _is_current(page, request.headers):
            return Answer(status=304, media_type=page.media_type, headers=validators)
        return Answer(body=page.body, media_type=page.media_type, headers=validators)

    def change(self, path: str, *, find: str = "", put: str = "", status: int = 200) -> None:
        """From now on the page has other words, or another status. Raises ValueError for what is not there."""
        with self._lock:
            page = self._pages.get(path)
            if page is None or find.encode() not in page.body:
                raise ValueError("there is no such page, or it has no such words")
            body = page.body.replace(find.encode(), put.encode()) if find else page.body
            now = datetime.now(UTC).replace(microsecond=0)
            self._pages[path] = replace(page, body=body, status=status, changed=now)

    def restore(self) -> None:
        """Every page as it was in the beginning."""
        with self._lock:
            self._pages = _read_pages()


def refusal(status: int) -> Answer:
    """As a site says no: a page of its own."""
    title = HTTPStatus(status).phrase
    page = f"<!doctype html><html><head><title>{title}</title></head><body><h1>{title}</h1></body></html>"
    return Answer(status=status, body=page.encode(), media_type=_HTML)


def pages_to_find(base_url: str) -> list[Page]:
    """The pages that a search finds, at the address of this server."""
    return [
        Page(
            title=item["title"],
            link=base_url + item["path"],
            snippet=item["snippet"],
            date=item["date"],
            language=item["language"],
        )
        for item in read("web")
        if "snippet" in item
    ]


def _read_pages() -> dict[str, WebPage]:
    return {item["path"]: _page(item) for item in read("web")}


def _page(item: Mapping[str, Any]) -> WebPage:
    body = (_PAGES / item["file"]).read_bytes() if "file" in item else b""
    if "encoding" in item:
        body = body.decode("utf-8").encode(item["encoding"])
    return WebPage(
        body=body,
        media_type=item.get("media_type", _HTML),
        status=item.get("status", 200),
        location=item.get("location"),
    )


def _is_current(page: WebPage, headers: Mapping[str, str]) -> bool:
    """Whether what the client has is this page; an ETag goes before a date."""
    if (named := headers.get("if-none-match")) is not None:
        return page.etag in [each.strip().removeprefix("W/") for each in named.split(",")] or named.strip() == "*"
    try:
        since = parsedate_to_datetime(headers.get("if-modified-since", ""))
    except ValueError:
        return False
    return page.changed <= since
