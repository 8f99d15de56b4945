"""What went wrong, and the exceptions that carry it: the class is what the caller can do about it.

    ZarniwoopError
    ├── InvalidRequest     change the request: `problem.field` and `problem.suggested_action` say how
    │   ├── NotFound       there is no such thing (any more)
    │   └── Conflicting    something else has happened meanwhile: look again
    ├── NotAuthorized      another token is needed
    ├── Unanswered         the request was right, and nobody could answer it; `answer.data` tells who was asked
    ├── Temporary          time heals it: `problem.wait_seconds`, where that is known
    │   ├── Unreachable    no answer came: no connection, or it broke, or was too slow
    │   └── OutOfTime      the time that the caller gave was over
    └── ServerFault        the answer is none of this API's, or the stack is broken

No message holds a token, a query or anything else that was sent.
"""

from typing import TYPE_CHECKING, Any

from zarniwoop_client.results.problem import Problem

if TYPE_CHECKING:
    from zarniwoop_client.answer import Answer


class ZarniwoopError(Exception):
    """An answer that is not ok. `answer` is the whole of it, with `data` where the API sent some along."""

    def __init__(self, problem: Problem, answer: "Answer[Any]") -> None:
        super().__init__(problem.detail or problem.title)
        self.problem = problem
        self.answer = answer

    def __reduce__(self) -> tuple[Any, ...]:
        """So that it comes whole out of another process."""
        return type(self), (self.problem, self.answer)

    @property
    def retryable(self) -> bool:
        return self.problem.retryable

    @property
    def request_id(self) -> str | None:
        """What the operator finds the request's log lines by."""
        return self.answer.request_id


class InvalidRequest(ZarniwoopError):  # noqa: N818 - named by its consequence; the suffix is for the root
    """400, 405, 413, 415, 422 and their like."""


class NotFound(InvalidRequest):
    """404 and 410."""


class Conflicting(InvalidRequest):
    """409, 412 and 428."""


class NotAuthorized(ZarniwoopError):  # noqa: N818
    """401 and 403."""


class Unanswered(ZarniwoopError):  # noqa: N818
    """A problem of status 200: the search or the run came to nothing, and waiting alone will not help."""


class Temporary(ZarniwoopError):  # noqa: N818
    """Time heals it: the retries were in vain, or none was made of what may have been paid for."""


class Unreachable(Temporary):
    """No whole answer came back."""


class OutOfTime(Temporary):
    """The caller's own time was over before there was an answer."""


class ServerFault(ZarniwoopError):  # noqa: N818
    """Not retryable, and not the caller's fault."""


_NOT_FOUND = frozenset((404, 410))
_CONFLICTS = frozenset((409, 412, 428))
_NOT_AUTHORIZED = frozenset((401, 403))
_OWN = {"unreachable": Unreachable, "client-out-of-time": OutOfTime}


def error_of(problem: Problem, answer: "Answer[Any]") -> ZarniwoopError:
    """The exception that stands for a problem."""
    return _class_of(problem)(problem, answer)


def _class_of(problem: Problem) -> type[ZarniwoopError]:
    if problem.type.startswith(OWN_TYPE):
        return _OWN.get(problem.slug, ServerFault)
    if problem.retryable:
        return Temporary
    if problem.status in _NOT_AUTHORIZED:
        return NotAuthorized
    if problem.status in _NOT_FOUND:
        return NotFound
    if problem.status in _CONFLICTS:
        return Conflicting
    if problem.status < 300:
        return Unanswered
    return InvalidRequest if problem.status < 500 else ServerFault


OWN_TYPE = "urn:zarniwoop:client:"
"""How the types of problems begin that this client states itself, since no answer of the API did."""


def own_problem(slug: str, title: str, detail: str, *, status: int = 0, **more: Any) -> Problem:
    return Problem(type=OWN_TYPE + slug, title=title, status=status, detail=detail, **more)
