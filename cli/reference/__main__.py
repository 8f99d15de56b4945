"""`make docs`: writes what is generated into the documents, and nothing else of them."""

import sys
from pathlib import Path

from reference.providers import page, summary_table

ROOT = Path(__file__).resolve().parents[2]
_BEGIN, _END = "<!-- providers: written by `make docs` -->", "<!-- end of providers -->"


class NoPlaceError(Exception):
    """The document lost the marks between which the table belongs."""


def documents() -> dict[Path, str]:
    """Every document that holds something generated, as it must read."""
    readme = ROOT / "README.md"
    return {readme: _filled(readme.read_text(encoding="utf-8")), ROOT / "docs" / "providers.md": page()}


def _filled(text: str) -> str:
    before, begin, rest = text.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not (begin and end):
        raise NoPlaceError(f"README.md needs the marks {_BEGIN} and {_END}")
    return f"{before}{begin}\n{summary_table()}\n{end}{after}"


if __name__ == "__main__":
    for path, text in documents().items():
        path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{path.relative_to(ROOT)} written\n")
