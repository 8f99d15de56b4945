"""Secrets as they are shown: a prefix by which their owner knows them, and nothing that says how long they are."""

import re

MASK = "•" * 8
"""What stands for the rest. No key can hold it: keys are printable ASCII."""

_LONGEST_PREFIX = 6
_ASTERISKS = re.compile(r"[^*]{0,12}\*{4,}.{0,8}", re.DOTALL)


def masked(secret: str) -> str:
    """At most 6 characters and a quarter of the key; none of one so short that they would give it away."""
    shown = min(_LONGEST_PREFIX, len(secret) // 4) if len(secret) >= 16 else 0
    return secret[:shown] + MASK


def is_masked(value: str) -> bool:
    """Whether this is a mask that a form sends back, ours or one of asterisks, and no key."""
    return "•" in value or "…" in value or _ASTERISKS.fullmatch(value.strip()) is not None
