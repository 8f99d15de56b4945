"""`geo_resolve`: names and addresses to places with coordinates, and how exact these are (seed 2)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import asin, cos, radians, sin, sqrt
from typing import Any, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.modality import SearchModality, SearchTier
from zarniwoop.contract.request import CacheUse, SearchRequest, SearchScope
from zarniwoop.contract.result import Attempt
from zarniwoop.tools.arguments import MAX_QUERY_CHARS, CallArguments, Count, Flag, Tag, Words, locale_of
from zarniwoop.tools.dry_run import planned
from zarniwoop.tools.evidence_links import NOTHING_KEPT, keep_hits
from zarniwoop.tools.outcome import problem_of
from zarniwoop.tools.place_precision import Precision, precision_of
from zarniwoop.tools.tool import Tool, ToolServices

MOST_PLACES = 20
_EARTH_KM = 6_371.0
_SAME_PLACE_KM = 10.0
MOST_NORTH, MOST_EAST = 90, 180
_DEGREES = r"([+-]?\d{1,3}(?:\.\d{1,30})?)"
_PAIR = re.compile(rf"\s*{_DEGREES}\s*[,;]\s*{_DEGREES}\s*", re.ASCII)
"""Two numbers with a blank between them may be an address: `1600 20500`."""


class GeoArguments(CallArguments):
    """Arguments of `geo_resolve`."""

    query: Words = Field(
        min_length=1,
        max_length=MAX_QUERY_CHARS,
        description="A place or address with its town, in any language; or `latitude, longitude`: what is there?",
    )
    max_results: Count = Field(default=5, ge=1, le=MOST_PLACES, description="How many places at most, 1 to 20.")
    locale: Tag | None = Field(default=None, description="Language of the names as a BCP 47 tag: de, en-GB.")
    cache: CacheUse = Field(
        default=CacheUse.PREFER,
        description="prefer: a kept answer where the project keeps answers; only: that or nothing; no-store: ask anew.",
    )
    free_only: Flag = Field(default=False, description="true: ask only providers whose calls cost nothing.")
    store_evidence: Flag = Field(
        default=False, description="true: keep the places as evidence that `evidence` links to."
    )

    @model_validator(mode="after")
    def _coordinates_are_on_earth(self) -> Self:
        pair = _PAIR.fullmatch(self.query)
        if pair is not None and (abs(float(pair[1])) > MOST_NORTH or abs(float(pair[2])) > MOST_EAST):
            raise PydanticCustomError("off_earth", "latitude is −90 to 90, longitude −180 to 180", {"field": "query"})
        return self

    def to_request(self) -> SearchRequest:
        return SearchRequest(
            query=self.query,
            modality=SearchModality.MAP,
            tier=SearchTier.NORMAL,
            max_results=self.max_results,
            locale=None if self.locale is None else locale_of(self.locale),
            cache=self.cache,
            free_only=self.free_only,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One place. `precision` is what the coordinates are those of; `radius_km` reaches to the corner of its box.

    `kind` is OpenStreetMap's (`amenity=restaurant`), `country` the two letters of ISO 3166. Texts are a stranger's.
    """

    name: str
    lat: float
    lon: float
    precision: Precision
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The best first. `ambiguous`: others of the same name lie elsewhere; only the asker knows which is meant."""

    query: str
    places: tuple[Place, ...]
    ambiguous: bool
    provider_instance_id: str
    attempts: tuple[Attempt, ...]
    cost: float
    cached: bool
    note: str | None = None


_SEVERAL = "several places of this name: say town, region or country along"
_NO_PLACE = "no geocoder knows such a place: check its spelling, say its town or country along, or leave parts out"


def resolve(arguments: GeoArguments, scope: SearchScope, services: ToolServices) -> ToolResult:
    result = services.dispatcher.search(arguments.to_request(), scope)
    problem = problem_of(result, services.dispatcher.factory.protocols, services.clock.now())
    places = tuple(filter(None, map(_place, result.hits)))
    ambiguous = _is_ambiguous(places)
    told = _NO_PLACE if not places else _SEVERAL if ambiguous else None
    evidence, not_kept = NOTHING_KEPT, None
    if arguments.store_evidence:
        evidence, not_kept = keep_hits([replace(result, hits=_in_words(result.hits))], scope, services)
    data = Places(
        query=arguments.query,
        places=places,
        ambiguous=ambiguous,
        provider_instance_id=result.provider_instance_id,
        attempts=result.attempts,
        cost=result.cost,
        cached=result.cached,
        note="; ".join(filter(None, (result.note, told, not_kept))) or None,
    )
    return ToolResult(ok=problem is None, data=data, error=problem, evidence=evidence)


def plan(arguments: GeoArguments, scope: SearchScope, services: ToolServices) -> ToolResult:
    """The dry run."""
    return planned("geo_resolve", services.dispatcher.plan([arguments.to_request()], scope))


def _place(hit: SearchHit) -> Place | None:
    """None for a hit without coordinates, which an add-on may have."""
    extras = hit.extras
    lat, lon = extras.get("latitude"), extras.get("longitude")
    if not isinstance(lat, float) or not isinstance(lon, float):
        return None
    box, address = extras.get("bounding_box"), extras.get("address")
    return Place(
        name=hit.title,
        lat=lat,
        lon=lon,
        precision=precision_of(extras),
        label=hit.snippet,
        bounding_box=box,
        radius_km=_radius(lat, lon, box) if box else None,
        country=_country(address),
        kind=_kind(extras),
        address=address,
        osm_id=hit.identifiers.get("osm"),
        wikidata=hit.identifiers.get("wikidata"),
        url=hit.url,
        source=hit.source,
        licence=extras.get("licence"),
    )


def _in_words(hits: Sequence[SearchHit]) -> tuple[SearchHit, ...]:
    """Places as evidence: the text that is kept of each has its coordinates too, since they are what is cited."""
    return tuple(
        replace(hit, snippet=f"{hit.snippet or hit.title}\nlatitude {place.lat}, longitude {place.lon}")
        for hit in hits
        if (place := _place(hit)) is not None
    )


def _country(address: Mapping[str, str] | None) -> str | None:
    code = (address or {}).get("country_code")
    return code.upper() if code else None


def _kind(extras: Mapping[str, Any]) -> str | None:
    parts = [str(extras[name]) for name in ("category", "type") if extras.get(name)]
    return "=".join(parts) or None


def _is_ambiguous(places: Sequence[Place]) -> bool:
    """Whether another place of the first one's name lies outside of what the first one covers."""
    if not places:
        return False
    first, *others = places
    reach = max(_SAME_PLACE_KM, first.radius_km or 0.0)
    return any(
        other.name.casefold() == first.name.casefold() and _distance(first.lat, first.lon, other.lat, other.lon) > reach
        for other in others
    )


