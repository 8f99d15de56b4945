"""Shelf: a made-up index of a reading room, as an add-on would bring it.

Wire format: JSON, one GET: `/find?words=…&most=…` answers `{"volumes": [{"name", "place", "link"}]}`.
"""

from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.modality import SearchDomain, SearchModality
from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.transport import HeaderKey, HttpRequest
from zarniwoop.text.plain import plain
from zarniwoop.wire.driver import WireProtocol
from zarniwoop.wire.format import Exchange, Found, SettingField, WireFormat
from zarniwoop.wire.reading import read_hits, read_json


def exchange(request: SearchRequest, config: ProviderInstanceConfig) -> Exchange:
    answer = yield HttpRequest(
        url=f"{config.base_url}/find",
        params={"words": request.query, "most": str(request.max_results), "room": config.extras["room"]},
    )
    hits, dropped = read_hits(read_json(answer)["volumes"], to_hit)
    return Found(hits=hits, dropped_count=dropped)


def to_hit(volume: dict[str, str]) -> SearchHit | None:
    title = plain(volume["name"])
    if title is None:
        return None
    return SearchHit(title=title, url=volume["link"], source=volume.get("place"), modality=SearchModality.BOOK)


PROTOCOL = WireProtocol(
    WireFormat(
        protocol_id="shelf",
        display_name="Shelf",
        modalities=frozenset({SearchModality.BOOK}),
        domains=frozenset({SearchDomain.BOOKS}),
        exchange=exchange,
        prompt_hint="The reading room's own volumes. Choose it for what the public indexes do not hold.",
        index_family="shelf",
        documentation="https://shelf.example/api",
        authentication=HeaderKey(name="X-Shelf-Key"),
        setting_fields=(
            SettingField(
                name="room",
                title="Room",
                description="Which reading room.",
                pattern=r"[A-Za-z0-9 ]{1,40}",
                required=True,
            ),
        ),
    )
)
