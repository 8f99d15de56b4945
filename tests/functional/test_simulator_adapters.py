"""The built-in adapters against the simulator: two readings of the same wire formats, over real sockets."""

from datetime import date

import httpx
import pytest

from tests.fakes import simulated
from tests.fakes.clock import FakeClock
from tests.fakes.httpx_transport import HttpxTransport
from tests.fakes.instances import request, scope
from tests.simulator import Simulator
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import (
    AccessRefused,
    CredentialsRejected,
    MalformedAnswer,
    ProviderError,
    ProviderUnavailable,
    QueryRejected,
    QuotaExhausted,
    RateLimited,
)
from zarniwoop.contract.hit import ContentInline, ContentReference
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.request import Locale
from zarniwoop.contract.transport import HeaderKey, HttpRequest, QueryKey, Secret
from zarniwoop.wire.driver import WireInstance

SEARCHES = [
    ("serper", SearchModality.WEB, "python asyncio"),
    ("serper", SearchModality.PDF, "graphene"),
    ("serper", SearchModality.IMAGE, "cathedral bells"),
    ("serper", SearchModality.VIDEO, "crispr gene editing"),
    ("serper", SearchModality.NEWS, "climate change"),
    ("serper", SearchModality.ACADEMIC, "solar energy"),
    ("wikipedia", SearchModality.ENCYCLOPEDIA, "transformer attention neural networks"),
    ("wikipedia", SearchModality.WEB, "cathedral bells"),
    ("openalex", SearchModality.ACADEMIC, "climate change"),
    ("arxiv", SearchModality.ACADEMIC, "transformer attention neural networks"),
    ("pubmed", SearchModality.ACADEMIC, "crispr gene editing"),
    ("openlibrary", SearchModality.BOOK, "cathedral bells"),
    ("hackernews", SearchModality.NEWS, "python asyncio"),
    ("hackernews", SearchModality.WEB, "crispr gene editing"),
    ("tavily", SearchModality.WEB, "python asyncio"),
    ("tavily", SearchModality.NEWS, "climate change"),
    ("brave", SearchModality.WEB, "python asyncio"),
    ("brave", SearchModality.PDF, "graphene"),
    ("brave", SearchModality.IMAGE, "cathedral bells"),
    ("brave", SearchModality.VIDEO, "crispr gene editing"),
    ("brave", SearchModality.NEWS, "climate change"),
    ("serpapi", SearchModality.WEB, "python asyncio"),
    ("serpapi", SearchModality.PDF, "graphene"),
    ("serpapi", SearchModality.IMAGE, "cathedral bells"),
    ("serpapi", SearchModality.VIDEO, "crispr gene editing"),
    ("serpapi", SearchModality.NEWS, "climate change"),
    ("serpapi", SearchModality.ACADEMIC, "solar energy"),
    ("exa", SearchModality.WEB, "python asyncio"),
    ("exa", SearchModality.NEWS, "climate change"),
    ("exa", SearchModality.ACADEMIC, "solar energy"),
    ("firecrawl", SearchModality.WEB, "python asyncio"),
    ("firecrawl", SearchModality.PDF, "graphene"),
    ("firecrawl", SearchModality.IMAGE, "cathedral bells"),
    ("firecrawl", SearchModality.NEWS, "climate change"),
    ("searxng", SearchModality.WEB, "python asyncio"),
    ("searxng", SearchModality.NEWS, "climate change"),
    ("searxng", SearchModality.IMAGE, "cathedral bells"),
    ("searxng", SearchModality.VIDEO, "crispr gene editing"),
    ("searxng", SearchModality.ACADEMIC, "solar energy"),
    ("searxng", SearchModality.CODE, "python asyncio"),
    ("semanticscholar", SearchModality.ACADEMIC, "transformer attention neural networks"),
    ("crossref", SearchModality.ACADEMIC, "solar energy"),
    ("europepmc", SearchModality.ACADEMIC, "crispr gene editing"),
    ("doaj", SearchModality.ACADEMIC, "graphene"),
    ("dblp", SearchModality.ACADEMIC, "learning"),
    ("unpaywall", SearchModality.ACADEMIC, "climate change"),
    ("github", SearchModality.CODE, "asyncio"),
    ("orcid", SearchModality.ENCYCLOPEDIA, "marine ecology"),
    ("gitlab", SearchModality.CODE, "asyncio"),
    ("elasticsearch", SearchModality.INTERNAL_DOC, "cathedral bells"),
    ("elasticsearch", SearchModality.RAG, "cathedral bells"),
    ("solr", SearchModality.INTERNAL_DOC, "cathedral bells"),
    ("solr", SearchModality.RAG, "cathedral bells"),
    ("nominatim", SearchModality.MAP, "Köln"),
    ("photon", SearchModality.MAP, "bell foundry"),
]
EXTRAS: dict[str, dict[str, str]] = {
    "wikipedia": {"language": "en"},
    "unpaywall": {"contactEmail": "ops@library.test"},
    "elasticsearch": {"index": "documents"},
    "solr": {"core": "documents"},
}


