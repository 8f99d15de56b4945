"""Our own gold pages, `tests/fixtures/pages`: a page's bytes as a site sends them, and beside it what is true of it.

The text that a reader came for stands between `<!--gold-->` and `<!--/gold-->` in the page's source; the marks are
taken out before anybody is given the page. All contents are invented; the markup is that of real systems.
"""

import re
from collections.abc import Iterator
from functools import cached_property
from html import unescape
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict

from zarniwoop.contract.page import PageOutcome

FOLDER = Path(__file__).resolve().parents[1] / "fixtures" / "pages"
ANY = "any"
"""For what a page does not say beyond doubt."""
_MARKED = re.compile(r"<!--gold-->(.*?)<!--/gold-->", re.DOTALL)
_MARK = re.compile(rb"<!--/?gold-->")
_UNREAD = re.compile(r"<(script|style|noscript)\b.*?</\1>", re.DOTALL | re.IGNORECASE)
_INLINE = re.compile(r"</?(?:a|b|i|em|strong|span|code|abbr|sup|sub|cite|font|wbr|mark|small)\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")


class GoldPage(BaseModel):
    """One page and its truth. `charset` is the header's; `encoding` is what the bytes are. `title_any` are as good."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    file: Path
    kind: str
    url: str
    media_type: str | None = "text/html"
    charset: str | None = None
    encoding: str = "utf-8"
    status: int = 200
    outcome: PageOutcome = PageOutcome.OK
    reason: str | None = None
    title: str | None = None
    title_any: tuple[str, ...] = ()
    byline: str | None = None
    published: str | None = None
    language: str | None = None
    canonical: str | None = None
    truncated: bool = False
    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()

    @property
    def is_good(self) -> bool:
        return self.outcome is PageOutcome.OK

    @cached_property
    def body(self) -> bytes:
        """What the site sends."""
        return _MARK.sub(b"", self.file.read_bytes())

    @cached_property
    def text(self) -> str:
        """What a reader came for; empty for what is no markup, and for walls."""
        if self.file.suffix != ".html":
            return ""
        parts = _MARKED.findall(self.file.read_bytes().decode(self.encoding))
        return "\n".join(unescape(_TAG.sub(" ", _INLINE.sub("", _UNREAD.sub("", part)))) for part in parts)


def gold_pages() -> Iterator[GoldPage]:
    for truth in sorted(FOLDER.glob("*.yaml")):
        (file,) = (path for path in FOLDER.glob(f"{truth.stem}.*") if path != truth)
        yield GoldPage(name=truth.stem, file=file, **yaml.safe_load(truth.read_text("utf-8")))
