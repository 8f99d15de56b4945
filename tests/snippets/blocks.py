"""What stands in fences in README and docs, by the heading above it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.fakes.template import ROOT

_FENCE = re.compile(r"^ *(?P<fence>```+|~~~+) *(?P<language>\S*)")
LANGUAGES = frozenset({"bash", "json", "python", "text", "toml"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """`line` is that of the opening fence."""

    language: str
    text: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """The blocks under one heading, in their order; `document` is its path in the project."""

    document: str
    heading: str
    blocks: tuple[Block, ...]

    @property
    def key(self) -> tuple[str, str]:
        return self.document, self.heading

    def __str__(self) -> str:
        return f"{self.document}#{self.heading}".replace(" ", "-").lower()


def documents() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def sections() -> list[Section]:
    """All that have a block; a heading comes once in a document, or its blocks stand together."""
    found = []
    for path in documents():
        under: dict[str, list[Block]] = {}
        for heading, block in _blocks(path.read_text(encoding="utf-8").splitlines()):
            under.setdefault(heading, []).append(block)
        name = path.relative_to(ROOT).as_posix()
        found += [Section(document=name, heading=each, blocks=tuple(blocks)) for each, blocks in under.items()]
    return found


def _blocks(lines: list[str]) -> Iterator[tuple[str, Block]]:
    heading, fence, language, began = "", "", "", 0
    for number, line in enumerate(lines, start=1):
        opened = _FENCE.match(line)
        if fence:
            if line.strip() == fence:
                text = "\n".join(lines[began : number - 1]) + "\n"
                yield heading, Block(language=language, text=text, line=began)
                fence = ""
        elif opened:
            fence, language, began = opened["fence"], opened["language"], number
        elif line.startswith("#"):
            heading = line.lstrip("#").strip()
    if fence:
        raise ValueError(f"the fence of line {began} is never closed")
