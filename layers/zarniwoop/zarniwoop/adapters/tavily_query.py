"""What is asked of Tavily: the query, the filters as parameters, the settings that cost or not.

https://docs.tavily.com/documentation/api-reference/endpoint/search
Quirk: Tavily knows no `site:`, only lists of domains; a country goes by its English name and only with general topics.
"""

from dataclasses import dataclass
from typing import Any

from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.contract.request import SearchRequest
from zarniwoop.wire.extras import YES_OR_NO, is_on
from zarniwoop.wire.format import SettingField

MOST_RESULTS = 20
_TOPICS = {SearchModality.WEB: "general", SearchModality.NEWS: "news"}
_COUNTRIES = (
    "AR argentina,AT austria,AU australia,BE belgium,BG bulgaria,BR brazil,CA canada,CH switzerland,CL chile,CN china,"
    "CO colombia,CY cyprus,DE germany,DK denmark,EE estonia,EG egypt,ES spain,FI finland,FR france,GB united kingdom,"
    "GR greece,HR croatia,HU hungary,ID indonesia,IE ireland,IL israel,IN india,IS iceland,IT italy,JP japan,KE kenya,"
    "KR south korea,LT lithuania,LU luxembourg,LV latvia,MA morocco,MT malta,MX mexico,MY malaysia,NG nigeria,"
    "NL netherlands,NO norway,NZ new zealand,PE peru,PH philippines,PK pakistan,PL poland,PT portugal,RO romania,"
    "RS serbia,SA saudi arabia,SE sweden,SG singapore,SI slovenia,SK slovakia,TH thailand,TR turkey,TW taiwan,"
    "UA ukraine,US united states,UY uruguay,VN vietnam,ZA south africa"
)
_COUNTRY = {entry[:2]: entry[3:] for entry in _COUNTRIES.split(",")}

DEPTH = SettingField(
    name="searchDepth",
    title="Search depth",
    description="`basic`, `fast` and `ultra-fast` cost one credit a search, `advanced` two.",
    default="basic",
    pattern="basic|advanced|fast|ultra-fast",
)
ANSWER = SettingField(
    name="includeAnswer",
    title="Include answer",
    description="Have Tavily's own model answer, too: the extra `answer` of the first hit. It is no source.",
    default="false",
    pattern=YES_OR_NO,
)
RAW = SettingField(
    name="includeRawContent",
    title="Include raw content",
    description="Have the whole page with every hit, as Markdown. Answers get long and slow.",
    default="false",
    pattern=YES_OR_NO,
)
EXTRACT = SettingField(
    name="extract",
    title="Extract pages",
    description="Offer every page's text on demand by `/extract`, at a credit for five pages.",
    default="false",
    pattern=YES_OR_NO,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The body of a search, and the filters that it carries."""

    body: dict[str, Any]
    translated: frozenset[str]


def question(request: SearchRequest, config: ProviderInstanceConfig) -> Question:
    expert = request.expert_params
    place, translated = expert.site or expert.domain, set[str]()
    translated |= {name for name in ("site", "domain") if place and getattr(expert, name) == place and "/" not in place}
    body: dict[str, Any] = {
        "query": request.query,
        "topic": _TOPICS[request.modality],
        "search_depth": config.extras.get(DEPTH.name) or "basic",
        "auto_parameters": False,
        "max_results": request.max_results,
        "include_usage": True,
    }
    body |= {"include_domains": [place.partition("/")[0]] if place else list(request.sites)}
    body |= {"exclude_domains": list(request.unwanted_sites), "include_answer": is_on(config, ANSWER)}
    body |= {"include_raw_content": "markdown" if is_on(config, RAW) else False}
    translated |= _add_dates(request, body) | _add_country(request, body)
    if {name for name, _ in expert.given()} - translated:  # what is filtered here wants more to choose from
        body["max_results"] = MOST_RESULTS
    return Question(
        body={name: value for name, value in body.items() if value not in ([], False) or name == "auto_parameters"},
        translated=frozenset(translated),
    )


def _add_dates(request: SearchRequest, body: dict[str, Any]) -> set[str]:
    if request.published is None:
        return set()
    ends = (("start_date", request.published.earliest), ("end_date", request.published.latest))
    body.update({name: str(day) for name, day in ends if day})
    return {"date_from", "date_to", "freshness_days"}


def _add_country(request: SearchRequest, body: dict[str, Any]) -> set[str]:
    country = _COUNTRY.get(request.locale.region or "") if request.locale else None
    if country is None or body["topic"] != "general":
        return set()
    body["country"] = country
    return {"locale"}