def endpoint(protocol_id: str, base_url: str, transport: HttpxTransport, key: str = "good-key") -> WireInstance:
    return simulated.endpoint(protocol_id, base_url, transport, key=key, **EXTRAS.get(protocol_id, {}))


@pytest.mark.parametrize(("protocol_id", "modality", "query"), SEARCHES)
def test_every_adapter_finds_several_hits_in_the_simulator(
    simulator: Simulator, transport: HttpxTransport, protocol_id: str, modality: SearchModality, query: str
) -> None:
    """Ranked hits of the modality asked for, with title and address, and nothing dropped on the way."""
    instance = endpoint(protocol_id, simulator.url(protocol_id), transport)
    result = instance.search(request(query, modality), scope())
    assert result.error_message is None and result.returned_count >= 2 and result.dropped_count == 0
    assert [hit.rank for hit in result.hits] == list(range(1, result.returned_count + 1))
    assert all(hit.title and hit.url.startswith("http") and hit.modality is modality for hit in result.hits)
    assert simulator.connections() == 1


@pytest.mark.parametrize(("protocol_id", "modality", "query"), SEARCHES)
def test_every_adapter_reads_an_empty_answer_as_empty(
    simulator: Simulator, transport: HttpxTransport, protocol_id: str, modality: SearchModality, query: str
) -> None:
    """Nothing found is a result without hits, never a failure."""
    instance = endpoint(protocol_id, simulator.url(protocol_id, fault="empty"), transport)
    assert instance.search(request(query, modality), scope()).hits == ()


@pytest.mark.parametrize(
    ("protocol_id", "modality", "query"),
    [
        ("serper", SearchModality.NEWS, "crispr gene editing"),
        ("openalex", SearchModality.ACADEMIC, "crispr"),
        ("arxiv", SearchModality.ACADEMIC, "neural networks"),
        ("pubmed", SearchModality.ACADEMIC, "crispr"),
        ("openlibrary", SearchModality.BOOK, "climate change"),
        ("hackernews", SearchModality.NEWS, "crispr gene editing"),
        ("tavily", SearchModality.NEWS, "crispr gene editing"),
        ("brave", SearchModality.NEWS, "crispr gene editing"),
        ("serpapi", SearchModality.ACADEMIC, "crispr"),
        ("exa", SearchModality.ACADEMIC, "crispr"),
        ("firecrawl", SearchModality.NEWS, "crispr gene editing"),
        ("semanticscholar", SearchModality.ACADEMIC, "crispr"),
        ("crossref", SearchModality.ACADEMIC, "crispr"),
        ("europepmc", SearchModality.ACADEMIC, "crispr"),
        ("doaj", SearchModality.ACADEMIC, "learning"),
    ],
)
def test_a_date_window_is_applied_by_the_provider(
    simulator: Simulator, transport: HttpxTransport, protocol_id: str, modality: SearchModality, query: str
) -> None:
    """Fewer hits than without the window, and every dated one lies in it."""
    instance = endpoint(protocol_id, simulator.url(protocol_id), transport)
    everything = instance.search(request(query, modality), scope())
    window = request(query, modality, date_from=date(2013, 1, 1), date_to=date(2020, 12, 31))
    result = instance.search(window, scope())
    assert 0 < result.returned_count < everything.returned_count and result.dropped_count == 0
    assert all("2013" <= hit.published_at.value[:4] <= "2020" for hit in result.hits if hit.published_at)


