"""How many tokens recorded hits take in the product's own shape: no tokenizer is needed to stay within a model's.

The estimate counts pieces as tokenizers of large vocabularies cut them: of these answers up to a quarter more than
o200k does, and of none fewer.
"""

import re

import pytest

from tests.contract.payloads import payload
from tests.fakes.instances import instance, request, scope
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.adapters import BUILTIN
from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.modality import SearchModality
from zarniwoop.entry.answers import encode
from zarniwoop.tools.arguments import BYTES_A_TOKEN, MOST_BYTES, MOST_TOKENS, USUAL_CHARS
from zarniwoop.tools.bounding import SHARE_OF_LINKS

_PIECES = re.compile(r" ?[A-Z]?[a-z]+| ?[A-Z]+|[0-9]{1,3}|\s+|[^\x00-\x7f]|[^\sA-Za-z0-9]{1,3}")
_LETTERS_OF_A_PIECE = 8
_ENVELOPE_BYTES = 2_000

RECORDED = [
    ("serper", "search_apple.json", SearchModality.WEB),
    ("serper", "images_lion.json", SearchModality.IMAGE),
    ("serper", "news_tesla.json", SearchModality.NEWS),
    ("brave", "web_search.json", SearchModality.WEB),
    ("brave", "web_search_site_filter.json", SearchModality.WEB),
    ("exa", "search_include_domains.json", SearchModality.WEB),
    ("crossref", "works_query_list.json", SearchModality.ACADEMIC),
]


def _tokens(text: str) -> int:
    pieces = (piece.strip() for piece in _PIECES.findall(text))
    return sum(max(1, -(-len(piece) // _LETTERS_OF_A_PIECE)) for piece in pieces)


@pytest.mark.parametrize(("provider", "name", "modality"), RECORDED)
def test_an_answer_of_recorded_hits_takes_no_more_tokens_than_its_bytes_say(
    provider: str, name: str, modality: SearchModality
) -> None:
    """Addresses and ids are dense: prose alone would take four bytes a token and more."""
    protocol = next(each for each in BUILTIN if each.id() == provider)
    transport = ScriptedTransport(answer(payload(provider, name)))
    result = instance(protocol, transport, key="a-key").search(request(modality=modality), scope())
    assert result.hits
    encoded = encode(ToolResult(ok=True, data=result))
    assert len(encoded) / _tokens(encoded.decode()) >= BYTES_A_TOKEN


def test_the_usual_bound_and_all_that_stands_around_it_are_within_the_most_tokens() -> None:
    """One figure makes the others."""
    assert USUAL_CHARS + USUAL_CHARS // SHARE_OF_LINKS + _ENVELOPE_BYTES <= MOST_BYTES
    assert MOST_BYTES / BYTES_A_TOKEN <= MOST_TOKENS
