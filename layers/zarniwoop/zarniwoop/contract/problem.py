"""What is told to a caller who asked wrongly or cannot be answered: RFC 9457 problem details.

CallerError
├── InvalidArgument(field)   400/413/415/422: the field, what is wrong, the way out
├── NotAllowed               403
├── UnknownThing             404
├── Conflict                 409
└── OutOfTime / Unready      504 / 503
"""

from dataclasses import dataclass

from zarniwoop.contract.failure import ZarniwoopError


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """RFC 9457 members plus what an agent needs to go on: `field`, `retryable`, `wait_seconds`, `suggested_action`."""

    type: str
    title: str
    status: int
    detail: str
    field: str | None = None
    retryable: bool = False
    wait_seconds: float | None = None
    suggested_action: str | None = None


class CallerError(ZarniwoopError):
    """A request that is answered with a problem; nothing was called and nothing was charged.

    `slug` ends the problem type (`urn:zarniwoop:problem:<slug>`); `suggested_action` is the way out.
    """

    status = 400
    slug = "bad-request"
    title = "The request cannot be served"
    retryable = False

    def __init__(
        self,
        detail: str,
        *,
        slug: str | None = None,
        title: str | None = None,
        status: int | None = None,
        field: str | None = None,
        suggested_action: str | None = None,
        wait_seconds: float | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.field = field
        self.suggested_action = suggested_action
        self.wait_seconds = wait_seconds
        self.slug = slug or self.slug
        self.title = title or self.title
        self.status = status or self.status

    def problem(self) -> Problem:
        return Problem(
            type=f"urn:zarniwoop:problem:{self.slug}",
            title=self.title,
            status=self.status,
            detail=self.detail,
            field=self.field,
            retryable=self.retryable,
            wait_seconds=self.wait_seconds,
            suggested_action=self.suggested_action,
        )


class InvalidArgument(CallerError):  # noqa: N818 - named by its consequence; the suffix is for the roots
    slug = "invalid-argument"
    title = "An argument is not valid"


class NotAllowed(CallerError):  # noqa: N818
    status = 403
    slug = "not-allowed"
    title = "This token may not do that"


class UnknownThing(CallerError):  # noqa: N818
    status = 404
    slug = "unknown"
    title = "There is no such thing"


class Conflict(CallerError):  # noqa: N818
    status = 409
    slug = "conflict"
    title = "The same request is already under way"
    retryable = True


class Unready(CallerError):  # noqa: N818
    status = 503
    slug = "unready"
    title = "The service cannot answer right now"
    retryable = True


class OutOfTime(CallerError):  # noqa: N818
    status = 504
    slug = "out-of-time"
    title = "There was no time left to ask anybody"
    retryable = True
