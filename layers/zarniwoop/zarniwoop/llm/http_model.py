"""A model behind HTTP: one exchange in a declared format, with its key, its refusals told apart from its failures."""

from zarniwoop.contract.chat import ChatAnswer, ChatRequest
from zarniwoop.contract.deadline import Clock, Deadline
from zarniwoop.contract.failure import Cause, CredentialsRejected, MalformedAnswer, ProviderError
from zarniwoop.contract.transport import HttpAnswer, HttpRequest, KeyRing, Secret, Transport
from zarniwoop.llm.format import ChatFormat
from zarniwoop.llm.wording import Refused, Wording
from zarniwoop.settings.models import ModelSettings
from zarniwoop.wire.keyed import send_with_key
from zarniwoop.wire.reading import MISREAD
from zarniwoop.wire.status import failure_of


class HttpModel:
    """`wording.ModelEndpoint` over the transport."""

    def __init__(
        self, chat_format: ChatFormat, settings: ModelSettings, *, transport: Transport, keys: KeyRing, clock: Clock
    ) -> None:
        self._format = chat_format
        self._settings = settings
        self._transport = transport
        self._keys = keys
        self._clock = clock

    def ask(self, chat: ChatRequest, wording: Wording, deadline: Deadline) -> ChatAnswer | Refused:
        base_url = self._settings.base_url or self._format.default_base_url
        request = self._format.request(chat, self._settings, wording, base_url)
        answer, failure = send_with_key(self._secret, lambda secret: self._send(request, secret, deadline))
        if failure is None:
            return self._read(answer, chat)
        objection = self._format.objection(answer)
        if objection is None:
            raise failure
        return Refused(objection=objection, failure=failure)

    def _secret(self, fresh: bool) -> Secret | None:
        key = self._settings.credential_key
        return self._keys.secret(key, fresh=fresh) if key is not None else None

    def _send(
        self, request: HttpRequest, secret: Secret | None, deadline: Deadline
    ) -> tuple[HttpAnswer, ProviderError | None]:
        """The answer and what is wrong with it. A refused key is raised, so that another one is looked for."""
        answer = self._transport.send(
            request, deadline=deadline, authentication=self._format.authentication, secret=secret
        )
        failure = self._failure(answer)
        if isinstance(failure, CredentialsRejected):
            raise failure
        return answer, failure

    def _failure(self, answer: HttpAnswer) -> ProviderError | None:
        now = self._clock.now()
        try:
            return self._format.failure(answer, now)
        except (MalformedAnswer, *MISREAD):
            return failure_of(answer, now)

    def _read(self, answer: HttpAnswer, chat: ChatRequest) -> ChatAnswer:
        try:
            return self._format.read(answer, chat)
        except MISREAD as error:
            raise MalformedAnswer("the answer does not have the documented shape", cause=Cause.SHAPE) from error
