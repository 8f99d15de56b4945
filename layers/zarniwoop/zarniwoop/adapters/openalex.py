"""OpenAlex: an open index of some 270 million scholarly works.

Wire format: JSON, one GET of /works. https://developers.openalex.org/api-reference/works
Quirks: an abstract comes as an inverted index (word to positions); titles hold raw MathML and may be null; a list stops
at 100 authorships; an unknown DOI is a 404 with an HTML page, so a DOI is asked for as a filter; 403 means "too fast".
"""

from collections.abc import Mapping

from zarniwoop.adapters.openalex_works import to_hit
from zarniwoop.contract.failure import Cause, ProviderError, QuotaExhausted, RateLimited
from zarniwoop.contract.modality import SearchDomain, SearchModality
from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.contract.quota import QuotaSource, QuotaStatus
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.transport import HttpAnswer, HttpRequest, QueryKey
from zarniwoop.text.identifiers import asked_doi
from zarniwoop.text.operators import Kind
from zarniwoop.wire.driver import WireProtocol
from zarniwoop.wire.extras import contact_field
from zarniwoop.wire.format import Exchange, Found, WireFormat
from zarniwoop.wire.reading import read_hits, read_json, read_number

_FIELDS = (
    "id,doi,ids,title,display_name,publication_date,publication_year,language,type,authorships,primary_location,"
    "locations,open_access,cited_by_count,is_retracted,abstract_inverted_index"
)
_COSTS = {"usd": "x-ratelimit-cost-required-usd", "credits": "x-ratelimit-credits-required"}
_LONGEST_RESET = 86_400
_IGNORES = {
    "filetype": "OpenAlex describes works, not files; `pdf_url` among the extras is the file where there is one",
    "locale": "a work asked for by its DOI is found in whatever language it is written",
}
_CONTACT = contact_field("Sent along as OpenAlex's `mailto`.")


def exchange(request: SearchRequest, config: ProviderInstanceConfig) -> Exchange:
    doi = asked_doi(request.query)
    filters, translated = _filters(request, doi)
    params = {
        "search": "" if doi else request.query,
        "filter": ",".join(filters),
        "per-page": str(request.max_results),
        "select": _FIELDS,
        "mailto": config.extras.get("contactEmail", ""),
    }
    given = {name: value for name, value in params.items() if value}
    answer = yield HttpRequest(url=f"{config.base_url}/works", params=given)
    hits, dropped = read_hits(read_json(answer)["results"], to_hit)
    return Found(hits=hits, dropped_count=dropped, translated=translated)


def _filters(request: SearchRequest, doi: str | None) -> tuple[list[str], frozenset[str]]:
    """Filters as OpenAlex writes them, and the names of ours that they stand for."""
    filters, translated = [f"doi:{doi}"] if doi else [], set()
    if request.published and request.published.earliest:
        filters.append(f"from_publication_date:{request.published.earliest}")
        translated |= {"date_from", "freshness_days"}
    if request.published and request.published.latest:
        filters.append(f"to_publication_date:{request.published.latest}")
        translated.add("date_to")
    if request.locale and not doi:
        filters.append(f"language:{request.locale.language}")
        translated.add("locale")
    return filters, frozenset(translated)


def _classify(answer: HttpAnswer) -> ProviderError | None:
    """A 429 with less left than a call costs is the day's budget, not the pace; a 403 that names no key is the pace."""
    quota = _quota(answer.headers, 0.0) if answer.status == 429 else None
    cost = read_number(answer.headers, _COSTS[quota.unit]) if quota else None
    if quota and quota.remaining is not None and (quota.exhausted or quota.remaining < (cost or 0)):
        wait = None if "retry-after" in answer.headers else _until_reset(answer.headers)
        return QuotaExhausted("the day's budget of this key is spent", cause=Cause.STATUS, status=429, retry_after=wait)
    if answer.status == 403 and b"key" not in answer.body.lower():
        return RateLimited("the provider says slow down", cause=Cause.STATUS, status=403)
    return None


def _quota(headers: Mapping[str, str], now: float) -> QuotaStatus | None:
    wait = _until_reset(headers)
    for unit, suffix in (("usd", "-usd"), ("credits", "")):
        remaining = read_number(headers, f"x-ratelimit-remaining{suffix}")
        if remaining is not None:
            limit = read_number(headers, f"x-ratelimit-limit{suffix}")
            return QuotaStatus(
                source=QuotaSource.HEADERS,
                unit=unit,
                limit=limit,
                remaining=remaining,
                resets_at=None if wait is None else now + wait,
            )
    return None


def _until_reset(headers: Mapping[str, str]) -> float | None:
    """The seconds until the day's budget is renewed, at midnight UTC."""
    seconds = read_number(headers, "x-ratelimit-reset")
    return seconds if seconds is not None and 0 <= seconds <= _LONGEST_RESET else None


PROTOCOL = WireProtocol(
    WireFormat(
        protocol_id="openalex",
        display_name="OpenAlex",
        modalities=frozenset({SearchModality.ACADEMIC}),
        domains=frozenset({SearchDomain.ACADEMIC}),
        exchange=exchange,
        filters=frozenset(("date_from", "date_to", "freshness_days", "locale")),
        prompt_hint="""**OpenAlex** indexes scholarly works of every discipline: articles, preprints, books, theses, \
data sets, with abstracts, citation counts, open access links and a retraction flag. Choose it for questions across \
fields, for the humanities and social sciences, and to look up a work by its DOI (as the whole query). It narrows \
by publication date and language, not by publisher.""",
        operators=frozenset((Kind.OR, Kind.PHRASE)),
        index_family="openalex",
        documentation="https://developers.openalex.org/api-reference/works",
        default_base_url="https://api.openalex.org",
        authentication=QueryKey(name="api_key"),
        key_variable="OPENALEX_API_KEY",
        max_query_chars=1000,
        ignores=_IGNORES,
        setting_fields=(_CONTACT,),
        classify=_classify,
        quota_from_headers=_quota,
    )
)
