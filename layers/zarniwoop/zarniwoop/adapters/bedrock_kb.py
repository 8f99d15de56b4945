"""Amazon Bedrock knowledge bases: passages of the house's own documents, found by meaning, with the stack's own role.

API: Retrieve of bedrock-agent-runtime, by boto3.
https://docs.aws.amazon.com/bedrock/latest/APIReference/API_agent-runtime_Retrieve.html
Quirks: what comes back are passages, several of one document; a knowledge base that AWS manages has a configuration of
another name, and no choice of search; a guardrail may withhold everything.
"""

from typing import Any

import orjson

from zarniwoop.adapters.bedrock_kb_passages import to_hit
from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.modality import SearchDomain, SearchModality
from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.transport import AwsCall
from zarniwoop.wire.aws import REGION
from zarniwoop.wire.driver import WireProtocol
from zarniwoop.wire.extras import YES_OR_NO, is_on, json_object
from zarniwoop.wire.format import AwsExchange, Found, SettingField, WireFormat
from zarniwoop.wire.reading import read_hits

_MOST_RESULTS = 100
_PASSAGES_A_DOCUMENT = 3
"""How many passages are asked for where one a document is wanted."""

_ID_LENGTH = 10
_KNOWLEDGE_BASE = SettingField(
    name="knowledgeBaseId",
    title="Knowledge base",
    description="Its ten characters, or its ARN. The stack's parameters must name it for this tenant.",
    pattern=r"[0-9A-Za-z]{10}|arn:aws(-[a-z]+)*:bedrock:[a-z0-9-]{1,20}:\d{12}:knowledge-base/[0-9A-Za-z]{10}",
    required=True,
    steers=True,
)
_SEARCH_TYPE = SettingField(
    name="searchType",
    title="Search",
    description="`HYBRID` (words and meaning) or `SEMANTIC` (meaning); not set: as Bedrock decides.",
    pattern="HYBRID|SEMANTIC",
)
_MANAGED = SettingField(
    name="managed",
    title="Managed",
    description="`true` for a knowledge base whose storage AWS manages.",
    default="false",
    pattern=YES_OR_NO,
)
_FILTER = SettingField(
    name="filter",
    title="Filter",
    description='A filter by metadata as Retrieve takes it, in JSON: `{"equals": {"key": "team", "value": "bells"}}`.',
    pattern=r"\s*\{[\s\S]{2,3900}\}\s*",
    steers=True,
    check=json_object,
)


def exchange(request: SearchRequest, config: ProviderInstanceConfig) -> AwsExchange:
    knowledge_base = config.extras[_KNOWLEDGE_BASE.name]
    by_document = request.modality is SearchModality.INTERNAL_DOC
    answer = yield AwsCall(
        service="bedrock-agent-runtime",
        operation="Retrieve",
        parameters={
            "knowledgeBaseId": knowledge_base,
            "retrievalQuery": {"text": request.query},
            "retrievalConfiguration": _configuration(request, config, by_document=by_document),
        },
        region=config.extras.get(REGION.name),
        resource_setting=_KNOWLEDGE_BASE.name,
        resource=knowledge_base[-_ID_LENGTH:],
    )
    passages = answer["retrievalResults"]
    hits, dropped = read_hits(passages, lambda passage: to_hit(passage, request.modality, knowledge_base))
    withheld = answer.get("guardrailAction") == "INTERVENED"
    return Found(
        hits=_documents(hits) if by_document else hits,
        dropped_count=dropped,
        note="a guardrail of the knowledge base withheld passages" if withheld else None,
    )


def _configuration(
    request: SearchRequest, config: ProviderInstanceConfig, *, by_document: bool
) -> dict[str, dict[str, Any]]:
    wanted = request.max_results * (_PASSAGES_A_DOCUMENT if by_document else 1)
    if any(request.expert_params.given()):  # what is filtered here wants more to choose from
        wanted = _MOST_RESULTS
    how: dict[str, Any] = {"numberOfResults": min(wanted, _MOST_RESULTS)}
    if _FILTER.name in config.extras:
        how["filter"] = orjson.loads(config.extras[_FILTER.name])
    if is_on(config, _MANAGED):
        return {"managedSearchConfiguration": how}
    if _SEARCH_TYPE.name in config.extras:
        how["overrideSearchType"] = config.extras[_SEARCH_TYPE.name]
    return {"vectorSearchConfiguration": how}


def _documents(hits: tuple[SearchHit, ...]) -> tuple[SearchHit, ...]:
    """The best passage of each document; they come with the best first."""
    best: dict[str, SearchHit] = {}
    for hit in hits:
        best.setdefault(hit.url.partition("#page=")[0], hit)
    return tuple(best.values())


PROTOCOL = WireProtocol(
    WireFormat(
        protocol_id="bedrock-kb",
        display_name="Amazon Bedrock knowledge base",
        modalities=frozenset((SearchModality.INTERNAL_DOC, SearchModality.RAG)),
        domains=frozenset((SearchDomain.INTERNAL,)),
        exchange=exchange,
        by_role=True,
        prompt_hint=(
            "A **knowledge base** holds documents of the house and finds passages by what they mean, also where they "
            "say it in other words. RAG gives passages with their text, INTERNAL_DOC a document each. Ask a whole "
            "question in plain words."
        ),
        form_hint="Asked with the stack's role: the parameters KnowledgeBaseArns and KnowledgeBaseTenants let it.",
        index_family="bedrock-kb",
        documentation="https://docs.aws.amazon.com/bedrock/latest/APIReference/API_agent-runtime_Retrieve.html",
        max_query_chars=1000,
        max_results=_MOST_RESULTS,
        ignores={"locale": "a knowledge base searches all of its languages by meaning"},
        setting_fields=(_KNOWLEDGE_BASE, REGION, _SEARCH_TYPE, _MANAGED, _FILTER),
    )
)
