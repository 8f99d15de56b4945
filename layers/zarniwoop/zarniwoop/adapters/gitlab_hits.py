"""What all hits of GitLab have in common, and the project in which those live that have no address of their own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from zarniwoop.contract.hit import ContentReference, PublishedAt, SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.text.plain import clip, one_line
from zarniwoop.text.urls import http_url

_SNIPPET = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """A project's path and address; without them a file is named by its place in the API."""

    name: str | None = None
    web: str | None = None
    api: str = ""

    def page(self, rest: str) -> str | None:
        return http_url(f"{self.web}/-/{rest}") if self.web else None


def gitlab_hit(
    title: Any,
    url: Any,
    snippet: str | None,
    extras: Mapping[str, Any],
    *,
    published: PublishedAt | None = None,
    authors: tuple[str, ...] = (),
    content: ContentReference | None = None,
) -> SearchHit | None:
    shown, address = one_line(title), http_url(url)
    if shown is None or address is None:
        return None
    return SearchHit(
        title=shown,
        url=address,
        modality=SearchModality.CODE,
        snippet=clip(snippet, _SNIPPET) if snippet else None,
        source="GitLab",
        content=content,
        authors=authors,
        published_at=published,
        extras={name: value for name, value in extras.items() if value is not None},
    )


def names_of(values: Any) -> list[str] | None:
    """Names in a list, or objects that have a name."""
    found = (
        one_line(each.get("title") or each.get("name") if isinstance(each, dict) else each) for each in values or ()
    )
    return [text for text in found if text] or None
