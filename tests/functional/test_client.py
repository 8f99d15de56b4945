"""The Python client against the deployed functions: what they answer is what it has types for, to the last field."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.fakes.client_api import TOKEN, URL
from tests.fakes.cloud import LambdaContext
from tests.fakes.gateway import Gateway
from tests.functional.deployed import SAMPLE_PAGE, Deployed, deployed, with_canary
from tests.simulator import Simulator
from zarniwoop_client import Answer, Conflicting, InvalidRequest, NotFound, Unanswered, Zarniwoop
from zarniwoop_client.results.record import Record

QUERY = "cathedral bells"
ENDPOINTS = ("serper-main", "openalex-main", "nominatim-main", "openlibrary-main")


@pytest.fixture(scope="module")
def stack() -> Iterator[Deployed]:
    """One for all: each test asks for something else."""
    with pytest.MonkeyPatch.context() as patched, Simulator() as simulator:
        wanted = with_canary(simulator, *ENDPOINTS)
        with deployed(simulator, patched, wanted) as made:
            yield made


@pytest.fixture
def gateway(stack: Deployed) -> Gateway:
    return Gateway(LambdaContext())


@pytest.fixture
def client(gateway: Gateway) -> Iterator[Zarniwoop]:
    with Zarniwoop(URL, TOKEN, transport=httpx.MockTransport(gateway), retries=0) as client:
        yield client


def _unknown(value: Any, path: str = "data") -> list[str]:
    """Where an answer holds something that the client has no field for."""
    if isinstance(value, Record):
        own = [f"{path}.{name}" for name in value.model_extra or ()]
        return own + [
            each for name in type(value).model_fields for each in _unknown(getattr(value, name), f"{path}.{name}")
        ]
    if isinstance(value, dict):
        return [each for name, inner in value.items() for each in _unknown(inner, f"{path}.{name}")]
    if isinstance(value, tuple):
        return [each for inner in value for each in _unknown(inner, f"{path}[]")]
    return []


def _typed(answer: Answer[Any]) -> Any:
    """The data of an answer that the client knows whole, and that says as JSON what came."""
    assert isinstance(answer.data, Record)
    assert _unknown(answer.data) == []
    assert _unknown(answer.evidence, "evidence") == []
    return answer.data


def test_every_tool_answers_in_the_types_of_its_method(client: Zarniwoop) -> None:
    """Hits, attempts, providers, pages, places, evidence: not one field is unknown."""
    assert _typed(client.search(QUERY, "WEB", max_results=2)).hits
    assert _typed(client.search_expert("graphene", "ACADEMIC", date_from="2001-01-01", strategy="fanout")).attempts
    assert set(_typed(client.rich(QUERY)).results) == {"WEB", "IMAGE", "VIDEO", "NEWS"}
    assert _typed(client.web_search(QUERY)).hits
    assert _typed(client.providers(detail=True)).providers
    assert _typed(client.providers()).routing
    assert _typed(client.geo("Cologne")).places
    assert _typed(client.fetch(SAMPLE_PAGE, quotes=["a directly struck idiophone"])).pages[0].quotes[0].stands


def test_a_dry_run_of_every_kind_is_typed(client: Zarniwoop) -> None:
    """Of a search, of pages and of an investigation."""
    assert _typed(client.plan("research_search", query=QUERY, modality="WEB")).plans["WEB"].eligible
    assert _typed(client.plan("web_fetch", urls=[SAMPLE_PAGE])).pages[0].steps
    assert _typed(client.plan("research_investigate", question=QUERY)).forecast.searches


def test_evidence_is_listed_read_and_cited_in_types(client: Zarniwoop) -> None:
    """The link of an answer leads to it."""
    (link,) = client.fetch(SAMPLE_PAGE).evidence
    assert link.id in [each.id for each in _typed(client.evidence.list()).evidence]
    assert "idiophone" in _typed(client.evidence.get(link.id)).content
    assert "".join(_text(each) for each in client.evidence.read(link.id, text_chars=40)).startswith(
        "# Bell\n\nA bell is"
    )
    assert _typed(client.evidence.cite([link.id], format="bibtex")).text
    assert _typed(client.evidence_store("get", ids=[link.id])).evidence.id == link.id
    assert _typed(client.evidence.verify(link.id)).verdict == "unchanged"


def _text(stretch: Any) -> str:
    begin = stretch.content.index("\n") + 1
    return str(stretch.content[begin:-begin])


def test_a_run_is_started_looked_at_listed_and_stopped_in_types(client: Zarniwoop, gateway: Gateway) -> None:
    """As nothing carries it out here, it stays where it is; the two ways to look at it say the same."""
    receipt = client.investigate(QUERY)
    assert (receipt.status, _typed(receipt).state, receipt.data.ended) == (202, "queued", False)
    assert _typed(client.runs.get(receipt)) == _typed(client.run_status(receipt.data.run_id))
    assert receipt.data.run_id in [run.run_id for run in client.runs.each(limit=1)]
    assert _typed(client.runs.artifacts(receipt)).run_id == receipt.data.run_id
    assert _typed(client.runs.stop(receipt)).state == "stopping"
    assert gateway.functions[0] == "research_investigate"


def test_what_a_project_has_besides_is_typed(client: Zarniwoop) -> None:
    """Usage, documents, settings, the catalogue, and what anybody may read."""
    client.search(QUERY, "WEB")
    assert _typed(client.usage()).total.calls
    assert _typed(client.documents()).documents == ()
    assert "endpoint" in client.settings.form().data
    assert len(client.tools("openai").data["tools"]) == len(client.tools().data["tools"]) > 8
    assert client.openapi().data["openapi"].startswith("3.1")
    assert _typed(client.protected_resource()).resource


def test_settings_are_changed_under_their_version(client: Zarniwoop) -> None:
    """And not under another's; a trial tells what became of its one call."""
    key, version = "research.default.book", _typed(client.settings.read()).versions["project"]
    saved = _typed(client.settings.save({key: "openlibrary-main"}, version=version))
    assert (saved.saved, saved.left) == ((key,), ())
    with pytest.raises(Conflicting):
        client.settings.save({key: "other"}, version=version)
    assert _typed(client.settings.delete(key, version=saved.version)).saved == (key,)
    assert _typed(client.settings.test("openlibrary-main", query="bells")).outcome == "success"


