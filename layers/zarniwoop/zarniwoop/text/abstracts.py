"""Abstracts as plain text, one line a section or paragraph, a section's heading before it.

Publishers write JATS (`<jats:sec><jats:title>`, https://jats.nlm.nih.gov/), Europe PMC HTML (`<h4>`).
Quirk: many abstracts begin with the heading "Abstract", and some hold nothing else.
"""

import re

from zarniwoop.text.plain import plain

_HEADING_ENDS = "\x1e"
_CLOSES_HEADING = re.compile(r"</(?:jats:)?(?:title|h[1-6])\s*>", re.IGNORECASE)
_BREAKS = re.compile(
    r"</?(?:jats:)?(?:title|h[1-6]|p|sec|list|list-item|disp-formula|br|div|li|ul|ol)\b[^<>]*>", re.IGNORECASE
)
_SAYS_NOTHING = frozenset(("abstract", "summary", "graphical abstract"))


def abstract_text(markup: str | None) -> str | None:
    """The abstract's text, or None when there is none."""
    if not markup:
        return None
    if "<" not in markup:
        return _unless_only_a_heading(plain(markup))
    marked = _CLOSES_HEADING.sub(f"{_HEADING_ENDS}\n", " ".join(markup.replace(_HEADING_ENDS, " ").split()))
    lines: list[str] = []
    heading = None
    for line in _BREAKS.sub("\n", marked).split("\n"):
        text = plain(line)
        if line.endswith(_HEADING_ENDS):
            heading = text.rstrip(" :.") if text else None
        elif text:
            lines.append(f"{heading}: {text}" if heading and heading.lower() not in _SAYS_NOTHING else text)
            heading = None
    return _unless_only_a_heading("\n".join(lines))


def _unless_only_a_heading(text: str | None) -> str | None:
    return text if text and text.lower().strip(" :.") not in _SAYS_NOTHING else None
