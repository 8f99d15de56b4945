"""`GET /v1/content/<hash>`: a stored text in stretches, each with where the next one begins; anything else as a link.

Bodies that are no text are never put into an answer: in base64 they would outgrow it, and no model reads them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.problem import InvalidArgument, UnknownThing
from zarniwoop.stores.content import ContentStore, StoredContent
from zarniwoop.stores.content_text import TextPage, bytes_wanted, cut_page
from zarniwoop.stores.state import ProjectKey
from zarniwoop.tools.arguments import ToolArguments, parse_arguments

MAX_CHARS = 200_000
_HASH = r"^[0-9a-f]{64}$"


class ContentAsked(ToolArguments):
    """`offset` counts bytes of the stored body; within a character it means the next one."""

    sha256: str = Field(pattern=_HASH, description="The body's SHA-256: 64 characters out of 0-9 and a-f.")
    offset: int = Field(default=0, ge=0, description="Where to start: 0, or the next_offset of the answer before.")
    max_chars: int = Field(
        default=20_000, ge=1, le=MAX_CHARS, description="How many characters at most, 1 to 200000; 20000 by default."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentAnswer:
    """`text` with `next_offset` where there is more, or a `url` to what is no text. Both are other people's words."""

    sha256: str
    media_type: str
    source_url: str
    instance_id: str
    size: int
    expires_at: float
    text: str | None = None
    offset: int | None = None
    next_offset: int | None = None
    url: str | None = None
    url_expires_in: int | None = None


def read_content(
    given: Mapping[str, Any], store: ContentStore, project_of: Callable[[ToolArguments], ProjectKey], link_seconds: int
) -> ToolResult:
    """Raises CallerError, and StoreUnavailable when AWS does not answer."""
    asked = parse_arguments(ContentAsked, given)
    project = project_of(asked)
    stored = store.find(project, asked.sha256)
    if stored is None:
        raise _unknown()
    if not stored.is_text:
        url = store.presigned(project, asked.sha256, link_seconds)
        return ToolResult(ok=True, data=_answer(stored, url=url, url_expires_in=link_seconds))
    page = _page(project, stored, asked, store)
    return ToolResult(ok=True, data=_answer(stored, text=page.text, offset=page.offset, next_offset=page.next_offset))


def _page(project: ProjectKey, stored: StoredContent, asked: ContentAsked, store: ContentStore) -> TextPage:
    if asked.offset > stored.size:
        raise InvalidArgument(
            f"'offset' lies behind the end of the body, which has {stored.size} bytes",
            field="offset",
            suggested_action="start at 0, or at the next_offset of an answer",
        )
    if asked.offset == stored.size:
        return TextPage(text="", offset=asked.offset, next_offset=None)
    raw = store.read(project, stored.sha256, start=asked.offset, length=bytes_wanted(asked.max_chars))
    if raw is None:
        raise _unknown()
    return cut_page(raw, offset=asked.offset, size=stored.size, max_chars=asked.max_chars)


def _answer(stored: StoredContent, **found: Any) -> ContentAnswer:
    return ContentAnswer(
        sha256=stored.sha256,
        media_type=stored.media_type,
        source_url=stored.source_url,
        instance_id=stored.instance_id,
        size=stored.size,
        expires_at=stored.expires_at,
        **found,
    )


def _unknown() -> UnknownThing:
    return UnknownThing(
        "this project has no such content (any more)",
        slug="unknown-content",
        field="sha256",
        suggested_action="load it again: stored bodies are kept for some days only",
    )
