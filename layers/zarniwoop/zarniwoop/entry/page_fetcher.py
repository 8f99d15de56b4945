"""The one function that talks to strangers: a question in, an answer out (`pages.page_form`), and nothing else of ours.

It is asked by functions of this stack alone and never by a route. What it logs is how a fetch ended: no URL, no text.
A fault of ours is an answer as well, since what Lambda would write down of an exception may quote a page.
"""

from collections.abc import Callable, Mapping
from typing import Any

from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.page import PageAnswer, PageOutcome, PageQuestion
from zarniwoop.entry.invocation import log_fault
from zarniwoop.entry.lambda_context import LambdaContext
from zarniwoop.pages.page_form import answer_form, question_of
from zarniwoop.pages.reasons import FetchReason
from zarniwoop.wiring import Environment, environment

_RESERVE_SECONDS = 1.0
"""What is kept of Lambda's time for answering."""


def page_fetcher(
    environment: Callable[[], Environment] = environment,
) -> Callable[[Mapping[str, Any], LambdaContext], dict[str, Any]]:
    """The Lambda handler. Raises NotTheFormError for an event that is no question, and nothing else."""

    def handler(event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
        question = question_of(event)
        services = environment()
        services.begin(context.aws_request_id)
        try:
            return _answered(question, services, context)
        finally:
            services.finish()

    return handler


def _answered(question: PageQuestion, services: Environment, context: LambdaContext) -> dict[str, Any]:
    left = context.get_remaining_time_in_millis() / 1000 - _RESERVE_SECONDS
    try:
        answer = services.local_fetcher.fetch(question, deadline=Deadline.after(left, services.clock))
        form = answer_form(answer)
    except Exception as error:  # noqa: BLE001 - the outermost line: whatever it is, whoever asked is told
        log_fault(services, "page_fetcher", error)
        answer = PageAnswer(
            outcome=PageOutcome.UNAVAILABLE,
            reason=FetchReason.INTERNAL,
            url=question.url,
            final_url=question.url,
        )
        form = answer_form(answer)
    _log(answer, services)
    return form


def _log(answer: PageAnswer, services: Environment) -> None:
    services.log.info(
        "page fetched",
        extra={
            "outcome": answer.outcome.value,
            "reason": answer.reason,
            "status": answer.status,
            "bytes": answer.bytes_received,
            "steps": [f"{step.name}:{step.outcome.value}:{step.milliseconds}" for step in answer.steps],
        },
    )
