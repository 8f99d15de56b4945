"""Serper: Google's result pages (web, images, videos, news, Scholar) for credits.

Wire format: JSON, one POST per page; the path picks the kind, the list's key differs per kind. https://serper.dev
Quirks: `date` is free text. A page of ten often holds fewer: only one less than half full is taken for the last.
Knowledge panel and answer box are no pages: their text rides on the first hit (`knowledge_graph`, `answer_box`).
"""

from math import ceil
from typing import Any

from zarniwoop.adapters.serper_items import panels_of, to_hit
from zarniwoop.contract.failure import Cause, MalformedAnswer, QuotaExhausted
from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.modality import SearchDomain, SearchModality
from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.contract.quota import QuotaSource, QuotaStatus
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.transport import HeaderKey, HttpRequest
from zarniwoop.text.operators import Kind
from zarniwoop.text.pairs import behind
from zarniwoop.wire.driver import WireProtocol
from zarniwoop.wire.format import Exchange, Found, QuotaExchange, WireFormat
from zarniwoop.wire.reading import read_hits, read_json

_MOST_PAGES = 3
_DATED = frozenset(("site", "domain", "date_from", "date_to", "freshness_days"))
_KINDS = {  # path, key of the list, filters that it can carry
    SearchModality.WEB: ("search", "organic", _DATED | {"filetype"}),
    SearchModality.PDF: ("search", "organic", _DATED | {"filetype"}),
    SearchModality.IMAGE: ("images", "images", _DATED | {"filetype"}),
    SearchModality.VIDEO: ("videos", "videos", _DATED),
    SearchModality.NEWS: ("news", "news", _DATED),
    SearchModality.ACADEMIC: ("scholar", "organic", frozenset(("site", "domain"))),
}


def exchange(request: SearchRequest, config: ProviderInstanceConfig) -> Exchange:
    path, key, takes = _KINDS[request.modality]
    asked, translated = _question(request, path, takes)
    size = asked.get("num", 10)
    hits: tuple[SearchHit, ...] = ()
    dropped = 0
    for page in range(1, min(_MOST_PAGES, ceil(request.max_results / size)) + 1):
        answer = yield HttpRequest(url=f"{config.base_url}/{path}", method="POST", json=asked | {"page": page})
        body = read_json(answer)
        items = _items(body, path, key)
        ranked = enumerate(items, len(hits) + 1)
        read, lost = read_hits(ranked, lambda pair: to_hit(pair[1], request.modality, rank=pair[0]))
        hits, dropped = hits + read, dropped + lost
        if hits and page == 1 and (panels := panels_of(body)):
            hits = (hits[0].with_extras(panels), *hits[1:])
        if len(hits) >= request.max_results or len(items) < size // 2:
            break
    short = f"Google gave {len(hits)} of the {request.max_results} results asked for"
    note = short if 0 < len(hits) < request.max_results else None
    return Found(hits=hits, dropped_count=dropped, translated=translated, note=note)


def _question(request: SearchRequest, path: str, takes: frozenset[str]) -> tuple[dict[str, Any], frozenset[str]]:
    """The JSON body and the filters it carries. Operators come first: Google ignores words beyond the 32nd."""
    filters = {name: value for name, value in request.expert_params.given() if name in takes}
    filetype = "pdf" if request.modality is SearchModality.PDF else filters.get("filetype")
    place = filters.get("site") or filters.get("domain")
    carried = {"filetype": filetype, "site": place, "domain": place}
    translated = {name for name, value in filters.items() if carried.get(name, value) == value} | {"locale"}
    operators = [f"{name}:{value}" for name, value in (("filetype", filetype), ("site", place)) if value]
    asked: dict[str, Any] = {"q": behind(operators, request.query)}
    if path != "scholar":
        asked["num"] = 100 if path == "images" and request.max_results > 10 else 10
    if request.published and "date_from" in takes:
        ends = (("cd_min", request.published.earliest), ("cd_max", request.published.latest))
        asked["tbs"] = ",".join(("cdr:1", *(f"{name}:{day.month}/{day.day}/{day.year}" for name, day in ends if day)))
    if request.locale:
        asked["hl"] = request.locale.language
    if request.locale and request.locale.region:
        asked["gl"] = request.locale.region.lower()
    return asked, frozenset(translated)


def _items(body: dict[str, Any], path: str, key: str) -> list[Any]:
    """The list asked for. Without it a page is empty if its envelope echoes this kind of search, else malformed."""
    items, envelope = body.get(key), body.get("searchParameters")
    if envelope is None and "not enough credits" in str(body.get("message")).lower():
        raise QuotaExhausted("the credits of this key are used up", cause=Cause.SHAPE)
    if items is None and envelope is not None and envelope.get("type", path) == path:
        return []
    if not isinstance(items, list):
        raise MalformedAnswer("the list of results is missing", cause=Cause.SHAPE)
    return items


def quota_exchange(config: ProviderInstanceConfig) -> QuotaExchange:
    balance = read_json((yield HttpRequest(url=f"{config.base_url}/account")))["balance"]
    return QuotaStatus(source=QuotaSource.PROVIDER, unit="credits", remaining=float(balance))


PROTOCOL = WireProtocol(
    WireFormat(
        protocol_id="serper",
        display_name="Serper (Google)",
        modalities=frozenset(_KINDS),
        domains=frozenset((SearchDomain.WEB, SearchDomain.NEWS, SearchDomain.ACADEMIC)),
        exchange=exchange,
        filters=_DATED | {"filetype", "locale"},
        prompt_hint="""Google: the **open web**, images, videos, PDFs, news and Scholar. Choose it for what is current,
local or commercial. It costs credits: ask the free specialised indexes first for papers and encyclopedic facts.""",
        operators=frozenset((Kind.INTITLE, Kind.NOT_SITE, Kind.OR, Kind.PHRASE, Kind.SITE)),
        index_family="google",
        documentation="https://serper.dev",
        default_base_url="https://google.serper.dev",
        authentication=HeaderKey(name="X-API-KEY"),
        key_required=True,
        key_variable="SERPER_API_KEY",
        takes_generic_key=True,
        quota_exchange=quota_exchange,
        most_calls=lambda request, _config: min(_MOST_PAGES, ceil(request.max_results / 10)),
    )
)
