"""Long texts in parts: where they may be cut, and Markdown without its marks."""

import re

LONGEST_PART = 1_000
"""Characters. With what stands around it, one fits into the smallest bound."""
_BORDERS = ("\n\n", "\n", ". ", "。", " ")
_LINK = re.compile(r"\[([^\[\]\n]{0,500})\]\((?:<[^<>\n]{0,2000}>|[^()\s]{0,2000})\)")
_HEADING = re.compile(r"^#{1,6}[ \t]+", re.MULTILINE)
_FENCE = re.compile(r"^`{3,}[^\n`]{0,40}\n?", re.MULTILINE)
_RULE = re.compile(r"^\|?(?:[ \t]*:?-{3,}:?[ \t]*\|)+[ \t]*(?::?-{3,}:?)?[ \t]*\n?", re.MULTILINE)
_ROW = re.compile(r"^\|[ \t]*(.*?)[ \t]*\|$", re.MULTILINE)
_CELLS = re.compile(r"[ \t]*(?<!\\)\|[ \t]*")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


def parts_of(text: str) -> list[tuple[int, int]]:
    """Begin and end of each part: whole paragraphs where they are short, else cut at a line, a sentence, a word."""
    parts: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = _end_of(text, start)
        parts.append((start, end))
        start = end
    return parts


def _end_of(text: str, start: int) -> int:
    most = start + LONGEST_PART
    if most >= len(text):
        return len(text)
    for border in _BORDERS:
        at = text.rfind(border, start, most)
        if at > start:
            return at + len(border)
    return most


def without_marks(markdown: str) -> str:
    """What is left for a reader who does not render Markdown: no links, headings, fences or tables' rules."""
    text = _FENCE.sub("", _HEADING.sub("", _LINK.sub(r"\1", markdown)))
    text = _ROW.sub(lambda row: _CELLS.sub("\t", row[1]), _RULE.sub("", text))
    return _ESCAPED.sub(r"\1", text)
