"""PubMed's query language: the term, the days and the language as esearch takes them, and what it says of them.

Documented at https://www.ncbi.nlm.nih.gov/books/NBK25499/#chapter4.ESearch and https://pubmed.ncbi.nlm.nih.gov/help/
Quirk: words without a field are mapped to subject headings, which finds more than any quoting, so a query is passed on
as it was written, its own fields and operators included, as long as its brackets and quotes are in pairs.
"""

from collections.abc import Mapping
from typing import Any

from zarniwoop.contract.failure import ProviderError, ProviderUnavailable, QueryRejected
from zarniwoop.contract.request import SearchRequest
from zarniwoop.text.languages import MARC_CODES
from zarniwoop.text.pairs import has_words, paired


def search_fields(request: SearchRequest) -> dict[str, str]:
    """The fields of an esearch for the request."""
    fields = {"term": _term(request), "retmax": str(request.max_results), "sort": "relevance"}
    if request.published:
        earliest, latest = request.published.earliest, request.published.latest
        fields |= {
            "datetype": "pdat",
            "mindate": f"{earliest:%Y/%m/%d}" if earliest else "1800/01/01",
            "maxdate": f"{latest:%Y/%m/%d}" if latest else "3000/12/31",
        }
    return fields


def translated_filters(request: SearchRequest) -> frozenset[str]:
    """The filters that `search_fields` really asks PubMed to apply."""
    dates = ("date_from", "date_to", "freshness_days") if request.published else ()
    return frozenset((*dates, "locale") if _language(request) else dates)


def refusal(error: str) -> ProviderError:
    """A search backend that is down says so in the same place as a query that cannot be read."""
    if error.startswith("Search Backend failed"):
        return ProviderUnavailable("PubMed's search backend is down")
    return QueryRejected("PubMed rejects this query")


def unknown_phrases(found: Mapping[str, Any], query: str) -> str | None:
    """Which of the query's own phrases PubMed does not know; what is not the caller's own text is only counted."""
    errors, warnings = found.get("errorlist") or {}, found.get("warninglist") or {}
    phrases = [*errors.get("phrasesnotfound", ()), *warnings.get("quotedphrasesnotfound", ())]
    own = [phrase for phrase in phrases if phrase in query]
    if own:
        return f"PubMed does not know: {', '.join(own)}"
    return f"PubMed does not know {len(phrases)} of the query's phrases" if phrases else None


def _term(request: SearchRequest) -> str:
    term = paired(request.query)
    if not has_words(term):
        raise QueryRejected("the query has no word to search for")
    language = _language(request)
    return f"({term}) AND {language}[la]" if language else term


def _language(request: SearchRequest) -> str | None:
    return MARC_CODES.get(request.locale.language) if request.locale else None
