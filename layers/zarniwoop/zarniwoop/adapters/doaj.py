"""DOAJ: open-access articles of the peer-reviewed journals that its editors let in.

Wire format: JSON, one GET with the query in the path. https://doaj.org/api/v4/docs
Quirks: words are joined by AND; the query is one of Lucene, with wildcards and `~` refused, so that a question mark is
a 400 and a colon names a field; a DOI is kept as its publisher wrote it, so it is looked for as a phrase and compared
here; articles are dated by year and month. Journals have an index of their own that is not asked: they are no works.
"""

import re
from datetime import date
from urllib.parse import quote

from zarniwoop.adapters.doaj_articles import to_hit
from zarniwoop.contract.failure import QueryRejected
from zarniwoop.contract.modality import SearchDomain, SearchModality
from zarniwoop.contract.provider import Pacing, ProviderInstanceConfig
from zarniwoop.contract.request import DateRange, SearchRequest
from zarniwoop.contract.transport import HttpRequest
from zarniwoop.text.identifiers import asked_doi
from zarniwoop.text.operators import Kind
from zarniwoop.text.pairs import has_words, paired
from zarniwoop.wire.driver import WireProtocol
from zarniwoop.wire.filters import DATES
from zarniwoop.wire.format import Exchange, Found, WireFormat
from zarniwoop.wire.pacing import pacing_subject
from zarniwoop.wire.reading import read_hits, read_json

_MOST_HITS = 100
_REFUSED = re.compile(r"[?*~/\\^!{}<>=&|]|(?<!\S)[-+]+(?!\S)")
_BEFORE_A_COLON = re.compile(r"([\w.]*):")
_FIELDS = frozenset(("title", "doi", "issn", "publisher", "journal", "abstract"))
_WHOLE = ("bibjson.", "index.")


def exchange(request: SearchRequest, config: ProviderInstanceConfig) -> Exchange:
    doi = asked_doi(request.query)
    query, translated = (f'bibjson.identifier.id:"{doi}"', frozenset[str]()) if doi else _query(request)
    url = f"{config.base_url}/search/articles/{quote(query, safe='')}"
    params = {"page": "1", "pageSize": str(_hits_wanted(request, translated))}
    body = read_json((yield HttpRequest(url=url, params=params)))
    articles = body["results"]
    hits, dropped = read_hits(articles, to_hit)
    return Found(
        hits=tuple(hit for hit in hits if doi is None or hit.identifiers.get("doi") == doi),
        dropped_count=dropped,
        translated=translated,
        degraded="DOAJ counted articles and sent none" if body["total"] and not articles else None,
    )


def _query(request: SearchRequest) -> tuple[str, frozenset[str]]:
    """The query with its filters in Lucene's syntax, and which filters DOAJ applies in full.

    Days inside a year are beyond it: it narrows down to the years, and what is left is done to its hits here.
    """
    words, window = _words(request.query), request.published
    if not has_words(words):
        raise QueryRejected("the query has no word to search for")
    clauses, translated = [words], frozenset[str]()
    if window:
        first, last = window.earliest or date(1000, 1, 1), window.latest or date(2999, 12, 31)
        clauses.append(f"bibjson.year:[{first.year} TO {last.year}]")
        translated |= DATES if _in_whole_years(window) else frozenset()
    if request.locale and len(request.locale.language) == 2:
        clauses.append(f"bibjson.journal.language:{request.locale.language.upper()}")
        translated |= {"locale"}
    return " AND ".join(f"({clause})" for clause in clauses) if len(clauses) > 1 else words, translated


def _words(query: str) -> str:
    """The query without what DOAJ refuses or would take for a field that it does not have."""
    allowed = _BEFORE_A_COLON.sub(lambda found: found[0] if _is_field(found[1]) else f"{found[1]} ", query)
    allowed = _REFUSED.sub(" ", allowed)
    if " TO " not in allowed:
        allowed = allowed.replace("[", " ").replace("]", " ")
    return " ".join(paired(allowed).split())


def _is_field(name: str) -> bool:
    return name in _FIELDS or name.startswith(_WHOLE)


def _in_whole_years(window: DateRange) -> bool:
    starts = window.earliest is None or (window.earliest.month, window.earliest.day) == (1, 1)
    return starts and (window.latest is None or (window.latest.month, window.latest.day) == (12, 31))


def _hits_wanted(request: SearchRequest, translated: frozenset[str]) -> int:
    """As many as are asked for, and all that fit into one answer where filters will be applied here."""
    filters = {name for name, _ in request.expert_params.given()} - translated
    return _MOST_HITS if filters else request.max_results


def _pacing(_request: SearchRequest, config: ProviderInstanceConfig) -> Pacing:
    return Pacing(subject=pacing_subject(config), requests=2, seconds=1.0)


PROTOCOL = WireProtocol(
    WireFormat(
        protocol_id="doaj",
        display_name="DOAJ",
        modalities=frozenset((SearchModality.ACADEMIC,)),
        domains=frozenset((SearchDomain.ACADEMIC,)),
        exchange=exchange,
        filters=frozenset(("date_from", "date_to", "locale")),
        prompt_hint=(
            "**DOAJ** holds articles of some 20,000 open-access journals that were checked for peer review, of all "
            "fields, countries and languages, mostly with abstracts. Choose it for what can be read freely and for "
            "research that is not written in English. All words must occur, so ask with few; `OR`, phrases and fields "
            "(`title:`, `issn:`, `bibjson.author.name:`) are understood. A DOI as the whole query finds that article."
        ),
        operators=frozenset((Kind.OR, Kind.PHRASE)),
        index_family="doaj",
        documentation="https://doaj.org/api/v4/docs",
        default_base_url="https://doaj.org/api/v4",
        max_results=_MOST_HITS,
        ignores={
            "filetype": "DOAJ's records are pages; `pdf_url` among the extras is the PDF where it knows one",
            "locale": "DOAJ names the languages of its journals by two letters, and looks a DOI up in any language",
        },
        pacing=_pacing,
    )
)
