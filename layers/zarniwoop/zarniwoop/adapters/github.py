"""GitHub: repositories, source code and issues of the world's largest host of software.

Wire format: JSON, one GET of /search/{repositories,code,issues}. https://docs.github.com/en/rest/search/search
Quirks: a limit that is reached is a 403, told by its headers, and so is a request without a user agent; each kind of
search has limits of its own, by the minute; a search that ran out of time says so in a 200 and sends what it had; what
matched is sent only for a media type of its own; a file's text and a README can be loaded.
"""

import re
from collections.abc import Mapping

from zarniwoop.adapters.github_items import to_hit
from zarniwoop.adapters.github_query import KIND, MOST_CHARACTERS, MOST_RESULTS, home_of, kind_of, question
from zarniwoop.contract.failure import Cause, CredentialsRejected, ProviderError, QueryRejected, RateLimited
from zarniwoop.contract.hit import ContentReference, LoadedContent
from zarniwoop.contract.modality import SearchDomain, SearchModality
from zarniwoop.contract.provider import Pacing, ProviderInstanceConfig
from zarniwoop.contract.quota import QuotaSource, QuotaStatus
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.transport import HeaderKey, HttpAnswer, HttpRequest
from zarniwoop.text.operators import Kind
from zarniwoop.text.retry_after import wait_until
from zarniwoop.wire.driver import WireProtocol
from zarniwoop.wire.format import ContentExchange, Exchange, Found, QuotaExchange, WireFormat
from zarniwoop.wire.pacing import pacing_subject
from zarniwoop.wire.reading import read_hits, read_json, read_number

_VERSION = {"X-GitHub-Api-Version": "2022-11-28"}
_MATCHES = {"Accept": "application/vnd.github.text-match+json", **_VERSION}
_RAW = {"Accept": "application/vnd.github.raw+json", **_VERSION}
_BUCKETS = {"code": "code_search", "repositories": "search", "issues": "search"}
_FILE = re.compile(r"([A-Za-z0-9][\w-]*/(?!\.{1,2}(?:#|$))[\w.-]+)(?:#([0-9a-f]{40,64}))?")
_SLOW_DOWN = ("rate limit", "abuse detection")
_UNIT = "searches a minute"


def exchange(request: SearchRequest, config: ProviderInstanceConfig) -> Exchange:
    kind = kind_of(config)
    if kind == "code" and config.credential_key is None:
        raise CredentialsRejected("GitHub searches code for whoever has a key")
    asked = question(request, kind, home_of(config))
    url = f"{config.base_url}/search/{kind}"
    body = read_json((yield HttpRequest(url=url, params=asked.params, headers=_MATCHES)))
    items, counted = body["items"], body["total_count"]
    hits, dropped = read_hits(items, lambda item: to_hit(item, kind))
    timed_out = body.get("incomplete_results") is True
    degraded = "GitHub ran out of time" if timed_out else "GitHub counted matches and sent none" if counted else None
    notes = (asked.note, "GitHub ran out of time: there may be more" if timed_out and items else None)
    return Found(
        hits=hits,
        dropped_count=dropped,
        translated=asked.translated,
        note="; ".join(filter(None, notes)) or None,
        degraded=None if items else degraded,
    )


def content_exchange(reference: ContentReference, config: ProviderInstanceConfig) -> ContentExchange:
    """A file by its repository and hash, or a repository's README. Raises QueryRejected for anything else."""
    found = _FILE.fullmatch(reference.reference or "")
    if found is None:
        raise QueryRejected("the reference names no file of GitHub")
    repository, sha = found.groups()
    url = f"{config.base_url}/repos/{repository}/{f'git/blobs/{sha}' if sha else 'readme'}"
    answer = yield HttpRequest(url=url, headers=_RAW)
    return LoadedContent(
        body=answer.body, media_type="text/plain", source_url=f"https://{home_of(config)}/{repository}"
    )


def quota_exchange(config: ProviderInstanceConfig) -> QuotaExchange:
    """Of the searches that this endpoint makes. Asking costs none of them."""
    body = read_json((yield HttpRequest(url=f"{config.base_url}/rate_limit", headers=_VERSION)))
    bucket = body["resources"][_BUCKETS[kind_of(config)]]
    limit, left, reset = (float(bucket[name]) for name in ("limit", "remaining", "reset"))
    return QuotaStatus(
        source=QuotaSource.PROVIDER, unit=_UNIT, used=limit - left, limit=limit, remaining=left, resets_at=reset
    )


def _quota(headers: Mapping[str, str], _now: float) -> QuotaStatus | None:
    """A search's own bucket; answers about files count in another, and older servers name none."""
    limit, left, reset = (read_number(headers, f"x-ratelimit-{name}") for name in ("limit", "remaining", "reset"))
    if limit is None or left is None or headers.get("x-ratelimit-resource") not in _BUCKETS.values():
        return None
    return QuotaStatus(
        source=QuotaSource.HEADERS, unit=_UNIT, used=limit - left, limit=limit, remaining=left, resets_at=reset
    )


def _classify(answer: HttpAnswer) -> ProviderError | None:
    """A 403 may be a limit that is reached, a token that lacks a right, or a refusal of another kind."""
    if answer.status not in (403, 429):
        return None
    if answer.headers.get("x-ratelimit-remaining") == "0":
        reset = None if "retry-after" in answer.headers else read_number(answer.headers, "x-ratelimit-reset")
        wait = wait_until(reset, answer.headers)
        return RateLimited("GitHub's limit is reached", cause=Cause.STATUS, status=answer.status, retry_after=wait)
    if "retry-after" in answer.headers:
        return RateLimited("GitHub says slow down", cause=Cause.STATUS, status=answer.status)
    message = str(read_json(answer)["message"]).lower()
    if any(words in message for words in _SLOW_DOWN):
        return RateLimited("GitHub says slow down", cause=Cause.STATUS, status=answer.status)
    if "not accessible by" in message:
        return CredentialsRejected("this token may not search", cause=Cause.STATUS, status=answer.status)
    return None


def _pacing(_request: SearchRequest, config: ProviderInstanceConfig) -> Pacing:
    keyless = config.credential_key is None
    subject = pacing_subject(config, by_key=True)
    return Pacing(subject=subject, requests=10 if keyless or kind_of(config) == "code" else 30, seconds=60.0)


PROTOCOL = WireProtocol(
    WireFormat(
        protocol_id="github",
        display_name="GitHub",
        modalities=frozenset((SearchModality.CODE,)),
        domains=frozenset((SearchDomain.CODE,)),
        exchange=exchange,
        filters=frozenset(("filetype", "date_from", "date_to", "freshness_days")),
        prompt_hint="""**GitHub** holds public source code, repositories and issues, an endpoint one of these. Choose it
for how something is programmed, which project does it, or a known error. Ask with the few words that stand in the text,
and with its qualifiers where they help: `language:python`, `repo:owner/name`, `in:readme`.""",
        operators=frozenset((Kind.OR, Kind.PHRASE)),
        index_family="github",
        documentation="https://docs.github.com/en/rest/search/search",
        default_base_url="https://api.github.com",
        authentication=HeaderKey(name="Authorization", prefix="Bearer "),
        key_variable="GITHUB_TOKEN",
        max_query_chars=MOST_CHARACTERS,
        max_results=MOST_RESULTS,
        ignores={
            "filetype": "repositories and issues are no files",
            "locale": "GitHub does not say in which language a text is written",
        },
        setting_fields=(KIND,),
        classify=_classify,
        content_exchange=content_exchange,
        quota_exchange=quota_exchange,
        quota_from_headers=_quota,
        pacing=_pacing,
    )
)