def test_google_s_operators_are_understood(simulator: Simulator, transport: HttpxTransport) -> None:
    """A site and a file type narrow the pages that Serper gives."""
    instance = endpoint("serper", simulator.url("serper"), transport)
    narrowed = request("climate change", SearchModality.WEB, site="ipcc.ch", filetype="pdf")
    (hit,) = instance.search(narrowed, scope()).hits
    assert hit.url.startswith("https://www.ipcc.ch/") and hit.url.endswith(".pdf")


def test_languages_are_understood(simulator: Simulator, transport: HttpxTransport) -> None:
    """A locale chooses German books and German works."""
    german = Locale(language="de")
    books = endpoint("openlibrary", simulator.url("openlibrary"), transport)
    assert books.search(request("solar energy", SearchModality.BOOK, locale=german), scope()).returned_count >= 1
    works = endpoint("openalex", simulator.url("openalex"), transport)
    found = works.search(request("Glocken Schlagtonhöhe", SearchModality.ACADEMIC, locale=german), scope())
    assert [hit.language for hit in found.hits] == ["de"]


def test_bodies_can_be_loaded(simulator: Simulator, transport: HttpxTransport) -> None:
    """The whole text of an article, and the description of a book."""
    wikipedia = endpoint("wikipedia", simulator.url("wikipedia"), transport)
    page = ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference="5042951")
    assert "broader sense" in wikipedia.load_content(page, scope()).body.decode()
    books = endpoint("openlibrary", simulator.url("openlibrary"), transport)
    work = ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference="/works/OL90000013W")
    assert b"change ringing" in books.load_content(work, scope()).body
    papers = endpoint("europepmc", simulator.url("europepmc"), transport)
    (array, *_) = papers.search(request("array programming numpy", SearchModality.ACADEMIC), scope()).hits
    assert array.content is not None and array.content.text and array.content.reference == "PMC7759461"
    assert b"Array programming with NumPy" in papers.load_content(array.content, scope()).body


def test_a_person_is_looked_up_and_told_of(simulator: Simulator, transport: HttpxTransport) -> None:
    """By an iD; namesakes stay apart, and what a record says is loaded on demand."""
    people = endpoint("orcid", simulator.url("orcid"), transport)
    (ada,) = people.search(request("0000-0000-0100-0003", SearchModality.ENCYCLOPEDIA), scope()).hits
    assert ada.title == "Ada Ringer" and ada.content is not None
    assert b"Partial tones of cathedral bells" in people.load_content(ada.content, scope()).body
    chens = people.search(request("Wei Chen", SearchModality.ENCYCLOPEDIA), scope()).hits
    assert len({hit.identifiers["orcid"] for hit in chens}) == 3
    (shy,) = people.search(request("orcid.org/0000-0000-0100-1540", SearchModality.ENCYCLOPEDIA), scope()).hits
    assert shy.title == "0000-0000-0100-1540" and shy.content is not None
    assert b"whose name is not public" in people.load_content(shy.content, scope()).body


def test_the_balance_of_an_account_is_read(simulator: Simulator, transport: HttpxTransport) -> None:
    """Serper's account says what is left."""
    quota = endpoint("serper", simulator.url("serper"), transport).current_quota(scope())
    assert quota is not None and quota.remaining == 1_000_000


