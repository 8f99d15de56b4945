"""arXiv: preprints in physics, mathematics, computer science and their neighbours.

Wire format: Atom, one GET. https://info.arxiv.org/help/api/user-manual.html
Quirks: an error is a feed whose only entry looks like a paper (id `…/api/errors#…`), with status 400 or 200; an id
that does not exist is left out without a word; entry ids are http while links are https.
"""

from html import escape
from typing import TYPE_CHECKING, Any

from zarniwoop.adapters.arxiv_query import asked_ids, search_query, what_was_left_out
from zarniwoop.contract.failure import Cause, MalformedAnswer, ProviderError, QueryRejected
from zarniwoop.contract.hit import ContentInline, ContentReference, SearchHit
from zarniwoop.contract.modality import SearchDomain, SearchModality
from zarniwoop.contract.provider import Pacing, ProviderInstanceConfig
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.transport import HttpAnswer, HttpRequest
from zarniwoop.text.dates import parse_date
from zarniwoop.text.identifiers import bare_arxiv_id, bare_doi
from zarniwoop.text.operators import Kind
from zarniwoop.text.plain import clip, plain
from zarniwoop.wire.driver import WireProtocol
from zarniwoop.wire.format import Exchange, Found, WireFormat
from zarniwoop.wire.pacing import pacing_subject
from zarniwoop.wire.reading import read_hits, read_xml

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_ATOM = "{http://www.w3.org/2005/Atom}"
_ARXIV = "{http://arxiv.org/schemas/atom}"
_TOTAL = "{http://a9.com/-/spec/opensearch/1.1/}totalResults"
_ONE_CONNECTION = {"Connection": "close"}
"""arXiv wants one connection at a time, and one that rests in another environment is one too."""


def exchange(request: SearchRequest, config: ProviderInstanceConfig) -> Exchange:
    ids = asked_ids(request.query)
    params = {"start": "0", "max_results": str(request.max_results), "sortBy": "relevance", "sortOrder": "descending"}
    params |= {"id_list": ",".join(ids)} if ids else {"search_query": search_query(request.query, request.published)}
    answer = yield HttpRequest(url=f"{config.base_url}/query", params=params, headers=_ONE_CONNECTION)
    feed = _read_feed(answer)
    entries = feed.findall(f"{_ATOM}entry")
    hits, dropped = read_hits(entries, _to_hit)
    counted = (feed.findtext(_TOTAL) or "0").strip()
    return Found(
        hits=hits,
        dropped_count=dropped,
        translated=frozenset(("date_from", "date_to", "freshness_days") if request.published and not ids else ()),
        note=None if ids else what_was_left_out(request.query),
        degraded="arXiv counted papers and sent none" if not entries and counted != "0" else None,
    )


def _read_feed(answer: HttpAnswer) -> "Element":
    feed = read_xml(answer)
    if feed.tag != f"{_ATOM}feed":
        raise MalformedAnswer("the XML is not an Atom feed", cause=Cause.SHAPE)
    if any("/api/errors" in (entry.findtext(f"{_ATOM}id") or "") for entry in feed.findall(f"{_ATOM}entry")):
        raise QueryRejected("arXiv rejects this query", status=answer.status)
    return feed


def _to_hit(entry: "Element") -> SearchHit | None:
    arxiv_id, title = bare_arxiv_id(entry.findtext(f"{_ATOM}id")), _text(entry, f"{_ATOM}title")
    if arxiv_id is None or title is None:
        return None
    abstract = _text(entry, f"{_ATOM}summary")
    doi = bare_doi(entry.findtext(f"{_ARXIV}doi"))
    names = (_text(author, f"{_ATOM}name") for author in entry.findall(f"{_ATOM}author"))
    return SearchHit(
        title=title,
        url=f"https://arxiv.org/abs/{arxiv_id}",
        modality=SearchModality.ACADEMIC,
        snippet=clip(abstract, 300) if abstract else None,
        source="arXiv",
        content=ContentReference(inline=ContentInline.EMBED_TEXT, text=abstract) if abstract else None,
        authors=tuple(name for name in names if name),
        published_at=parse_date(entry.findtext(f"{_ATOM}published")),
        identifiers={"arxiv_id": arxiv_id} | ({"doi": doi} if doi else {}),
        extras={name: value for name, value in _extras(entry).items() if value},
    )


def _extras(entry: "Element") -> dict[str, Any]:
    version = (entry.findtext(f"{_ATOM}id") or "").rpartition("v")[2].strip()
    links = {link.get("title"): link.get("href", "") for link in entry.findall(f"{_ATOM}link")}
    categories = [category.get("term") for category in entry.findall(f"{_ATOM}category")]
    primary = entry.find(f"{_ARXIV}primary_category")
    updated = parse_date(entry.findtext(f"{_ATOM}updated"))
    return {
        "version": int(version) if version.isdecimal() else None,
        "updated": updated and updated.value,
        "primary_category": None if primary is None else primary.get("term"),
        "categories": tuple(term for term in categories if term),
        "comment": _text(entry, f"{_ARXIV}comment"),
        "journal_ref": _text(entry, f"{_ARXIV}journal_ref"),
        "pdf_url": links.get("pdf", "").replace("http:", "https:", 1),
    }


def _text(parent: "Element", path: str) -> str | None:
    """The child's text. XML has decoded it already: escaped again, `p < 0.05 > q` is not taken for a tag."""
    return plain(escape(parent.findtext(path) or "", quote=False))


def _classify(answer: HttpAnswer) -> ProviderError | None:
    """A 400 echoes the query, so its words must not be read for what they say of quotas or keys."""
    return QueryRejected("arXiv rejects this query", cause=Cause.STATUS, status=400) if answer.status == 400 else None


def _pacing(_request: SearchRequest, config: ProviderInstanceConfig) -> Pacing:
    return Pacing(subject=pacing_subject(config), requests=1, seconds=3.0, exclusive=True)


PROTOCOL = WireProtocol(
    WireFormat(
        protocol_id="arxiv",
        display_name="arXiv",
        modalities=frozenset((SearchModality.ACADEMIC,)),
        domains=frozenset((SearchDomain.ACADEMIC,)),
        exchange=exchange,
        filters=frozenset(("date_from", "date_to", "freshness_days")),
        prompt_hint=(
            "**arXiv** holds preprints in physics, mathematics, computer science, statistics, quantitative biology and "
            "economics, before peer review. Choose it for recent STEM work and ask with a few English keywords: every "
            "word must occur. `ti:`, `au:`, `abs:` and `cat:cs.LG` name a field, quotes make a phrase; an arXiv id "
            "finds that paper."
        ),
        operators=frozenset((Kind.PHRASE,)),
        index_family="arxiv",
        documentation="https://info.arxiv.org/help/api/user-manual.html",
        default_base_url="https://export.arxiv.org/api",
        ignores={
            "filetype": "every hit is an abstract page; extras.pdf_url is its PDF",
            "locale": "arXiv does not say in which language a paper is written",
        },
        classify=_classify,
        pacing=_pacing,
    )
)
