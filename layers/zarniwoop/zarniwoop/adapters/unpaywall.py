"""Unpaywall: where a work can be read freely and lawfully, by its DOI or by the words of its title.

Wire format: JSON, one GET of /<doi>, or of /search, 50 titles a page. https://unpaywall.org/products/api
Quirks: every request names the e-mail address of who answers for it, and a made-up one is a 422; every title with a DOI
of Crossref is searched, the closed ones too; an unknown DOI is a 404. Since 2026 the search of titles is said to be
down more often than not. What comes is the place of a text, never the text.
"""

from zarniwoop.adapters.unpaywall_works import to_hit
from zarniwoop.contract.failure import AccessRefused, Cause, ProviderError
from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.modality import SearchDomain, SearchModality
from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.transport import HttpAnswer, HttpRequest
from zarniwoop.text.identifiers import held_doi, in_a_path
from zarniwoop.text.operators import Kind
from zarniwoop.wire.driver import WireProtocol
from zarniwoop.wire.extras import contact_field
from zarniwoop.wire.format import Exchange, Found, WireFormat
from zarniwoop.wire.reading import read_hits, read_json

_PAGE = 50
_CONTACT = contact_field(
    "Sent along as Unpaywall demands of every request; an address at example.com is refused.", required=True
)


def exchange(request: SearchRequest, config: ProviderInstanceConfig) -> Exchange:
    doi, email = held_doi(request.query), config.extras[_CONTACT.name]
    if doi:
        return (yield from _look_up(f"{config.base_url}/{in_a_path(doi)}", email))
    hits: tuple[SearchHit, ...] = ()
    dropped = 0
    for page in range(1, -(-request.max_results // _PAGE) + 1):
        params = {"query": request.query, "email": email, **({"page": str(page)} if page > 1 else {})}
        results = read_json((yield HttpRequest(url=f"{config.base_url}/search", params=params)))["results"]
        more, lost = read_hits(results, lambda result: to_hit(result["response"]))
        hits, dropped = (*hits, *more), dropped + lost
        if len(results) < _PAGE:
            break
    return Found(hits=hits, dropped_count=dropped)


def _look_up(url: str, email: str) -> Exchange:
    """The work of a DOI, and plainly said where there is no free copy of it."""
    work = read_json((yield HttpRequest(url=url, params={"email": email})))
    hits, dropped = read_hits([work] if work["doi"] else [], to_hit)
    closed = any("open_url" not in hit.extras for hit in hits)
    return Found(hits=hits, dropped_count=dropped, note="Unpaywall knows no free copy of this work" if closed else None)


def _classify(answer: HttpAnswer) -> ProviderError | None:
    """It is not the query that a 422 is about, but the address in the settings."""
    if answer.status == 422:
        return AccessRefused("Unpaywall refuses the contactEmail of this endpoint", cause=Cause.STATUS, status=422)
    return None


PROTOCOL = WireProtocol(
    WireFormat(
        protocol_id="unpaywall",
        display_name="Unpaywall",
        modalities=frozenset((SearchModality.ACADEMIC,)),
        domains=frozenset((SearchDomain.ACADEMIC,)),
        exchange=exchange,
        prompt_hint=(
            "**Unpaywall** knows where a scholarly work may be read for free: `open_url` and `pdf_url` among the "
            "extras are the best lawful copy, with version, license and host. Pin it for a DOI (alone or in a "
            "sentence) whose text is wanted. Without a DOI it searches titles only; it is no index of literature."
        ),
        form_hint="Tell Unpaywall who asks: without an e-mail address of your own it answers nobody.",
        operators=frozenset((Kind.OR, Kind.PHRASE)),
        index_family="crossref",
        documentation="https://unpaywall.org/products/api",
        default_base_url="https://api.unpaywall.org/v2",
        ignores={
            "filetype": "Unpaywall describes works; `pdf_url` among the extras is the PDF where there is one",
            "locale": "Unpaywall does not say in which language a work is written",
        },
        setting_fields=(_CONTACT,),
        classify=_classify,
        most_calls=lambda request, _config: -(-request.max_results // _PAGE),
    )
)
