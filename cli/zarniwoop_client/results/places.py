"""Places as `geo_resolve` found them."""

from collections.abc import Mapping

from zarniwoop_client.results.record import Record
from zarniwoop_client.results.searches import Attempt


class Place(Record):
    """One place. `precision` is what the coordinates are those of; `radius_km` reaches to the corner of its box.

    `kind` is OpenStreetMap's (`amenity=restaurant`), `country` the two letters of ISO 3166. Texts are a stranger's.
    """

    name: str
    lat: float
    lon: float
    precision: str
    label: str | None = None
    bounding_box: Mapping[str, float] | None = None
    radius_km: float | None = None
    country: str | None = None
    kind: str | None = None
    address: Mapping[str, str] | None = None
    osm_id: str | None = None
    wikidata: str | None = None
    url: str | None = None
    source: str | None = None
    licence: str | None = None
    untrusted: bool = True


class Places(Record):
    """The best first. `ambiguous`: others of the same name lie elsewhere; only the asker knows which is meant."""

    query: str
    places: tuple[Place, ...]
    ambiguous: bool
    provider_instance_id: str
    attempts: tuple[Attempt, ...]
    cost: float
    cached: bool
    note: str | None = None