def _radius(lat: float, lon: float, box: Mapping[str, float]) -> float:
    corners = [(box[north], box[east]) for north in ("south", "north") for east in ("west", "east")]
    return round(max(_distance(lat, lon, *corner) for corner in corners), 3)


def _distance(lat: float, lon: float, other_lat: float, other_lon: float) -> float:
    """Kilometres along the great circle (haversine)."""
    north, east = radians(other_lat - lat) / 2, radians(other_lon - lon) / 2
    chord = sin(north) ** 2 + cos(radians(lat)) * cos(radians(other_lat)) * sin(east) ** 2
    return 2 * _EARTH_KM * asin(min(1.0, sqrt(chord)))


GEO_RESOLVE = Tool(
    name="geo_resolve",
    title="Resolve a place",
    description=(
        "Turn the name or address of a place into coordinates, or coordinates into what lies there. Use it to put "
        "something on a map or to tell places of one name apart. Returns `places`, the likeliest first, with lat, lon, "
        "bounding_box, country, kind, OpenStreetMap id and `precision`: whether the coordinates are those of a "
        "building, a street, a town or a country. `ambiguous` says that places of this name lie in several regions: "
        "ask again with town or country. Not for finding businesses by a description, nor for routes."
    ),
    arguments=GeoArguments,
    handle=resolve,
    plan=plan,
    answer=Places,
)
