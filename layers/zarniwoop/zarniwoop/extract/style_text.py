"""A style sheet's text: its declarations and rules, with the screens that a rule is for.

Format: https://www.w3.org/TR/css-syntax-3/. Comments, strings, addresses and brackets are made plain first, in one
search, so that a `;`, `{` or `,` left standing is one. What is not closed at the end of a sheet holds, as in browsers.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from zarniwoop.extract.style_screens import ALWAYS, screens_of_block
from zarniwoop.extract.style_values import expanded

_TOKEN = re.compile(
    r"/\*.*?(?:\*/|\Z)|url\((?!\s{0,50}[\"'])[^)]{0,1000000}\)?"
    r"|\"(?:[^\"\\\n]|\\.)*+(?:\"|\n|\Z)|'(?:[^'\\\n]|\\.)*+(?:'|\n|\Z)|\\[^0-9a-f\n]|<!--|-->|[()\[\];{}]",
    re.DOTALL | re.IGNORECASE,
)
_MARK = re.compile(r"[{};]")
_DEEPER = {"(": 1, "[": 1, ")": -1, "]": -1}
_SPECIAL = re.compile(r"[(){}\[\];,:!/*\\<>]")
_ESCAPE = re.compile(r"\\(?:([0-9a-f]{1,6})\s?|(.))", re.IGNORECASE | re.DOTALL)
_IMPORTANT = re.compile(r"!\s{0,100}important\s*\Z", re.IGNORECASE)
_CONTAINERS = ("@media", "@supports", "@layer", "@container", "@document", "@-moz-document")
_LONGEST_VALUE = 1_000
_MOST_DEPTH = 30

Declarations = dict[str, str]


@dataclass(slots=True)
class Declared:
    """What one block states: in the usual way, and as important."""

    normal: Declarations = field(default_factory=dict)
    important: Declarations = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.normal or self.important)

    def add(self, text: str) -> None:
        name, colon, value = text.partition(":")
        if not colon:
            return
        important = "!" in value and _IMPORTANT.search(value)
        value = value[: important.start()] if important else value
        name = unescaped(name.strip())
        name = name if name.startswith("--") else name.lower()
        stated = self.important if important else self.normal
        for each, worth in expanded(name, unescaped(value.strip()).lower()[:_LONGEST_VALUE], known=stated):
            stated[each] = worth


@dataclass(slots=True)
class StyleBlock:
    """A rule as it stands in a sheet; `selectors` are separated by commas."""

    selectors: str
    screens: int
    layered: bool
    place: int
    declared: Declared = field(default_factory=Declared)


@dataclass(frozen=True, slots=True)
class _Open:
    """A bracket that is open: a rule, a block that groups rules, or one that is passed over (neither)."""

    screens: int
    layered: bool
    selectors: str = ""
    block: StyleBlock | None = None
    groups: bool = False


def declarations(text: str) -> Declared:
    """What a `style` attribute states."""
    found = Declared()
    for part in plain(text).split(";"):
        found.add(part)
    return found


def blocks(sheet: str) -> Iterator[StyleBlock]:
    """The rules of a sheet, each when it is closed."""
    text, start = plain(sheet), 0
    stack = [_Open(ALWAYS, layered=False, groups=True)]
    for mark in _MARK.finditer(text):
        block = stack[-1].block
        if mark[0] == "{":
            prelude = text[start : mark.start()].strip()
            stack.append(_opened(prelude, stack[-1], mark.start(), deep=len(stack) > _MOST_DEPTH))
        elif block is not None:
            block.declared.add(text[start : mark.start()])
        elif _is_part_of_selector(mark[0], text[start : start + 100], len(stack)):
            continue
        start = mark.end()
        if mark[0] == "}" and len(stack) > 1:
            stack.pop()
            if block is not None:
                yield block
    last = stack[-1].block
    if last is not None:
        last.declared.add(text[start:])
    yield from (each.block for each in stack if each.block is not None)


def _is_part_of_selector(mark: str, begins: str, depth: int) -> bool:
    """Outside of rules a `;` ends only what begins with `@`, and a `}` too many spoils the selector behind it."""
    return depth == 1 if mark == "}" else not begins.lstrip().startswith("@")


def plain(text: str) -> str:
    """The text with nothing in it that only looks like a mark: comments are gaps, marks in strings are escapes."""
    if not any(mark in text for mark in "/\\\"'([<"):
        return text
    depth = 0

    def replaced(found: re.Match[str]) -> str:
        nonlocal depth
        text = found[0]
        depth = max(0, depth + _DEEPER.get(text, 0))
        return f"\\{ord(text):x} " if depth and text in ";{}" else _plainly(text)

    return _TOKEN.sub(replaced, text)


def _plainly(token: str) -> str:
    first = token[0]
    if first in "\"'":
        return first + _SPECIAL.sub(_escaped, token[1:-1]) + first
    if first == "\\":
        return f"\\{ord(token[1]):x} "
    if first in "uU":
        return "url()"
    return " " if first in "/<-" else token


def unescaped(text: str) -> str:
    return _ESCAPE.sub(_meant, text) if "\\" in text else text


def _meant(found: re.Match[str]) -> str:
    if found[2]:
        return found[2]
    code = int(found[1], 16)
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"


def _escaped(found: re.Match[str]) -> str:
    return found[0] if found[0] == "\\" else f"\\{ord(found[0]):x} "


def _opened(prelude: str, within: _Open, place: int, *, deep: bool) -> _Open:
    if deep or not (within.groups or within.block):
        return _Open(0, layered=False)
    if not prelude.startswith("@"):
        selectors = _nested(prelude, within.selectors) if within.selectors else prelude
        block = StyleBlock(selectors, within.screens, within.layered, place)
        return _Open(within.screens, within.layered, selectors, block)
    name = prelude.split("(")[0].split()[0].lower()
    if name not in _CONTAINERS:
        return _Open(0, layered=False)
    screens = within.screens & screens_of_block(name, prelude[len(name) :].lower())
    layered = within.layered or name == "@layer"
    nested = StyleBlock(within.selectors, screens, layered, place) if within.selectors else None
    return _Open(screens, layered, within.selectors, nested, groups=True)


def _nested(prelude: str, outer: str) -> str:
    """A rule within a rule: `&` is the outer one, and where it is not named, its descendants are meant."""
    inner = split_selectors(prelude)
    named = [each if "&" in each else f"& {each}" for each in inner]
    return ",".join(each.replace("&", one) for one in split_selectors(outer)[:20] for each in named[:20])[:20_000]


def split_selectors(text: str) -> list[str]:
    """At commas that stand in no brackets."""
    parts: list[str] = []
    depth = 0
    for piece in text.split(","):
        if depth > 0:
            parts[-1] += f",{piece}"
        else:
            parts.append(piece)
        depth += piece.count("(") + piece.count("[") - piece.count(")") - piece.count("]")
    return [part.strip() for part in parts]
