"""Nominatim: what is asked, and what every recorded answer comes to."""

from datetime import date
from typing import Any

import pytest

from tests.contract.fixtures import fixture, recordings_without_a_test
from tests.contract.payloads import payload
from tests.fakes.instances import instance, request, scope
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.adapters.nominatim import PROTOCOL
from zarniwoop.contract.failure import AccessRefused, MalformedAnswer, QueryRejected, RateLimited
from zarniwoop.contract.modality import SearchDomain, SearchModality
from zarniwoop.contract.provider import Pacing, WrongSettingsError
from zarniwoop.contract.request import Locale
from zarniwoop.contract.result import FilterHandling, SearchResult
from zarniwoop.contract.transport import HttpAnswer, HttpRequest

MAP = SearchModality.MAP
PUBLIC = "https://nominatim.openstreetmap.org"
STANDING = {"format": "jsonv2", "addressdetails": "1", "extratags": "1"}


def asked(
    *script: HttpAnswer, query: str = "Bell Lane", extras: dict[str, str] | None = None, **more: Any
) -> tuple[SearchResult, list[HttpRequest]]:
    """What a search comes to, and the requests that it sent."""
    transport = ScriptedTransport(*script)
    result = instance(PROTOCOL, transport, extras=extras).search(request(query, MAP, **more), scope())
    return result, [sent.request for sent in transport.sent]


def search(*script: HttpAnswer, **more: Any) -> SearchResult:
    return asked(*script, **more)[0]


def found(**more: Any) -> SearchResult:
    return search(answer(fixture("nominatim", "map.json")), **more)


def recorded(name: str, query: str = "somewhere") -> SearchResult:
    return search(answer(payload("nominatim", name)), query=query)


def sent_with(**more: Any) -> dict[str, str]:
    """The parameters of a search beyond the standing ones."""
    _, (sent,) = asked(answer(b"[]"), **more)
    return {name: value for name, value in sent.params.items() if name not in STANDING}


def test_every_recorded_answer_has_a_test() -> None:
    """A recording that appears beside the project without a test here fails the run."""
    assert recordings_without_a_test("nominatim", __file__) == []


def test_places_are_a_modality_and_a_domain_of_their_own() -> None:
    made = instance(PROTOCOL, ScriptedTransport())
    assert made.modalities() == {MAP}
    assert made.domains() == {SearchDomain.PLACES}
    assert PROTOCOL.format.index_family == "openstreetmap"


def test_a_search_is_one_request_for_addresses_in_parts() -> None:
    """At most forty places, which is what the server gives."""
    _, (sent,) = asked(answer(fixture("nominatim", "map.json")), max_results=200)
    assert (sent.method, sent.url) == ("GET", f"{PUBLIC}/search")
    assert sent.params == {**STANDING, "q": "Bell Lane", "limit": "40"}


@pytest.mark.parametrize(
    ("locale", "spoken"), [(Locale(language="de"), "de"), (Locale(language="de", region="AT"), "de-AT,de")]
)
def test_a_locale_is_the_language_of_the_names(locale: Locale, spoken: str) -> None:
    """It is no border: whoever reads German may look for a place in Peru."""
    assert sent_with(locale=locale) == {"q": "Bell Lane", "limit": "10", "accept-language": spoken}
    (applied,) = search(answer(b"[]"), locale=locale).applied
    assert applied.handling is FilterHandling.PROVIDER


def test_settings_bound_the_area_and_name_who_answers_for_the_calls() -> None:
    extras = {
        "countryCodes": "de,at",
        "viewbox": "5.9,45.8,10.5,47.8",
        "bounded": "true",
        "contactEmail": "ops@library.test",
    }
    assert sent_with(extras=extras) == {
        "q": "Bell Lane",
        "limit": "10",
        "countrycodes": "de,at",
        "viewbox": "5.9,45.8,10.5,47.8",
        "bounded": "1",
        "email": "ops@library.test",
    }


def test_an_area_without_a_border_is_a_preference_and_a_border_without_an_area_is_nothing() -> None:
    assert "bounded" not in sent_with(extras={"viewbox": "5.9,45.8,10.5,47.8"})
    assert "bounded" not in sent_with(extras={"bounded": "true"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("viewbox", "5.9,45.8,10.5"),
        ("viewbox", "5.9,145.8,10.5,47.8"),
        ("viewbox", "195.9,45.8,10.5,47.8"),
        ("countryCodes", "Germany"),
        ("bounded", "maybe"),
        ("requestsPerSecond", "none"),
    ],
)
def test_settings_that_name_no_place_on_earth_are_refused(name: str, value: str) -> None:
    with pytest.raises(WrongSettingsError) as caught:
        instance(PROTOCOL, ScriptedTransport(), extras={name: value})
    assert value not in str(caught.value)


