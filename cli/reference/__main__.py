"""`make docs`: writes what is generated into the documents and the command line's data, and nothing else of them."""

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from reference.commands import known_tools
from reference.openapi import document
from reference.providers import page, summary_table
from reference.routes import route_table
from reference.tools import tool_table

ROOT = Path(__file__).resolve().parents[2]
_TABLES: Mapping[Path, Mapping[str, Callable[[], str]]] = {
    ROOT / "README.md": {"providers": summary_table, "tools": tool_table},
    ROOT / "docs" / "api.md": {"routes": route_table},
}


class NoPlaceError(Exception):
    """The document lost the marks between which the table belongs."""


def documents() -> dict[Path, str]:
    """Every document that holds something generated, as it must read."""
    api = document()
    return {
        **{path: _filled(path, tables) for path, tables in _TABLES.items()},
        ROOT / "docs" / "providers.md": page(),
        ROOT / "cli" / "zarniwoop_cli" / "tools.json": known_tools(),
        ROOT / "docs" / "openapi.json": json.dumps(api, ensure_ascii=False, indent=1) + "\n",
        ROOT / "functions" / "openapi" / "openapi.json": json.dumps(api, ensure_ascii=False, separators=(",", ":")),
    }


def _filled(path: Path, tables: Mapping[str, Callable[[], str]]) -> str:
    """With each table between its marks."""
    text = path.read_text(encoding="utf-8")
    for name, table in tables.items():
        opening, closing = f"<!-- {name}: written by `make docs` -->", f"<!-- end of {name} -->"
        before, begin, rest = text.partition(opening)
        _, end, after = rest.partition(closing)
        if not (begin and end):
            raise NoPlaceError(f"{path.name} needs the marks {opening} and {closing}")
        text = f"{before}{begin}\n{table()}\n{end}{after}"
    return text


if __name__ == "__main__":
    for path, text in documents().items():
        path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{path.relative_to(ROOT)} written\n")
