"""GitLab: projects, source code and issues of gitlab.com or of an instance of one's own.

Wire format: JSON, one GET of /api/v4/search, or of a project's or a group's. https://docs.gitlab.com/api/search/
Quirks: an answer is a bare list and its paging stands in headers; a file is found without its address, which takes a
look at its project; what an instance cannot search is a 400, a project that one may not see a 404.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from zarniwoop.adapters.gitlab_homes import MOST_LOOK_UPS, homes_of
from zarniwoop.adapters.gitlab_items import HOMELESS, to_hit
from zarniwoop.adapters.gitlab_query import (
    GROUP,
    KIND,
    MOST_CHARACTERS,
    MOST_RESULTS,
    PROJECT,
    api_of,
    kind_of,
    question,
)
from zarniwoop.contract.failure import Cause, CredentialsRejected, EndpointMisconfigured, ProviderError, QueryRejected
from zarniwoop.contract.hit import ContentReference, LoadedContent
from zarniwoop.contract.modality import SearchDomain, SearchModality
from zarniwoop.contract.provider import Pacing, ProviderInstanceConfig
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.transport import HeaderKey, HttpAnswer, HttpRequest
from zarniwoop.text.operators import Kind
from zarniwoop.wire.driver import WireProtocol
from zarniwoop.wire.format import ContentExchange, Exchange, Found, WireFormat
from zarniwoop.wire.pacing import pacing_subject
from zarniwoop.wire.reading import read_hits, read_json, read_number

_MOST_PAGES = 3
_FILE = re.compile(r"(\d{1,12})#([^#\s]{1,250})#([^\x00-\x1f]{1,1000})")


def exchange(request: SearchRequest, config: ProviderInstanceConfig) -> Exchange:
    asked, kind = question(request, config), kind_of(config)
    items: list[Any] = []
    page: dict[str, str] = {}
    counted = 0.0
    for _ in range(_MOST_PAGES):
        answer = yield HttpRequest(url=asked.url, params=asked.params | page)
        listed = read_json(answer)
        if not isinstance(listed, list):
            raise TypeError("the answer is no list")
        items, counted = items + listed, max(counted, read_number(answer.headers, "x-total") or 0.0)
        following = answer.headers.get("x-next-page", "")
        if len(items) >= request.max_results or not listed or not following.isdecimal():
            break
        page = {"page": following}
    homes = yield from homes_of(items, config)
    hits, dropped = read_hits(items, lambda item: to_hit(item, kind, homes))
    degraded = "GitLab counted matches and sent none" if counted and not items else None
    if dropped and not hits and kind in HOMELESS:
        degraded = "what GitLab found has no address, and its projects could not be looked up"
    return Found(hits=hits, dropped_count=dropped, translated=asked.translated, degraded=degraded)


def content_exchange(reference: ContentReference, config: ProviderInstanceConfig) -> ContentExchange:
    """A file by its project, branch and path. Raises QueryRejected for what names none."""
    found = _FILE.fullmatch(reference.reference or "")
    if found is None:
        raise QueryRejected("the reference names no file of GitLab")
    number, ref, path = found.groups()
    url = f"{api_of(config)}/projects/{number}/repository/files/{quote(path, safe='')}/raw"
    answer = yield HttpRequest(url=url, params={"ref": ref})
    return LoadedContent(body=answer.body, media_type="text/plain", source_url=f"{url}?ref={quote(ref, safe='')}")


def _classify(answer: HttpAnswer) -> ProviderError | None:
    """What is a matter of the settings or of the token's rights, and not of the query."""
    status = answer.status
    if status not in (400, 403, 404):
        return None
    said = _complaint(read_json(answer))
    if status == 403 and "insufficient_scope" in said:
        return CredentialsRejected("this token may not read the API", cause=Cause.STATUS, status=status)
    if status == 400 and said.startswith("scope "):
        return EndpointMisconfigured(KIND.name, "GitLab cannot search for this kind here", status=status)
    if status == 404 and "project not found" in said:
        return EndpointMisconfigured(PROJECT.name, "GitLab shows this key no such project", status=status)
    if status == 404 and "group not found" in said:
        return EndpointMisconfigured(GROUP.name, "GitLab shows this key no such group", status=status)
    return None


def _complaint(body: Mapping[str, Any]) -> str:
    return str(body.get("error") or body.get("message")).lower()


def _pacing(_request: SearchRequest, config: ProviderInstanceConfig) -> Pacing:
    """What gitlab.com grants, and an instance of one's own that was left as it came.

    It is a rate of searches: look-ups of projects have another, far higher one, and no part in this.
    """
    return Pacing(subject=pacing_subject(config, by_key=True), requests=30, seconds=60.0)


PROTOCOL = WireProtocol(
    WireFormat(
        protocol_id="gitlab",
        display_name="GitLab",
        modalities=frozenset((SearchModality.CODE,)),
        domains=frozenset((SearchDomain.CODE, SearchDomain.INTERNAL)),
        exchange=exchange,
        filters=frozenset(("filetype",)),
        prompt_hint="""**GitLab** holds projects, source code, issues and merge requests of gitlab.com or of the house's
own instance; an endpoint searches one of these. Choose it for software developed there. Ask with one or two words.""",
        operators=frozenset((Kind.PHRASE,)),
        index_family="gitlab",
        documentation="https://docs.gitlab.com/api/search/",
        default_base_url="https://gitlab.com",
        authentication=HeaderKey(name="PRIVATE-TOKEN"),
        key_required=True,
        key_variable="GITLAB_TOKEN",
        max_query_chars=MOST_CHARACTERS,
        max_results=MOST_RESULTS,
        ignores={
            "filetype": "only blobs are files",
            "locale": "GitLab does not say in which language a text is written",
        },
        setting_fields=(KIND, PROJECT, GROUP),
        classify=_classify,
        content_exchange=content_exchange,
        pacing=_pacing,
        most_calls=lambda _request, _config: _MOST_PAGES + MOST_LOOK_UPS,
    )
)
