"""Indexes of papers name works in one way, so that a work that several of them give is one hit."""

import pytest

from tests.contract.fixtures import fixture, settings_for
from tests.contract.payloads import payload
from tests.fakes.instances import instance, request, scope
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.adapters import crossref, dblp, doaj, europepmc, openalex, semanticscholar, unpaywall
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.result import SearchResult
from zarniwoop.pipelines.investigate.merge import SearchOutcome, merge
from zarniwoop.wire.driver import WireProtocol

INDEXES = (
    openalex.PROTOCOL,
    semanticscholar.PROTOCOL,
    crossref.PROTOCOL,
    europepmc.PROTOCOL,
    doaj.PROTOCOL,
    dblp.PROTOCOL,
    unpaywall.PROTOCOL,
)


def found_by(protocol: WireProtocol, body: bytes) -> SearchResult:
    made = instance(protocol, ScriptedTransport(answer(body)), extras=settings_for(protocol.id()))
    return made.search(request(modality=SearchModality.ACADEMIC), scope())


def test_a_recorded_work_of_three_indexes_is_one_hit() -> None:
    """By its DOI; its preprint, which OpenAlex lists besides, by the arXiv id that Semantic Scholar knows."""
    recorded = [
        found_by(openalex.PROTOCOL, payload("openalex", "works_title_search.json")),
        found_by(semanticscholar.PROTOCOL, payload("semanticscholar", "match_minimal_fields.json")),
        found_by(crossref.PROTOCOL, payload("crossref", "works_query_title_select.json")),
    ]
    (work,) = merge([SearchOutcome.of(number, {}, result) for number, result in enumerate(recorded)])
    assert len(work.sources) == 4
    assert work.hit["identifiers"] | {"openalex_id": "", "semanticscholar_id": ""} == {
        "openalex_id": "",
        "semanticscholar_id": "",
        "doi": "10.1038/s42256-024-00832-8",
        "arxiv_id": "2304.05376",
        "pmid": "38799228",
        "pmcid": "PMC11116106",
    }


@pytest.mark.parametrize("protocol", INDEXES, ids=lambda protocol: protocol.id())
def test_the_same_invented_work_has_the_same_identifiers_everywhere(protocol: WireProtocol) -> None:
    """Capital letters in a DOI, missing letters of a PMCID and addresses in place of ids are gone."""
    known = {"doi": "10.5555/bells.2021.17", "pmid": "99000001", "pmcid": "PMC9000017", "arxiv_id": "2109.01234"}
    hit = found_by(protocol, fixture(protocol.id(), "academic.json")).hits[0]
    shared = {name: value for name, value in hit.identifiers.items() if name in known}
    assert shared["doi"] == known["doi"]
    assert shared.items() <= known.items()
