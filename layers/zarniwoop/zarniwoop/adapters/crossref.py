"""Crossref: what publishers register for their DOIs, corrections and retractions included.

Wire format: JSON, one GET of /works. https://api.crossref.org/swagger-ui/index.html
Quirks: `message` is an object, and a list where the query is refused; the best of millions comes back for any words, so
an empty answer is rare; an unknown DOI is a 404 in plain text, so a DOI is asked for as a filter; `select` leaves out
whatever it does not name, retractions too; who names an e-mail address is in the polite pool and may ask more often.
"""

from typing import Any

from zarniwoop.adapters.crossref_works import FIELDS, to_hit
from zarniwoop.contract.failure import Cause, QueryRejected
from zarniwoop.contract.modality import SearchDomain, SearchModality
from zarniwoop.contract.provider import Pacing, ProviderInstanceConfig
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.transport import HeaderKey, HttpRequest
from zarniwoop.text.identifiers import asked_doi
from zarniwoop.wire.driver import WireProtocol
from zarniwoop.wire.extras import contact_field
from zarniwoop.wire.format import Exchange, Found, WireFormat
from zarniwoop.wire.pacing import pacing_subject
from zarniwoop.wire.reading import read_hits, read_json
from zarniwoop.wire.retractions import retraction_note

_CONTACT = contact_field("Sent along as Crossref's `mailto`, which lifts one search a second to three.")


def exchange(request: SearchRequest, config: ProviderInstanceConfig) -> Exchange:
    doi = asked_doi(request.query)
    filters, translated = _filters(request, doi)
    params = {
        "query": "" if doi else request.query,
        "filter": ",".join(filters),
        "rows": str(request.max_results),
        "select": FIELDS,
        "mailto": config.extras.get(_CONTACT.name, ""),
    }
    given = {name: value for name, value in params.items() if value}
    message = _message(read_json((yield HttpRequest(url=f"{config.base_url}/works", params=given))))
    works = message["items"]
    hits, dropped = read_hits(works, to_hit)
    return Found(
        hits=hits,
        dropped_count=dropped,
        translated=translated,
        note=retraction_note("Crossref", hits[: request.max_results]),
        degraded="Crossref counted works and sent none" if message.get("total-results") and not works else None,
    )


def _filters(request: SearchRequest, doi: str | None) -> tuple[list[str], frozenset[str]]:
    """Filters as Crossref writes them, and the names of ours that they stand for."""
    filters, translated = [f"doi:{doi}"] if doi else [], set()
    if request.published and request.published.earliest:
        filters.append(f"from-pub-date:{request.published.earliest}")
        translated |= {"date_from", "freshness_days"}
    if request.published and request.published.latest:
        filters.append(f"until-pub-date:{request.published.latest}")
        translated.add("date_to")
    return filters, frozenset(translated)


def _message(body: Any) -> Any:
    """What the answer is about. Raises QueryRejected where that is a list of faults."""
    message = body["message"]
    if isinstance(message, list):
        raise QueryRejected("Crossref rejects this query", cause=Cause.SHAPE)
    return message


def _pacing(_request: SearchRequest, config: ProviderInstanceConfig) -> Pacing | None:
    """The pools' rates for lists; who has a key of Metadata Plus is not held back here."""
    if config.credential_key is not None:
        return None
    polite = _CONTACT.name in config.extras
    return Pacing(subject=pacing_subject(config), requests=3 if polite else 1, seconds=1.0)


PROTOCOL = WireProtocol(
    WireFormat(
        protocol_id="crossref",
        display_name="Crossref",
        modalities=frozenset((SearchModality.ACADEMIC,)),
        domains=frozenset((SearchDomain.ACADEMIC,)),
        exchange=exchange,
        filters=frozenset(("date_from", "date_to", "freshness_days")),
        prompt_hint=(
            "**Crossref** holds what publishers register for their DOIs: articles, chapters, books, preprints, with "
            "authors, venue, dates, corrections and retractions. Choose it to check a reference (title and authors in "
            "one line, or a DOI as the whole query) and whether a work was retracted. It always finds something: "
            "compare titles. Few records have abstracts."
        ),
        index_family="crossref",
        documentation="https://api.crossref.org/swagger-ui/index.html",
        default_base_url="https://api.crossref.org",
        authentication=HeaderKey(name="Crossref-Plus-API-Token", prefix="Bearer "),
        key_variable="CROSSREF_API_KEY",
        ignores={
            "filetype": "Crossref describes works, not files; `pdf_url` among the extras is the publisher's PDF",
            "locale": "Crossref has no filter by language",
        },
        setting_fields=(_CONTACT,),
        pacing=_pacing,
    )
)
