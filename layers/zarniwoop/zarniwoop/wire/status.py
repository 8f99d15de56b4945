"""What an answer of status 400 and above means when the provider has no reading of its own (design section 5).

Quirk: an error often repeats the query. Words that would bench an endpoint for long count only where a key was sent,
only in those members of a JSON body that speak for the provider, and not inside quotes.
"""

import re
from collections.abc import Iterator

import orjson

from zarniwoop.contract.failure import (
    AccessRefused,
    Cause,
    CredentialsRejected,
    MalformedAnswer,
    ProviderError,
    ProviderUnavailable,
    QueryRejected,
    QuotaExhausted,
    RateLimited,
)
from zarniwoop.contract.transport import HttpAnswer
from zarniwoop.text.retry_after import stated_wait

_LOOKED_AT = 4096
_LARGEST_READ = 65_536
_SLOW_DOWN = ("rate limit", "rate exceeded", "too many requests", "throttl", "slow down")
_USED_UP = ("not enough credits", "insufficient credits", "quota exceeded", "out of credits", "no_more_credits")
_KEY = ("api key", "api_key", "apikey", "unauthorized", "invalid key", "invalid token", "subscription token")
_SPEAKING = (
    *("error", "errors", "message", "msg", "detail", "details", "title", "description", "error_description"),
    *("reason", "code", "tag", "type"),
)
_QUOTED = re.compile(r"""(?<!\w)(["'`])(?:(?!\1).)*\1(?!\w)""")


def failure_of(answer: HttpAnswer, now: float, *, keyed: bool = True) -> ProviderError | None:
    """The typed failure behind an answer, None when its status is 2xx.

    `now` is in epoch seconds, for dates in Retry-After; `keyed` says whether a key was sent, which alone can be at
    fault.
    """
    status = answer.status
    if 200 <= status < 300:
        return None
    wait = stated_wait(answer.headers, now)
    if status == 429 or (status in (403, 503) and _says(_complaint(answer.body), _SLOW_DOWN)):
        return RateLimited("the provider says slow down", status=status, retry_after=wait)
    return (_by_key(answer) if keyed else None) or _by_status(status, wait)


def _by_key(answer: HttpAnswer) -> ProviderError | None:
    status = answer.status
    said = _said(answer.body) if status in (400, 402, 403) else ""
    if _says(said, _USED_UP):
        return QuotaExhausted("the plan of this key is used up", cause=Cause.STATUS, status=status)
    if status in (401, 402) or (status == 403 and _says(said, _KEY)):
        return CredentialsRejected("the provider refuses this key", cause=Cause.STATUS, status=status)
    return None


def _complaint(body: bytes) -> str:
    """What a refusal says: of JSON only the provider's own words, as it may repeat the query; of a page its begin."""
    begin = body[:_LOOKED_AT].lstrip()
    return _said(body) if begin[:1] in (b"{", b"[") else begin.decode(errors="replace")


def _says(text: str, words: tuple[str, ...]) -> bool:
    text = text.lower()
    return any(word in text for word in words)


def _said(body: bytes) -> str:
    """What a JSON object says in the provider's own words; nothing for a page or anything else."""
    if len(body) > _LARGEST_READ:
        return ""
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        return ""
    return _QUOTED.sub(" ", " ; ".join(_words(document, 3))) if isinstance(document, dict) else ""


def _words(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict) and depth:
        for name in _SPEAKING:
            yield from _words(value.get(name), depth - 1)
    elif isinstance(value, list) and depth:
        for each in value[:8]:
            yield from _words(each, depth - 1)


def _by_status(status: int, wait: float | None) -> ProviderError:
    if status in (401, 402, 403, 451):
        return AccessRefused("the provider refuses access", cause=Cause.STATUS, status=status, retry_after=wait)
    if status in (300, 301, 302, 303, 304, 305, 307, 308):
        return ProviderUnavailable("the provider's API redirects elsewhere", cause=Cause.REDIRECT, status=status)
    if status == 408 or 500 <= status < 600:
        return ProviderUnavailable("the provider cannot answer", cause=Cause.STATUS, status=status, retry_after=wait)
    if 400 <= status < 500:
        return QueryRejected("the provider rejects this query", cause=Cause.STATUS, status=status)
    return MalformedAnswer("the provider answered with an unknown status", cause=Cause.STATUS, status=status)
