"""How exact the coordinates of a place are, by what the geocoders say it is.

Nominatim: `place_rank`, https://nominatim.org/release-docs/latest/customize/Ranking/ . Photon: `layer`. Neither: the
type of the map's object.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class Precision(StrEnum):
    """From the most exact to the least. The coordinates of an area are those of its middle or its label."""

    BUILDING = "building"
    POINT = "point"
    STREET = "street"
    DISTRICT = "district"
    POSTCODE = "postcode"
    CITY = "city"
    COUNTY = "county"
    REGION = "region"
    COUNTRY = "country"
    UNKNOWN = "unknown"


_RANKS = (
    (29, Precision.BUILDING),
    (28, Precision.POINT),
    (26, Precision.STREET),
    (17, Precision.DISTRICT),
    (13, Precision.CITY),
    (10, Precision.COUNTY),
    (5, Precision.REGION),
    (4, Precision.COUNTRY),
)
"""From this rank on."""
_WORDS = {
    "house": Precision.BUILDING,
    "building": Precision.BUILDING,
    "street": Precision.STREET,
    "road": Precision.STREET,
    "locality": Precision.DISTRICT,
    "district": Precision.DISTRICT,
    "suburb": Precision.DISTRICT,
    "neighbourhood": Precision.DISTRICT,
    "quarter": Precision.DISTRICT,
    "postcode": Precision.POSTCODE,
    "city": Precision.CITY,
    "town": Precision.CITY,
    "village": Precision.CITY,
    "hamlet": Precision.CITY,
    "county": Precision.COUNTY,
    "state": Precision.REGION,
    "region": Precision.REGION,
    "country": Precision.COUNTRY,
    "other": Precision.POINT,
}


def precision_of(extras: Mapping[str, Any]) -> Precision:
    kind = extras.get("type")
    if kind == "postcode":
        return Precision.POSTCODE
    layer, rank = extras.get("layer"), extras.get("place_rank")
    if isinstance(layer, str) and layer in _WORDS:
        return _WORDS[layer]
    if isinstance(rank, int):
        return next((precision for least, precision in _RANKS if rank >= least), Precision.UNKNOWN)
    return _WORDS.get(kind, Precision.UNKNOWN) if isinstance(kind, str) else Precision.UNKNOWN
