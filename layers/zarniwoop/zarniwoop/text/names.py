"""Names of arguments and fields."""

import re

_CAMEL_HUMP = re.compile(r"(?<=[a-z0-9])([A-Z])")


def snake_case(name: str) -> str:
    """An argument's name as it is known: the seed's camelCase is accepted."""
    return _CAMEL_HUMP.sub(r"_\1", name).lower()
