"""Provider markup to plain text that is safe to show and to log next to."""

import re
from html import escape, unescape
from unicodedata import category

from zarniwoop.text.invisible import (
    CONTROLS,
    DIRECTION,
    JOINERS,
    MORE_SELECTORS,
    SOFT_HYPHEN,
    SPACE_CONTROLS,
    TAGS,
    UNSEEN,
    ZERO_WIDTH,
)

_TAG = re.compile(r"<[A-Za-z/!?][^<>]*>")
_BREAK = re.compile(r"<(?:p|br|li|div|tr|h[1-6])\b[^<>]*>", re.IGNORECASE)
_MATH = re.compile(r"(?<=\w)(?=<(?:mml:)?math\b)|(?:(?<=</math>)|(?<=</mml:math>))(?=\w)", re.IGNORECASE)
_INLINE = re.compile(
    r"</?(?:i|b|u|em|strong|sub|sup|sc|scp|tt|title|italic|bold|p|span|(?:mml|jats):[a-z-]+)(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_SPACE = re.compile(r"\s+")
_INVISIBLE = re.compile(
    f"[{CONTROLS}{SPACE_CONTROLS}{SOFT_HYPHEN}{ZERO_WIDTH}{JOINERS}{DIRECTION}{TAGS}{MORE_SELECTORS}]"
)
_SHAPELESS = re.compile(f"[{UNSEEN}{SPACE_CONTROLS}\u2800]")
"""One pattern of dots has no dots."""


def plain(markup: str | None) -> str | None:
    """Text without tags, entities, invisible characters or runs of white space; None when nothing is left.

    A `<` before anything but a name opens no tag, as in HTML: "p < 0.05, n > 20" stays whole.
    A formula that publishers glue to its neighbours ("lasers and<math>…</math>pinches") is set apart from words.
    Entities are decoded once, after the tags went, so that an escaped `&lt;b&gt;` stays visible text.
    """
    if not markup:
        return None
    if markup.isascii() and markup.isprintable() and not ("<" in markup or "&" in markup or "  " in markup):
        return markup.strip() or None
    text = markup
    if "<" in text:
        text = _TAG.sub("", _BREAK.sub(" ", _MATH.sub(" ", text)))
    if "&" in text:
        text = unescape(text)
    if not text.isascii() or not text.isprintable():
        text = _INVISIBLE.sub("", _SPACE.sub(" ", text))
    return _SPACE.sub(" ", text).strip() or None


def plain_title(markup: str | None) -> str | None:
    """As `plain`, for titles whose markup or entities may be escaped once more than the format says.

    Of what is a tag only after that, just the inline markup of titles goes: `p < 0.05` and `x <y> z` stay.
    """
    text = plain(markup)
    if text is None or not ("&" in text or "<" in text):
        return text
    return plain(escape(_INLINE.sub("", unescape(text)), quote=False))


def verbatim(text: object) -> str | None:
    """Text that is no markup, such as source code: lines and indents stay, only what nobody could see goes."""
    shown = _INVISIBLE.sub("", text.replace("\r\n", "\n")).strip("\n") if isinstance(text, str) else ""
    return None if is_blank(shown) else shown


def one_line(text: object) -> str | None:
    """Text that is no markup, its lines and runs of white space joined; None for anything but text."""
    return " ".join((verbatim(text) or "").split()) or None


def is_blank(text: str) -> bool:
    """Whether nobody would see anything of it: white space, controls, marks of direction, fillers and the like."""
    return not any(category(mark)[0] in "LNPSM" for mark in _SHAPELESS.sub("", text))


def clip(text: str, limit: int) -> str:
    """At most `limit` characters, cut at a word where one ends in the last fifth, with an ellipsis."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit * 4 // 5 else cut).rstrip() + "…"
