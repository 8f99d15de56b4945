"""The failures, drawn once: the class is the consequence.

    ProviderError
    ├── QueryRejected         this query is at fault        no cooldown, next candidate
    ├── CredentialsRejected   the key is at fault           until the endpoint's settings change
    ├── QuotaExhausted        the plan is used up           no cooldown; EXHAUSTED until the quota is looked at again
    ├── AccessRefused         a wall, not the key           5 min
    ├── RateLimited           slow down                     Retry-After, else 1, 5, 25, 60 min
    ├── ProviderUnavailable   5xx, DNS, TLS, connect, time  30 s, 2, 10, 30 min
    └── MalformedAnswer       not the declared format       1 min

Messages are written here and in the adapters, never copied from an answer: a provider's error text is untrusted, and a
URL in it may carry a key.
"""

from enum import StrEnum
from typing import ClassVar


class Cause(StrEnum):
    """What exactly went wrong on the way to a provider; the detail of an attempt."""

    DNS = "dns"
    TLS = "tls"
    CONNECT = "connect"
    RESET = "reset"
    TIMEOUT = "timeout"
    DEADLINE = "deadline"
    ADDRESS = "address_refused"
    REDIRECT = "redirect"
    TOO_LARGE = "body_too_large"
    HEADERS = "headers_too_large"
    ENCODING = "encoding"
    TRUNCATED = "truncated"
    STATUS = "status"
    CONTENT_TYPE = "content_type"
    SHAPE = "shape"
    PROTOCOL = "protocol"


class ZarniwoopError(Exception):
    """Root of everything this package raises on purpose."""


class ProviderError(ZarniwoopError):
    """A provider did not answer the search. `retry_after` is what the provider itself stated, in seconds."""

    reason: ClassVar[str] = "provider_error"

    def __init__(
        self,
        message: str,
        *,
        cause: Cause | None = None,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.cause = cause
        self.status = status
        self.retry_after = retry_after


class QueryRejected(ProviderError):  # noqa: N818 - named by its consequence; the suffix is for the roots
    reason = "query_rejected"


class CredentialsRejected(ProviderError):  # noqa: N818
    reason = "credentials_rejected"


class QuotaExhausted(ProviderError):  # noqa: N818
    reason = "quota_exhausted"


class AccessRefused(ProviderError):  # noqa: N818
    reason = "access_refused"


class RateLimited(ProviderError):  # noqa: N818
    reason = "rate_limited"


class ProviderUnavailable(ProviderError):  # noqa: N818
    reason = "provider_unavailable"


class MalformedAnswer(ProviderError):  # noqa: N818
    reason = "malformed_answer"


class ConfigurationUnavailable(ZarniwoopError):  # noqa: N818
    """Settings could not be read and nothing usable is cached; `retry_after` in seconds."""

    def __init__(self, message: str, *, retry_after: float = 5.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after
