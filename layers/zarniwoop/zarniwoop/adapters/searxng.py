"""SearXNG: a metasearch engine of one's own, which asks many search engines at once for web, news, media and papers.

Wire format: JSON, one GET of /search per page. https://docs.searxng.org/dev/search_api.html
Quirks: JSON is off unless its settings say otherwise, and asking for it then is a 403; engines that were blocked are
named in an answer that may hold nothing; results without an address (key and value) lie among the others; `!!` in a
query sends the asker elsewhere. Where a page has no more to give is told by nothing but an empty one.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from zarniwoop.adapters.searxng_items import panels_of, to_hit
from zarniwoop.adapters.searxng_query import CATEGORIES, CATEGORIES_OF, ENGINES, MOST_PAGES, question
from zarniwoop.contract.failure import AccessRefused, Cause, ProviderError, RateLimited
from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.modality import SearchDomain
from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.transport import HeaderKey, HttpAnswer, HttpRequest
from zarniwoop.text.operators import Kind
from zarniwoop.text.plain import clip, plain
from zarniwoop.wire.driver import WireProtocol
from zarniwoop.wire.format import Exchange, Found, WireFormat
from zarniwoop.wire.reading import read_hits, read_json

_MOST_NAMED = 5
_LONGEST_NAME = 40


def exchange(request: SearchRequest, config: ProviderInstanceConfig) -> Exchange:
    asked = question(request, config)
    hits: dict[tuple[str, str | None], SearchHit] = {}  # engines count pages each for itself: a hit may come twice
    silent: dict[str, None] = {}
    dropped = 0
    for page in range(1, MOST_PAGES + 1):
        params = asked.params | ({"pageno": str(page)} if page > 1 else {})
        body = read_json((yield HttpRequest(url=f"{config.base_url}/search", params=params)))
        read, lost = read_hits(body["results"], lambda item: to_hit(item, request.modality))
        if read and not hits and (panels := panels_of(body)):
            read = (read[0].with_extras(panels), *read[1:])
        known, dropped = len(hits), dropped + lost
        for hit in read:
            hits.setdefault((hit.url, hit.extras.get("image_url")), hit)
        silent |= dict.fromkeys(_silent(body))
        if len(hits) >= request.max_results or len(hits) == known:
            break
    told = f"engines that did not answer: {_named(list(silent))}" if silent else None
    return Found(
        hits=tuple(hits.values()),
        dropped_count=dropped,
        translated=asked.translated,
        note=told if hits else None,
        degraded=None if hits else told,
    )


def _silent(body: Mapping[str, Any]) -> Iterator[str]:
    """The names of engines that were blocked, timed out or failed; why is told in the instance's language."""
    for entry in body.get("unresponsive_engines") or ():
        first = entry[0] if isinstance(entry, list) and entry else entry
        if isinstance(first, str) and (name := plain(first)):
            yield clip(name, _LONGEST_NAME)


def _named(names: list[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _classify(answer: HttpAnswer) -> ProviderError | None:
    """What whoever runs the instance can mend, said so that they can."""
    if answer.status == 403 and answer.body.lstrip()[:1] == b"<" and b"forbidden" in answer.body[:2_000].lower():
        return AccessRefused(
            "this instance does not give JSON: its settings.yml must say `search.formats: [html, json]`",
            cause=Cause.STATUS,
            status=403,
        )
    if answer.status == 429:
        return RateLimited(
            "this instance's limiter holds us back: let our address pass, or turn it off",
            cause=Cause.STATUS,
            status=429,
        )
    return None


PROTOCOL = WireProtocol(
    WireFormat(
        protocol_id="searxng",
        display_name="SearXNG",
        modalities=frozenset(CATEGORIES_OF),
        domains=frozenset((SearchDomain.WEB, SearchDomain.NEWS, SearchDomain.ACADEMIC, SearchDomain.CODE)),
        exchange=exchange,
        filters=frozenset(("freshness_days", "locale")),
        prompt_hint="""**SearXNG** is the house's own metasearch: many engines at once for web, news, images, videos,
papers and code, for no money. Choose it for breadth. Its engines may be blocked for a while, which it then tells.""",
        form_hint="""The address of an instance of your own is needed. Its settings.yml must say `search.formats: [html,
json]`, and its limiter must let our address pass. The key, if any, is one of the proxy before it.""",
        operators=frozenset((Kind.OR, Kind.PHRASE)),
        index_family="searxng",
        documentation="https://docs.searxng.org/dev/search_api.html",
        authentication=HeaderKey(name="Authorization", prefix="Bearer "),
        key_variable="SEARXNG_API_KEY",
        max_results=60,
        setting_fields=(CATEGORIES, ENGINES),
        classify=_classify,
        most_calls=lambda _request, _config: MOST_PAGES,
    )
)
