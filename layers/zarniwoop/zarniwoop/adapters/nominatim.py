"""Nominatim: places and addresses of OpenStreetMap, found by words or by coordinates.

Wire format: JSON ("jsonv2"), one GET of /search, or of /reverse where the query is a pair of coordinates.
https://nominatim.org/release-docs/latest/api/Search/
Quirks: who asks too much gets a page, with whatever status; coordinates come as text; a miss of /reverse is an `error`
in a 200; a postcode is no object of the map. The public server wants to know who asks (the stack's contact is in the
User-Agent) and takes one request a second from an application, however many machines it has:
https://operations.osmfoundation.org/policies/nominatim/
"""

from typing import Any

from zarniwoop.adapters.nominatim_places import to_hit
from zarniwoop.contract.failure import Cause, ProviderError, RateLimited
from zarniwoop.contract.modality import SearchDomain, SearchModality
from zarniwoop.contract.provider import Pacing, ProviderInstanceConfig
from zarniwoop.contract.request import Locale, SearchRequest
from zarniwoop.contract.transport import HttpAnswer, HttpRequest
from zarniwoop.text.urls import host_of
from zarniwoop.wire.driver import WireProtocol
from zarniwoop.wire.extras import contact_field, is_on
from zarniwoop.wire.format import Exchange, Found, SettingField, WireFormat
from zarniwoop.wire.pacing import pacing_subject
from zarniwoop.wire.places import BOUNDED, IGNORES, VIEWBOX, asked_point, viewbox_of
from zarniwoop.wire.reading import read_hits, read_json

_PUBLIC = "nominatim.openstreetmap.org"
_NOTHING_THERE = "Unable to geocode"
_OVER_LIMIT = (b"limit exceeded", b"temporarily blocked")
_CONTACT = contact_field("Sent along as Nominatim's `email`: who answers for many searches.")
_COUNTRIES = SettingField(
    name="countryCodes",
    title="Countries",
    description="Nothing outside them is found, such as `de,at,ch`.",
    pattern=r"[a-z]{2}(,[a-z]{2}){0,29}",
)
_RATE = SettingField(
    name="requestsPerSecond",
    title="Requests per second",
    description="What one's own server takes; not set: it is not held back. The public one is asked once a second.",
    pattern=r"[1-9]\d{0,3}",
)


def exchange(request: SearchRequest, config: ProviderInstanceConfig) -> Exchange:
    point = asked_point(request.query)
    params = {"format": "jsonv2", "addressdetails": "1", "extratags": "1"}
    if request.locale:
        params["accept-language"] = _spoken(request.locale)
    if _CONTACT.name in config.extras:
        params["email"] = config.extras[_CONTACT.name]
    if point:
        params |= {"lat": str(point.latitude), "lon": str(point.longitude)}
        body = read_json((yield HttpRequest(url=f"{config.base_url}/reverse", params=params)))
        places = _place_there(body)
    else:
        params |= {"q": request.query, "limit": str(request.max_results), **_area(config)}
        places = read_json((yield HttpRequest(url=f"{config.base_url}/search", params=params)))
    hits, dropped = read_hits(places, to_hit)
    return Found(hits=hits, dropped_count=dropped, translated=frozenset(("locale",)) if request.locale else frozenset())


def _spoken(locale: Locale) -> str:
    """Names in the locale's language, best as its region has them."""
    return f"{locale},{locale.language}" if locale.region else locale.language


def _area(config: ProviderInstanceConfig) -> dict[str, str]:
    area = {"countrycodes": config.extras.get(_COUNTRIES.name, ""), "viewbox": ""}
    if box := viewbox_of(config):
        area |= {"viewbox": f"{box.west},{box.south},{box.east},{box.north}"}
        area |= {"bounded": "1"} if is_on(config, BOUNDED) else {}
    return {name: value for name, value in area.items() if value}


def _place_there(body: Any) -> list[Any]:
    """One place or none. Raises LookupError for an answer that tells of neither."""
    if body.get("error") == _NOTHING_THERE:
        return []
    if "lat" not in body:
        raise LookupError("no place")
    return [body]


def _classify(answer: HttpAnswer) -> ProviderError | None:
    """The page for who asks too much came with 403, 429, 509 and 200 over the years."""
    begin = answer.body[:4096].lstrip().lower()
    if begin.startswith(b"<") and any(words in begin for words in _OVER_LIMIT):
        return RateLimited("Nominatim says slow down", cause=Cause.STATUS, status=answer.status)
    return None


def _pacing(_request: SearchRequest, config: ProviderInstanceConfig) -> Pacing | None:
    """The public server's rate, whatever is set; elsewhere what is set."""
    host = host_of(config.base_url or "") or _PUBLIC
    rate = "1" if host == _PUBLIC else config.extras.get(_RATE.name)
    return Pacing(subject=pacing_subject(config), requests=int(rate), seconds=1.0) if rate else None


PROTOCOL = WireProtocol(
    WireFormat(
        protocol_id="nominatim",
        display_name="Nominatim",
        modalities=frozenset((SearchModality.MAP,)),
        domains=frozenset((SearchDomain.PLACES,)),
        exchange=exchange,
        filters=frozenset(("locale",)),
        prompt_hint=(
            "**Nominatim** finds places of OpenStreetMap with coordinates, bounding box and the parts of their "
            "address. Ask with an address or a place's name and its town, separated by commas, in any language; or "
            "with `latitude, longitude` to learn what is there. It takes one search a second: it is for single "
            "places, not for lists of them, and not for questions such as `best cafés`."
        ),
        index_family="openstreetmap",
        documentation="https://nominatim.org/release-docs/latest/api/Search/",
        default_base_url=f"https://{_PUBLIC}",
        max_results=40,
        ignores=IGNORES,
        setting_fields=(_CONTACT, _COUNTRIES, VIEWBOX, BOUNDED, _RATE),
        classify=_classify,
        pacing=_pacing,
    )
)
