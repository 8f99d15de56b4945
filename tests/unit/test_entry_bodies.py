"""Bodies from outside: what is refused before anything reads it."""

import base64

import pytest

from zarniwoop.contract.problem import InvalidArgument
from zarniwoop.entry.bodies import MAX_BODY_BYTES, MAX_DEPTH, read_body, read_object

JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    "content_type", ["application/json", "Application/JSON; charset=utf-8", "application/ld+json", "", None]
)
def test_json_is_taken_by_any_of_its_names(content_type: str | None) -> None:
    """A missing Content-Type means JSON: it is the only thing that is spoken here."""
    assert read_body({"headers": {"Content-Type": content_type}, "body": '{"a": 1}'}) == {"a": 1}
    assert read_body({"headers": None, "body": '{"a": 1}'}) == {"a": 1}


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "application/jsonp"])
def test_anything_else_is_415(content_type: str) -> None:
    """The refusal names the header."""
    with pytest.raises(InvalidArgument) as refused:
        read_body({"headers": {"content-type": content_type}, "body": "{}"})
    assert (refused.value.status, refused.value.field) == (415, "content-type")


def test_a_base64_body_is_decoded() -> None:
    """API Gateway encodes what it takes for binary."""
    encoded = base64.b64encode('{"a": "é"}'.encode()).decode()
    assert read_body({"headers": JSON, "body": encoded, "isBase64Encoded": True}) == {"a": "é"}


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ({"body": None}, "empty"),
        ({"body": ""}, "empty"),
        ({"body": "%%%", "isBase64Encoded": True}, "base64"),
        ({"body": "é", "isBase64Encoded": True}, "base64"),
        ({"body": base64.b64encode(b'"\xff"').decode(), "isBase64Encoded": True}, "not valid JSON"),
        ({"body": '{"a": "\ud800"}'}, "not valid JSON"),
        ({"body": '{"a": '}, "line 1, column"),
        ({"body": '"text"'}, "must be a JSON object"),
    ],
)
def test_a_body_that_is_no_json_object_is_400(event: dict[str, object], words: str) -> None:
    """The refusal says what is wrong, and where."""
    with pytest.raises(InvalidArgument, match=words) as refused:
        read_body({"headers": JSON, **event})
    assert (refused.value.status, refused.value.field) == (400, "body")
    assert refused.value.suggested_action
    assert "query" not in refused.value.suggested_action  # not every tool has one


def test_size_is_checked_before_parsing_and_to_the_byte() -> None:
    """256 KiB, not a byte more."""
    frame = len('{"a": ""}')
    assert len(read_object(b'{"a": "' + b"x" * (MAX_BODY_BYTES - frame) + b'"}')["a"]) == MAX_BODY_BYTES - frame
    with pytest.raises(InvalidArgument) as refused:
        read_object(b'{"a": "' + b"x" * (MAX_BODY_BYTES - frame + 1) + b'"}')
    assert refused.value.status == 413


@pytest.mark.parametrize(("opening", "closing"), [(b'{"a":', b"}"), (b"[", b"]")])
def test_depth_is_bounded_long_before_the_stack_is(opening: bytes, closing: bytes) -> None:
    """Thirty-two levels are plenty; a hundred thousand are an attack."""
    shallow = b'{"a":' + opening * (MAX_DEPTH - 1) + b"1" + closing * (MAX_DEPTH - 1) + b"}"
    assert read_object(shallow)
    for levels in (MAX_DEPTH, 1_000, 40_000):
        with pytest.raises(InvalidArgument):
            read_object(b'{"a":' + opening * levels + b"1" + closing * levels + b"}")