@pytest.mark.parametrize(
    ("fault", "failure"),
    [
        ("400", QueryRejected),
        ("401", AccessRefused),
        ("wall", AccessRefused),
        ("404", QueryRejected),
        ("429", RateLimited),
        ("429-date", RateLimited),
        ("500", ProviderUnavailable),
        ("503", ProviderUnavailable),
        ("truncated", MalformedAnswer),
        ("truncated-gzip", MalformedAnswer),
        ("truncated-json", MalformedAnswer),
        ("html", MalformedAnswer),
        ("wrong-type", MalformedAnswer),
        ("redirect-out", ProviderUnavailable),
        ("redirect-loop", ProviderUnavailable),
        ("reset", ProviderUnavailable),
    ],
)
def test_a_fault_becomes_the_failure_that_it_means(
    simulator: Simulator, transport: HttpxTransport, fault: str, failure: type[ProviderError]
) -> None:
    """Each way to break has its class, and the class its consequence."""
    instance = endpoint("openlibrary", simulator.url("openlibrary", fault=fault), transport)
    with pytest.raises(failure):
        instance.search(request("bells", SearchModality.BOOK), scope())


@pytest.mark.parametrize(("key", "failure"), [("bad-key", CredentialsRejected), ("empty-key", QuotaExhausted)])
def test_a_bad_key_and_an_empty_account_are_told_apart(
    simulator: Simulator, transport: HttpxTransport, key: str, failure: type[ProviderError]
) -> None:
    """Serper says 403 to the one and 400 to the other."""
    instance = endpoint("serper", simulator.url("serper"), transport, key=key)
    with pytest.raises(failure):
        instance.search(request("bells"), scope())


def test_a_stated_wait_reaches_the_failure(simulator: Simulator, transport: HttpxTransport) -> None:
    """Retry-After in seconds survives the way through transport and driver."""
    instance = endpoint("arxiv", simulator.url("arxiv", fault="429", retry_after=17), transport)
    with pytest.raises(RateLimited) as caught:
        instance.search(request("graphene", SearchModality.ACADEMIC), scope())
    assert caught.value.retry_after == 17


def test_the_httpx_transport_puts_keys_where_they_belong() -> None:
    """A header key with its prefix, a query key beside the other parameters; a form is a form, JSON is JSON."""
    seen: list[httpx.Request] = []

    def handle(sent: httpx.Request) -> httpx.Response:
        seen.append(sent)
        return httpx.Response(200, json={"ok": True}, headers={"X-Thing": "1"})

    deadline = Deadline.after(5, FakeClock())
    ask, secret = HttpRequest(url="https://provider.test/a", params={"q": "x"}), Secret("s")
    with HttpxTransport(httpx.MockTransport(handle)) as transport:
        answer = transport.send(ask, deadline=deadline, authentication=QueryKey(name="api_key"), secret=secret)
        header = HeaderKey(name="Authorization", prefix="Bearer ")
        transport.send(ask, deadline=deadline, authentication=header, secret=secret)
        transport.send(HttpRequest(url="https://provider.test/b", method="POST", form={"id": "1"}), deadline=deadline)
        transport.send(HttpRequest(url="https://provider.test/b", method="POST", json={"q": 1}), deadline=deadline)
    assert (answer.status, answer.headers["x-thing"], answer.body) == (200, "1", b'{"ok":true}')
    assert str(seen[0].url) == "https://provider.test/a?q=x&api_key=s"
    assert seen[1].headers["authorization"] == "Bearer s"
    assert [sent.content for sent in seen[2:]] == [b"id=1", b'{"q":1}']


def test_the_httpx_transport_types_what_goes_wrong(simulator: Simulator, transport: HttpxTransport) -> None:
    """Time, size, coding, redirects and broken connections become the contract's failures."""
    cases = [("hang", ProviderUnavailable), ("truncated", MalformedAnswer), ("big-body", MalformedAnswer)]
    for fault, failure in cases:
        url = f"{simulator.url('openlibrary', fault=fault, megabytes=1)}/search.json"
        asked = HttpRequest(url=url, params={"q": "bells"}, max_bytes=500_000)
        with pytest.raises(failure):
            transport.send(asked, deadline=Deadline.after(0.3, FakeClock()))
    looping = HttpRequest(url=f"{simulator.url('openlibrary', fault='redirect-loop')}/search.json", max_redirects=3)
    with pytest.raises(ProviderUnavailable):
        transport.send(looping, deadline=Deadline.after(2, FakeClock()))
