"""Wikipedia, and any other MediaWiki that has the TextExtracts extension.

Wire format: JSON, one GET of /w/api.php: a search as generator, so that leads, addresses and descriptions come along.
https://www.mediawiki.org/wiki/API:Search and https://www.mediawiki.org/wiki/Extension:TextExtracts
Quirks: an error is a 200 with an `error` object; at most 20 leads come in one answer; each language is a host.
"""

from zarniwoop.adapters.wikipedia_pages import pages_of, suggestion, to_hit
from zarniwoop.contract.failure import Cause, ProviderError, ProviderUnavailable, QueryRejected, RateLimited
from zarniwoop.contract.hit import ContentReference, LoadedContent
from zarniwoop.contract.modality import SearchDomain, SearchModality
from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.transport import HttpAnswer, HttpRequest
from zarniwoop.text.languages import primary_language
from zarniwoop.text.operators import Kind
from zarniwoop.text.urls import host_of, http_url
from zarniwoop.wire.driver import WireProtocol
from zarniwoop.wire.format import ContentExchange, Exchange, Found, SettingField, WireFormat
from zarniwoop.wire.reading import read_hits, read_json

_DEFAULT_BASE_URL = "https://en.wikipedia.org"
_LANGUAGE_FIELD = SettingField(
    name="language",
    title="Language",
    description="The Wikipedia to search, as in de.wikipedia.org. Without effect on the address when baseUrl is set.",
    default="en",
    pattern=r"[a-z]{2,12}(-[a-z]{2,12})*",
)
_QUERY = {"action": "query", "format": "json", "formatversion": "2", "utf8": "1", "redirects": "1", "inprop": "url"}
_QUERY |= {"explaintext": "1", "exlimit": "max"}
_NO_DATE = "an encyclopedia's page has a last change, which is no publication date"
_IGNORES = dict.fromkeys(("date_from", "date_to", "freshness_days"), _NO_DATE)
_IGNORES |= {"filetype": "an encyclopedia has pages, not files", "locale": "an instance searches one language"}
_BUSY = frozenset(("ratelimited", "maxlag", "cirrussearch-too-busy-error"))
_BROKEN = ("internal_api_error", "readonly", "cirrussearch-backend-error")


def exchange(request: SearchRequest, config: ProviderInstanceConfig) -> Exchange:
    wiki, language = _wiki(config), _language(config)
    params = {"generator": "search", "gsrsearch": request.query, "gsrlimit": str(request.max_results)}
    params |= {"prop": "extracts|info|description|pageprops", "exintro": "1", "ppprop": "disambiguation"}
    body = read_json((yield HttpRequest(url=f"{wiki}/w/api.php", params=_QUERY | params)))
    hits, dropped = read_hits(pages_of(body), lambda page: to_hit(page, request.modality, wiki, language))
    spoken = request.locale is not None and primary_language(request.locale.language) == primary_language(
        language or ""
    )
    translated = frozenset({"locale"}) if spoken else frozenset[str]()
    return Found(hits=hits, dropped_count=dropped, translated=translated, note=suggestion(body))


def content_exchange(reference: ContentReference, config: ProviderInstanceConfig) -> ContentExchange:
    """The whole text of a page by its number, else by its title."""
    wiki, wanted = _wiki(config), reference.reference
    if not wanted:
        raise QueryRejected("the reference names no page")
    by = "pageids" if wanted.isascii() and wanted.isdecimal() else "titles"
    params = _QUERY | {"prop": "extracts|info", "exlimit": "1", by: wanted}
    answer = yield HttpRequest(url=f"{wiki}/w/api.php", params=params)
    page = pages_of(read_json(answer))[0]
    if "missing" in page or "invalid" in page:
        raise QueryRejected("this wiki has no such page")
    url = http_url(page.get("fullurl")) or wiki
    return LoadedContent(body=page["extract"].encode(), media_type="text/plain", source_url=url)


def _wiki(config: ProviderInstanceConfig) -> str:
    """The wiki's address: a base URL that was set, else the Wikipedia in the language that was set."""
    base_url, language = config.base_url or _DEFAULT_BASE_URL, config.extras.get("language")
    if not language or base_url != _DEFAULT_BASE_URL:
        return base_url
    return f"https://{language}.wikipedia.org"


def _language(config: ProviderInstanceConfig) -> str | None:
    """The language of the wiki; not known of a MediaWiki whose settings do not say."""
    host = host_of(_wiki(config)) or ""
    is_wikipedia = host.endswith(".wikipedia.org")
    label = host.partition(".")[0] if is_wikipedia else config.extras.get("language")
    return "en" if label == "simple" else label


def _classify(answer: HttpAnswer) -> ProviderError | None:
    """The API reports its errors in the body of a 200, ahead of everything else."""
    if answer.status != 200 or b'"error"' not in answer.body[:4096] or "error" not in (body := read_json(answer)):
        return None
    code = str(body["error"]["code"])
    if code in _BUSY:
        return RateLimited("the wiki says slow down", cause=Cause.STATUS, status=200)
    if code.startswith(_BROKEN):
        return ProviderUnavailable("the wiki cannot answer", cause=Cause.STATUS, status=200)
    return QueryRejected("the wiki rejects this query", cause=Cause.STATUS, status=200)


PROTOCOL = WireProtocol(
    WireFormat(
        protocol_id="wikipedia",
        display_name="Wikipedia",
        modalities=frozenset({SearchModality.ENCYCLOPEDIA, SearchModality.WEB}),
        domains=frozenset({SearchDomain.ENCYCLOPEDIA}),
        exchange=exchange,
        filters=frozenset(("locale",)),
        prompt_hint="""**Wikipedia** explains terms, people, places, events and works; every hit carries the article's \
lead as text. Choose it for definitions, background and established facts, not for news of the day or for what only \
specialists publish. An instance searches one language: ask in that language, with few and telling words.""",
        operators=frozenset((Kind.INTITLE, Kind.OR, Kind.PHRASE)),
        index_family="wikipedia",
        documentation="https://www.mediawiki.org/wiki/API:Search",
        default_base_url=_DEFAULT_BASE_URL,
        max_query_chars=300,
        max_results=20,
        ignores=_IGNORES,
        setting_fields=(_LANGUAGE_FIELD,),
        classify=_classify,
        content_exchange=content_exchange,
        language=_language,
    )
)
