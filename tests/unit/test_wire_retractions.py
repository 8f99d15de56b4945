"""Retracted works said aloud."""

from collections.abc import Mapping
from typing import Any

from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.wire.retractions import retraction_note


def _hit(identifiers: Mapping[str, str], retracted: Any = True) -> SearchHit:
    return SearchHit(
        title="Bells",
        url="https://bells.example/1",
        modality=SearchModality.ACADEMIC,
        identifiers=identifiers,
        extras={"is_retracted": retracted},
    )


def test_retracted_works_are_named_by_what_identifies_them() -> None:
    hits = [_hit({"doi": "10.1/a", "pmid": "7"}), _hit({"pmid": "8"}), _hit({}), _hit({"doi": "10.1/b"}, False)]
    assert retraction_note("Crossref", hits) == "Crossref marks as retracted: 10.1/a, 8, https://bells.example/1"


def test_without_a_retracted_work_nothing_is_said() -> None:
    assert retraction_note("Crossref", []) is None
    assert retraction_note("Crossref", [_hit({"doi": "10.1/a"}, "yes")]) is None


def test_a_sentence_stays_short() -> None:
    """Whatever a provider sends as a DOI, and however many were retracted."""
    hits = [_hit({"doi": f"10.1/{number}"}) for number in range(7)]
    note = retraction_note("Crossref", hits)
    assert note == "Crossref marks as retracted: 10.1/0, 10.1/1, 10.1/2, 10.1/3, 10.1/4 and 2 more"
    assert retraction_note("X", [_hit({"doi": "10.1/" + "x" * 500})]) == (
        "X marks as retracted: one with a very long name"
    )
