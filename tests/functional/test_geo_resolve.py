"""`geo_resolve` through the deployed handler: places with coordinates, and how exact these are."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.fakes.functions import posted, sample
from tests.functional.deployed import Deployed, deployed, with_canary
from tests.simulator import Simulator


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with Simulator() as running:
        yield running


@pytest.fixture(params=["nominatim-main", "photon-main"])
def stack(simulator: Simulator, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Deployed]:
    with deployed(simulator, monkeypatch, with_canary(simulator, request.param)) as made:
        yield made


def _asked(stack: Deployed, **arguments: Any) -> Any:
    return stack.envelope("geo_resolve", posted(arguments, tool="geo_resolve"))


def test_a_place_comes_with_coordinates_and_how_exact_they_are(stack: Deployed) -> None:
    """Whichever geocoder answers."""
    answer = _asked(stack, query="Cologne")
    place = answer["data"]["places"][0]
    assert answer["ok"] is True
    assert (round(place["lat"]), round(place["lon"])) == (51, 7)
    assert place["country"] == "DE"
    assert place["osm_id"].partition("/")[0] in ("node", "way", "relation")
    assert place["precision"] != "unknown"
    assert place["untrusted"] is True
    assert "OpenStreetMap" in place["licence"]
    assert answer["data"]["attempts"][0]["outcome"] == "success"


@pytest.mark.parametrize(
    ("query", "precision"),
    [("Paris, Texas", "city"), ("Markt, Brugge", "street"), ("Glockengasse 19", "building"), ("8000", "postcode")],
)
def test_a_town_is_no_building(stack: Deployed, query: str, precision: str) -> None:
    """Nor is a street, whichever geocoder answers."""
    assert _asked(stack, query=query)["data"]["places"][0]["precision"] == precision


def test_places_are_kept_as_evidence_when_asked_to(stack: Deployed) -> None:
    """With their coordinates in the text; a token of this tool alone reads it by its link."""
    assert _asked(stack, query="Cologne")["evidence"] == []
    answer = _asked(stack, query="Cologne", store_evidence=True)
    place, link = answer["data"]["places"][0], answer["evidence"][0]
    assert link["url"] == place["url"]
    event = sample("evidence.get") | {"pathParameters": {"evidence_id": link["id"]}}
    event["requestContext"]["authorizer"] |= {"tools": "geo_resolve"}
    read = stack.envelope("evidence", event)
    assert read["ok"] is True
    assert f"latitude {place['lat']}, longitude {place['lon']}" in read["data"]["content"]


def test_no_place_is_an_answer_too(stack: Deployed) -> None:
    """`ok`, with none."""
    answer = _asked(stack, query="qqqqzzzz nowhere")
    assert answer["ok"] is True
    assert (answer["data"]["places"], answer["data"]["ambiguous"]) == ([], False)
    assert "no geocoder knows such a place" in answer["data"]["note"]


def test_a_dry_run_asks_nobody(stack: Deployed) -> None:
    """The plan of the one search."""
    assert _asked(stack, query="Cologne", dry_run=True)["data"]["plans"]["MAP"]["eligible"]
    assert stack.simulator.requests() == []


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "query"),
        ({"query": "Cologne", "max_results": 21}, "max_results"),
        ({"query": "Cologne", "locale": "klingon"}, "locale"),
        ({"query": "Cologne", "modality": "WEB"}, "modality"),
    ],
)
def test_wrong_arguments_are_refused_and_the_field_named(
    stack: Deployed, arguments: dict[str, Any], field: str
) -> None:
    """Before anybody is asked."""
    answer = _asked(stack, **arguments)
    assert (answer["error"]["status"], answer["error"]["field"]) == (400, field)


@pytest.mark.parametrize("case", ["invoke", "event", "queue"])
def test_it_is_asked_directly_by_event_and_by_queue(stack: Deployed, case: str) -> None:
    """As every tool is."""
    answer = stack.call("geo_resolve", sample(f"geo_resolve.{case}"))
    assert answer == {"batchItemFailures": []} if case == "queue" else answer["ok"] is True


def test_without_a_geocoder_the_problem_names_the_setting(
    simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of every search."""
    with deployed(simulator, monkeypatch, {}) as stack:
        answer = _asked(stack, query="Cologne")
    assert answer["error"]["type"] == "urn:zarniwoop:problem:no-endpoint"
    assert "nominatim" in answer["error"]["suggested_action"]