def test_a_bounded_answer_is_read_to_the_same_end_as_an_unbounded_one(client: Zarniwoop) -> None:
    """Page by page, by the tool, and put together."""
    whole = [hit.title for hit in client.search(QUERY, "WEB", max_results=10, cache="no-store").data.hits]
    bounded = client.search(QUERY, "WEB", max_results=10, max_chars=2_000)
    pages = list(client.pages(bounded))
    assert pages
    read = [hit.title for page in (bounded.data, *map(_typed, pages)) for hit in page.hits]
    assert read == whole == [hit.title for hit in client.complete(bounded).data.hits]
    assert bounded.data.size
    assert bounded.data.size.handle
    assert _typed(client.result_read(bounded.data.size.handle)).hits


def test_what_is_refused_is_raised_with_the_way_out(client: Zarniwoop) -> None:
    """In the class that says what to do."""
    with pytest.raises(InvalidRequest) as wrong:
        client.call("research_search", query=QUERY, modality="SMELL")
    assert wrong.value.problem.field == "modality"
    with pytest.raises(NotFound, match="no such run"):
        client.runs.get("r-01234567890123456789012345")
    with pytest.raises(InvalidRequest, match="there is no parameter 'colour'"):
        client.call("research_search", query=QUERY, modality="WEB", colour="red")
    with pytest.raises(Unanswered) as nobody:
        client.search(QUERY, "WEB", cache="only")
    assert nobody.value.answer.data.failure == "not_cached"
