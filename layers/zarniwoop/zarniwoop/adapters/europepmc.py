"""Europe PMC: life-science papers, preprints and patents, with full texts where they are open.

Wire format: JSON, one GET of /search; a full text is JATS XML. https://europepmc.org/RestfulWebService
Quirks: a search backend that is down is a 200 with nothing but a `version`; abstracts come with `resultType=core` only;
flags are "Y" and "N"; a query is in a language of its own, in which fields, brackets and quotes mean something.
"""

import re
from typing import Any

from zarniwoop.adapters.europepmc_fulltext import full_text
from zarniwoop.adapters.europepmc_records import page_of, to_hit
from zarniwoop.contract.failure import Cause, ProviderUnavailable, QueryRejected
from zarniwoop.contract.hit import ContentReference, LoadedContent
from zarniwoop.contract.modality import SearchDomain, SearchModality
from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.transport import HttpRequest
from zarniwoop.text.identifiers import asked_doi
from zarniwoop.text.languages import MARC_CODES
from zarniwoop.text.operators import Kind
from zarniwoop.text.pairs import has_words, paired
from zarniwoop.wire.driver import WireProtocol
from zarniwoop.wire.filters import DATES
from zarniwoop.wire.format import ContentExchange, Exchange, Found, WireFormat
from zarniwoop.wire.reading import read_hits, read_json, read_xml
from zarniwoop.wire.retractions import retraction_note

_DOWN = "Europe PMC's search backend did not answer"
_PMCID = re.compile(r"PMC\d{1,9}")


def exchange(request: SearchRequest, config: ProviderInstanceConfig) -> Exchange:
    query, translated = _query(request)
    params = {
        "query": query,
        "format": "json",
        "resultType": "core",
        "pageSize": str(request.max_results),
        "cursorMark": "*",
    }
    body = read_json((yield HttpRequest(url=f"{config.base_url}/search", params=params)))
    records = _records(body)
    if records is None:
        return Found(translated=translated, degraded=_DOWN)
    hits, dropped = read_hits(records, to_hit)
    return Found(
        hits=hits,
        dropped_count=dropped,
        translated=translated,
        note=retraction_note("Europe PMC", hits[: request.max_results]),
        degraded="Europe PMC counted records and sent none" if body["hitCount"] and not records else None,
    )


def _query(request: SearchRequest) -> tuple[str, frozenset[str]]:
    """The query with its filters in Europe PMC's syntax, and which filters those are."""
    doi, code = asked_doi(request.query), None
    words = f'DOI:"{doi}"' if doi and '"' not in doi else paired(request.query)
    if not has_words(words):
        raise QueryRejected("the query has no word to search for")
    clauses, translated = [words], frozenset[str]()
    if request.published:
        earliest = request.published.earliest or "1500-01-01"
        clauses.append(f"FIRST_PDATE:[{earliest} TO {request.published.latest or '3000-12-31'}]")
        translated |= DATES
    if request.locale and not doi:
        code = MARC_CODES.get(request.locale.language)
    if request.locale and code:
        clauses.append(f'LANG:"{code}" OR LANG:"{request.locale.language}"')
        translated |= {"locale"}
    return " AND ".join(f"({clause})" for clause in clauses) if len(clauses) > 1 else words, translated


def _records(body: Any) -> list[Any] | None:
    """The records; None where the backend that should have found them is down."""
    if "errCode" in body:
        if int(body["errCode"]) >= 500:
            raise ProviderUnavailable("Europe PMC cannot answer", cause=Cause.SHAPE)
        raise QueryRejected("Europe PMC rejects this query", cause=Cause.SHAPE)
    if "version" in body and not {"hitCount", "resultList"} & set(body):
        return None
    records: list[Any] = body["resultList"]["result"]
    return records


def content_exchange(reference: ContentReference, config: ProviderInstanceConfig) -> ContentExchange:
    """The text of an open-access article. Raises QueryRejected for a foreign reference and for an article without."""
    pmcid = reference.reference or ""
    if _PMCID.fullmatch(pmcid) is None:
        raise QueryRejected("this is no reference to a full text of Europe PMC")
    text = full_text(read_xml((yield HttpRequest(url=f"{config.base_url}/{pmcid}/fullTextXML"))))
    if text is None:
        raise QueryRejected("Europe PMC has no full text of this article")
    return LoadedContent(body=text.encode(), media_type="text/plain", source_url=page_of("PMC", pmcid))


PROTOCOL = WireProtocol(
    WireFormat(
        protocol_id="europepmc",
        display_name="Europe PMC",
        modalities=frozenset((SearchModality.ACADEMIC,)),
        domains=frozenset((SearchDomain.ACADEMIC,)),
        exchange=exchange,
        filters=DATES | {"locale"},
        content_exchange=content_exchange,
        prompt_hint=(
            "**Europe PMC** holds the life-science literature: all of PubMed, preprints, patents and millions of full "
            "texts, in which it searches too. Choose it for biomedical questions that abstracts alone do not answer, "
            "and for open access. Its syntax (`AUTH:doudna AND OPEN_ACCESS:y`) is passed on; a DOI as the whole query "
            "finds that record."
        ),
        operators=frozenset((Kind.OR, Kind.PHRASE)),
        index_family="europepmc",
        documentation="https://europepmc.org/RestfulWebService",
        default_base_url="https://www.ebi.ac.uk/europepmc/webservices/rest",
        max_query_chars=1000,
        ignores={
            "filetype": "Europe PMC's records are pages; `pdf_url` among the extras is the open PDF",
            "locale": "a work asked for by its DOI is found in any language, and not every language has a code there",
        },
    )
)
