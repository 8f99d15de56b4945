"""Photon: places of OpenStreetMap, forgivingly.

Wire format: GET /api with `q`, `limit`, `lang`, `lat`, `lon`, `bbox`, `countrycode`; GET /reverse with `lat` and `lon`.
https://github.com/komoot/photon/blob/master/docs/api-v1.md
Quirks: GeoJSON, with east before north; an `extent` is west, north, east, south; what is not known is left out; every
refusal is a 400 with a `message`, that of a language too.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tests.simulator.corpus import Place
from tests.simulator.formats.format import Format, World
from tests.simulator.messages import Answer, Request, json_answer, natural

_LANGUAGES = ("default", "de", "en", "fr")
_MOST = 50
_FAR = 1.0
_TYPES = {"node": "N", "way": "W", "relation": "R"}


def answer(request: Request, world: World) -> Answer:
    asked = request.query
    language = asked.get("lang", "default")
    if language not in _LANGUAGES:
        known = ", ".join(_LANGUAGES)
        return _refused(f"language {language} is not supported, supported languages are: {known}")
    try:
        if request.path == "/api":
            return _search(asked, world, language)
        if request.path == "/reverse":
            return _features(_near(asked, world), asked, language, default=1)
    except ValueError:
        return _refused("a parameter is no number")
    return json_answer({"message": "Not found"}, status=404)


def _search(asked: Mapping[str, str], world: World, language: str) -> Answer:
    query = asked.get("q", "").replace(",", " ")
    if not query.strip():
        return _refused("missing search term 'q': /?q=berlin")
    country, box = asked.get("countrycode", "").lower(), _box(asked.get("bbox"))

    def keep(place: Place) -> bool:
        return (not country or place.country_code == country) and (box is None or _lies_in(place, box))

    places = world.library.places
    found: Iterable[Place] = places.search(query, keep=keep, count=len(places.items)).items
    if "lat" in asked and "lon" in asked:
        latitude, longitude = float(asked["lat"]), float(asked["lon"])
        found = sorted(found, key=lambda place: place.distance(latitude, longitude))
    return _features(found, asked, language, default=15)


def _near(asked: Mapping[str, str], world: World) -> list[Place]:
    latitude, longitude = float(asked.get("lat", "")), float(asked.get("lon", ""))
    near = [place for place in world.library.places.items if place.distance(latitude, longitude) <= _FAR]
    return sorted(near, key=lambda place: place.distance(latitude, longitude))


def _box(written: str | None) -> Sequence[float] | None:
    """West, south, east, north. Raises ValueError."""
    if not written:
        return None
    corners = [float(each) for each in written.split(",")]
    if len(corners) != 4:
        raise ValueError("four numbers make a box")
    return corners


def _lies_in(place: Place, box: Sequence[float]) -> bool:
    west, south, east, north = box
    return west <= place.longitude <= east and south <= place.latitude <= north


def _features(places: Iterable[Place], asked: Mapping[str, str], language: str, *, default: int) -> Answer:
    limit = natural(asked.get("limit"), default, least=1, most=_MOST)
    features = [_feature(place, language) for place in list(places)[:limit]]
    return json_answer({"features": features, "type": "FeatureCollection"})


def _feature(place: Place, language: str) -> dict[str, Any]:
    half, is_area = place.half_degrees, place.osm_type in ("way", "relation")
    west, east = round(place.longitude - half, 7), round(place.longitude + half, 7)
    extent = [west, round(place.latitude + half, 7), east, round(place.latitude - half, 7)]
    properties = {
        "osm_type": _TYPES.get(place.osm_type),
        "osm_id": place.osm_id or None,
        "osm_key": place.category,
        "osm_value": place.type,
        "type": place.layer,
        "name": place.name_in(language),
        "housenumber": place.house_number,
        "street": place.road,
        "district": place.district,
        "city": place.city,
        "county": place.county,
        "state": place.state,
        "postcode": place.postcode,
        "country": place.country,
        "countrycode": place.country_code.upper(),
        "extent": extent if is_area else None,
    }
    return {
        "geometry": {"coordinates": [place.longitude, place.latitude], "type": "Point"},
        "type": "Feature",
        "properties": {name: value for name, value in properties.items() if value},
    }


def _refused(message: str) -> Answer:
    return json_answer({"message": message}, status=400)


FORMAT = Format(name="photon", answer=answer)
