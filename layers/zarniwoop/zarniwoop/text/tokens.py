"""How many tokens a text is for a language model, from above and without a tokenizer.

Vocabularies hold frequent words whole, digits by three and a few marks together; of identifiers, encoded bytes and
scripts that few pages are written in nearly every byte is a token. Calibrated with o200k and cl100k on recorded answers
of providers and on texts of many kinds (`tests/unit/test_text_tokens.py`): JSON in English counts a third more than it
is. Given up: invented words and rare ideographs, whose letters a vocabulary splits, count for less than they are.
"""

import re

_KINDS = (  # what a run is made of, tokens of its first character, and per hundred further ones
    (r"[A-Z]?[a-z]+(?![0-9A-Za-z])", 1, 25),
    (r"[0-9]+(?![A-Za-z])", 1, 34),
    (r"[A-Z](?![0-9A-Za-z])", 1, 0),
    (r"[0-9A-Za-z]+", 2, 83),
    (r"\s+(?=[0-9])", 1, 5),
    (r" (?=\S)", 0, 0),
    (r"\s+", 1, 5),
    (r"[!-/:-@\[-`{-~]+", 1, 75),
    (r"[\u0400-\u052f]+", 1, 75),
    (r"[\u0080-\u03ff\u0530-\u06ff\u1e00-\u1eff]+", 1, 100),
    (r"[\u0900-\u0e7f\u10a0-\u10ff]+", 1, 130),
    (r"[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef]+", 2, 150),
    (r"[\u2000-\u2bff]+", 2, 200),
    (r"[^\x00-\x7f]", 3, 0),
    (r".", 1, 0),
)
_RUN = re.compile("|".join(f"({pattern})" for pattern, _, _ in _KINDS), re.DOTALL)
_FIRST = (0, *(first for _, first, _ in _KINDS))
_FURTHER = (0, *(further for _, _, further in _KINDS))


def most_tokens(text: str) -> int:
    """An upper estimate, in one pass over the text."""
    count = 0
    for found in _RUN.finditer(text):
        kind = found.lastindex or 0
        count += _FIRST[kind] + (found.end() - found.start() - 1) * _FURTHER[kind] // 100
    return count
