"""Redaction: known secrets in every spelling, and whatever is assigned to a name that means one."""

import base64
from urllib.parse import quote, quote_plus

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zarniwoop.contract.transport import Secret
from zarniwoop.observe.redaction import Redactor

KEY = 'canary/Key+7="quoted"&0123456789'


def _redactor(*keys: str) -> Redactor:
    redactor = Redactor()
    for key in keys:
        redactor.learn(Secret(key))
    return redactor


@pytest.mark.parametrize(
    "spelling",
    [
        KEY,
        quote(KEY, safe=""),
        quote_plus(KEY),
        base64.b64encode(KEY.encode()).decode(),
        orjson.dumps(KEY).decode()[1:-1],
    ],
)
def test_a_secret_is_masked_in_every_spelling_in_which_it_could_leak(spelling: str) -> None:
    """Raw, in a URL, in base64, and inside JSON."""
    assert spelling not in _redactor(KEY).redact(f"GET /search for {spelling} failed")


def test_what_is_too_short_for_a_key_is_left_alone() -> None:
    """Masking `demo` everywhere would hide the log itself."""
    assert _redactor("demo").redact("project demo") == "project demo"


def test_several_secrets_are_known_at_once() -> None:
    """One environment calls several providers."""
    assert _redactor("first-key-1", "second-key-2").redact("first-key-1 second-key-2") == "[redacted] [redacted]"


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("api_key=abc123", "api_key=[redacted]"),
        ("https://x.test/?apiKey=abc&q=bells", "https://x.test/?apiKey=[redacted]&q=bells"),
        ("Authorization: Bearer abc.def", "Authorization: [redacted]"),
        ('{"x-api-key":"abc","other":"kept"}', '{"x-api-key":"[redacted]","other":"kept"}'),
        ('{"token":null,"signature":{"a":1},"secret":[1]}', '{"token":null,"signature":{"a":1},"secret":[1]}'),
        ("tokens are counted", "tokens are counted"),
    ],
)
def test_what_is_assigned_to_a_secrets_name_is_masked_without_being_known(text: str, redacted: str) -> None:
    """And JSON stays JSON."""
    assert Redactor().redact(text) == redacted


@given(st.dictionaries(st.sampled_from(["token", "secret", "api_key", "note"]), st.none() | st.booleans() | st.text()))
def test_a_json_line_stays_json(values: dict[str, object]) -> None:
    """Whatever its strings hold."""
    assert isinstance(orjson.loads(Redactor().redact(orjson.dumps(values).decode())), dict)
