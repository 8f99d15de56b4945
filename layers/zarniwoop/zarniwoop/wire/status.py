"""What an answer of status 400 and above means when the provider has no reading of its own (design section 5)."""

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
_SLOW_DOWN = (b"rate limit", b"rate exceeded", b"too many requests", b"throttl", b"slow down")
_USED_UP = (b"not enough credits", b"insufficient credits", b"quota exceeded", b"out of credits", b"no_more_credits")
_KEY = (b"api key", b"api_key", b"apikey", b"unauthorized", b"invalid key", b"invalid token", b"subscription token")


def failure_of(answer: HttpAnswer, now: float) -> ProviderError | None:
    """The typed failure behind an answer, None when its status is 2xx. `now`: epoch seconds, for Retry-After dates."""
    status = answer.status
    if 200 <= status < 300:
        return None
    text = answer.body[:_LOOKED_AT].lower()
    if status == 429 or (status in (403, 503) and _says(text, _SLOW_DOWN)):
        return RateLimited("the provider says slow down", status=status, retry_after=stated_wait(answer.headers, now))
    if status in (400, 402, 403) and _says(text, _USED_UP):
        return QuotaExhausted("the plan of this key is used up", cause=Cause.STATUS, status=status)
    if status in (401, 402) or (status == 403 and _says(text, _KEY)):
        return CredentialsRejected("the provider refuses this key", cause=Cause.STATUS, status=status)
    return _by_status(status, stated_wait(answer.headers, now))


def _says(text: bytes, words: tuple[bytes, ...]) -> bool:
    return any(word in text for word in words)


def _by_status(status: int, wait: float | None) -> ProviderError:
    if status == 403 or status == 451:
        return AccessRefused("the provider refuses access", cause=Cause.STATUS, status=status, retry_after=wait)
    if status in (300, 301, 302, 303, 304, 305, 307, 308):
        return ProviderUnavailable("the provider's API redirects elsewhere", cause=Cause.REDIRECT, status=status)
    if status == 408 or 500 <= status < 600:
        return ProviderUnavailable("the provider cannot answer", cause=Cause.STATUS, status=status, retry_after=wait)
    if 400 <= status < 500:
        return QueryRejected("the provider rejects this query", cause=Cause.STATUS, status=status)
    return MalformedAnswer("the provider answered with an unknown status", cause=Cause.STATUS, status=status)
