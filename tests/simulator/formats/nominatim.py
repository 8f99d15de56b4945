"""Nominatim: places of OpenStreetMap.

Wire format: GET /search with `q`, `format`, `limit`, `countrycodes`, `viewbox`, `bounded`, `accept-language`;
GET /reverse with `lat` and `lon`. https://nominatim.org/release-docs/latest/api/Search/
Quirks: search is a list and reverse an object, or an `error` in a 200 where nothing is; coordinates and boxes are text;
a postcode has no `osm_type`; a refusal is JSON, but who does not say who asks, or asks too much, gets a page.
"""

from collections.abc import Mapping
from typing import Any

from tests.simulator.corpus import Place
from tests.simulator.formats.format import Format, World
from tests.simulator.messages import Answer, Request, json_answer, natural, text_answer

_LICENCE = "Data © OpenStreetMap contributors, ODbL 1.0. http://osm.org/copyright"
_PAGE = "text/html; charset=utf-8"
_MOST = 40
_RANKS = {"city": 16, "street": 26}
"""By the layer; a house and whatever else is a point has the last of them."""
_POINT_RANK = 30
_POSTCODE_RANK = 21
_FAR = 1.0
_SLOW_DOWN = text_answer(
    "<html>\n<head>\n<title>Bandwidth limit exceeded</title>\n</head>\n<body>\n<h1>Bandwidth limit exceeded</h1>\n\n"
    "<p>You have been temporarily blocked because you ask more than once a second.</p>\n</body>\n</html>\n",
    status=429,
    media_type=_PAGE,
)
_BLOCKED = text_answer(
    "<html>\n<head>\n<title>Access blocked</title>\n</head>\n<body>\n<h1>Access blocked</h1>\n\n<p>Please set a custom "
    "HTTP user agent, as the usage policy says.</p>\n</body>\n</html>\n",
    status=403,
    media_type=_PAGE,
)


def answer(request: Request, world: World) -> Answer:
    if not request.headers.get("user-agent"):
        return _BLOCKED
    asked = request.query
    if asked.get("format", "jsonv2") not in ("json", "jsonv2"):
        return _refused("Parameter 'format' must be one of: json, jsonv2")
    try:
        if request.path == "/reverse":
            return _reverse(asked, world)
        if request.path == "/search":
            return _search(asked, world)
    except ValueError:
        return _refused("A parameter must be a number")
    return _refused("Not found", status=404)


def _search(asked: Mapping[str, str], world: World) -> Answer:
    query = asked.get("q", "").replace(",", " ")
    if not query.strip():
        return _refused("Nothing to search for.")
    countries = set(filter(None, asked.get("countrycodes", "").split(",")))
    box = _box(asked.get("viewbox")) if asked.get("bounded") == "1" else None

    def keep(place: Place) -> bool:
        return (not countries or place.country_code in countries) and (box is None or _lies_in(place, box))

    limit = natural(asked.get("limit"), 10, least=1, most=_MOST)
    found = world.library.places.search(query, keep=keep, count=limit).items
    return json_answer([_place(place, asked) for place in found])


def _reverse(asked: Mapping[str, str], world: World) -> Answer:
    latitude, longitude = float(asked.get("lat", "")), float(asked.get("lon", ""))
    near = sorted(world.library.places.items, key=lambda place: place.distance(latitude, longitude))
    if not near or near[0].distance(latitude, longitude) > _FAR:
        return json_answer({"error": "Unable to geocode"})
    return json_answer(_place(near[0], asked))


def _box(viewbox: str | None) -> tuple[float, float, float, float] | None:
    """Any two corners. Raises ValueError."""
    if not viewbox:
        return None
    one_x, one_y, other_x, other_y = (float(each) for each in viewbox.split(","))
    return min(one_x, other_x), min(one_y, other_y), max(one_x, other_x), max(one_y, other_y)


def _lies_in(place: Place, box: tuple[float, float, float, float]) -> bool:
    west, south, east, north = box
    return west <= place.longitude <= east and south <= place.latitude <= north


def _place(place: Place, asked: Mapping[str, str]) -> dict[str, Any]:
    language = asked.get("accept-language", "").rpartition(",")[2]
    name = place.name_in(language)
    described: dict[str, Any] = {"place_id": place.osm_id + 1, "licence": _LICENCE}
    if place.osm_type:
        described |= {"osm_type": place.osm_type, "osm_id": place.osm_id}
    half = place.half_degrees
    corners = (place.latitude - half, place.latitude + half, place.longitude - half, place.longitude + half)
    described |= {
        "lat": f"{place.latitude:.7f}",
        "lon": f"{place.longitude:.7f}",
        "category" if asked.get("format", "jsonv2") == "jsonv2" else "class": place.category,
        "type": place.type,
        "place_rank": _POSTCODE_RANK if place.type == "postcode" else _RANKS.get(place.layer, _POINT_RANK),
        "importance": place.importance,
        "addresstype": place.category,
        "name": name,
        "display_name": ", ".join(part for part in _line(place, name) if part),
        "boundingbox": [f"{corner:.7f}" for corner in corners],
    }
    if asked.get("addressdetails") == "1":
        described["address"] = _address(place, name)
    if asked.get("extratags") == "1":
        tags = {"website": place.website, "wikipedia": place.wikipedia}
        described["extratags"] = {tag: value for tag, value in tags.items() if value} or None
    return described


def _line(place: Place, name: str) -> tuple[str | None, ...]:
    postcode = None if place.type == "postcode" else place.postcode
    area = (place.district, place.city, place.county, place.state, postcode, place.country)
    return (name, place.house_number, place.road, *area)


def _address(place: Place, name: str) -> dict[str, str]:
    parts = {
        place.category: name,
        "house_number": place.house_number,
        "road": place.road,
        "suburb": place.district,
        "city": place.city,
        "county": place.county,
        "state": place.state,
        "postcode": place.postcode,
        "country": place.country,
        "country_code": place.country_code,
    }
    return {part: value for part, value in parts.items() if value}


def _refused(message: str, status: int = 400) -> Answer:
    return json_answer({"error": {"code": status, "message": message}}, status=status)


FORMAT = Format(name="nominatim", answer=answer, refusals={429: _SLOW_DOWN})
