"""`local-index`: a project's own documents as a provider of INTERNAL_DOC and RAG, there without any setting.

INTERNAL_DOC gives documents, each by its best passage, with the whole text on demand. RAG gives passages, several of a
document where they match, each with its text in it. A hit's URL is where the document lies, with the place in it as a
fragment: `#page=3` for what has pages, else `#char=100,900` (RFC 5147) into the text that `load_content` gives.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from zarniwoop.contract.failure import Cause, MalformedAnswer, ProviderUnavailable, QueryRejected
from zarniwoop.contract.hit import (
    ContentInline,
    ContentReference,
    DatePrecision,
    LoadedContent,
    PublishedAt,
    SearchHit,
)
from zarniwoop.contract.modality import SearchDomain, SearchModality, SearchTier
from zarniwoop.contract.provider import Capabilities, ProviderInstanceConfig, SearchProviderInstance
from zarniwoop.contract.quota import ProviderAvailability, QuotaStatus
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.contract.result import SearchResult
from zarniwoop.stores.failure import OutOfTime, StoreUnavailable
from zarniwoop.stores.state import ProjectKey
from zarniwoop.text.operators import Kind
from zarniwoop.wire.filters import account_for_filters
from zarniwoop.wire.format import Found, SettingsPart
from zarniwoop.wire.operators import heeded, meaning_of

if TYPE_CHECKING:
    from zarniwoop.contract.deadline import Deadline
    from zarniwoop.documents.find import Match
    from zarniwoop.documents.library import Library, OpenIndex
    from zarniwoop.documents.words import Terms
    from zarniwoop.stores.documents import DocumentStore

PROTOCOL_ID = "local-index"
MODALITIES = frozenset((SearchModality.INTERNAL_DOC, SearchModality.RAG))
MOST_RESULTS = 50
FILTERS = frozenset(("filetype", "date_from", "date_to", "freshness_days"))
_NO_SITE = "documents lie in the project's own bucket and have no site"
OPERATORS = frozenset((Kind.PHRASE,))
IGNORES = {"site": _NO_SITE, "domain": _NO_SITE, "locale": "the index holds every language and matches words"}
_SYNONYMS = {"markdown": "md", "htm": "html", "text": "txt"}


class LocalIndexProtocol:
    """The protocol on one store of documents. `store` and `library` are made when a search first needs them.

    `ask_for_index` gets a project that has documents and no index: one whose index went with a project stop.
    """

    def __init__(
        self,
        store: "Callable[[], DocumentStore]",
        library: "Callable[[], Library]",
        ask_for_index: Callable[[ProjectKey], None],
    ) -> None:
        self.store = store
        self.library = library
        self.ask_for_index = ask_for_index

    def id(self) -> str:
        return PROTOCOL_ID

    def display_name(self) -> str:
        return "Documents of the project"

    def modalities_supported(self) -> frozenset[SearchModality]:
        return MODALITIES

    def tiers_supported(self) -> frozenset[SearchTier]:
        return frozenset(SearchTier)

    def settings_part(self) -> SettingsPart:
        return SettingsPart(hint="The project's own documents; there without a setting.", takes_base_url=False)

    def instantiate(self, config: ProviderInstanceConfig) -> "LocalIndexInstance":
        return LocalIndexInstance(self, config)


class LocalIndexInstance(SearchProviderInstance):
    """The same in every project; which documents it searches comes with the scope."""

    def __init__(self, protocol: LocalIndexProtocol, config: ProviderInstanceConfig) -> None:
        self._protocol = protocol
        self._config = config

    def id(self) -> str:
        return self._config.instance_id

    def display_name(self) -> str:
        return f"{self._protocol.display_name()} ({self.id()})"

    def modalities(self) -> frozenset[SearchModality]:
        return MODALITIES

    def domains(self) -> frozenset[SearchDomain]:
        return frozenset((SearchDomain.INTERNAL,))

    def tiers(self) -> frozenset[SearchTier]:
        return frozenset(SearchTier)

    def capabilities(self) -> Capabilities:
        return Capabilities(
            filters=FILTERS,
            operators=heeded(OPERATORS, FILTERS),
            max_results=MOST_RESULTS,
            index_family=PROTOCOL_ID,
            loads_content=True,
        )

    def availability(self, scope: SearchScope) -> ProviderAvailability:  # noqa: ARG002 - the SPI's signature
        return ProviderAvailability.READY if self._config.enabled else ProviderAvailability.DISABLED

    def current_quota(self, scope: SearchScope) -> QuotaStatus | None:  # noqa: ARG002 - the SPI's signature
        return None

    def prompt_hint(self) -> str:
        return (
            "The project's own documents (txt, md, html, pdf, docx). RAG gives passages with their text and place, "
            "INTERNAL_DOC gives documents. Ask in the documents' language, by words that stand in them; "
            '"a phrase" must stand, -word must not.'
        )

    def status_text(self, scope: SearchScope) -> str | None:
        """What is indexed and what was refused, out of the manifest."""
        project = ProjectKey.of(scope)
        try:
            standing = self._protocol.store().manifest(project)
        except StoreUnavailable:
            return "the index cannot be looked at right now"
        if standing is None:
            return f"no documents are indexed; put them under {self._protocol.store().place(project)}"
        found = standing.manifest
        refused = f", {found.refused} refused (GET /v1/documents?status=refused says why)" if found.refused else ""
        return f"{found.documents} documents in {found.passages} passages, {found.size} bytes{refused}"

    def search(self, request: SearchRequest, scope: SearchScope) -> SearchResult:
        if request.modality not in MODALITIES:
            return self._result(request, error_message=f"{self.id()} does not serve {request.modality}")
        project, meant = ProjectKey.of(scope), meaning_of(request, OPERATORS)
        with self._opened(project, scope.deadline) as index:
            if index is None:
                return self._without_index(request, project)
            hits = self._hits(index, meant.request, scope)
        found = meant.narrowed(Found(hits=hits, translated=FILTERS))
        narrowed, applied = account_for_filters(meant.request, found, IGNORES)
        applied += meant.applied
        ranked = tuple(hit.ranked(rank) for rank, hit in enumerate(narrowed.hits, 1))
        note = f"{index.manifest.refused} documents of this project are not indexed" if index.manifest.refused else None
        return self._result(
            request, hits=ranked, returned_count=len(ranked), applied=applied, note=note if not ranked else None
        )

    def load_content(self, reference: ContentReference, scope: SearchScope) -> LoadedContent:
        """The whole text of a document, in which the hits' offsets count."""
        name = reference.reference or ""
        project = ProjectKey.of(scope)
        with self._opened(project, scope.deadline) as index:
            text = _whole_text(index, name) if index else None
        if text is None:
            raise QueryRejected("this project has no such document in its index (any more)")
        return LoadedContent(
            body=text.encode(),
            media_type="text/plain; charset=utf-8",
            source_url=self._protocol.store().url(project, name),
        )

    @contextmanager
    def _opened(self, project: ProjectKey, deadline: "Deadline") -> "Iterator[OpenIndex | None]":
        """Raises ProviderUnavailable, MalformedAnswer."""
        import sqlite3

        from zarniwoop.documents.database import UnusableIndexError, has_fts5

        try:
            with self._protocol.library().opened(project, deadline) as index:
                yield index
        except OutOfTime as error:
            raise ProviderUnavailable("the index was not fetched in time", cause=Cause.DEADLINE) from error
        except StoreUnavailable as error:
            raise ProviderUnavailable("the index cannot be fetched", cause=Cause.CONNECT) from error
        except (UnusableIndexError, sqlite3.DatabaseError) as error:
            if not has_fts5():
                raise ProviderUnavailable("this Python's SQLite has no FTS5: run on Python 3.12 or newer") from error
            raise MalformedAnswer("the index cannot be read", cause=Cause.SHAPE) from error

    def _without_index(self, request: SearchRequest, project: ProjectKey) -> SearchResult:
        """Nobody has put a document yet; or its index went with a project stop, and is asked for again."""
        try:
            waiting = self._protocol.store().documents(project, most=1)
            if waiting:
                self._protocol.ask_for_index(project)
        except StoreUnavailable as error:
            raise ProviderUnavailable("the documents cannot be listed", cause=Cause.CONNECT) from error
        if waiting:
            return self._result(request, note="the project's documents are being indexed; ask again in a minute")
        place = self._protocol.store().place(project)
        return self._result(request, note=f"no documents are there: put them under {place}")

    def _hits(self, index: "OpenIndex", request: SearchRequest, scope: SearchScope) -> tuple[SearchHit, ...]:
        from zarniwoop.documents.find import OutOfTimeError, find
        from zarniwoop.documents.words import terms_of

        filetype = (request.expert_params.filetype or "").lower()
        try:
            found = find(
                index.connection,
                request.query,
                most=min(request.max_results, MOST_RESULTS),
                each_document_once=request.modality is SearchModality.INTERNAL_DOC,
                kind=_SYNONYMS.get(filetype, filetype) or None,
                window=request.published,
                expired=lambda: scope.deadline.remaining() <= 0,
            )
        except OutOfTimeError as error:
            raise ProviderUnavailable("the index was not searched in time", cause=Cause.DEADLINE) from error
        terms = terms_of(request.query)
        return tuple(self._hit(match, request.modality, ProjectKey.of(scope), terms) for match in found)

    def _hit(self, match: "Match", modality: SearchModality, project: ProjectKey, terms: "Terms") -> SearchHit:
        from zarniwoop.documents.snippet import snippet

        place = f"page={match.page}" if match.page else f"char={match.start},{match.end}"
        if modality is SearchModality.RAG:
            content = ContentReference(inline=ContentInline.EMBED_TEXT, text=match.text)
        else:
            content = ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference=match.name)
        return SearchHit(
            title=match.title,
            url=f"{self._protocol.store().url(project, match.name)}#{place}",
            modality=modality,
            snippet=snippet(match.text, terms),
            source=self._protocol.display_name(),
            content=content,
            published_at=PublishedAt(value=match.day, precision=DatePrecision.DAY),
            extras={
                "document": match.name,
                "filetype": match.kind,
                "page": match.page,
                "start": match.start,
                "end": match.end,
                "score": match.score,
                "dated_by": "document" if match.stated_day else "upload",
            },
        )

    def _result(self, request: SearchRequest, **found: object) -> SearchResult:
        return SearchResult(
            query=request.query,
            modality=request.modality,
            provider_instance_id=self.id(),
            tier=request.tier,
            calls=0,
            **found,  # type: ignore[arg-type]
        )


def _whole_text(index: "OpenIndex", name: str) -> str | None:
    """The passages, with the white space between them that was not worth a passage."""
    rows = index.connection.execute(
        "SELECT passages.start, passages.text FROM passages JOIN documents ON documents.id = passages.document"
        " WHERE documents.name = ? ORDER BY passages.start",
        (name,),
    ).fetchall()
    text = ""
    for start, passage in rows:
        text += "\n" * (start - len(text)) + passage
    return text or None
