"""A model's wire format as a declaration: how it is asked over HTTP, and how its answers and refusals are read.

Sans I/O, as the search adapters are: functions from values to values.
"""

from collections.abc import Callable
from dataclasses import dataclass

from zarniwoop.contract.chat import ChatAnswer, ChatRequest
from zarniwoop.contract.failure import ProviderError
from zarniwoop.contract.transport import HeaderKey, HttpAnswer, HttpRequest
from zarniwoop.llm.wording import Objection, Wording
from zarniwoop.settings.models import ModelSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatFormat:
    """The declaration of a format.

    `request` makes the request to a base URL. `failure` says what an answer of any status failed with, at a time in
    epoch seconds; `objection` says what of the request it objects to. `read` reads an answer that did not fail. The
    three may raise what `wire.reading.MISREAD` lists. `usage.cost` is none of a format's business.
    """

    protocol_id: str
    display_name: str
    documentation: str
    default_base_url: str
    authentication: HeaderKey
    key_variable: str
    request: Callable[[ChatRequest, ModelSettings, Wording, str], HttpRequest]
    read: Callable[[HttpAnswer, ChatRequest], ChatAnswer]
    failure: Callable[[HttpAnswer, float], ProviderError | None]
    objection: Callable[[HttpAnswer], Objection | None]
