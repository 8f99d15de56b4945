"""Semantic Scholar: some 220 million papers of all fields with citations, through its Academic Graph.

Wire format: JSON, one GET of /paper/search. https://api.semanticscholar.org/api-docs/graph
Quirks: an empty answer has no `data`; a word with a hyphen matches nothing, so the hyphen becomes a space; a query that
is a DOI is looked up by it, and an unknown one is a 404; a bad key is a 403 that says no more than "Forbidden".
"""

import re

from zarniwoop.adapters.semanticscholar_papers import FIELDS, to_hit
from zarniwoop.contract.failure import Cause, CredentialsRejected, ProviderError
from zarniwoop.contract.modality import SearchDomain, SearchModality
from zarniwoop.contract.provider import Pacing, ProviderInstanceConfig
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.transport import HeaderKey, HttpAnswer, HttpRequest
from zarniwoop.text.identifiers import asked_doi, in_a_path
from zarniwoop.wire.driver import WireProtocol
from zarniwoop.wire.filters import DATES
from zarniwoop.wire.format import Exchange, Found, WireFormat
from zarniwoop.wire.pacing import pacing_subject
from zarniwoop.wire.reading import read_hits, read_json

_HYPHEN = re.compile(r"(?<=\w)-(?=\w)")


def exchange(request: SearchRequest, config: ProviderInstanceConfig) -> Exchange:
    doi = asked_doi(request.query)
    if doi:
        return (yield from _look_up(doi, config))
    answer = yield HttpRequest(url=f"{config.base_url}/paper/search", params=_params(request))
    body = read_json(answer)
    counted = body.get("total") if "data" in body else body["total"]
    papers = body.get("data", [])
    hits, dropped = read_hits(papers, to_hit)
    return Found(
        hits=hits,
        dropped_count=dropped,
        translated=DATES if request.published else frozenset(),
        degraded="Semantic Scholar counted papers and sent none" if counted and not papers else None,
    )


def _look_up(doi: str, config: ProviderInstanceConfig) -> Exchange:
    """The paper of this DOI; filters are applied here."""
    url = f"{config.base_url}/paper/DOI:{in_a_path(doi)}"
    paper = read_json((yield HttpRequest(url=url, params={"fields": FIELDS})))
    hits, dropped = read_hits([paper] if paper["paperId"] else [], to_hit)
    return Found(hits=hits, dropped_count=dropped)


def _params(request: SearchRequest) -> dict[str, str]:
    params = {
        "query": _HYPHEN.sub(" ", request.query),
        "fields": FIELDS,
        "offset": "0",
        "limit": str(request.max_results),
    }
    if request.published:
        earliest, latest = request.published.earliest, request.published.latest
        params["publicationDateOrYear"] = f"{earliest or ''}:{latest or ''}"
    return params


def _classify(answer: HttpAnswer) -> ProviderError | None:
    """The gateway before the API refuses an unknown key, and nothing else, in these words."""
    if answer.status == 403 and read_json(answer)["message"] == "Forbidden":
        return CredentialsRejected("Semantic Scholar does not know this key", cause=Cause.STATUS, status=403)
    return None


def _pacing(_request: SearchRequest, config: ProviderInstanceConfig) -> Pacing:
    """A key brings one search a second; without one it is the pace that the shared pool bears."""
    return Pacing(subject=pacing_subject(config, by_key=True), requests=1, seconds=1.0)


PROTOCOL = WireProtocol(
    WireFormat(
        protocol_id="semanticscholar",
        display_name="Semantic Scholar",
        modalities=frozenset((SearchModality.ACADEMIC,)),
        domains=frozenset((SearchDomain.ACADEMIC,)),
        exchange=exchange,
        filters=DATES,
        prompt_hint=(
            "**Semantic Scholar** ranks papers of all fields by relevance, strongest in computer science and "
            "biomedicine, with abstracts, citation counts and links to open PDFs. Choose it for related work and for "
            "what is much cited; ask with plain words, operators mean nothing. A DOI as the whole query finds that "
            "paper. Without a key it is often throttled."
        ),
        index_family="semanticscholar",
        documentation="https://api.semanticscholar.org/api-docs/graph",
        default_base_url="https://api.semanticscholar.org/graph/v1",
        authentication=HeaderKey(name="x-api-key"),
        key_variable="SEMANTIC_SCHOLAR_API_KEY",
        ignores={
            "filetype": "Semantic Scholar describes papers, not files; `pdf_url` among the extras is the open PDF",
            "locale": "Semantic Scholar does not say in which language a paper is written",
        },
        classify=_classify,
        pacing=_pacing,
    )
)
