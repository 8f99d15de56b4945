"""What others wrote, made ready for a prompt: harmless text, one JSON line per hit, inside a fence it cannot close.

    <<<HITS 9f86d081884c7d65
    {"key":"h001","title":"…","source":"…","snippet":"…","date":"2024"}
    HITS 9f86d081884c7d65>>>

The nonce is new for every prompt. A fence is no guarantee against a model that obeys what it reads: that is what the
checks of every answer are for.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from zarniwoop.pipelines.investigate.merge import MergedHit
from zarniwoop.text.invisible import UNSEEN
from zarniwoop.text.plain import clip
from zarniwoop.text.urls import host_of
from zarniwoop.tools.untrusted import fenced

MAX_QUESTION_CHARS = 2_000
MAX_TITLE_CHARS = 250
MAX_SNIPPET_CHARS = 900
MAX_SOURCE_CHARS = 80
MOST_BYTES = 4 * (MAX_TITLE_CHARS + MAX_SNIPPET_CHARS + MAX_SOURCE_CHARS) + 200
"""What `prompt_hit` comes to at most, in UTF-8."""
_NONCE = re.compile(r"[0-9a-f]{16,64}")
_UNSEEN = re.compile(f"[{UNSEEN}]")
_SPACE = re.compile(r"\s+")
_OPENING = re.compile("[<\uff1c\ufe64](?=[^\\s\\d=.,-])")
_CLOSING = re.compile("[>\uff1e]{2,}|(?<=[|\uff5c])[>\uff1e]")
_BRACKETED = re.compile(r"\[(/?[A-Z_]{3,24})\]")
_HEADING = re.compile(r"#{3,}")


def harmless(text: object, limit: int) -> str:
    """At most `limit` characters on one line, without invisible ones and without what a chat template or fence reads.

    `<` before a name (`<|im_start|>`, `</tool_result>`, `<<<`) and `>>`, `|>` become single guillemets, `[INST]`
    becomes `(INST)`, `###` becomes `#`; "p < 0.05" stays. Anything but a string is no text. Twice changes nothing.
    """
    if not isinstance(text, str):
        return ""
    text = visible(text, limit)
    if text.isascii() and not any(mark in text for mark in "<>[#"):
        return text
    text = _CLOSING.sub(lambda found: "›" * len(found.group()), _OPENING.sub("‹", text))
    return _HEADING.sub("#", _BRACKETED.sub(r"(\1)", text))


def visible(text: str, limit: int) -> str:
    """At most `limit` characters on one line, without invisible ones. Of a long text only the beginning is read."""
    return clip(_SPACE.sub(" ", _UNSEEN.sub("", text[: limit * 8])).strip(), limit)


def prompt_hit(merged: MergedHit) -> dict[str, str]:
    """What a prompt shows of a hit; the longer of its snippet and its body, clipped. It has no URL to copy."""
    hit = merged.hit
    shown = {
        "key": merged.key,
        "title": harmless(hit.get("title"), MAX_TITLE_CHARS),
        "source": harmless(hit.get("source") or host_of(str(hit.get("url"))), MAX_SOURCE_CHARS),
        "snippet": harmless(max(texts_of(hit)[1:], key=len), MAX_SNIPPET_CHARS),
        "date": harmless((hit.get("published_at") or {}).get("value"), 20),
    }
    return {name: value for name, value in shown.items() if value}


def texts_of(hit: Mapping[str, Any]) -> tuple[str, str, str]:
    """Title, snippet and body of a hit; empty where it has none."""
    body = (hit.get("content") or {}).get("text")
    return (str(hit.get("title") or ""), str(hit.get("snippet") or ""), str(body or ""))


def hits_variables(question: str, today: str, hits: Sequence[MergedHit], nonce: str) -> dict[str, object]:
    """What a recipe over a batch of hits may name. `hits` is for the built-in judge; a prompt prints `fence`."""
    shown = [prompt_hit(hit) for hit in hits]
    return {
        "question": harmless(question, MAX_QUESTION_CHARS),
        "today": today,
        "fence": fenced_hits(shown, nonce),
        "nonce": nonce,
        "keys": [hit.key for hit in hits],
        "hits": shown,
    }


def fenced_hits(hits: Sequence[Mapping[str, str]], nonce: str) -> str:
    """The hits between two lines that no content can contain. Raises ValueError for a nonce that could be guessed."""
    if not _NONCE.fullmatch(nonce):
        raise ValueError("a nonce has 16 to 64 hexadecimal digits")
    own = re.compile(nonce, re.IGNORECASE)
    lines = [
        orjson.dumps({name: own.sub("…", harmless(value, MAX_SNIPPET_CHARS)) for name, value in hit.items()}).decode()
        for hit in hits
    ]
    return fenced("\n".join(lines), nonce, name="HITS")
