"""Answers for people: coloured where a terminal reads them, plain and unbroken where a pipe does.

Whatever is printed here goes through `safe`: the words are mostly strangers'.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from zarniwoop_cli.safe import line, lines

_UNBROKEN = 1_000
"""Columns where nobody looks at them: no table is squeezed and no address broken in two."""


class _Console(Console):
    """Leaves it to the command what becomes of a pipe that nobody reads any more."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


class Printer:
    """Writes to one stream. `NO_COLOR` is heeded by rich itself."""

    def __init__(self, stream: TextIO) -> None:
        is_terminal = stream.isatty()
        self.console = _Console(
            file=stream, highlight=False, markup=False, emoji=False, width=None if is_terminal else _UNBROKEN
        )

    def say(self, *parts: object, style: str = "", indent: int = 0) -> None:
        """One line of whatever there is of these parts; a terminal breaks it where it likes."""
        told = " ".join(filter(None, (line(part) for part in parts if part is not None)))
        self.console.print(Text(" " * indent + told, style=style), soft_wrap=True)

    def paragraph(self, text: str, *, style: str = "", indent: int = 0) -> None:
        """Text that is wrapped at words and stays indented."""
        from rich.padding import Padding

        self.console.print(Padding(Text(line(text), style=style), (0, 0, 0, indent), expand=False))

    def block(self, text: str) -> None:
        """Lines as they are."""
        self.console.print(Text(lines(text)), soft_wrap=True)

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[object]], *, nothing: str = "nothing") -> None:
        """The first column, by which a row is asked for, is never broken or cut; the others are broken, never cut."""
        table = Table(header_style="bold", pad_edge=False, box=None)
        for number, column in enumerate(columns):
            table.add_column(column, no_wrap=number == 0, overflow="fold")
        for row in rows:
            table.add_row(*(Text(line("" if cell is None else cell)) for cell in row))
        if table.row_count:
            self.console.print(table)
        else:
            self.say(nothing)


def moment(seconds: Any) -> str:
    """Epoch seconds as an instant in UTC."""
    if not isinstance(seconds, int | float):
        return ""
    return datetime.fromtimestamp(seconds, tz=UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def money(usd: Any, credits: Any = 0) -> str:  # noqa: A002 - what they are called everywhere
    """What something cost; nothing for nothing."""
    told = [f"${usd:.6g}"] if usd else []
    return ", ".join(told + ([f"{amount(credits)} credits"] if credits else []))


def amount(value: float) -> str:
    """A number as people write it: 1,000,000 and not 1e+06."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.6g}"
