"""Amazon Bedrock AgentCore: the web search that AWS runs, asked with the stack's own role and without any key.

API: InvokeWebSearch of bedrock-agentcore, by boto3.
https://docs.aws.amazon.com/bedrock-agentcore/latest/APIReference/API_InvokeWebSearch.html
Quirks: a query has at most 200 characters; `site:` is a list of domains here; a result may lack its title and even its
address; whoever asks in another region than the stack's needs the permission there. It costs 7 USD for 1,000 searches,
after 5,000 a month for nothing.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, time
from typing import Any

from zarniwoop.contract.hit import ContentInline, ContentReference, PublishedAt, SearchHit
from zarniwoop.contract.modality import SearchDomain, SearchModality
from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.transport import AwsCall
from zarniwoop.text.dates import from_epoch
from zarniwoop.text.plain import clip, plain, verbatim
from zarniwoop.text.urls import url_and_host
from zarniwoop.wire.aws import REGION
from zarniwoop.wire.driver import WireProtocol
from zarniwoop.wire.filters import DATES
from zarniwoop.wire.format import AwsExchange, Found, WireFormat
from zarniwoop.wire.reading import read_hits

PROTOCOL_ID = "agentcore"
_TOOL = "web-search.v1"
_MOST_CHARACTERS, _MOST_RESULTS, _MOST_DOMAINS = 200, 25, 100


def exchange(request: SearchRequest, config: ProviderInstanceConfig) -> AwsExchange:
    domains, translated = _domains(request)
    filters = ({"domainFilter": domains} if domains else {}) | _dates(request)
    translated |= DATES if "publishedDateFilter" in filters else frozenset()
    filtered_here = {name for name, _ in request.expert_params.given()} - translated
    parameters = {
        "webSearchId": _TOOL,
        "searchQuery": request.query,
        "maxResults": _MOST_RESULTS if filtered_here else request.max_results,
        **({"filters": filters} if filters else {}),
    }
    region = config.extras.get(REGION.name)
    answer = yield AwsCall(
        service="bedrock-agentcore", operation="InvokeWebSearch", parameters=parameters, region=region
    )
    hits, dropped = read_hits(answer["results"], _to_hit)
    return Found(hits=hits, dropped_count=dropped, translated=translated)


def _domains(request: SearchRequest) -> tuple[dict[str, list[str]], frozenset[str]]:
    """The filter by domain, and which of ours it says whole: one with a path is left to be applied to the hits."""
    expert = request.expert_params
    place = expert.site or expert.domain
    included = [place.partition("/")[0]] if place else list(request.sites)
    lists = {"include": included[:_MOST_DOMAINS], "exclude": list(request.unwanted_sites)[:_MOST_DOMAINS]}
    same = {name for name in ("site", "domain") if place and getattr(expert, name) == place and "/" not in place}
    return {name: listed for name, listed in lists.items() if listed}, frozenset(same)


def _dates(request: SearchRequest) -> dict[str, dict[str, datetime]]:
    """Whole days in UTC, both ends inclusive."""
    window = request.published
    if window is None:
        return {}
    ends = {
        "publishedAfter": datetime.combine(window.earliest, time.min, UTC) if window.earliest else None,
        "publishedBefore": datetime.combine(window.latest, time(23, 59, 59), UTC) if window.latest else None,
    }
    return {"publishedDateFilter": {name: end for name, end in ends.items() if end}}


def _to_hit(item: Mapping[str, Any]) -> SearchHit | None:
    found = url_and_host(item.get("url"))
    if found is None:
        return None
    url, host = found
    text = verbatim(item["text"])
    snippet = plain(text)
    return SearchHit(
        title=plain(item.get("title")) or host,
        url=url,
        modality=SearchModality.WEB,
        snippet=clip(snippet, 300) if snippet else None,
        source=host,
        content=ContentReference(inline=ContentInline.EMBED_TEXT, text=text) if text else None,
        published_at=_published(item.get("publishedAt")),
    )


def _published(moment: datetime | None) -> PublishedAt | None:
    return from_epoch(moment.timestamp()) if moment else None


PROTOCOL = WireProtocol(
    WireFormat(
        protocol_id=PROTOCOL_ID,
        display_name="Amazon Bedrock AgentCore web search",
        modalities=frozenset((SearchModality.WEB,)),
        domains=frozenset((SearchDomain.WEB,)),
        exchange=exchange,
        by_role=True,
        filters=DATES | {"site", "domain"},
        prompt_hint=(
            "**AgentCore web search** searches the whole web from inside of AWS and gives every page with an extract "
            "of its text. Choose it for anything on the web that no special index holds. Ask in at most 200 "
            "characters; filter by domain and by day of publication."
        ),
        form_hint="Asked with the stack's role, without a key; 7 USD for 1,000 searches after 5,000 a month for free.",
        site_lists=True,
        index_family="agentcore",
        documentation="https://docs.aws.amazon.com/bedrock-agentcore/latest/APIReference/API_InvokeWebSearch.html",
        max_query_chars=_MOST_CHARACTERS,
        max_results=_MOST_RESULTS,
        ignores={
            "filetype": "the search has no filter by type, and few addresses show one",
            "locale": "the search has no parameter for language or region",
        },
        setting_fields=(REGION,),
    )
)
