"""The fetching function, asked over Lambda by whoever has no sockets to strangers.

How a function is asked, and why it may not answer, stands in `stores.functions`: a second attempt would ask the
stranger's host twice.
"""

from collections.abc import Mapping
from dataclasses import replace

from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.page import FetcherFault, FetcherUnavailable, PageAnswer, PageQuestion
from zarniwoop.pages.answering import is_answer_to
from zarniwoop.pages.page_form import NotTheFormError, answer_of, question_form
from zarniwoop.stores.functions import FunctionFault, LambdaClients, invoked, longest_within

_ALLOWANCES = (90.0, 60.0, 40.0, 27.0, 20.0, 15.0, 10.0, 7.0, 5.0, 3.0, 2.0)
"""Seconds: each is a client, which takes memory and time to make."""
_ON_THE_WAY = 1.0
"""Of what may be waited, so much is for starting the function and carrying its answer."""
_FAULTS: Mapping[FunctionFault, FetcherFault] = {
    FunctionFault.THROTTLED: FetcherFault.THROTTLED,
    FunctionFault.OUT_OF_TIME: FetcherFault.OUT_OF_TIME,
    FunctionFault.NOT_CONFIGURED: FetcherFault.NOT_CONFIGURED,
}


class RemoteFetcher:
    """`contract.page.PageFetcher` over the function of this name."""

    def __init__(self, clients: LambdaClients, function_name: str) -> None:
        self._clients = clients
        self._function_name = function_name

    def fetch(self, question: PageQuestion, *, deadline: Deadline) -> PageAnswer:
        allowance = longest_within(deadline.remaining(), _ALLOWANCES)
        if allowance is None:
            raise FetcherUnavailable(FetcherFault.OUT_OF_TIME)
        seconds = min(question.seconds, allowance - _ON_THE_WAY)
        message = question_form(replace(question, seconds=seconds))
        unanswered, payload = invoked(self._clients(allowance), self._function_name, message)
        if unanswered is not None:
            raise FetcherUnavailable(_FAULTS.get(unanswered, FetcherFault.FAILED))
        try:
            answer = answer_of(payload)
        except NotTheFormError:
            answer = None
        if answer is None or not is_answer_to(answer, question):
            raise FetcherUnavailable(FetcherFault.FAILED)
        return answer
