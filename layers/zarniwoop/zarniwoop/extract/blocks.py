"""Blocks of Markdown: where they stand in lists and quotes, and the cells of tables that they are put into.

Quirk: indentation is bounded, or a page that is lists in lists would come to the square of its size.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from zarniwoop.extract.tables import Table

_MOST_LEVELS = 8
_MOST_TABLES = 4
_CLOSE, _APART = "\n", "\n\n"


@dataclass(slots=True)
class _List:
    ordered: bool
    number: int


@dataclass(slots=True)
class _Level:
    """What stands before the first line of the next block, and before all others."""

    first: str
    rest: str


@dataclass(slots=True)
class _Frame:
    """The page, or one cell."""

    attributes: Mapping[str, str] = field(default_factory=dict)
    pieces: list[str] = field(default_factory=list)
    levels: list[_Level] = field(default_factory=list)
    lists: list[_List] = field(default_factory=list)
    after_item: bool = False


class Blocks:
    """`limit` is how many characters are written; `full` says that there were more."""

    def __init__(self, limit: int) -> None:
        self.full = False
        self._left = limit
        self._frames = [_Frame()]
        self._tables: list[Table | None] = []
        self._cells: list[bool] = []

    @property
    def in_cell(self) -> bool:
        return len(self._frames) > 1

    @property
    def text(self) -> str:
        return "".join(self._frames[0].pieces[1:])

    def emit(self, text: str) -> None:
        if not text or self.full:
            return
        frame = self._frames[-1]
        begins_item = any(level.first != level.rest for level in frame.levels[:_MOST_LEVELS])
        glue = _CLOSE if begins_item and frame.after_item else _APART
        frame.after_item = bool(frame.levels) and (begins_item or frame.after_item)
        text = self._indented(text, frame)
        self._left -= len(text)
        if self._left < 0:
            self.full = True
            text = text[: self._left]
        frame.pieces += (glue, text)

    def begin_list(self, *, ordered: bool, first: int) -> None:
        frame = self._frames[-1]
        frame.lists.append(_List(ordered, first))
        frame.after_item = frame.after_item and bool(frame.levels)

    def end_list(self) -> None:
        if self._frames[-1].lists:
            self._frames[-1].lists.pop()

    def begin_item(self) -> None:
        lists = self._frames[-1].lists
        around = lists[-1] if lists else _List(ordered=False, number=1)
        marker = f"{around.number}. " if around.ordered else "- "
        around.number += 1
        self._frames[-1].levels.append(_Level(marker, " " * len(marker)))

    def begin_quote(self) -> None:
        self._frames[-1].levels.append(_Level("> ", "> "))

    def end_level(self) -> None:
        frame = self._frames[-1]
        if frame.levels:
            frame.levels.pop()
        if not frame.levels:
            frame.after_item = frame.after_item and bool(frame.lists)

    def begin_table(self) -> None:
        """Tables in tables are layouts; deep in them, their cells are blocks like any others."""
        for standing in self._tables[:_MOST_TABLES]:
            if standing:
                standing.is_layout = True
        self._tables.append(Table() if len(self._tables) < _MOST_TABLES else None)

    def begin_row(self) -> None:
        if self._tables and self._tables[-1]:
            self._tables[-1].begin_row()

    def begin_cell(self, attributes: Mapping[str, str]) -> None:
        opens = bool(self._tables and self._tables[-1])
        self._cells.append(opens)
        if opens:
            self._frames.append(_Frame(dict(attributes)))

    def end_cell(self) -> None:
        if self._cells and self._cells.pop() and self.in_cell:
            cell = self._frames.pop()
            if self._tables and (table := self._tables[-1]):
                table.add(cell.pieces[1::2], cell.attributes)

    def end_table(self) -> None:
        table = self._tables.pop() if self._tables else None
        for block in table.as_blocks() if table else ():
            self._left += len(block)  # its cells were counted as they came
            self.emit(block)

    def finish(self) -> None:
        while self._tables:
            while self.in_cell and self._cells:
                self.end_cell()
            self.end_table()

    @staticmethod
    def _indented(text: str, frame: _Frame) -> str:
        if not frame.levels:
            return text
        levels = frame.levels[:_MOST_LEVELS]
        first = "".join(level.first for level in levels)
        rest = "".join(level.rest for level in levels)
        for level in levels:
            level.first = level.rest
        return first + text.replace("\n", "\n" + rest)
