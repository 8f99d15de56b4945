"""`local-index` as a provider: hits of documents and of passages with their place, and what it says without any."""

import itertools
import sqlite3
from datetime import date

import pytest

from tests.fakes.clock import FakeClock
from tests.fakes.document_files import pdf
from tests.fakes.document_reader import ReaderInProcess
from tests.fakes.document_store import InMemoryDocumentStore
from tests.fakes.keys import FakeKeyRing
from tests.fakes.transport import ScriptedTransport
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import Cause, MalformedAnswer, ProviderUnavailable, QueryRejected
from zarniwoop.contract.hit import ContentInline, ContentReference
from zarniwoop.contract.modality import SearchDomain, SearchModality, SearchTier
from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.contract.quota import ProviderAvailability
from zarniwoop.contract.request import DateRange, ExpertParams, Locale, SearchRequest, SearchScope
from zarniwoop.contract.result import FilterHandling, SearchResult
from zarniwoop.documents import database
from zarniwoop.documents.library import Library
from zarniwoop.documents.protocol import MODALITIES, LocalIndexInstance, LocalIndexProtocol
from zarniwoop.documents.synchronise import Synchroniser
from zarniwoop.stores.state import ProjectKey

DEMO = ProjectKey(tenant_id="acme", project_id="demo")
HANDBOOK = "# Handbook\n\nThe notice period is three months.\n\n" + "Bells are cast in bronze. " * 120


class House:
    def __init__(self) -> None:
        self.clock = FakeClock()
        self.store = InMemoryDocumentStore(self.clock)
        self.library = Library(self.store)
        self.asked: list[ProjectKey] = []
        self._numbers = itertools.count(1)
        self.protocol = LocalIndexProtocol(lambda: self.store, lambda: self.library, self.asked.append)

    @property
    def instance(self) -> LocalIndexInstance:
        return self.made()

    def made(self, *, enabled: bool = True) -> LocalIndexInstance:
        config = ProviderInstanceConfig(
            instance_id="local-index",
            protocol_id="local-index",
            base_url=None,
            enabled=enabled,
            transport=ScriptedTransport(),
            keys=FakeKeyRing(),
            clock=self.clock,
        )
        return self.protocol.instantiate(config)

    def scope(self, seconds: float = 20.0, project_id: str = "demo") -> SearchScope:
        deadline = Deadline.after(seconds, self.clock)
        return SearchScope(tenant_id="acme", project_id=project_id, deadline=deadline)

    def index(self) -> None:
        Synchroniser(
            store=self.store,
            reader=ReaderInProcess(),
            clock=self.clock,
            version=lambda: f"v{next(self._numbers)}",
        ).run(DEMO)

    def search(
        self, query: str, modality: SearchModality = SearchModality.RAG, most: int = 10, **filters: object
    ) -> SearchResult:
        expert = ExpertParams(**filters)  # type: ignore[arg-type]
        window = DateRange(earliest=expert.date_from, latest=expert.date_to)
        request = SearchRequest(
            query=query, modality=modality, max_results=most, expert_params=expert, published=window, locale=None
        )
        return self.instance.search(request, self.scope())


@pytest.fixture
def house() -> House:
    made = House()
    made.store.put(DEMO, "handbook.md", HANDBOOK.encode())
    made.store.put(DEMO, "contracts/lease 1.pdf", pdf(["The lease", "A notice of three months"], title="Lease"))
    made.store.put(DEMO, "old.txt", b"Bells of iron")
    made.index()
    return made


def test_rag_gives_passages_with_their_text_and_place(house: House) -> None:
    """The anchor is a page where there are pages, else the characters of the whole text."""
    (hit,) = house.search("lease", most=1).hits
    assert (hit.title, hit.rank, hit.modality) == ("Lease", 1, SearchModality.RAG)
    assert hit.url == "https://s3.test/documents/acme/demo/documents/contracts/lease%201.pdf#page=1"
    notice = house.search('"notice of three months"').hits[0]
    assert (notice.extras["page"], notice.url.partition("#")[2]) == (2, "page=2")
    assert notice.content == ContentReference(inline=ContentInline.EMBED_TEXT, text="A notice of three months")
    period = house.search('"notice period"').hits[0]
    assert period.url.endswith(f"handbook.md#char={period.extras['start']},{period.extras['end']}")
    loaded = house.instance.load_content(
        ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference="handbook.md"), house.scope()
    )
    whole = loaded.body.decode()
    assert period.content is not None
    assert whole[period.extras["start"] : period.extras["end"]] == period.content.text
    assert whole == HANDBOOK.strip()