def test_coordinates_are_asked_what_is_there() -> None:
    """Latitude first, as people write it; the settings' area does not matter then."""
    result, (sent,) = asked(
        answer(fixture("nominatim", "reverse.json")), query=" 51.25, 4.4 ", extras={"viewbox": "5.9,45.8,10.5,47.8"}
    )
    assert sent.url == f"{PUBLIC}/reverse"
    assert sent.params == {**STANDING, "lat": "51.25", "lon": "4.4"}
    assert [hit.title for hit in result.hits] == ["Belfry Theatre"]


@pytest.mark.parametrize("query", ["51.25", "91.0, 4.4", "51.25, 181", "1984, 42", "51.25, 4.4, 3", "51,25"])
def test_other_numbers_are_words(query: str) -> None:
    """But two whole numbers that lie on the map may well be meant as such."""
    _, (sent,) = asked(answer(b"[]" if query != "51,25" else b'{"error":"Unable to geocode"}'), query=query)
    assert sent.url.endswith("/reverse" if query == "51,25" else "/search")


def test_nothing_at_a_point_is_an_error_that_means_empty() -> None:
    """In the middle of the ocean; another error is none."""
    assert search(answer({"error": "Unable to geocode"}), query="0, -30").hits == ()
    with pytest.raises(MalformedAnswer):
        search(answer({"error": "Something else"}), query="0, -30")


def test_the_public_server_is_asked_once_a_second_by_the_whole_fleet() -> None:
    """Whatever is set; the turns are shared by all who ask the same host."""
    asked_for = request(modality=MAP)
    public = instance(PROTOCOL, ScriptedTransport(), extras={"requestsPerSecond": "100"})
    once = Pacing(subject="nominatim@nominatim.openstreetmap.org", requests=1, seconds=1.0)
    assert public.pacing(asked_for) == once
    assert once.interval == 1.5
    named = instance(PROTOCOL, ScriptedTransport(), base_url=f"{PUBLIC}/")
    assert named.pacing(asked_for) == once


def test_a_server_of_ones_own_is_held_to_what_is_set() -> None:
    own = "https://nominatim.library.test"
    assert instance(PROTOCOL, ScriptedTransport(), base_url=own).pacing(request(modality=MAP)) is None
    held = instance(PROTOCOL, ScriptedTransport(), base_url=own, extras={"requestsPerSecond": "5"})
    assert held.pacing(request(modality=MAP)) == Pacing(
        subject="nominatim@nominatim.library.test", requests=5, seconds=1.0
    )


@pytest.mark.parametrize("status", [200, 403, 429, 509])
def test_the_page_for_who_asks_too_much_means_slow_down(status: int) -> None:
    """With whatever status it came over the years: 509 would be the server's fault, 200 no answer at all."""
    with pytest.raises(RateLimited) as caught:
        search(answer(fixture("nominatim", "over_limit.html"), status=status, headers={"retry-after": "30"}))
    assert (caught.value.status, caught.value.retry_after) == (status, 30.0)
    assert "somebody" not in caught.value.message


def test_a_block_for_breaking_the_policy_is_a_wall() -> None:
    """Waiting a minute does not help there: somebody has to name the stack's contact."""
    page = "<html><title>Access blocked</title><p>You have violated the usage policy.</p></html>"
    with pytest.raises(AccessRefused):
        search(answer(page, status=403))


def test_a_query_may_speak_of_limits() -> None:
    """Only a page does; places are JSON."""
    place = {"lat": "1", "lon": "2", "display_name": "Limit Exceeded, a bar"}
    assert [hit.title for hit in search(answer([place])).hits] == ["Limit Exceeded"]


def test_a_refusal_in_json_puts_the_query_at_fault() -> None:
    with pytest.raises(QueryRejected) as caught:
        search(answer(fixture("nominatim", "refused.json"), status=400))
    assert "viewbox" not in caught.value.message


def test_a_place_becomes_a_hit() -> None:
    """Its page is that of the map's object; numbers are numbers; a telephone's is left out."""
    hit = found().hits[0]
    assert (hit.title, hit.url) == ("Belfry Theatre", "https://www.openstreetmap.org/way/900000017")
    assert hit.snippet == "Belfry Theatre, 17, Bell Lane, Chimes Quarter, Ringers' Town, 1770, Belfria"
    assert (hit.source, hit.content, hit.published_at, hit.language) == ("OpenStreetMap", None, None, None)
    assert hit.identifiers == {"osm": "way/900000017", "wikidata": "Q900000017"}
    assert hit.extras == {
        "latitude": 51.2500125,
        "longitude": 4.400025,
        "bounding_box": {"south": 51.2498, "north": 51.2502, "west": 4.3997, "east": 4.4003},
        "category": "amenity",
        "type": "theatre",
        "address": {
            "amenity": "Belfry Theatre",
            "house_number": "17",
            "road": "Bell Lane",
            "suburb": "Chimes Quarter",
            "town": "Ringers' Town",
            "postcode": "1770",
            "country": "Belfria",
            "country_code": "be",
        },
        "importance": 0.4123,
        "place_rank": 30,
        "website": "https://belfry-theatre.example.org/",
        "wikipedia": "en:Belfry Theatre",
        "licence": "Data © OpenStreetMap contributors, ODbL 1.0. http://osm.org/copyright",
    }


