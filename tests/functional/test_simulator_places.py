"""Nominatim and Photon against the simulator: what is particular to them, over real sockets."""

import json

import httpx
import pytest

from tests.contract.payloads import payload
from tests.fakes import simulated
from tests.fakes.httpx_transport import HttpxTransport
from tests.fakes.instances import request, scope
from tests.simulator import Simulator
from zarniwoop.contract.failure import AccessRefused, QueryRejected, RateLimited
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.request import Locale
from zarniwoop.wire.driver import WireInstance

BOTH = pytest.mark.parametrize("protocol_id", ["nominatim", "photon"])
MAP = SearchModality.MAP


def endpoint(protocol_id: str, base_url: str, transport: HttpxTransport, **extras: str) -> WireInstance:
    return simulated.endpoint(protocol_id, base_url, transport, key=None, **extras)


@BOTH
@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("Paris, Texas", "relation/900000113"),
        ("Cologne Cathedral", "way/900000101"),
        ("34.9948, 135.7850", "way/900000124"),
        ("Glockengasse 19", "node/900000126"),
    ],
)
def test_a_place_is_found_by_name_address_and_coordinates(
    simulator: Simulator, transport: HttpxTransport, protocol_id: str, query: str, page: str
) -> None:
    """By both alike: the same object of the map, so that it is one hit where their answers are fused."""
    places = endpoint(protocol_id, simulator.url(protocol_id), transport)
    first = places.search(request(query, MAP), scope()).hits[0]
    assert first.url == f"https://www.openstreetmap.org/{page}"
    assert first.extras["address"]["country_code"] in ("us", "de", "jp")


@BOTH
def test_names_come_in_the_language_of_the_request(
    simulator: Simulator, transport: HttpxTransport, protocol_id: str
) -> None:
    places = endpoint(protocol_id, simulator.url(protocol_id), transport)
    for language, name in (("fr", "Cathédrale de Cologne"), ("en", "Cologne Cathedral"), ("de", "Kölner Dom")):
        asked = request("Kölner Dom", MAP, locale=Locale(language=language))
        assert places.search(asked, scope()).hits[0].title == name


@BOTH
def test_an_area_with_a_border_holds(simulator: Simulator, transport: HttpxTransport, protocol_id: str) -> None:
    """The other Paris lies outside of France's box; a country does the same."""
    box = {"viewbox": "-5,42,8,51", "bounded": "true"}
    bounded = endpoint(protocol_id, simulator.url(protocol_id), transport, **box)
    assert {hit.extras["address"]["country_code"] for hit in bounded.search(request("Paris", MAP), scope()).hits} == {
        "fr"
    }
    country = {"nominatim": {"countryCodes": "us,ch"}, "photon": {"countryCode": "us"}}[protocol_id]
    american = endpoint(protocol_id, simulator.url(protocol_id), transport, **country)
    (hit,) = american.search(request("Paris", MAP), scope()).hits
    assert hit.extras["address"]["state"] == "Texas"


@BOTH
def test_in_the_middle_of_nowhere_there_is_nothing(
    simulator: Simulator, transport: HttpxTransport, protocol_id: str
) -> None:
    places = endpoint(protocol_id, simulator.url(protocol_id), transport)
    assert places.search(request("0, -30", MAP), scope()).hits == ()


def test_a_second_search_within_the_second_gets_the_page_that_says_slow_down(transport: HttpxTransport) -> None:
    """Where nobody takes turns; a fleet that does never sees it."""
    with Simulator(strict_pacing=True) as strict:
        places = endpoint("nominatim", strict.url("nominatim"), transport)
        places.search(request("Bern", MAP), scope())
        with pytest.raises(RateLimited):
            places.search(request("Wien", MAP), scope())


def test_who_does_not_say_who_asks_is_blocked(client: httpx.Client) -> None:
    page = client.get("/nominatim/search", params={"q": "Bern"}, headers={"User-Agent": ""})
    assert (page.status_code, "Access blocked" in page.text) == (403, True)


def test_a_wall_and_a_refused_language_are_told_apart(simulator: Simulator, transport: HttpxTransport) -> None:
    """A wall is the address's, a language the query's fault."""
    with pytest.raises(AccessRefused):
        endpoint("nominatim", simulator.url("nominatim", fault="wall"), transport).search(request("Bern", MAP), scope())
    italian = endpoint("photon", simulator.url("photon"), transport, languages="it")
    with pytest.raises(QueryRejected):
        italian.search(request("Bern", MAP, locale=Locale(language="it")), scope())


def test_places_have_no_keys_that_recorded_ones_lack(client: httpx.Client) -> None:
    """Nothing is invented: every member stands in a recording of the real services."""
    asked = {"q": "Kölner Dom", "format": "jsonv2", "addressdetails": "1", "extratags": "1"}
    ours = client.get("/nominatim/search", params=asked).raise_for_status().json()[0]
    real = json.loads(payload("nominatim", "search_elbphilharmonie.json"))[0]
    reverse = json.loads(payload("nominatim", "reverse_paris.json"))
    assert set(ours) <= set(real) | set(reverse)
    assert [type(ours[name]) for name in ("lat", "boundingbox", "osm_id")] == [str, list, int]
    feature = client.get("/photon/api", params={"q": "Zytglogge"}).raise_for_status().json()["features"][0]
    known = json.loads(payload("photon", "api_paris_default.json"))["features"]
    assert set(feature) == set(known[0])
    assert set(feature["properties"]) <= {name for each in known for name in each["properties"]} | {"housenumber"}