def test_internal_documents_are_given_once_with_the_whole_text_on_demand(house: House) -> None:
    """Several passages of the handbook match; RAG gives them all."""
    (hit,) = house.search("bronze", SearchModality.INTERNAL_DOC).hits
    assert hit.content == ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference="handbook.md")
    assert "bronze" in (hit.snippet or "")
    assert len(house.search("bronze").hits) > 1


def test_a_hit_says_by_what_it_is_dated(house: House) -> None:
    """The document's own date, else the day of its upload."""
    dated = {hit.extras["document"]: hit for hit in house.search("lease notice iron").hits}
    lease, old = dated["contracts/lease 1.pdf"], dated["old.txt"]
    assert (lease.extras["dated_by"], lease.published_at and lease.published_at.value) == ("document", "2024-01-02")
    assert (old.extras["dated_by"], old.published_at and old.published_at.value) == ("upload", "2027-01-15")


def test_filters_are_applied_in_the_index_or_ignored_with_a_reason(house: House) -> None:
    """Documents have no site; the index has no language."""
    result = house.search(
        "notice", filetype="PDF", date_from=date(2024, 1, 1), date_to=date(2024, 12, 31), site="x.org"
    )
    assert {hit.extras["document"] for hit in result.hits} == {"contracts/lease 1.pdf"}
    assert {each.name: each.handling for each in result.applied} == {
        "site": FilterHandling.IGNORED,
        "filetype": FilterHandling.PROVIDER,
        "date_from": FilterHandling.PROVIDER,
        "date_to": FilterHandling.PROVIDER,
    }
    assert {hit.extras["filetype"] for hit in house.search("notice", filetype="markdown").hits} == {"md"}
    request = SearchRequest(query="notice", modality=SearchModality.RAG, locale=Locale(language="de"))
    (entry,) = house.instance.search(request, house.scope()).applied
    assert (entry.name, entry.handling) == ("locale", FilterHandling.IGNORED)


def test_operators_of_the_query_are_no_words(house: House) -> None:
    """What kind a document is and when it is from is a filter here, too; a phrase is read by the index itself."""
    result = house.search('notice filetype:pdf after:2024 "three months" OR "four months"')
    assert {hit.extras["filetype"] for hit in result.hits} <= {"pdf"}
    assert {each.name: each.handling for each in result.applied} == {
        "filetype": FilterHandling.PROVIDER,
        "date_from": FilterHandling.PROVIDER,
        "phrase": FilterHandling.PROVIDER,
        "or": FilterHandling.IGNORED,
    }


def test_a_project_without_documents_is_told_where_to_put_them(house: House) -> None:
    """An honest empty answer."""
    request = SearchRequest(query="x", modality=SearchModality.RAG)
    result = house.instance.search(request, house.scope(project_id="lab"))
    assert (result.hits, result.note) == (
        (),
        "no documents are there: put them under s3://documents/acme/lab/documents/",
    )
    assert house.asked == []


def test_a_project_whose_index_went_asks_for_it_again(house: House) -> None:
    """As after a project stop."""
    house.store.delete_index(DEMO)
    result = house.search("bells")
    assert (result.hits, house.asked) == ((), [DEMO])
    assert "are being indexed" in (result.note or "")


def test_an_empty_answer_tells_of_documents_that_are_not_indexed(house: House) -> None:
    """What was looked for may stand in one of them."""
    assert house.search("marzipan").note is None
    house.store.put(DEMO, "locked.pdf", pdf(["marzipan"], password="x"))
    house.index()
    assert house.search("marzipan").note == "1 documents of this project are not indexed"
    assert house.search("bells").note is None


@pytest.mark.parametrize("method", ["manifest", "fetch_index", "documents"])
def test_a_store_that_is_away_makes_the_provider_unavailable(house: House, method: str) -> None:
    """And nothing else."""
    if method == "documents":
        house.store.delete_index(DEMO)
    house.store.fails = {method}
    with pytest.raises(ProviderUnavailable) as failed:
        house.search("bells")
    assert failed.value.cause is Cause.CONNECT


