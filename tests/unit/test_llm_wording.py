"""How an endpoint wants to be asked: found out once, and remembered."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.fakes.clock import FakeClock
from tests.fakes.models import QUESTION
from zarniwoop.contract.chat import ChatAnswer, ChatMessage, ChatRequest, FinishReason, ModelRole, ModelUsage
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import QueryRejected
from zarniwoop.llm.wording import Objection, Refused, Wording, Wordings, messages_of, objection_in
from zarniwoop.settings.models import ModelSettings, Structured

SETTINGS = ModelSettings(role=ModelRole.PRIMARY, protocol="openai", base_url="https://m.test/v1", model="m")
ANSWER = ChatAnswer(text="Five.", reasoning=None, finish=FinishReason.STOP, usage=ModelUsage(calls=1), model="m")
CHAT = replace(QUESTION, temperature=0.5, schema={"type": "object", "properties": {}, "additionalProperties": False})
NAMES = {Objection.STRUCTURED: ("response_format",), Objection.LIMIT_NAME: ("max_tokens",)}


class Picky:
    """An endpoint that objects to a wording as long as `objects` says to what."""

    def __init__(self, objects: Callable[[Wording], Objection | None]) -> None:
        self._objects = objects
        self.wordings: list[Wording] = []

    def ask(self, chat: ChatRequest, wording: Wording, deadline: Deadline) -> ChatAnswer | Refused:
        self.wordings.append(wording)
        objection = self._objects(wording)
        if objection is None:
            return ANSWER
        return Refused(objection=objection, failure=QueryRejected("the provider rejects this query"))


def _ask(
    endpoint: Picky, *, chat: ChatRequest = CHAT, wordings: Wordings | None = None, settings: ModelSettings = SETTINGS
) -> ChatAnswer:
    return (wordings or Wordings()).ask(endpoint, settings, chat, Deadline.after(60.0, FakeClock()))


def test_an_endpoint_that_takes_everything_is_asked_once_and_strictly() -> None:
    """By schema, with the older name of the limit."""
    endpoint = Picky(lambda _wording: None)
    assert _ask(endpoint) is ANSWER
    assert endpoint.wordings == [Wording(structured=Structured.JSON_SCHEMA, limit_name="max_tokens")]


def test_a_wording_that_was_taken_is_remembered_for_its_endpoint() -> None:
    """The next question is put so at once; another model starts anew."""
    endpoint = Picky(
        lambda wording: Objection.LIMIT_NAME if wording.limit_name == "max_tokens" else None,
    )
    wordings = Wordings()
    for _ in range(2):
        _ask(endpoint, wordings=wordings)
    assert [wording.limit_name for wording in endpoint.wordings] == [
        "max_tokens",
        "max_completion_tokens",
        "max_completion_tokens",
    ]
    assert wordings.of(replace(SETTINGS, model="other")) == Wording()


def test_a_picky_endpoint_is_led_down_to_the_plainest_wording() -> None:
    """Six objections, seven questions, one answer."""

    def objects(wording: Wording) -> Objection | None:
        if wording.structured is not Structured.PROMPT:
            return Objection.STRUCTURED
        if wording.system_role:
            return Objection.SYSTEM_ROLE
        if wording.temperature:
            return Objection.TEMPERATURE
        return Objection.LIMIT_NAME if wording.limit_name == "max_tokens" else None

    endpoint = Picky(objects)
    assert _ask(endpoint) is ANSWER
    assert [(wording.structured, wording.schema_in_json_mode) for wording in endpoint.wordings[:4]] == [
        ("json_schema", True),
        ("json_object", True),
        ("json_object", False),
        ("prompt", False),
    ]
    last = endpoint.wordings[-1]
    assert (last.limit_name, last.system_role, last.temperature) == ("max_completion_tokens", False, False)
    assert len(endpoint.wordings) == 7


@pytest.mark.parametrize("objection", Objection)
def test_an_endpoint_that_never_stops_objecting_has_rejected_the_question(objection: Objection) -> None:
    """No wording is tried twice."""
    endpoint = Picky(lambda _wording: objection)
    with pytest.raises(QueryRejected):
        _ask(endpoint)
    assert len(endpoint.wordings) == len(set(endpoint.wordings)) <= 4


@pytest.mark.parametrize("objection", [Objection.STRUCTURED, Objection.SYSTEM_ROLE, Objection.TEMPERATURE])
def test_an_objection_to_what_was_not_sent_changes_nothing(objection: Objection) -> None:
    """The endpoint's words were about something else."""
    plain = ChatRequest(messages=(ChatMessage(role="user", content="How many?"),), max_tokens=10)
    endpoint = Picky(lambda _wording: objection)
    with pytest.raises(QueryRejected):
        _ask(endpoint, chat=plain)
    assert len(endpoint.wordings) == 1


@pytest.mark.parametrize("structured", [Structured.JSON_SCHEMA, Structured.JSON_OBJECT, Structured.PROMPT])
def test_a_way_that_the_settings_name_is_the_only_one(structured: Structured) -> None:
    """`auto` alone falls back."""
    endpoint = Picky(lambda _wording: Objection.STRUCTURED)
    with pytest.raises(QueryRejected):
        _ask(endpoint, settings=replace(SETTINGS, structured=structured))
    assert {wording.structured for wording in endpoint.wordings} == {structured}


def test_only_so_many_wordings_are_remembered() -> None:
    """The oldest go first."""
    wordings = Wordings()
    for number in range(300):
        endpoint = Picky(lambda wording: Objection.LIMIT_NAME if wording.limit_name == "max_tokens" else None)
        _ask(endpoint, wordings=wordings, settings=replace(SETTINGS, model=f"m{number}"))
    assert wordings.of(replace(SETTINGS, model="m0")) == Wording()
    assert wordings.of(replace(SETTINGS, model="m299")) != Wording()


@pytest.mark.parametrize(
    ("text", "objection"),
    [
        ("Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens'", Objection.LIMIT_NAME),
        ("response_format is UNAVAILABLE", Objection.STRUCTURED),
        ("response_format must be 'text'", Objection.STRUCTURED),
        ("max_tokens is too large: 90000", None),
        ("max_tokens must be at most 4096", None),
        ("this model is not supported", None),
        ("", None),
    ],
)
def test_a_value_that_is_wrong_is_no_objection(text: str, objection: Objection | None) -> None:
    """It takes both: a part of the request, and a word of refusal."""
    assert objection_in(text, NAMES) is objection


def test_a_system_part_is_told_by_the_user_where_there_is_no_such_role() -> None:
    """Also where the conversation does not begin with the user, or is empty."""
    system, user = QUESTION.messages
    plain = Wording(system_role=False)
    assistant = ChatMessage(role="assistant", content="Five.")

    def folded(*messages: ChatMessage) -> list[tuple[str, str]]:
        chat = ChatRequest(messages=messages, max_tokens=10)
        return [(each.role, each.content) for each in messages_of(chat, plain, schema_in_words=False)]

    assert folded(system, user) == [("user", "You count bells.\n\nHow many bells has a cathedral?")]
    assert folded(system, assistant) == [("user", "You count bells."), ("assistant", "Five.")]
    assert folded(system) == [("user", "You count bells.")]
    assert folded(user) == [("user", "How many bells has a cathedral?")]
