"""An upper estimate of tokens, against counts that tokenizers made of texts of many kinds (o200k_base, cl100k_base)."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zarniwoop.text.tokens import most_tokens

COUNTED: list[dict[str, Any]] = orjson.loads(
    (Path(__file__).parents[1] / "fixtures" / "tokens" / "counts.json").read_bytes()
)
PLENTIFUL = ("english", "json", "code", "german", "html", "escaped")


@pytest.mark.parametrize("counted", COUNTED, ids=[each["name"] for each in COUNTED])
def test_no_kind_of_text_has_more_tokens_than_estimated(counted: dict[str, Any]) -> None:
    """Of the newer vocabulary; the older one splits scripts that it hardly knows."""
    assert most_tokens(counted["text"]) >= counted["o200k"]


@pytest.mark.parametrize(
    "counted", [each for each in COUNTED if each["name"] in PLENTIFUL], ids=lambda each: each["name"]
)
def test_what_most_pages_are_made_of_is_not_estimated_at_much_more(counted: dict[str, Any]) -> None:
    """An answer would be cut short for nothing."""
    assert most_tokens(counted["text"]) <= 1.6 * max(counted["o200k"], counted["cl100k"])


@given(st.text(max_size=200))
def test_a_text_has_at_most_as_many_tokens_as_bytes(text: str) -> None:
    """And none is passed over: twice the text is about twice the count."""
    count = most_tokens(text)
    assert count <= len(text.encode()) + 1
    assert most_tokens(text + "\n" + text) >= 2 * count - 2
