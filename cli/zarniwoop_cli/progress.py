"""A run while it goes on, node by node, on a terminal's stderr; anywhere else nothing of it is written."""

import sys
import time
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TextIO

from zarniwoop_cli.safe import line

if TYPE_CHECKING:
    from zarniwoop_client import Answer
    from zarniwoop_client.results.runs import RunReport

_ORDER = ("plan", "search", "merge", "refine", "evaluate", "judge", "rank")
"""In which people expect the nodes of an investigation; others stand behind them."""
_BAR = 24
_BEST = 3
_TITLE = 90


class RunProgress:
    """A display that is told of a run's reports, and gone when it is left. `stops`: Ctrl-C stops the run as well."""

    def __init__(self, *, stops: bool, stream: TextIO | None = None) -> None:
        self._hint = "Ctrl-C stops it" if stops else "Ctrl-C leaves it going"
        stream = stream or sys.stderr
        self._live: Any = None
        self._began = time.monotonic()
        self._report: Mapping[str, Any] = {}
        if stream.isatty():
            from rich.console import Console
            from rich.live import Live

            console = Console(file=stream, highlight=False, markup=False, emoji=False)
            self._live = Live(console=console, get_renderable=self._drawn, refresh_per_second=4, transient=True)

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()

    @property
    def shown(self) -> bool:
        return self._live is not None

    def told(self, seen: "Answer[RunReport]") -> None:
        self._report = seen.raw["data"]
        if self._live:
            self._live.refresh()

    def _drawn(self) -> Any:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        report = self._report
        nodes = Table.grid(padding=(0, 1))
        progress = report.get("progress") or {}
        for node in sorted(progress, key=lambda name: _ORDER.index(name) if name in _ORDER else len(_ORDER)):
            each = progress[node]
            bar = ProgressBar(total=max(each["total"], 1), completed=each["done"], width=_BAR)
            nodes.add_row(Text("  " + line(node)), bar, Text(f"{each['done']}/{each['total']}"))
        best = [
            Text("  " + line((each.get("hit") or each).get("title", ""))[:_TITLE], style="dim", no_wrap=True)
            for each in ((report.get("results") or {}).get("hits") or ())[:_BEST]
        ]
        head = f"{line(report.get('run_id', ''))} {line(report.get('state', 'starting'))}"
        return Group(Text(f"{head} · {time.monotonic() - self._began:.0f} s · {self._hint}"), nodes, *best)
