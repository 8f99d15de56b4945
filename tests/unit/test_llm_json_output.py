"""JSON out of what models write: the first whole object, checked, or a list of what is wrong with it."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from tests.fakes.models import QUESTION
from zarniwoop.contract.chat import ChatAnswer, ChatMessage, FinishReason, ModelUsage
from zarniwoop.llm.json_output import Unusable, checked, read_object, repair_of


class Bells(BaseModel):
    model_config = ConfigDict(extra="forbid")

    count: int = Field(ge=0)
    names: list[str] = []


def said(text: str, finish: FinishReason = FinishReason.STOP) -> ChatAnswer:
    return ChatAnswer(text=text, reasoning=None, finish=finish, usage=ModelUsage(), model="m")


@pytest.mark.parametrize(
    "text",
    [
        '{"count": 5}',
        '\n\n  {"count": 5}\n',
        '```json\n{"count": 5}\n```',
        '```\n{ "count": 5 }\n``` I hope that helps {really}!',
        'Here is the JSON you asked for, in a {nutshell}: {"count": 5} and then {"count": 6}',
        '{"count": 5}}}}',
    ],
)
def test_an_object_is_found_in_its_wrapping(text: str) -> None:
    """Fences, prose before it, text after it."""
    assert read_object(text) == {"count": 5}
    assert checked(said(text), Bells).count == 5


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I would rather not.",
        '{"count": 5',
        '{"outer": [{"count": 5}, {"count":',
        "{'count': 5}",
        "[1, 2]",
        '{"count": NaN}',
        '{"count": "\\ud800"}',
        '{"count": ' + "9" * 5000 + "}",
        '{"a":' * 3000 + "1" + "}" * 3000,
    ],
)
def test_half_an_object_is_none(text: str) -> None:
    """The inner objects of a truncated one are not taken for it; nor is what JSON does not have."""
    with pytest.raises(ValueError, match=r"\w"):
        read_object(text)
    with pytest.raises(Unusable) as raised:
        checked(said(text), Bells)
    assert raised.value.faults == ["it is not one complete JSON object"]


def test_a_text_may_have_line_breaks_as_they_are() -> None:
    """Not every constrained decoder escapes them; to the reader they are spaces."""
    assert read_object('{\n\t"count": 5,\r\n "why": "for\nthis\treason\\n"}') == {
        "count": 5,
        "why": "for this reason\n",
    }


def test_an_empty_object_is_one() -> None:
    """It is whole, whatever it lacks."""
    assert read_object("Nothing: { }") == {}


def test_faults_name_their_place_and_show_no_value() -> None:
    """So that a repair carries nothing further than it was."""
    with pytest.raises(Unusable) as raised:
        checked(said('{"count": -3, "names": ["a", 7], "more": "secret"}'), Bells)
    assert raised.value.faults == [
        "count: Input should be greater than or equal to 0",
        "names.1: Input should be a valid string",
        "more: Extra inputs are not permitted",
    ]
    assert "secret" not in str(raised.value)


def test_at_most_ten_faults_are_told() -> None:
    """The others are of the same kind, as a rule."""
    with pytest.raises(Unusable) as raised:
        checked(said('{"count": 1, "names": [' + ", ".join("1" for _ in range(50)) + "]}"), Bells)
    assert len(raised.value.faults) == 10


def test_a_repair_is_the_same_question_with_the_answer_and_its_faults() -> None:
    """Nothing else is added, least of all anything that others wrote."""
    repair = repair_of(QUESTION, Unusable(["count: Field required"], said('{"names": []}')))
    assert repair.messages[:2] == QUESTION.messages
    assert repair.messages[2] == ChatMessage(role="assistant", content='{"names": []}')
    assert repair.messages[3].role == "user"
    assert repair.messages[3].content.startswith("That answer cannot be used:\n- count: Field required\n\n")
    assert repair.max_tokens == QUESTION.max_tokens


def test_what_was_cut_short_is_not_repeated() -> None:
    """It would take up the room that was missing."""
    repair = repair_of(QUESTION, Unusable(["x"], said('{"names": ["a", "b', FinishReason.LENGTH)))
    assert repair.messages[2].content == "(cut short)"


@settings(database=None, derandomize=True, deadline=None)
@given(text=st.text(alphabet='{}[]",:0aé\\ \n'))
def test_whatever_a_model_writes_is_an_object_or_none(text: str) -> None:
    """No other exception comes out."""
    try:
        found: Any = read_object(text)
    except ValueError:
        return
    assert isinstance(found, dict)
