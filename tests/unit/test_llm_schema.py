"""JSON Schema that endpoints take."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from zarniwoop.llm.schema import is_closed, portable_schema, without_bounds


class Bell(BaseModel):
    """An internal remark that no model should read."""

    name: Annotated[str, Field(max_length=40, description="as it is cast on it")]
    tone: Literal["c", "d"] = "c"
    kilograms: float = Field(ge=0, le=100_000, alias="weight")


class Tower(BaseModel):
    title: str | None = None
    default: Bell
    bells: list[Bell] = Field(default=[], max_length=9)


class Weights(BaseModel):
    by_name: dict[str, float]


BELL: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "as it is cast on it"},
        "tone": {"type": "string", "enum": ["c", "d"]},
        "weight": {"type": "number", "minimum": 0, "maximum": 100_000},
    },
    "required": ["name", "tone", "weight"],
    "additionalProperties": False,
}


def test_references_are_put_in_place_and_everything_is_closed_and_required() -> None:
    """Properties may be called as keywords are; a class's docstring stays here, a field's description goes along."""
    assert portable_schema(Tower) == {
        "type": "object",
        "properties": {
            "title": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "default": BELL,
            "bells": {"type": "array", "items": BELL, "maxItems": 9},
        },
        "required": ["title", "default", "bells"],
        "additionalProperties": False,
    }


def test_bounds_can_be_left_out() -> None:
    """For endpoints that refuse them; pydantic enforces them afterwards."""
    bells = without_bounds(portable_schema(Tower))["properties"]["bells"]
    assert "maxItems" not in bells
    assert bells["items"]["properties"]["weight"] == {"type": "number"}


def test_properties_that_may_be_left_out_stay_so() -> None:
    """No strict mode takes them; whoever enforces a schema otherwise does."""
    narrowed = {"type": "object", "properties": {"a": {"type": "number", "minimum": 0}}, "additionalProperties": False}
    assert not is_closed(narrowed)
    assert is_closed({**narrowed, "required": ["a"]})
    assert without_bounds(narrowed) == {**narrowed, "properties": {"a": {"type": "number"}}}


@pytest.mark.parametrize(("into", "closed"), [(Tower, True), (Bell, True), (Weights, False)])
def test_a_mapping_with_free_keys_is_open(into: type[BaseModel], closed: bool) -> None:
    """No strict mode can enforce it."""
    assert is_closed(portable_schema(into)) is closed


def test_the_schema_still_says_what_the_model_takes() -> None:
    """A value that fits the schema fits the model."""
    value: dict[str, Any] = {"title": None, "default": {"name": "Big", "tone": "d", "weight": 1.5}, "bells": []}
    assert isinstance(Tower.model_validate(value), Tower)
