"""A stranger's text between two lines that it cannot contain, for models that read it.

    <<<UNTRUSTED 9f86d081884c7d65
    …
    UNTRUSTED 9f86d081884c7d65>>>

The nonce is made after the text was read, new for every answer, and never one that stands in the text. A fence is no
guarantee against a model that obeys what it reads.
"""

import secrets
from collections.abc import Callable, Sequence


def new_nonce() -> str:
    return secrets.token_hex(8)


def nonce_for(texts: Sequence[str], make: Callable[[], str] = new_nonce) -> str:
    """One that stands in none of the texts, in whatever case."""
    folded = [text.casefold() for text in texts]
    while True:
        nonce = make()
        if not any(nonce in text for text in folded):
            return nonce


def fenced(text: str, nonce: str, *, name: str = "UNTRUSTED") -> str:
    return f"<<<{name} {nonce}\n{text}\n{name} {nonce}>>>"
