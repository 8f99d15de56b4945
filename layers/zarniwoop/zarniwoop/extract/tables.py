"""A table of a page, as Markdown where it holds data, else as what stands in its cells.

A table is a layout when a cell holds another table, much text or many blocks, or when there is but one column.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

_MOST_CELLS = 20_000
_MOST_SPAN = 40
_LONGEST_CELL = 1_500
_LONG_CELL = 400
_MOST_BLOCKS = 6


@dataclass(slots=True)
class Table:
    """Cells as they come. A row's cell that reaches over several columns leaves the others empty."""

    rows: list[list[str]] = field(default_factory=list)
    blocks: list[str] = field(default_factory=list)
    is_layout: bool = False
    _cells: int = 0
    _down: dict[int, tuple[int, str]] = field(default_factory=dict)

    def begin_row(self) -> None:
        self.rows.append([])
        self._fill_from_above()

    def add(self, blocks: list[str], attributes: Mapping[str, str]) -> None:
        if not self.rows:
            self.begin_row()
        text = " ".join(" ".join(blocks).split())
        self.blocks.extend(blocks)
        much = len(blocks) > _MOST_BLOCKS or len(text) > _LONGEST_CELL or (len(blocks) > 2 and len(text) > _LONG_CELL)
        self.is_layout = self.is_layout or much
        across, down = _span(attributes.get("colspan")), _span(attributes.get("rowspan"))
        for column in range(across):
            self._place(text if column == 0 else "", down)
        self._fill_from_above()

    def as_blocks(self) -> list[str]:
        rows = [row for row in self.rows if any(row)]
        columns = max(map(len, rows), default=0)
        if self.is_layout or columns < 2 or self._cells > _MOST_CELLS:
            return self.blocks
        if len(rows) < 2:
            return [" | ".join(filter(None, rows[0]))]
        kept = [index for index in range(columns) if any(index < len(row) and row[index] for row in rows)]
        lines = [_line([row[index] if index < len(row) else "" for index in kept]) for row in rows]
        return ["\n".join((lines[0], _line(["---"] * len(kept)), *lines[1:]))]

    def _place(self, text: str, down: int) -> None:
        row = self.rows[-1]
        if down > 1:
            self._down[len(row)] = (down - 1, text)
        row.append(text)
        self._cells += 1

    def _fill_from_above(self) -> None:
        """A cell that reaches down stands in every row that it covers."""
        row = self.rows[-1]
        while len(row) in self._down and self._cells <= _MOST_CELLS:
            column = len(row)
            left, text = self._down.pop(column)
            if left > 1:
                self._down[column] = (left - 1, text)
            row.append(text)
            self._cells += 1


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _span(value: str | None) -> int:
    return min(int(value), _MOST_SPAN) if value and value.isascii() and value.isdigit() and value != "0" else 1