def test_an_index_that_does_not_come_in_time_is_a_matter_of_the_deadline(house: House) -> None:
    """For a search, and for a document's text."""
    hit = house.search("bells").hits[0]
    house.library = Library(house.store)
    request = SearchRequest(query="bells", modality=SearchModality.RAG)
    with pytest.raises(ProviderUnavailable) as failed:
        house.instance.search(request, house.scope(seconds=0))
    assert failed.value.cause is Cause.DEADLINE
    reference = ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference=str(hit.extras["document"]))
    with pytest.raises(ProviderUnavailable) as failed:
        house.instance.load_content(reference, house.scope(seconds=0))
    assert failed.value.cause is Cause.DEADLINE


def test_an_index_that_cannot_be_read_is_malformed(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless this Python cannot read any."""
    version, (body, modified) = next(iter(house.store.indexes[DEMO].items()))
    house.store.indexes[DEMO][version] = (b"spoilt", modified)
    with pytest.raises(MalformedAnswer):
        house.search("bells")
    monkeypatch.setattr(database, "has_fts5", lambda: False)
    with pytest.raises(ProviderUnavailable, match="no FTS5"):
        house.search("bells")
    house.store.indexes[DEMO][version] = (body, modified)
    assert house.search("bells").hits


def test_an_index_that_breaks_while_it_is_searched_is_malformed(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a page on a bad disk."""

    def breaks(*_given: object, **_named: object) -> None:
        raise sqlite3.DatabaseError("database disk image is malformed")

    monkeypatch.setattr("zarniwoop.documents.find.find", breaks)
    with pytest.raises(MalformedAnswer):
        house.search("bells")


def test_a_search_ends_with_its_deadline(house: House) -> None:
    """So that another provider can be asked."""
    house.store.put(DEMO, "large.txt", ("\n\n".join("bell tower " * 90 for _ in range(1_500))).encode())
    house.index()
    request = SearchRequest(query="bell tower", modality=SearchModality.RAG)
    with pytest.raises(ProviderUnavailable) as failed:
        house.instance.search(request, house.scope(seconds=0.0))
    assert failed.value.cause is Cause.DEADLINE


def test_a_document_that_is_not_in_the_index_has_no_content(house: House) -> None:
    """Another project's documents are unknown here."""
    reference = ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference="handbook.md")
    with pytest.raises(QueryRejected):
        house.instance.load_content(reference, house.scope(project_id="lab"))
    with pytest.raises(QueryRejected):
        house.instance.load_content(ContentReference(inline=ContentInline.STASH_ON_DEMAND), house.scope())


def test_the_instance_says_what_it_is(house: House) -> None:
    """For planners, the list of providers and the gate."""
    instance = house.instance
    assert (instance.id(), instance.modalities(), instance.tiers()) == (
        "local-index",
        MODALITIES,
        frozenset(SearchTier),
    )
    assert (instance.domains(), instance.current_quota(house.scope())) == (frozenset((SearchDomain.INTERNAL,)), None)
    assert instance.capabilities().loads_content
    assert "passages" in instance.prompt_hint()
    assert instance.display_name() == "Documents of the project (local-index)"
    assert instance.availability(house.scope()) is ProviderAvailability.READY
    assert house.made(enabled=False).availability(house.scope()) is ProviderAvailability.DISABLED
    assert (house.protocol.id(), house.protocol.modalities_supported()) == ("local-index", MODALITIES)
    assert house.protocol.tiers_supported() == frozenset(SearchTier)
    request = SearchRequest(query="x", modality=SearchModality.WEB)
    assert instance.search(request, house.scope()).error_message == "local-index does not serve WEB"


def test_its_status_counts_what_is_indexed_and_refused(house: House) -> None:
    """Out of the manifest alone."""
    assert "3 documents in" in (house.instance.status_text(house.scope()) or "")
    house.store.put(DEMO, "empty.txt", b"")
    house.index()
    assert "1 refused (GET /v1/documents?status=refused says why)" in (house.instance.status_text(house.scope()) or "")
    nothing = house.instance.status_text(house.scope(project_id="lab"))
    assert nothing == "no documents are indexed; put them under s3://documents/acme/lab/documents/"
    house.store.fails = {"manifest"}
    assert house.instance.status_text(house.scope()) == "the index cannot be looked at right now"
