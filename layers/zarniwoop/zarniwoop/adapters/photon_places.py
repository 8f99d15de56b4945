"""A place of Photon as a hit.

Format: GeoJSON with the properties of https://github.com/geocoders/geocodejson-spec and those of the map's object.
Quirks: a house often has no name; a country's code is in capitals, everywhere else in OpenStreetMap's world it is not;
the postcodes of a town stand in one text. Extras: as those of Nominatim, and `layer` (house, street, city …).
"""

from collections.abc import Mapping
from typing import Any

from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.text.plain import clip, plain
from zarniwoop.wire.places import LICENCE, Box, Point, known, object_of, page_of

_PARTS = {
    "housenumber": "house_number",
    "street": "road",
    "locality": "locality",
    "district": "district",
    "postcode": "postcode",
    "city": "city",
    "county": "county",
    "state": "state",
    "country": "country",
}
"""The parts of an address in the order in which they are read, and their names here, as Nominatim has them."""

_LONGEST_POSTCODE = 12


def to_hit(feature: Mapping[str, Any]) -> SearchHit | None:
    properties = feature["properties"]
    longitude, latitude = feature["geometry"]["coordinates"][:2]
    point = Point(latitude=float(latitude), longitude=float(longitude))
    address = {ours: text for theirs, ours in _PARTS.items() if (text := plain(properties.get(theirs)))}
    title = plain(properties.get("name")) or _unnamed(address)
    if title is None:
        return None
    osm_object = object_of(properties.get("osm_type"), properties.get("osm_id"))
    country_code = plain(properties.get("countrycode"))
    return SearchHit(
        title=title,
        url=page_of(osm_object, point),
        modality=SearchModality.MAP,
        snippet=_whole(title, address),
        source="OpenStreetMap",
        identifiers={"osm": osm_object} if osm_object else {},
        extras=known(
            {
                "latitude": point.latitude,
                "longitude": point.longitude,
                "bounding_box": _box(properties.get("extent")),
                "category": plain(properties.get("osm_key")),
                "type": plain(properties.get("osm_value")),
                "layer": plain(properties.get("type")),
                "address": address | ({"country_code": country_code.lower()} if country_code else {}) or None,
                "licence": LICENCE,
            }
        ),
    )


def _street(address: Mapping[str, str]) -> str:
    """Number before street, as Nominatim writes them."""
    return ", ".join(address[part] for part in ("house_number", "road") if part in address)


def _unnamed(address: Mapping[str, str]) -> str | None:
    """What has no name is called by its address."""
    return _street(address) or next(iter(address.values()), None)


def _whole(title: str, address: Mapping[str, str]) -> str:
    """The place on one line; what stands there already is not said again."""
    parts = [title]
    for part in (_street(address), *(text for name, text in address.items() if name not in ("house_number", "road"))):
        short = clip(part, _LONGEST_POSTCODE) if part == address.get("postcode") else part
        if short and short not in parts:
            parts.append(short)
    return ", ".join(parts)


def _box(extent: list[float] | None) -> dict[str, float] | None:
    if not extent:
        return None
    west, north, east, south = (float(each) for each in extent)
    return Box(south=south, north=north, west=west, east=east).as_extra()
