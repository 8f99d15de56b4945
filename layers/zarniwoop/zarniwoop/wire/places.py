"""Places of OpenStreetMap, as the geocoders over it give them: coordinates, boxes, addresses of objects.

https://wiki.openstreetmap.org/wiki/Elements and https://wiki.openstreetmap.org/wiki/Permalink
Quirk: whoever shows the data has to name their makers, so every place carries `licence` among its extras.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite

from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.wire.extras import YES_OR_NO
from zarniwoop.wire.format import SettingField

SITE = "https://www.openstreetmap.org"
LICENCE = "Data © OpenStreetMap contributors, ODbL 1.0. https://www.openstreetmap.org/copyright"
NO_DATE = "places have no date of publication"
IGNORES = dict.fromkeys(("date_from", "date_to", "freshness_days"), NO_DATE) | {"filetype": "places are no files"}
_ZOOM = 16
_NORTH = r"([+-]?(?:90(?:\.0{1,15})?|[0-8]?\d(?:\.\d{1,15})?))"
_EAST = r"([+-]?(?:180(?:\.0{1,15})?|(?:1[0-7]\d|\d{1,2})(?:\.\d{1,15})?))"
_POINT = re.compile(rf"\s*{_NORTH}\s*[,;\s]\s*{_EAST}\s*")
_BOX = re.compile(rf"{_EAST},{_NORTH},{_EAST},{_NORTH}")
_KINDS = {"node": "node", "way": "way", "relation": "relation", "N": "node", "W": "way", "R": "relation"}

VIEWBOX = SettingField(
    name="viewbox",
    title="Area",
    description="Where to look first: west,south,east,north in degrees, such as `5.9,45.8,10.5,47.8`.",
    pattern=_BOX.pattern,
)
BOUNDED = SettingField(
    name="bounded",
    title="Only in the area",
    description="`true`: nothing outside `viewbox` is found.",
    default="false",
    pattern=YES_OR_NO,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """Degrees north and east. Raises ValueError for what lies on no map."""

    latitude: float
    longitude: float

    def __post_init__(self) -> None:
        on_earth = isfinite(self.latitude) and isfinite(self.longitude)
        if not on_earth or abs(self.latitude) > 90 or abs(self.longitude) > 180:
            raise ValueError("no place on earth")


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """An area. West may lie east of east, where the box spans the date line."""

    south: float
    north: float
    west: float
    east: float

    def middle(self) -> Point:
        """Where a search looks first that knows no borders."""
        return Point(latitude=(self.south + self.north) / 2, longitude=(self.west + self.east) / 2)

    def as_extra(self) -> dict[str, float]:
        return {"south": self.south, "north": self.north, "west": self.west, "east": self.east}


def asked_point(query: str) -> Point | None:
    """Coordinates, latitude first, that are all of the query; then what lies there is asked for."""
    found = _POINT.fullmatch(query)
    return Point(latitude=float(found[1]), longitude=float(found[2])) if found else None


def viewbox_of(config: ProviderInstanceConfig) -> Box | None:
    """The area that the settings name."""
    found = _BOX.fullmatch(config.extras.get(VIEWBOX.name, ""))
    if found is None:
        return None
    west, south, east, north = (float(each) for each in found.groups())
    return Box(south=south, north=north, west=west, east=east)


def object_of(kind: object, number: object) -> str | None:
    """`way/24981342`, or None where the place is no object of the map, as the middle of a postcode is."""
    known = _KINDS.get(kind) if isinstance(kind, str) else None
    written = str(number) if isinstance(number, (str, int)) and not isinstance(number, bool) else ""
    return f"{known}/{written}" if known and re.fullmatch(r"[1-9]\d{0,18}", written) else None


def page_of(osm_object: str | None, point: Point) -> str:
    """The object's page, else the map around the point with a mark in it."""
    if osm_object:
        return f"{SITE}/{osm_object}"
    latitude, longitude = f"{point.latitude:.7g}", f"{point.longitude:.7g}"
    return f"{SITE}/?mlat={latitude}&mlon={longitude}#map={_ZOOM}/{latitude}/{longitude}"


def known(parts: Mapping[str, object]) -> dict[str, object]:
    """The parts without those that nobody knows."""
    return {name: part for name, part in parts.items() if part is not None}
