"""What is said of an argument that is refused: in words of JSON and not of Python, with the field and the way out.

Quirk: an input value is never repeated, since a query must not end up in an error.
"""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.problem import InvalidArgument

_LONGEST_PATTERN = 60
_UNKNOWN = "extra_forbidden"
_SAID: Mapping[str, str] = {
    **dict.fromkeys(("tuple_type", "list_type", "set_type", "iterable_type"), 'must be a list, as in ["…"]'),
    **dict.fromkeys(("dict_type", "mapping_type", "model_type", "model_attributes_type"), "must be an object"),
    **dict.fromkeys(("string_type", "string_sub_type"), "must be text"),
    "string_unicode": "must be text in valid Unicode",
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float", "int_parsing_size"), "must be a whole number"),
    **dict.fromkeys(("float_type", "float_parsing", "finite_number"), "must be a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "must be true or false"),
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "too_short": "must have at least {min_length} elements",
    "too_long": "must have at most {max_length} elements",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    **dict.fromkeys(("enum", "literal_error"), "must be {expected}"),
}
"""By pydantic's kinds of errors; of any other its own words are kept, among them those of our validators."""


def refusal(model: type[BaseModel], errors: Sequence[ErrorDetails]) -> InvalidArgument:
    """Of the first error, but of an unknown name before all others: what is missing may be that one, misspelt."""
    details = next((each for each in errors if each["type"] == _UNKNOWN), errors[0])
    context = details.get("ctx") or {}
    field = str(context.get("field") or ".".join(str(part) for part in details["loc"]) or "body")[:64]
    kind = details["type"]
    if kind == _UNKNOWN:
        return InvalidArgument(
            f"there is no parameter '{field}'", field=field, suggested_action=_meant(field, sorted(model.model_fields))
        )
    advice = _advice(model, field)
    if kind == "missing":
        return InvalidArgument(f"'{field}' is missing", field=field, suggested_action=advice)
    if kind == "string_pattern_mismatch":
        return InvalidArgument(f"'{field}' {_misspelt(context)}", field=field, suggested_action=advice)
    said = _SAID[kind].format(**context) if kind in _SAID else details["msg"]
    return InvalidArgument(f"'{field}': {said}", field=field, suggested_action=advice)


def _meant(field: str, known: Sequence[str]) -> str:
    use_only = "use only: " + ", ".join(known)
    alike = get_close_matches(field, known, n=1)
    return f"did you mean '{alike[0]}'? {use_only}" if alike else use_only


def _misspelt(context: Mapping[str, Any]) -> str:
    """A pattern that can be read at a glance is told; in place of others stands the field's description."""
    pattern = str(context.get("pattern", ""))
    return f"must match {pattern}" if 0 < len(pattern) <= _LONGEST_PATTERN else "is not written as it must be"


def _advice(model: type[BaseModel], field: str) -> str | None:
    """What the field takes; of an element, what its list does."""
    if field == "modality":
        return "use one of " + ", ".join(SearchModality)
    known = model.model_fields.get(field.partition(".")[0])
    return known.description if known else None
