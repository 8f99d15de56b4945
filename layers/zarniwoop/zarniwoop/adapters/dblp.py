"""dblp: the bibliography of computer science, complete for its journals and conferences, without abstracts.

Wire format: JSON, one GET of /search/publ/api. https://dblp.org/faq/How+to+use+the+dblp+search+API.html
Quirks: every number is a string, and an empty answer has no `hit`; words are joined by AND and match from their start
on, unless they end in `$`; `|` is OR; phrases and NOT were switched off, and a colon names a facet. One or two seconds
between requests are asked for. A gate before the host may ask for a browser: an HTML page with whatever status.
"""

import re
from typing import Any

from zarniwoop.adapters.dblp_publications import listed, to_hit
from zarniwoop.contract.failure import AccessRefused, Cause, ProviderError, ProviderUnavailable, QueryRejected
from zarniwoop.contract.modality import SearchDomain, SearchModality
from zarniwoop.contract.provider import Pacing, ProviderInstanceConfig
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.transport import HttpAnswer, HttpRequest
from zarniwoop.text.operators import Kind
from zarniwoop.wire.driver import WireProtocol
from zarniwoop.wire.format import Exchange, Found, WireFormat
from zarniwoop.wire.pacing import pacing_subject
from zarniwoop.wire.reading import read_hits, read_json

_MOST_HITS = 100
_FACET_OR_COLON = re.compile(r"(?<!\S)(?:author|venue|year|type|stream|streamid|toc):\S+|:")
_NO_WORDS = re.compile(r"""["“”„()\[\]{}<>?!*,;\\]""")
_UNWANTED = re.compile(r"(?<!\S)-\S*")
_OR = re.compile(r"\s+OR\s+|\s*\|\s*")
_AND = re.compile(r"\s+AND\s+")
_WORD = re.compile(r"\w")
_GATE = b"/.within.website/"


def exchange(request: SearchRequest, config: ProviderInstanceConfig) -> Exchange:
    params = {
        "q": _words(request.query),
        "format": "json",
        "h": str(_MOST_HITS if any(request.expert_params.given()) else request.max_results),
        "f": "0",
        "c": "0",
    }
    body = read_json((yield HttpRequest(url=f"{config.base_url}/search/publ/api", params=params)))
    result = _hits(body["result"])
    publications = listed(result.get("hit"))
    hits, dropped = read_hits(publications, to_hit)
    return Found(
        hits=hits,
        dropped_count=dropped,
        degraded="dblp counted publications and sent none" if int(result["@total"]) and not publications else None,
    )


def _words(query: str) -> str:
    """The query in dblp's syntax, without marks that mean nothing there, or something else.

    An unwanted word is left out, as it would be a wanted one. Raises QueryRejected where no word is left.
    """
    plain = _FACET_OR_COLON.sub(lambda found: found[0] if found[0] != ":" else " ", query)
    wanted = _UNWANTED.sub(" ", _NO_WORDS.sub(" ", plain))
    words = " ".join(_OR.sub("|", _AND.sub(" ", wanted)).split())
    if not _WORD.search(words):
        raise QueryRejected("the query has no word to search for")
    return words


def _hits(result: Any) -> Any:
    """The hits of a result, which has a status of its own. Raises ProviderUnavailable or QueryRejected."""
    code = int(result["status"]["@code"]) if "status" in result else 200
    if code >= 500:
        raise ProviderUnavailable("dblp's search cannot answer", cause=Cause.SHAPE)
    if code >= 400:
        raise QueryRejected("dblp rejects this query", cause=Cause.SHAPE)
    return result["hits"]


def _classify(answer: HttpAnswer) -> ProviderError | None:
    """The gate's page, whatever its status: 500 at dblp.org, 200 at the mirrors."""
    begin = answer.body[:4096].lstrip()
    if begin[:1] == b"<" and _GATE in begin:
        return AccessRefused("dblp lets in browsers only at the moment", cause=Cause.CONTENT_TYPE, status=answer.status)
    return None


def _pacing(_request: SearchRequest, config: ProviderInstanceConfig) -> Pacing:
    return Pacing(subject=pacing_subject(config), requests=1, seconds=1.0)


PROTOCOL = WireProtocol(
    WireFormat(
        protocol_id="dblp",
        display_name="dblp",
        modalities=frozenset((SearchModality.ACADEMIC,)),
        domains=frozenset((SearchDomain.ACADEMIC,)),
        exchange=exchange,
        prompt_hint=(
            "**dblp** lists the publications of computer science: titles, authors, venues, years, with namesakes told "
            "apart. Choose it to check a reference in that field, or for all that somebody published or that a venue "
            "printed. Every word must occur in title, author or venue, so give few (`author:` and `venue:` narrow "
            "down). It has no abstracts, and cannot be asked about a topic in a sentence."
        ),
        form_hint="Where dblp.org turns programs away, `baseUrl` may name a mirror such as https://dblp.uni-trier.de.",
        operators=frozenset((Kind.OR,)),
        index_family="dblp",
        documentation="https://dblp.org/faq/How+to+use+the+dblp+search+API.html",
        default_base_url="https://dblp.org",
        max_results=_MOST_HITS,
        ignores={
            "filetype": "dblp describes publications, not files",
            "locale": "dblp does not say in which language a publication is written",
        },
        classify=_classify,
        pacing=_pacing,
    )
)
