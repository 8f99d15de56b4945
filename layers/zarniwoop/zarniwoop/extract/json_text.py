"""JSON to Markdown: the document itself, indented, in a block of code, as deep and as long as it can be read.

Quirk: orjson refuses numbers and nestings beyond all measure, so that nothing here recurses further than the cap.
"""

from typing import Any

import orjson

from zarniwoop.extract.fence import code_block
from zarniwoop.extract.limits import LONGEST_TITLE, MOST_JSON_DEPTH, MOST_MARKDOWN
from zarniwoop.extract.outcome import Fault, Unreadable

_DEEPER = "…"
_TITLES = ("title", "name", "headline")


def read_json(text: str) -> tuple[str, str | None, bool]:
    """Markdown, the title that the document names, and whether it is all of it. Raises Unreadable."""
    try:
        found = orjson.loads(text.lstrip("\ufeff"))
    except ValueError as error:
        raise Unreadable(Fault.DAMAGED) from error
    deeper: list[bool] = []
    kept = _capped(found, MOST_JSON_DEPTH, deeper)
    shown = orjson.dumps(kept, option=orjson.OPT_INDENT_2).decode()
    whole = len(shown) <= MOST_MARKDOWN - 100
    return code_block(shown if whole else shown[: MOST_MARKDOWN - 100], "json"), _title(found), whole and not deeper


def _capped(value: Any, depth: int, deeper: list[bool]) -> Any:
    if not isinstance(value, dict | list):
        return value
    if not depth:
        deeper.append(True)
        return _DEEPER
    if isinstance(value, dict):
        return {name: _capped(each, depth - 1, deeper) for name, each in value.items()}
    return [_capped(each, depth - 1, deeper) for each in value]


def _title(found: Any) -> str | None:
    stated = (
        next((found[name] for name in _TITLES if isinstance(found.get(name), str)), None)
        if isinstance(found, dict)
        else None
    )
    return stated[:LONGEST_TITLE] if stated else None
