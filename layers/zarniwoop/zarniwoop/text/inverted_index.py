"""Abstracts that come as an inverted index, word to positions, as OpenAlex has them."""

_MOST_WORDS = 5000
_LONGEST_WORD = 100


def in_reading_order(index: object) -> str:
    """The words in the order of their positions; empty for anything but an index.

    Gaps close up, the first word at a position counts, and neither a huge position nor a huge word costs memory.
    """
    placed: dict[int, str] = {}
    for word, positions in index.items() if isinstance(index, dict) else ():
        for position in positions[:_MOST_WORDS] if isinstance(positions, list) else ():
            if type(position) is int and 0 <= position < _MOST_WORDS:
                placed.setdefault(position, word[:_LONGEST_WORD])
    return " ".join(placed[position] for position in sorted(placed))
