"""Photon: places of OpenStreetMap by a search that forgives typing errors and half-typed names.

Wire format: GeoJSON, one GET of /api, or of /reverse where the query is a pair of coordinates.
https://github.com/komoot/photon/blob/master/docs/api-v1.md
Quirks: coordinates are east before north, a box is west, north, east, south; any property may be absent; a language
that the server does not have is a 400. The public server states no rate: "be fair", or be throttled.
"""

from zarniwoop.adapters.photon_places import to_hit
from zarniwoop.contract.modality import SearchDomain, SearchModality
from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.transport import HttpRequest
from zarniwoop.wire.driver import WireProtocol
from zarniwoop.wire.extras import is_on
from zarniwoop.wire.format import Exchange, Found, SettingField, WireFormat
from zarniwoop.wire.places import BOUNDED, IGNORES, VIEWBOX, asked_point, viewbox_of
from zarniwoop.wire.reading import read_hits, read_json

_COUNTRY = SettingField(
    name="countryCode",
    title="Country",
    description="Nothing outside it is found, such as `de`.",
    pattern=r"[a-z]{2}",
)
_LANGUAGES = SettingField(
    name="languages",
    title="Languages",
    description="In which the server has names; the public one has these three.",
    default="de,en,fr",
    pattern=r"[a-z]{2}(,[a-z]{2}){0,29}",
)


def exchange(request: SearchRequest, config: ProviderInstanceConfig) -> Exchange:
    point, spoken = asked_point(request.query), _language(request, config)
    params = {"limit": str(request.max_results), **({"lang": spoken} if spoken else {})}
    if point:
        params |= {"lat": str(point.latitude), "lon": str(point.longitude)}
    else:
        params |= {"q": request.query, **_area(config)}
    url = f"{config.base_url}/{'reverse' if point else 'api'}"
    hits, dropped = read_hits(read_json((yield HttpRequest(url=url, params=params)))["features"], to_hit)
    return Found(hits=hits, dropped_count=dropped, translated=frozenset(("locale",)) if spoken else frozenset())


def _language(request: SearchRequest, config: ProviderInstanceConfig) -> str | None:
    known = config.extras.get(_LANGUAGES.name, _LANGUAGES.default or "").split(",")
    return request.locale.language if request.locale and request.locale.language in known else None


def _area(config: ProviderInstanceConfig) -> dict[str, str]:
    """An area is a border where it is bounded, else what lies near its middle comes first."""
    country, box = config.extras.get(_COUNTRY.name), viewbox_of(config)
    area = {"countrycode": country.upper()} if country else {}
    if box is None:
        return area
    if is_on(config, BOUNDED):
        return area | {"bbox": f"{box.west},{box.south},{box.east},{box.north}"}
    middle = box.middle()
    return area | {"lat": f"{middle.latitude:.6g}", "lon": f"{middle.longitude:.6g}"}


PROTOCOL = WireProtocol(
    WireFormat(
        protocol_id="photon",
        display_name="Photon",
        modalities=frozenset((SearchModality.MAP,)),
        domains=frozenset((SearchDomain.PLACES,)),
        exchange=exchange,
        filters=frozenset(("locale",)),
        prompt_hint=(
            "**Photon** finds places of OpenStreetMap although they are half-typed or misspelt, with coordinates, "
            "bounding box and the parts of their address. Ask with a name and a town, or an address; or with "
            "`latitude, longitude` to learn what is near. It knows what things are called, not how good they are."
        ),
        index_family="openstreetmap",
        documentation="https://github.com/komoot/photon/blob/master/docs/api-v1.md",
        default_base_url="https://photon.komoot.io",
        max_results=50,
        ignores=IGNORES | {"locale": "the server has no names in this language and gives them as they are said there"},
        setting_fields=(_COUNTRY, VIEWBOX, BOUNDED, _LANGUAGES),
    )
)
