"""What fits a model that reads little: how much the hint of each provider may say, and how many hits a prompt shows.

For the prompts that there is one of; hits to be judged are put into batches instead (`evaluate.batches`).
"""

from collections.abc import Mapping, Sequence

import orjson

from zarniwoop.pipelines.investigate.evaluate import BYTES_PER_TOKEN, PROMPT_TOKENS
from zarniwoop.pipelines.investigate.plan import MAX_HINT_CHARS

HINTS_SHARE = 0.5
"""Of the room, where a prompt shows hits as well."""
_SHORTEST_HINT_CHARS = 20
_CARD_BYTES = 110
"""Of a provider beside its hint: its line in the prompt, and in the schema where that is told in words."""


def room(context_tokens: int) -> float:
    """Tokens that are left for hints and hits, beside the prompt's own words and its answer."""
    return float(max(context_tokens - PROMPT_TOKENS, 0))


def hint_chars(providers: int, tokens: float) -> int:
    """How long each hint may be, for all of them to take so many tokens at most; 0 where none would say anything."""
    each = int(tokens * BYTES_PER_TOKEN / max(providers, 1)) - _CARD_BYTES
    return min(each, MAX_HINT_CHARS) if each >= _SHORTEST_HINT_CHARS else 0


def that_fit(shown: Sequence[Mapping[str, str]], tokens: float) -> list[Mapping[str, str]]:
    """The first of the hits that fit into so many tokens, one in any case."""
    fitting: list[Mapping[str, str]] = []
    for hit in shown:
        tokens -= tokens_of(hit)
        if tokens < 0 and fitting:
            break
        fitting.append(hit)
    return fitting


def tokens_of(value: object) -> float:
    """An estimate, for what a prompt prints of a value."""
    return len(orjson.dumps(value)) / BYTES_PER_TOKEN
