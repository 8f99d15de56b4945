"""The failures, drawn once: the class is the consequence.

    ProviderError
    ├── QueryRejected         this query is at fault        no cooldown, next candidate
    ├── CredentialsRejected   the key is at fault           until the endpoint's settings change
    ├── QuotaExhausted        the plan is used up           no cooldown; EXHAUSTED until the quota is looked at again
    ├── AccessRefused         a wall, not the key           5 min
    ├── EndpointMisconfigured a setting is at fault         5 min
    ├── OutOfTurn             our own pace                  no cooldown, next candidate
    ├── RateLimited           slow down                     Retry-After, else 1, 5, 25, 60 min
    ├── ProviderUnavailable   5xx, DNS, TLS, connect, time  30 s, 2, 10, 30 min
    └── MalformedAnswer       not the declared format       1 min

Messages are written here and in the adapters, never copied from an answer: a provider's error text is untrusted, and a
URL in it may carry a key.

A model that answers, but not with what was asked for, is a failure of another kind: the endpoint is well.

    ModelError
    ├── EmptyLLMResponseError no visible text               the token budget was escalated once before
    ├── ModelRefused          it declined                   never asked again in other words
    ├── InvalidModelOutput    not the schema, twice         fail closed; nothing of it is used
    └── ModelMisconfigured    no model can be asked         nothing was asked; settings or a recipe must be mended
"""

from enum import StrEnum
from typing import ClassVar

from zarniwoop.contract.chat import ModelUsage


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
    ENDLESS_REDIRECTS = "too_many_redirects"
    TOO_LARGE = "body_too_large"
    HEADERS = "headers_too_large"
    ENCODING = "encoding"
    TRUNCATED = "truncated"
    STATUS = "status"
    CONTENT_TYPE = "content_type"
    SHAPE = "shape"
    PROTOCOL = "protocol"


_BEFORE_THE_PROVIDER = frozenset((Cause.DNS, Cause.ADDRESS, Cause.CONNECT, Cause.TLS))


class ZarniwoopError(Exception):
    """Root of everything this package raises on purpose."""


class ProviderError(ZarniwoopError):
    """A provider did not answer the search. `retry_after` is what the provider itself stated, in seconds.

    `calls` is how many requests had reached the provider by then, None when nobody counted. `usage` is what models had
    used before, when this one is a model's endpoint that failed half-way.
    """

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
        self.calls: int | None = None
        self.usage = ModelUsage()

    @property
    def reached_provider(self) -> bool:
        """Whether the request got as far as to a provider, who may have charged for it."""
        return self.cause not in _BEFORE_THE_PROVIDER


class QueryRejected(ProviderError):  # noqa: N818 - named by its consequence; the suffix is for the roots
    reason = "query_rejected"


class CredentialsRejected(ProviderError):  # noqa: N818
    reason = "credentials_rejected"


class QuotaExhausted(ProviderError):  # noqa: N818
    reason = "quota_exhausted"


class AccessRefused(ProviderError):  # noqa: N818
    reason = "access_refused"


class EndpointMisconfigured(ProviderError):  # noqa: N818
    """The provider lacks what a setting names: an index, a project, a field. `setting` is its suffix."""

    reason = "misconfigured"

    def __init__(
        self, setting: str, message: str, *, cause: Cause | None = Cause.STATUS, status: int | None = None
    ) -> None:
        super().__init__(f"{message}: see the setting {setting}", cause=cause, status=status)
        self.setting = setting


class OutOfTurn(ProviderError):  # noqa: N818
    """A call of several requests got no further turn at the provider's published rate in time. Nobody refused it."""

    reason = "throttled"


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


class StackMisconfigured(ZarniwoopError):  # noqa: N818
    """A parameter of the stack cannot be read: only whoever deploys can mend that. `parameter` is its name."""

    def __init__(self, parameter: str) -> None:
        super().__init__(f"the stack parameter {parameter} cannot be read")
        self.parameter = parameter


class ModelError(ZarniwoopError):
    """A model answered and the answer is of no use. `usage` is what that cost all the same."""

    reason: ClassVar[str] = "model_error"

    def __init__(self, message: str, *, usage: ModelUsage | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.usage = usage or ModelUsage()


class EmptyLLMResponseError(ModelError):
    reason = "empty_answer"


class ModelRefused(ModelError):  # noqa: N818 - named by its consequence, as above
    reason = "refused"


class InvalidModelOutput(ModelError):  # noqa: N818
    reason = "invalid_output"


class ModelMisconfigured(ModelError):  # noqa: N818
    reason = "misconfigured"
