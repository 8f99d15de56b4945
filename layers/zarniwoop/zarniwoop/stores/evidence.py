"""Evidence as it is kept: items that point at bodies, each body once per project by its hash.

An id is made of the task, the URL, the hash of the body, and who read it, where that was not ourselves: whoever stores
the same again, updates the same evidence. It means something within its project alone, since tenant and project start
every key.
"""

import hashlib
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urldefrag

from zarniwoop.contract.evidence import Evidence
from zarniwoop.contract.failure import ProviderUnavailable
from zarniwoop.contract.hit import LoadedContent
from zarniwoop.net.url import spelled
from zarniwoop.stores.failure import StoreError, StoreUnavailable
from zarniwoop.stores.state import ProjectKey

FOLDER = "evidence"
"""Where bodies lie in the bucket, below tenant and project."""
MEDIA_TYPE = "text/markdown; charset=utf-8"
MOST_QUOTES = 50
LONGEST_QUOTE = 1_000
"""Characters. So many quotes of this length fit into an item of 400 KB, whatever their script."""
LONGEST_BODY = 4_000_000
"""Bytes; a page's text is cut before that (`extract.limits`)."""


class TooManyQuotes(StoreError):  # noqa: N818 - named by its consequence
    """One evidence has no room for so many quotes."""

    def __init__(self) -> None:
        super().__init__(f"evidence holds at most {MOST_QUOTES} quotes")


class ProjectStopped(StoreUnavailable):
    """The project was stopped after the call was begun that wants to keep something in it."""

    def __init__(self) -> None:
        super().__init__("the project was stopped meanwhile")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidencePage:
    """Evidence in order, and where the list goes on."""

    evidence: tuple[Evidence, ...]
    next_page_token: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    """What a stopped project left behind, counted."""

    items: int
    objects: int


class EvidenceStore(Protocol):
    """Every method raises StoreUnavailable when AWS does not answer, and ValueError for ids that are none."""

    def put(self, project: ProjectKey, evidence: Evidence, body: str, *, body_gone: bool = False) -> Evidence:
        """Store it; returns what stands then. What stands already is updated, and its quotes are joined by the new.

        Raises TooManyQuotes and ProjectStopped, and then nothing of it is stored. `body` is the text whose hash the
        evidence names. It is sent again a day after it was, whatever is known of it; with `body_gone` at once.
        """
        ...

    def get(self, project: ProjectKey, evidence_id: str) -> Evidence | None:
        """None for one that is unknown, expired, or another project's."""
        ...

    def body(self, project: ProjectKey, content_hash: str) -> str | None:
        """The whole text; None when it is gone."""
        ...

    def list(
        self,
        project: ProjectKey,
        *,
        limit: int,
        page_token: str | None = None,
        task_id: str | None = None,
        url: str | None = None,
    ) -> EvidencePage:
        """The newest first, read from an index that lags behind by moments. Raises InvalidPageToken.

        With both filters, or where evidence has just lapsed, a page may hold fewer than there are.
        """
        ...

    def stop(self, project: ProjectKey, at: float) -> None:
        """From now on, whatever call was begun until that moment keeps nothing any more."""
        ...

    def delete_project(self, project: ProjectKey) -> Deleted:
        """Delete every item and every body of the project; whoever may still store some has been stopped before."""
        ...


def evidence_id(url: str, content_hash: str, task_id: str | None, reader: str = "") -> str:
    """Always the same for the same; no part can run into another, for the URL is last and the others hold no line."""
    parts = "\n".join((task_id or "", content_hash, reader, evidence_url(url)))
    return f"ev-{hashlib.sha256(parts.encode('utf-8', 'replace')).hexdigest()[:32]}"


def evidence_url(url: str) -> str:
    """The URL that evidence goes by: as whoever fetches it spells it, without the part that no server is asked for.

    Whether it may be asked does not matter here: what the operator has opened is spelled like anything else. What is
    no http(s) URL stays as it is.
    """
    try:
        return spelled(url).url()
    except ProviderUnavailable:
        return urldefrag(url).url


def as_content(body: str, source_url: str) -> LoadedContent:
    """The body as the store of bodies takes it."""
    return LoadedContent(body=body.encode(), media_type=MEDIA_TYPE, source_url=source_url)


def list_kind(task_id: str | None, url: str | None) -> str:
    """What a page token is good for: one project's list under these filters, and no other."""
    named = hashlib.sha256(evidence_url(url).encode("utf-8", "replace")).hexdigest() if url is not None else ""
    return f"evidence:{task_id or ''}:{named}"
