"""The envelope of every answer, and how the bytes of one become it, be they of this API or of something before it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from zarniwoop_client.exchange import Loss, Lost, Outcome, Received
from zarniwoop_client.problems import own_problem
from zarniwoop_client.results.problem import Problem
from zarniwoop_client.results.record import Record

T = TypeVar("T")
Data = TypeVar("Data", covariant=True)
Read = Callable[[Any], T]
_FINE = 200


class EvidenceLink(Record):
    """One source that an answer stands on; `href` is read by `client.evidence.get(link.id)`."""

    id: str
    href: str
    source_type: str = ""
    url: str = ""
    title: str = ""
    credibility_score: float | None = None
    untrusted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Generic[Data]):
    """What the API answered.

    `data` is typed by the method that asked; `raw` is the whole envelope as JSON, with what a newer server may say
    besides. `request_id` is what the operator finds it by; `headers` have their names in lower case. `project_id` is
    the project that the request named, in which its continuation is found.
    """

    ok: bool
    data: Data
    error: Problem | None = None
    evidence: tuple[EvidenceLink, ...] = ()
    request_id: str | None = None
    status: int = 200
    project_id: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def sent_at(self) -> float | None:
        """When the server says that it answered, in epoch seconds: what a clock can be compared with."""
        try:
            return parsedate_to_datetime(self.headers["date"]).timestamp()
        except (KeyError, ValueError):
            return None


def own_answer(problem: Problem, last: Answer[Any] | None = None) -> Answer[Any]:
    """What the client itself says where no answer of the API does, with the data of the last one that there was."""
    return Answer(
        ok=False,
        data=last.data if last else None,
        error=problem,
        status=0,
        raw=_envelope_of(problem, last.raw.get("data") if last else None),
    )


def understood(outcome: Outcome, read: Read[T], *, bare: bool = False) -> Answer[T]:
    """The answer, always: what is none of this API's is one that is not ok, with a problem of the client's own."""
    if isinstance(outcome, Lost):
        return _without_data(_lost(outcome))
    envelope = _envelope(outcome, bare=bare)
    if envelope is None:
        return _without_data(_foreign(outcome), outcome)
    try:
        error = Problem.model_validate(envelope["error"]) if envelope.get("error") else None
        evidence = tuple(map(EvidenceLink.model_validate, envelope.get("evidence") or ()))
        ok = bool(envelope["ok"])
        data = read(envelope.get("data")) if ok else _read_if_possible(envelope.get("data"), read)
    except (ValidationError, LookupError, TypeError, ValueError):
        return _without_data(_unreadable(outcome), outcome, envelope)
    if not ok and error is None:
        error = _unreadable(outcome)
    return Answer(ok=ok, data=data, error=error, evidence=evidence, raw=envelope, **_transport_facts(outcome))


def _envelope(outcome: Received, *, bare: bool) -> dict[str, Any] | None:
    """None for what is no envelope: HTML of a proxy, nothing at all, JSON of somebody else."""
    try:
        decoded = json.loads(outcome.content)
    except (ValueError, RecursionError):
        return None
    if not isinstance(decoded, dict):
        return None
    if bare and outcome.status == _FINE and "ok" not in decoded:
        return {"ok": True, "data": decoded, "error": None, "evidence": []}
    return decoded if "ok" in decoded else None


def _read_if_possible(data: Any, read: Read[T]) -> Any:
    """What comes along with a problem may be of another shape; then it stays JSON."""
    if data is None:
        return None
    try:
        return read(data)
    except (ValidationError, LookupError, TypeError, ValueError):
        return data


def _transport_facts(outcome: Received) -> dict[str, Any]:
    headers = outcome.headers
    request_id = headers.get("x-request-id") or headers.get("x-amzn-requestid")
    return {"status": outcome.status, "headers": headers, "request_id": request_id}


def _without_data(
    problem: Problem, outcome: Received | None = None, raw: Mapping[str, Any] | None = None
) -> Answer[Any]:
    facts = _transport_facts(outcome) if outcome else {"status": 0}
    return Answer(ok=False, data=None, error=problem, raw=raw or _envelope_of(problem), **facts)


def _envelope_of(problem: Problem, data: Any = None) -> dict[str, Any]:
    return {"ok": False, "data": data, "error": problem.model_dump(exclude_none=True), "evidence": []}


_LOSSES = {
    Loss.UNCONNECTED: ("No connection to the API", "check the URL, and whether the stack is up"),
    Loss.BROKEN: ("The connection broke off before the answer was there", "send the same request again"),
    Loss.TOO_SLOW: ("No answer came in time", "send the same request again, ask for less, or give it more time"),
    Loss.TOO_LARGE: ("The answer is larger than any of this API", "check that the URL is that of the API"),
}


def _lost(outcome: Lost) -> Problem:
    title, way_out = _LOSSES[outcome.loss]
    detail = f"{title} ({outcome.cause})" if outcome.cause else title
    retryable = outcome.loss is not Loss.TOO_LARGE
    slug = "unreachable" if retryable else "unintelligible"
    return own_problem(slug, title, detail, retryable=retryable, suggested_action=way_out)


_PASSING = frozenset((429, 502, 503, 504))


def _foreign(outcome: Received) -> Problem:
    """A proxy's, load balancer's or gateway's own answer. Nothing of its text is repeated."""
    status = outcome.status
    kind = outcome.headers.get("content-type", "").split(";")[0].strip()[:60] or "no content type"
    detail = f"status {status} with {len(outcome.content)} bytes of {kind}, which is no answer of this API"
    if status in _PASSING:
        return own_problem("unreachable", "Something before the API answered", detail, status=status, retryable=True)
    way_out = "check that the URL is the stack's ApiUrl, with its stage"
    return own_problem(
        "unintelligible", "Something else than the API answered", detail, status=status, suggested_action=way_out
    )


def _unreadable(outcome: Received) -> Problem:
    return own_problem(
        "unintelligible",
        "The answer cannot be read",
        f"status {outcome.status} with an envelope that this client does not understand",
        status=outcome.status,
        suggested_action="install the client of the stack's version",
    )
