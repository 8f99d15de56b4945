"""Variables of style sheets (`--name`, `var(--name)`): https://www.w3.org/TR/css-variables-1/."""

import re
from collections.abc import Mapping

_VARIABLE = re.compile(r"var\(\s{0,20}(--[\w-]{1,100})\s{0,20}(?:,([^()]{0,200}))?\)")
_MOST_VARIABLES = 12
_LONGEST_VALUE = 1_000


def resolved(value: str, known: Mapping[str, str | None]) -> str | None:
    """The value with its variables replaced; None where one is not known."""
    for _turn in range(_MOST_VARIABLES):
        found = _VARIABLE.search(value)
        if not found:
            break
        worth = known.get(found[1], (found[2] or "").strip() or None if found[1] not in known else None)
        if worth is None:
            return None
        value = f"{value[: found.start()]}{worth}{value[found.end() :]}"[:_LONGEST_VALUE]
    return None if "var(" in value else value
