"""Photon: what is asked, and what every recorded answer comes to."""

from typing import Any

import pytest

from tests.contract.fixtures import fixture, recordings_without_a_test
from tests.contract.payloads import payload
from tests.fakes.instances import instance, request, scope
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.adapters.photon import PROTOCOL
from zarniwoop.contract.failure import QueryRejected
from zarniwoop.contract.modality import SearchDomain, SearchModality
from zarniwoop.contract.request import Locale
from zarniwoop.contract.result import FilterHandling, SearchResult
from zarniwoop.contract.transport import HttpAnswer, HttpRequest

MAP = SearchModality.MAP
PUBLIC = "https://photon.komoot.io"
NOTHING = b'{"type": "FeatureCollection", "features": []}'


def asked(
    *script: HttpAnswer, query: str = "belfry theater", extras: dict[str, str] | None = None, **more: Any
) -> tuple[SearchResult, list[HttpRequest]]:
    """What a search comes to, and the requests that it sent."""
    transport = ScriptedTransport(*script)
    result = instance(PROTOCOL, transport, extras=extras).search(request(query, MAP, **more), scope())
    return result, [sent.request for sent in transport.sent]


def search(*script: HttpAnswer, **more: Any) -> SearchResult:
    return asked(*script, **more)[0]


def recorded(name: str, query: str = "somewhere") -> SearchResult:
    return search(answer(payload("photon", name)), query=query)


def sent_with(**more: Any) -> dict[str, str]:
    _, (sent,) = asked(answer(NOTHING), **more)
    return dict(sent.params)


def test_every_recorded_answer_has_a_test() -> None:
    """A recording that appears beside the project without a test here fails the run."""
    assert recordings_without_a_test("photon", __file__) == []


def test_it_has_the_same_places_as_nominatim() -> None:
    """One vote for both in a fusion; no rate is stated."""
    made = instance(PROTOCOL, ScriptedTransport())
    assert made.modalities() == {MAP}
    assert made.domains() == {SearchDomain.PLACES}
    assert PROTOCOL.format.index_family == "openstreetmap"
    assert made.pacing(request(modality=MAP)) is None


def test_a_search_is_one_request() -> None:
    _, (sent,) = asked(answer(NOTHING), max_results=200)
    assert (sent.method, sent.url, sent.params) == (
        "GET",
        f"{PUBLIC}/api",
        {"limit": "50", "q": "belfry theater"},
    )


def test_a_language_that_the_server_has_is_asked_for() -> None:
    """Another would be refused: names come as they are said at the place then, and the filter is told as ignored."""
    assert sent_with(locale=Locale(language="de", region="CH")) == {"limit": "10", "lang": "de", "q": "belfry theater"}
    result = search(answer(NOTHING), locale=Locale(language="it"))
    assert "lang" not in sent_with(locale=Locale(language="it"))
    assert [entry.handling for entry in result.applied] == [FilterHandling.IGNORED]
    assert sent_with(locale=Locale(language="it"), extras={"languages": "it,en"})["lang"] == "it"


def test_settings_bound_the_area_or_say_where_to_look_first() -> None:
    area = {"viewbox": "6,45,10,47", "countryCode": "ch"}
    assert sent_with(extras=area) == {
        "limit": "10",
        "q": "belfry theater",
        "countrycode": "CH",
        "lat": "46",
        "lon": "8",
    }
    bounded = sent_with(extras={**area, "bounded": "true"})
    assert (bounded["bbox"], "lat" in bounded) == ("6.0,45.0,10.0,47.0", False)


def test_coordinates_are_asked_what_is_near() -> None:
    _, (sent,) = asked(answer(NOTHING), query="46.95; 7.45", extras={"viewbox": "6,45,10,47"})
    assert (sent.url, sent.params) == (f"{PUBLIC}/reverse", {"limit": "10", "lat": "46.95", "lon": "7.45"})


def test_a_place_becomes_a_hit_of_the_same_address_as_at_nominatim() -> None:
    """So that both meet where their answers are fused; parts of the address have the names that they have there."""
    hit = search(answer(fixture("photon", "map.json"))).hits[0]
    assert (hit.title, hit.url) == ("Belfry Theatre", "https://www.openstreetmap.org/way/900000017")
    assert hit.snippet == "Belfry Theatre, 17, Bell Lane, Chimes Quarter, 1770, Ringers' Town, Belfria"
    assert (hit.source, hit.identifiers) == ("OpenStreetMap", {"osm": "way/900000017"})
    assert hit.extras == {
        "latitude": 51.2500125,
        "longitude": 4.400025,
        "bounding_box": {"south": 51.2498, "north": 51.2502, "west": 4.3997, "east": 4.4003},
        "category": "amenity",
        "type": "theatre",
        "layer": "house",
        "address": {
            "house_number": "17",
            "road": "Bell Lane",
            "district": "Chimes Quarter",
            "postcode": "1770",
            "city": "Ringers' Town",
            "country": "Belfria",
            "country_code": "be",
        },
        "licence": "Data © OpenStreetMap contributors, ODbL 1.0. https://www.openstreetmap.org/copyright",
    }


