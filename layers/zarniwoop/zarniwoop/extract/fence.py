"""A block of code in Markdown, with a fence that nothing in it can close."""

import re

_BACKTICKS = re.compile(r"`{3,}")


def code_block(text: str, language: str = "") -> str:
    fence = "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"
