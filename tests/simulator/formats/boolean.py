"""Boolean queries as sets of rows: `(a OR b) AND c`, with whatever a format calls a leaf."""

from collections.abc import Callable, Sequence

Rows = frozenset[int]
Leaf = Callable[[str], Rows]

OPERATORS = frozenset({"AND", "OR", "NOT", "ANDNOT", "(", ")"})
_NOT = ("NOT", "ANDNOT")


def rows_of(tokens: Sequence[str], leaf: Leaf) -> Rows:
    """What the tokens come to; two leaves side by side mean AND. Raises ValueError for unbalanced parentheses."""
    rows, rest = _alternatives(list(tokens), leaf)
    if rest:
        raise ValueError("unbalanced parentheses")
    return rows


def _alternatives(tokens: list[str], leaf: Leaf) -> tuple[Rows, list[str]]:
    rows, tokens = _conjunction(tokens, leaf)
    while tokens and tokens[0] == "OR":
        more, tokens = _conjunction(tokens[1:], leaf)
        rows |= more
    return rows, tokens


def _conjunction(tokens: list[str], leaf: Leaf) -> tuple[Rows, list[str]]:
    rows, tokens = _operand(tokens, leaf)
    while tokens and tokens[0] not in ("OR", ")"):
        if tokens[0] == "AND":
            tokens = tokens[1:]
        negated = bool(tokens) and tokens[0] in _NOT
        more, tokens = _operand(tokens[1:] if negated else tokens, leaf)
        rows = rows - more if negated else rows & more
    return rows, tokens


def _operand(tokens: list[str], leaf: Leaf) -> tuple[Rows, list[str]]:
    if not tokens:
        raise ValueError("an operator without its operand")
    if tokens[0] != "(":
        return leaf(tokens[0]), tokens[1:]
    rows, rest = _alternatives(tokens[1:], leaf)
    if not rest:
        raise ValueError("unbalanced parentheses")
    return rows, rest[1:]
