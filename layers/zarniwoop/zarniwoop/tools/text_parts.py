"""Long texts in parts: where they may be cut."""

LONGEST_PART = 1_000
"""Characters. With what stands around it, one fits into the smallest bound."""
_BORDERS = ("\n\n", "\n", ". ", "。", " ")


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