def test_what_has_no_name_is_called_by_its_address() -> None:
    """What is no object of the map is a mark on it; what lies nowhere on earth is dropped."""
    result = search(answer(fixture("photon", "map.json")))
    _, house, postcode = result.hits
    assert (house.title, house.snippet) == ("19, Bell Lane", "19, Bell Lane, 1770;1771;1…, Ringers' Town")
    assert (postcode.title, postcode.url) == (
        "Belfria",
        "https://www.openstreetmap.org/?mlat=51.25&mlon=4.4#map=16/51.25/4.4",
    )
    assert result.dropped_count == 1


@pytest.mark.parametrize("name", ["refused_language.json", "invalid_request_400.json"])
def test_a_400_puts_the_query_at_fault(name: str) -> None:
    """In the server's words, which stay out of ours."""
    body = fixture("photon", name) if name.startswith("refused") else payload("photon", name)
    with pytest.raises(QueryRejected) as caught:
        search(answer(body, status=400))
    assert (caught.value.status, "language" in caught.value.message) == (400, False)


@pytest.mark.parametrize(
    ("name", "titles"),
    [
        ("api_madison.json", ["Madison Square Garden"]),
        ("api_paris_default.json", ["Paris", "Paris", "Paris", "Paris", "Observatoire de Paris"]),
        ("api_sherlock.json", ["The Sherlock Holmes Museum and shop"]),
    ],
)
def test_the_recorded_places_are_read(name: str, titles: list[str]) -> None:
    result = recorded(name)
    assert [hit.title for hit in result.hits] == titles
    assert result.dropped_count == 0


def test_the_recorded_museum_has_no_box_and_a_whole_address() -> None:
    (hit,) = recorded("api_sherlock.json").hits
    assert hit.url == "https://www.openstreetmap.org/node/3916613190"
    assert hit.snippet == (
        "The Sherlock Holmes Museum and shop, 221b, Baker Street, Marylebone, NW1 6XE, London, Greater London, "
        "England, United Kingdom"
    )
    assert "bounding_box" not in hit.extras
    assert (hit.extras["latitude"], hit.extras["longitude"]) == (51.5237629, -0.1584743)


def test_the_recorded_arena_lies_west_of_greenwich() -> None:
    """The answer says east before north, and the north of the box before its south."""
    (hit,) = recorded("api_madison.json").hits
    assert (hit.extras["latitude"], hit.extras["longitude"]) == (40.7505247, -73.99355027800776)
    assert hit.extras["bounding_box"] == {
        "south": 40.7498531,
        "north": 40.751161,
        "west": -73.9944446,
        "east": -73.9925924,
    }
    assert hit.extras["address"]["road"] == "Pennsylvania Plaza"


def test_the_recorded_parises_are_told_apart_by_their_address() -> None:
    """A city's twenty postcodes are cut short on the line, and whole among the parts."""
    hits = recorded("api_paris_default.json").hits
    assert hits[0].snippet == "Paris, 75000;75001…, Île-de-France, France"
    assert hits[0].extras["address"]["postcode"].endswith(";75116")
    assert hits[3].snippet == "Paris, Lamar, Texas, United States"
    assert {hit.url.rpartition("/")[0] for hit in hits[:4]} == {"https://www.openstreetmap.org/relation"}


@pytest.mark.parametrize(
    ("name", "first", "kinds"),
    [
        ("api_paris_museums.json", "Musée d'Art Moderne de Paris", {"museum"}),
        ("api_paris_museum_gallery.json", "Musée d'Art Moderne de Paris", {"museum", "gallery"}),
        ("api_white_house.json", "H Street Northwest", {"secondary", "hotel", "public", "information"}),
    ],
)
def test_the_recorded_kinds_of_places_are_read(name: str, first: str, kinds: set[str]) -> None:
    result = recorded(name)
    assert result.hits[0].title == first
    assert {hit.extras["type"] for hit in result.hits} == kinds
    assert result.dropped_count == 0


def test_the_recorded_points_are_what_is_there() -> None:
    """A nameless attraction is called by its address; a city and its district share a name."""
    (plaza,) = recorded("reverse_madison.json", "40.7505, -73.9935").hits
    assert (plaza.title, plaza.extras["category"]) == ("4, Pennsylvania Plaza", "tourism")
    slovakia = recorded("reverse_slovakia_multi_layer.json", "49.001831 21.239311").hits
    assert [hit.title for hit in slovakia] == ["Prešov", "Prešov"]
    assert [hit.extras["layer"] for hit in slovakia] == ["city", "district"]
    assert slovakia[1].snippet == "Prešov, Prešovský kraj, Slovensko"
