"""A place of Nominatim as a hit.

Format: https://nominatim.org/release-docs/latest/api/Output/
Quirks: coordinates are text; the box is south, north, west, east; the class of a place is `category`, on old servers
`class`; ids are text there; a name of its own is given by new servers alone, else it is the begin of the whole address.
Extras: `latitude`, `longitude`, `bounding_box`, `category`, `type`, `address` (its parts), `importance` (0 to 1),
`place_rank`, `website`, `wikipedia` (`en:Title`), `licence`.
"""

from collections.abc import Mapping
from typing import Any

from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.text.plain import plain
from zarniwoop.text.urls import http_url
from zarniwoop.wire.places import LICENCE, Box, Point, known, object_of, page_of


def to_hit(place: Mapping[str, Any]) -> SearchHit | None:
    point = Point(latitude=float(place["lat"]), longitude=float(place["lon"]))
    whole, address = plain(place["display_name"]), _address(place)
    title = _title(place, whole, address)
    if whole is None or title is None:
        return None
    osm_object = object_of(place.get("osm_type"), place.get("osm_id"))
    tags = place.get("extratags") or {}
    identifiers = {"osm": osm_object, "wikidata": plain(tags.get("wikidata"))}
    return SearchHit(
        title=title,
        url=page_of(osm_object, point),
        modality=SearchModality.MAP,
        snippet=whole,
        source="OpenStreetMap",
        identifiers={name: value for name, value in identifiers.items() if value},
        extras=known(
            {
                "latitude": point.latitude,
                "longitude": point.longitude,
                "bounding_box": _box(place.get("boundingbox")),
                "category": plain(place.get("category") or place.get("class")),
                "type": plain(place.get("type")),
                "address": address or None,
                "importance": place.get("importance"),
                "place_rank": place.get("place_rank"),
                "website": http_url(tags.get("website") or tags.get("contact:website")),
                "wikipedia": plain(tags.get("wikipedia")),
                "licence": plain(place.get("licence")) or LICENCE,
            }
        ),
    )


def _title(place: Mapping[str, Any], whole: str | None, address: Mapping[str, str]) -> str | None:
    """The place's name; of a house without one its number and street."""
    parts = (whole or "").split(", ")
    is_house = len(parts) > 1 and parts[0] == address.get("house_number")
    return plain(place.get("name")) or plain(", ".join(parts[: 2 if is_house else 1]))


def _address(place: Mapping[str, Any]) -> dict[str, str]:
    return {name: text for name, part in (place.get("address") or {}).items() if (text := plain(part))}


def _box(corners: list[str] | None) -> dict[str, float] | None:
    if not corners:
        return None
    south, north, west, east = (float(each) for each in corners)
    return Box(south=south, north=north, west=west, east=east).as_extra()