def test_a_house_is_called_by_number_and_street_and_a_postcode_is_a_mark_on_the_map() -> None:
    """Old servers say `class` and write ids as text; what lies nowhere on earth is dropped."""
    result = found()
    _, house, postcode = result.hits
    assert (house.title, house.url) == ("19, Bell Lane", "https://www.openstreetmap.org/node/900000018")
    assert house.extras["category"] == "place"
    assert (postcode.title, postcode.identifiers) == ("1770", {})
    assert postcode.url == "https://www.openstreetmap.org/?mlat=51.25&mlon=4.4#map=16/51.25/4.4"
    assert result.dropped_count == 1


def test_filters_that_make_no_sense_for_places_are_ignored_with_a_reason() -> None:
    result = found(date_from=date(2020, 1, 1), filetype="pdf")
    assert [entry.handling for entry in result.applied] == [FilterHandling.IGNORED, FilterHandling.IGNORED]
    assert len(result.hits) == 3


@pytest.mark.parametrize(
    ("name", "title", "page", "south"),
    [
        ("search_elbphilharmonie.json", "Elbphilharmonie", "way/24981342", 53.540877),
        ("search_warsaw_node.json", "17, Jana Pawła Woronicza", "node/8945017937", 52.188674),
        ("search_json_v1.json", "Cologne Cathedral", "way/4532022", 50.9409217),
        ("search_brussels_5.json", "Palais Royal - Koninklijk Paleis", "relation/3299902", 50.8411653),
        ("search_downing_street.json", "Prime Minister’s Office", "relation/1879842", 51.5032573),
    ],
)
def test_the_recorded_places_are_read(name: str, title: str, page: str, south: float) -> None:
    """None is dropped, and every one has an address in parts."""
    result = recorded(name)
    hit = result.hits[0]
    assert (hit.title, hit.url) == (title, f"https://www.openstreetmap.org/{page}")
    assert hit.extras["bounding_box"]["south"] == south
    assert hit.snippet is not None and hit.snippet.startswith(title)
    assert all(each.extras["address"]["country_code"] for each in result.hits)
    assert result.dropped_count == 0


def test_the_recorded_five_of_brussels_come_in_order() -> None:
    """In both of the city's languages, as they are recorded."""
    result = recorded("search_brussels_5.json")
    assert result.returned_count == 5
    assert result.hits[1].title == "Coudenberg"
    assert result.hits[0].identifiers == {"osm": "relation/3299902", "wikidata": "Q635307"}


def test_the_recorded_number_ten_is_an_office_and_a_house() -> None:
    hits = recorded("search_downing_street.json").hits
    assert [hit.title for hit in hits] == ["Prime Minister’s Office", "10, Downing Street"]
    assert hits[0].extras["website"] == "http://www.number10.gov.uk/"
    assert hits[1].extras["type"] == "house"


def test_the_recorded_concert_hall_shows_neither_telephone_nor_e_mail() -> None:
    hit = recorded("search_elbphilharmonie.json").hits[0]
    assert hit.extras["website"] == "https://www.elbphilharmonie.de/de/"
    assert "+49" not in repr(hit)
    assert "@" not in repr(hit)


def test_the_recorded_postcode_is_no_object_of_the_map() -> None:
    (hit,) = recorded("search_postcode_no_osm.json").hits
    assert (hit.title, hit.identifiers) == ("Beverly Hills", {})
    assert hit.url == "https://www.openstreetmap.org/?mlat=34.09508&mlon=-118.3993#map=16/34.09508/-118.3993"


def test_the_recorded_empty_answer_is_empty() -> None:
    assert recorded("search_empty.json").hits == ()


def test_the_recorded_points_are_what_is_there() -> None:
    """A café, and a street whose name is a null."""
    (paris,) = recorded("reverse_paris.json", "48.86, 2.35").hits
    assert (paris.title, paris.extras["type"]) == ("Starbucks", "cafe")
    assert paris.url == "https://www.openstreetmap.org/node/855292284"
    (tokyo,) = recorded("reverse_tokyo_en.json", "35.685939 139.811695").hits
    assert (tokyo.title, tokyo.url) == ("Sarue 1-chome", "https://www.openstreetmap.org/way/28063955")


def test_a_place_where_places_are_due_is_a_malformed_answer() -> None:
    with pytest.raises(MalformedAnswer):
        recorded("reverse_paris.json")
