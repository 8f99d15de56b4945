"""PubMed: the biomedical literature, through NCBI's E-utilities.

Wire format: esearch (JSON) gives ids, esummary (JSON) describes them, efetch (XML) holds abstracts.
https://www.ncbi.nlm.nih.gov/books/NBK25499/
Quirks: a failed search is a 200 with `ERROR` where the ids would be; an error body repeats the key or the caller's IP;
an unknown key is a 400; a GET with many ids is answered with 414, so they are posted.
"""

from collections.abc import Mapping
from typing import Any

from zarniwoop.adapters.pubmed_query import refusal, search_fields, translated_filters, unknown_phrases
from zarniwoop.adapters.pubmed_records import page_of, read_records, summary_to_hit, with_record
from zarniwoop.contract.failure import (
    Cause,
    CredentialsRejected,
    ProviderError,
    ProviderUnavailable,
    QueryRejected,
    RateLimited,
)
from zarniwoop.contract.hit import ContentReference, LoadedContent
from zarniwoop.contract.modality import SearchDomain, SearchModality
from zarniwoop.contract.provider import Pacing, ProviderInstanceConfig
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.transport import HttpAnswer, HttpRequest, QueryKey
from zarniwoop.text.operators import Kind
from zarniwoop.wire.driver import WireProtocol
from zarniwoop.wire.extras import contact_field
from zarniwoop.wire.format import ContentExchange, Exchange, Found, SettingField, WireFormat
from zarniwoop.wire.pacing import pacing_subject
from zarniwoop.wire.reading import read_hits, read_json

_IDS_IN_A_GET = 200
_ABSTRACTS_AT_ONCE = 100


def exchange(request: SearchRequest, config: ProviderInstanceConfig) -> Exchange:
    listed = yield _call(config, "esearch", {"retmode": "json", **search_fields(request)})
    found = _member(listed, "esearchresult")
    if "ERROR" in found:
        raise refusal(found["ERROR"])
    ids = [str(int(pmid)) for pmid in found["idlist"]]
    translated, note = translated_filters(request), unknown_phrases(found, request.query)
    if not ids:
        silent = "PubMed counted records and listed none" if int(found["count"]) else None
        return Found(translated=translated, note=note, degraded=silent)
    described = _member((yield _call(config, "esummary", {"retmode": "json", "id": ",".join(ids)})), "result")
    hits, dropped = read_hits((described.get(uid) for uid in described["uids"]), summary_to_hit)
    if hits and _wants_abstracts(config):
        wanted = [hit.identifiers["pmid"] for hit in hits[:_ABSTRACTS_AT_ONCE]]
        records = read_records((yield _call(config, "efetch", {"retmode": "xml", "id": ",".join(wanted)})))
        hits = tuple(with_record(hit, records.get(hit.identifiers["pmid"])) for hit in hits)
    return Found(
        hits=hits,
        dropped_count=dropped + max(0, len(ids) - len(described["uids"])),
        translated=translated,
        note=note,
        degraded=None if hits else "PubMed listed records and described none",
    )


def content_exchange(reference: ContentReference, config: ProviderInstanceConfig) -> ContentExchange:
    """The record as text: title, authors, abstract."""
    pmid = reference.reference or ""
    if not (pmid.isascii() and pmid.isdecimal()):
        raise QueryRejected("the reference is not a PubMed id")
    record = read_records((yield _call(config, "efetch", {"retmode": "xml", "id": pmid}))).get(pmid)
    if record is None:
        raise QueryRejected("PubMed has no record of this id")
    text = "\n\n".join(filter(None, (record.title, ", ".join(record.authors), record.abstract)))
    return LoadedContent(body=text.encode(), media_type="text/plain", source_url=page_of(pmid))


def _call(config: ProviderInstanceConfig, utility: str, fields: Mapping[str, str]) -> HttpRequest:
    url = f"{config.base_url}/{utility}.fcgi"
    email = config.extras.get("contactEmail")
    fields = {"db": "pubmed", **fields, "tool": "zarniwoop", **({"email": email} if email else {})}
    if fields.get("id", "").count(",") >= _IDS_IN_A_GET:
        return HttpRequest(url=url, method="POST", form=fields)
    return HttpRequest(url=url, params=fields)


def _member(answer: HttpAnswer, name: str) -> Any:
    document = read_json(answer)
    if "error" in document:
        raise RateLimited("NCBI says slow down") if "limit" in document else ProviderUnavailable("NCBI cannot answer")
    return document[name]


def _wants_abstracts(config: ProviderInstanceConfig) -> bool:
    return config.extras.get("abstracts", "false").lower() == "true"


def _classify(answer: HttpAnswer) -> ProviderError | None:
    if answer.status == 400 and str(read_json(answer)["error"]).lower() == "api key invalid":
        return CredentialsRejected("NCBI does not know this key", cause=Cause.STATUS, status=400)
    return None


def _pacing(_request: SearchRequest, config: ProviderInstanceConfig) -> Pacing:
    calls = 3 if _wants_abstracts(config) else 2
    requests = 3 if config.credential_key is None else 10
    subject = pacing_subject(config, by_key=True)
    return Pacing(subject=subject, requests=requests, seconds=1.0, calls=calls, separate=True)


PROTOCOL = WireProtocol(
    WireFormat(
        protocol_id="pubmed",
        display_name="PubMed",
        modalities=frozenset((SearchModality.ACADEMIC,)),
        domains=frozenset((SearchDomain.ACADEMIC,)),
        exchange=exchange,
        filters=frozenset(("date_from", "date_to", "freshness_days", "locale")),
        content_exchange=content_exchange,
        prompt_hint=(
            "**PubMed** indexes the biomedical literature: medicine, nursing, pharmacology, genetics, public health. "
            "Choose it for clinical and life-science questions; it maps plain words to MeSH headings by itself and "
            "marks retracted papers. PubMed syntax (`asthma[mh] AND 2024[dp]`) is passed on."
        ),
        operators=frozenset((Kind.OR, Kind.PHRASE)),
        index_family="pubmed",
        documentation="https://www.ncbi.nlm.nih.gov/books/NBK25499/",
        default_base_url="https://eutils.ncbi.nlm.nih.gov/entrez/eutils",
        authentication=QueryKey(name="api_key"),
        key_variable="NCBI_API_KEY",
        max_results=500,
        ignores={"filetype": "PubMed records are pages"},
        setting_fields=(
            contact_field("Sent with every call, so that NCBI can write before it blocks."),
            SettingField(
                name="abstracts",
                title="Abstracts",
                description="Fetch abstracts with every search, at the price of a third call.",
                default="false",
                pattern="(?i:true|false)",
            ),
        ),
        classify=_classify,
        pacing=_pacing,
    )
)
