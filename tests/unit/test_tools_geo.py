"""Places: how exact they are by what the geocoders say, and when a name means several."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.fakes.research import Research
from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.modality import SearchModality, SearchTier
from zarniwoop.contract.problem import InvalidArgument
from zarniwoop.contract.result import SearchResult
from zarniwoop.tools.arguments import parse_arguments
from zarniwoop.tools.geo_resolve import GeoArguments, resolve
from zarniwoop.tools.place_precision import Precision, precision_of


def place(name: str, latitude: float, longitude: float, **extras: Any) -> SearchHit:
    return SearchHit(
        title=name,
        url="https://www.openstreetmap.org/node/1",
        modality=SearchModality.MAP,
        extras={"latitude": latitude, "longitude": longitude, **extras},
    )


def resolved(*hits: SearchHit) -> Any:
    result = SearchResult(
        query="Springfield",
        modality=SearchModality.MAP,
        provider_instance_id="places",
        tier=SearchTier.NORMAL,
        hits=hits,
        returned_count=len(hits),
    )
    research = Research(scripts={"places": [result]}, modalities=frozenset((SearchModality.MAP,)))
    return resolve(GeoArguments(query="Springfield"), research.scope(), research.services).data


@pytest.mark.parametrize(
    ("extras", "expected"),
    [
        ({"place_rank": 30}, Precision.BUILDING),
        ({"place_rank": 26}, Precision.STREET),
        ({"place_rank": 19}, Precision.DISTRICT),
        ({"place_rank": 16}, Precision.CITY),
        ({"place_rank": 12}, Precision.COUNTY),
        ({"place_rank": 8}, Precision.REGION),
        ({"place_rank": 4}, Precision.COUNTRY),
        ({"place_rank": 0}, Precision.UNKNOWN),
        ({"place_rank": 21, "type": "postcode"}, Precision.POSTCODE),
        ({"layer": "house", "type": "residential"}, Precision.BUILDING),
        ({"layer": "state"}, Precision.REGION),
        ({"type": "village"}, Precision.CITY),
        ({"type": "bakery"}, Precision.UNKNOWN),
        ({}, Precision.UNKNOWN),
    ],
)
def test_what_the_coordinates_are_those_of(extras: Mapping[str, Any], expected: Precision) -> None:
    """By rank, layer or type."""
    assert precision_of(extras) is expected


def test_two_places_of_one_name_far_apart_are_ambiguous() -> None:
    """And what to do about it is said."""
    data = resolved(place("Springfield", 39.8, -89.6), place("springfield", 42.1, -72.5))
    assert data.ambiguous is True
    assert "town, region or country" in data.note


@pytest.mark.parametrize(
    "others",
    [
        (),
        (place("Springfield", 39.85, -89.65),),
        (place("Springfield Road", 42.1, -72.5),),
    ],
)
def test_one_place_or_what_lies_within_it_is_not(others: tuple[SearchHit, ...]) -> None:
    """A name of its own, or a neighbour within ten kilometres."""
    assert resolved(place("Springfield", 39.8, -89.6), *others).ambiguous is False


def test_what_lies_within_the_box_of_a_large_place_is_that_place() -> None:
    """A state and the middle of the state."""
    box = {"south": 37.0, "north": 42.5, "west": -91.5, "east": -87.5}
    data = resolved(place("Illinois", 40.0, -89.0, bounding_box=box), place("Illinois", 41.0, -88.0))
    assert data.ambiguous is False
    assert 390 < data.places[0].radius_km < 405


def test_a_hit_without_coordinates_is_no_place() -> None:
    """An add-on may have one."""
    hit = SearchHit(title="Somewhere", url="https://example.org/", modality=SearchModality.MAP)
    assert resolved(hit, place("Cologne", 50.9, 6.9)).places[0].name == "Cologne"


@pytest.mark.parametrize("query", ["99, 500", "-90.5,10", "48.2 ; 180.001"])
def test_coordinates_off_the_earth_are_refused(query: str) -> None:
    """With what they may be."""
    with pytest.raises(InvalidArgument, match="latitude is −90 to 90, longitude −180 to 180") as refused:
        parse_arguments(GeoArguments, {"query": query})
    assert refused.value.field == "query"


@pytest.mark.parametrize("query", ["90, -180", "48.2082,16.3738", "99 500", "10115, 20095", "Rue 99, 500"])
def test_other_numbers_are_looked_for(query: str) -> None:
    """Coordinates on earth, and what may be a part of an address."""
    assert parse_arguments(GeoArguments, {"query": query}).query == query
