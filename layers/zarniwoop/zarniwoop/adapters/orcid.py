"""ORCID: the public directory of researchers: names, institutions and works of who registered for an iD.

Wire format: JSON, one GET of /expanded-search; a person is /<iD>/person and /<iD>/works.
https://info.orcid.org/documentation/api-tutorials/api-tutorial-searching-the-orcid-registry/
Quirks: nobody found is a null where the list would be; the query is Solr's, sent as orcid.org's own search page sends
it, so that names weigh most and odd marks are words; what Solr cannot read is a 500 with its exception in it. Nothing
lies beyond the first 10,000, of which the best 100 are plenty. E-mail addresses are not passed on, public or not.
"""

from zarniwoop.adapters.orcid_people import profile, to_hit
from zarniwoop.contract.failure import Cause, ProviderError, QueryRejected, RateLimited
from zarniwoop.contract.hit import ContentReference, LoadedContent
from zarniwoop.contract.modality import SearchDomain, SearchModality, SearchTier
from zarniwoop.contract.provider import Pacing, ProviderInstanceConfig
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.transport import HeaderKey, HttpAnswer, HttpRequest
from zarniwoop.text.identifiers import asked_orcid, is_orcid
from zarniwoop.text.operators import Kind
from zarniwoop.wire.driver import WireProtocol
from zarniwoop.wire.format import ContentExchange, Exchange, Found, WireFormat
from zarniwoop.wire.pacing import pacing_subject
from zarniwoop.wire.reading import read_hits, read_json

_JSON = {"Accept": "application/json"}
_BY_NAME_FIRST = (
    '{!edismax qf="given-and-family-names^50.0 family-name^10.0 given-names^10.0 credit-name^10.0 other-names^5.0 '
    'text^1.0" pf="given-and-family-names^50.0" mm="2<75%"}'
)
_MERGED, _UNREADABLE = 9007, 9008


def exchange(request: SearchRequest, config: ProviderInstanceConfig) -> Exchange:
    params = {"q": _query(request.query), "start": "0", "rows": str(request.max_results)}
    url = f"{config.base_url}/expanded-search"
    body = read_json((yield HttpRequest(url=url, params=params, headers=_JSON)))
    people, counted = body["expanded-result"], body["num-found"]
    hits, dropped = read_hits([] if people is None else people, to_hit)
    return Found(
        hits=hits,
        dropped_count=dropped,
        degraded="ORCID counted people and sent none" if counted and not people else None,
    )


def _query(query: str) -> str:
    """Two words must both occur, of more three quarters. Raises QueryRejected for an iD that nobody can have."""
    orcid = asked_orcid(query)
    if orcid is None:
        return _BY_NAME_FIRST + query
    if not is_orcid(orcid):
        raise QueryRejected("this is no ORCID iD: its last character does not fit the others")
    return f"orcid:{orcid}"


def content_exchange(reference: ContentReference, config: ProviderInstanceConfig) -> ContentExchange:
    """What a person's record says of her and her works. Raises QueryRejected for a foreign reference."""
    orcid = reference.reference or ""
    if not is_orcid(orcid):
        raise QueryRejected("this is no reference to a person of ORCID")
    person = read_json((yield HttpRequest(url=f"{config.base_url}/{orcid}/person", headers=_JSON)))
    works = read_json((yield HttpRequest(url=f"{config.base_url}/{orcid}/works", headers=_JSON)))
    text = profile(orcid, person, works)
    return LoadedContent(body=text.encode(), media_type="text/plain", source_url=f"https://orcid.org/{orcid}")


def _classify(answer: HttpAnswer) -> ProviderError | None:
    """A burst is a 503; the index's complaint about a query a 500; an iD that was merged into another a redirect."""
    if answer.status == 503:
        return RateLimited("ORCID says slow down", cause=Cause.STATUS, status=503)
    if answer.status not in (301, 500):
        return None
    error = read_json(answer)
    if error["error-code"] == _MERGED:
        return QueryRejected("this ORCID iD was merged into another", cause=Cause.STATUS, status=answer.status)
    if error["error-code"] == _UNREADABLE and "RemoteSolrException" in error["developer-message"]:
        return QueryRejected("ORCID's index cannot read this query", cause=Cause.STATUS, status=answer.status)
    return None


def _pacing(_request: SearchRequest, config: ProviderInstanceConfig) -> Pacing:
    """The public API's rate; with a token of a registered client the day's quota is its own, the rate is not."""
    return Pacing(subject=pacing_subject(config), requests=12, seconds=1.0)


PROTOCOL = WireProtocol(
    WireFormat(
        protocol_id="orcid",
        display_name="ORCID",
        modalities=frozenset((SearchModality.ENCYCLOPEDIA,)),
        domains=frozenset((SearchDomain.PEOPLE,)),
        tiers=frozenset((SearchTier.EXPERT,)),
        exchange=exchange,
        content_exchange=content_exchange,
        load_calls=2,
        prompt_hint=(
            "**ORCID** is a directory of some 20 million researchers, who wrote their entries themselves: names, "
            "institutions, works. Pin it to find out who somebody is, to tell namesakes apart, or to find people at "
            "an institution or in a field. Ask with a name (and an institution), fields as in `family-name:Carberry`, "
            "or an iD. Its hits are people, no articles, and many entries hold nothing but a name."
        ),
        form_hint="Asked only when pinned or routed in expert searches; a `/read-public` token lifts the daily quota.",
        operators=frozenset((Kind.OR, Kind.PHRASE)),
        index_family="orcid",
        documentation="https://info.orcid.org/documentation/api-tutorials/api-tutorial-searching-the-orcid-registry/",
        default_base_url="https://pub.orcid.org/v3.0",
        authentication=HeaderKey(name="Authorization", prefix="Bearer "),
        key_variable="ORCID_ACCESS_TOKEN",
        ignores={
            "date_from": "people have no date of publication",
            "date_to": "people have no date of publication",
            "freshness_days": "people have no date of publication",
            "filetype": "ORCID's entries are pages",
            "locale": "ORCID does not say which languages somebody speaks",
        },
        classify=_classify,
        pacing=_pacing,
    )
)
