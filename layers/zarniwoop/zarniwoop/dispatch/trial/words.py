"""What a draft's editor is told of a failure: whose it is, in our own words, which field to look at, the way out."""

from collections.abc import Callable

from zarniwoop.contract.failure import (
    AccessRefused,
    CredentialsRejected,
    EndpointMisconfigured,
    MalformedAnswer,
    OutOfTurn,
    ProviderError,
    ProviderUnavailable,
    QueryRejected,
    QuotaExhausted,
    RateLimited,
)
from zarniwoop.contract.problem import Problem
from zarniwoop.dispatch.calls.promises import foretold
from zarniwoop.dispatch.candidates.selection import Candidate
from zarniwoop.settings.names import API_KEY, BASE_URL, endpoint_setting
from zarniwoop.wire.driver import WireInstance

_TITLE = "The draft does not work"
_Said = tuple[str, str | None, str]
"""What happened, the suffix to look at, and what to do."""


def failed(candidate: Candidate, error: ProviderError) -> Problem:
    """The problem behind a typed failure. The messages of failures are ours, and name no key and no query."""
    what, suffix, way_out = next(
        (say(candidate) for kind, say in _WORDS if isinstance(error, kind)), ("it failed", None, "look at the log")
    )
    if isinstance(error, EndpointMisconfigured):
        suffix = error.setting
    elif suffix == BASE_URL and isinstance(candidate.instance, WireInstance) and candidate.instance.by_role:
        suffix, way_out = None, f"test again later{_documentation(candidate)}"  # it has no address to look at
    status = f" (HTTP {error.status})" if error.status else ""
    return _problem(
        candidate,
        f"{what}{status}: {error.message}",
        suffix,
        way_out,
        slug=error.reason.replace("_", "-"),
        retryable=isinstance(error, (OutOfTurn, RateLimited, ProviderUnavailable)),
        wait_seconds=error.retry_after,
    )


def soft_failure(candidate: Candidate, message: str) -> Problem:
    return _problem(candidate, f"it answers, but declines: {message}", None, "name another modality", slug="declined")


def broken(candidate: Candidate, error: Exception) -> Problem:
    """An instance that raised what it must not; the text of such an error may hold anything."""
    return _problem(
        candidate,
        f"the protocol's code failed ({type(error).__name__})",
        None,
        "tell whoever wrote the protocol",
        slug="internal",
    )


def _problem(
    candidate: Candidate,
    detail: str,
    suffix: str | None,
    way_out: str,
    *,
    slug: str,
    retryable: bool = False,
    wait_seconds: float | None = None,
) -> Problem:
    return Problem(
        type=f"urn:zarniwoop:problem:{slug}",
        title=_TITLE,
        status=200,
        detail=f"{_name(candidate)}: {detail}",
        field=endpoint_setting(candidate.endpoint.id, suffix) if suffix else None,
        retryable=retryable,
        wait_seconds=wait_seconds,
        suggested_action=way_out,
    )


def _name(candidate: Candidate) -> str:
    """As whoever runs the provider calls it."""
    named = foretold(candidate.instance.display_name, candidate.endpoint.id)
    return named.removesuffix(f" ({candidate.endpoint.id})")


def _documentation(candidate: Candidate) -> str:
    instance = candidate.instance
    return f"; {instance.documentation} says more" if isinstance(instance, WireInstance) else ""


def _refused_key(candidate: Candidate) -> _Said:
    if candidate.endpoint.credential_key is None:
        return "a key is needed", API_KEY, f"type a key{_documentation(candidate)}"
    return "the key is refused", API_KEY, f"copy the key again, or make a new one{_documentation(candidate)}"


_WORDS: tuple[tuple[type[ProviderError], Callable[[Candidate], _Said]], ...] = (
    (CredentialsRejected, _refused_key),
    (QuotaExhausted, lambda _: ("the key is good, its plan is used up", API_KEY, "wait, or take a larger plan")),
    (EndpointMisconfigured, lambda each: ("a setting does not fit", None, f"mend this field{_documentation(each)}")),
    (AccessRefused, lambda each: ("access is refused", None, f"ask the provider why{_documentation(each)}")),
    (OutOfTurn, lambda _: ("its published rate is used up", None, "test again in a while")),
    (RateLimited, lambda _: ("it says to slow down", None, "test again in a while")),
    (ProviderUnavailable, lambda _: ("it cannot be reached", BASE_URL, "check the address, or test again later")),
    (
        MalformedAnswer,
        lambda each: (
            "what answers does not speak this protocol",
            BASE_URL,
            f"check the address{_documentation(each)}",
        ),
    ),
    (QueryRejected, lambda each: ("the call is rejected", BASE_URL, f"check address and fields{_documentation(each)}")),
)
