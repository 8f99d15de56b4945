"""Which values of which properties hide words: shorthands are taken apart, and what no browser takes is left out.

Only what can hide or show is kept, so that a framework's thousand rules for borders cost nothing.
"""

import re
from collections.abc import Iterator, Mapping

from zarniwoop.extract.colours import is_colour
from zarniwoop.extract.lengths import length, number

_KEYWORDS = frozenset(("inherit", "initial", "unset", "revert", "revert-layer"))
_DISPLAY = re.compile(
    r"none|contents|(?:(?:block|inline|run-in|flow|flow-root|flex|grid|table|ruby|list-item|math)\s?){1,3}"
    r"|inline-(?:block|flex|grid|table)|table-[a-z-]{3,15}|ruby-[a-z-]{4,15}|-webkit-(?:inline-)?(?:box|flex)"
)
_AMOUNTS = re.compile(r"none|(?:[+.\d-]|calc|min|max|clamp).*", re.DOTALL)
_OVERFLOW = re.compile(r"visible|hidden|clip|scroll|auto|overlay|-moz-hidden-unscrollable")
_WORDS = {
    "visibility": re.compile("visible|hidden|collapse"),
    "content-visibility": re.compile("visible|hidden|auto"),
    "position": re.compile("static|relative|absolute|fixed|(?:-webkit-)?sticky"),
    "display": _DISPLAY,
    "overflow-x": _OVERFLOW,
    "overflow-y": _OVERFLOW,
    "transform": re.compile(r"none|(?:matrix|translate|scale|rotate|skew|perspective)[3dxyz]{0,2}\(.*", re.DOTALL),
    "translate": _AMOUNTS,
    "scale": _AMOUNTS,
    "clip": re.compile(r"auto|rect\(.*", re.DOTALL),
    "clip-path": re.compile(
        r"none|[a-z]{3,7}-box|(?:url|inset|circle|ellipse|polygon|path|rect|xywh|shape)\(.*", re.DOTALL
    ),
    "filter": re.compile(r"none|[a-z-]{3,12}\(.*", re.DOTALL),
    "background-clip": re.compile(r"(?:border|padding|content)-box|text|border-area"),
    "text-shadow": re.compile(r"none|.*\d.*", re.DOTALL),
}
_SIDES = ("top", "right", "bottom", "left")
_LENGTHS = frozenset((
    "top", "right", "bottom", "left", "text-indent", "letter-spacing", "margin-left", "margin-top", "margin-right",
    "padding-top", "padding-bottom", "width", "height", "max-width", "max-height", "min-width", "min-height",
))  # fmt: skip
_BOX_WORD = re.compile(
    r"auto|none|normal|(?:min|max|fit)-content|fit-content\(.*|stretch|-webkit-fill-available|content"
)
_COLOURS = frozenset(("color", "background-color", "-webkit-text-fill-color"))
_FONT_WORD = re.compile(r"(?:xx?-|xxx-)?(?:small|large)|medium|smaller|larger|math")
_FONT_SIZE = re.compile(
    r"(?:^|\s)([a-z]{3,5}\([^/]{0,100}\)|[+.\d][\w.+-]{0,20}(?:[a-z]|%)|0(?:\.0{1,9})?|(?:xx?-)?(?:small|large)|medium)"
    r"(?=\s*/|\s)"
)
_ANYTHING = frozenset(("background-image", "will-change", "flex-grow"))
_TIMED = frozenset(
    ["transition", "transition-property", "transition-duration", "animation", "animation-name", "animation-duration"]
)
_SAME = {
    "inset-inline-start": "left", "inset-inline-end": "right", "inset-block-start": "top", "inset-block-end": "bottom",
    "margin-inline-start": "margin-left", "margin-inline-end": "margin-right", "margin-block-start": "margin-top",
    "inline-size": "width", "block-size": "height", "max-inline-size": "max-width", "max-block-size": "max-height",
    "overflow-block": "overflow-y", "overflow-inline": "overflow-x", "-webkit-background-clip": "background-clip",
    "padding-block-start": "padding-top", "padding-block-end": "padding-bottom",
}  # fmt: skip
_PREFIXED = re.compile(r"-(?:webkit|moz|ms|o)-(transform|transition|animation|clip-path|filter|flex)")

Stated = Iterator[tuple[str, str]]


def expanded(name: str, value: str, *, known: Mapping[str, str]) -> Stated:
    """The plain properties that a declaration sets, with values that a browser takes; `known` were set before it."""
    if name.startswith("--"):
        yield name, value
        return
    name = _SAME.get(name) or _PREFIXED.sub(r"\1", name)
    if name in _SHORTHANDS:
        yield from (
            (each, worth)
            for each, worth in _SHORTHANDS[name](value)
            if name == "background" or "var(" in worth or _is_taken(each, worth, known)
        )
    elif ("var(" in value and _is_looked_at(name)) or _is_taken(name, value, known):
        yield name, value


def _is_looked_at(name: str) -> bool:
    return (
        name in _WORDS or name in _LENGTHS or name in _COLOURS or name in _ANYTHING or name in _TIMED
        or name in ("opacity", "zoom", "font-size")
    )  # fmt: skip


def _is_taken(name: str, value: str, known: Mapping[str, str]) -> bool:
    if not value or not _is_looked_at(name):
        return False
    if value in _KEYWORDS or name in _ANYTHING or name in _TIMED:
        return True
    if name in _WORDS:
        return _WORDS[name].fullmatch(value) is not None
    if name in _COLOURS:
        return is_colour(value)
    if name in ("opacity", "zoom"):
        return number(value) is not None or "(" in value or value == "normal"
    return _is_length(name, value, known)


def _is_length(name: str, value: str, known: Mapping[str, str]) -> bool:
    words = _FONT_WORD if name == "font-size" else _BOX_WORD
    if words.fullmatch(value) or "(" in value:
        return True
    if length(value, percent=1.0) is None:
        return False
    plain = value[-1].isdigit() and number(value) != 0
    return not plain or name not in known  # a number without a unit is a length to old pages alone


def four_sides(value: str) -> list[str]:
    """Top, right, bottom, left."""
    parts = re.findall(r"[^\s(]*\([^)]*\)+|\S+", value)[:4] or [""]
    top = parts[0]
    right = parts[1] if len(parts) > 1 else top
    bottom = parts[2] if len(parts) > 2 else top
    return [top, right, bottom, parts[3] if len(parts) > 3 else right]


def _inset(value: str) -> Stated:
    yield from zip(_SIDES, four_sides(value), strict=True)


def _inset_inline(value: str) -> Stated:
    top, right, *_rest = four_sides(value)
    yield from (("left", top), ("right", right))


def _inset_block(value: str) -> Stated:
    top, right, *_rest = four_sides(value)
    yield from (("top", top), ("bottom", right))


def _margin(value: str) -> Stated:
    top, right, _bottom, left = four_sides(value)
    yield from (("margin-top", top), ("margin-right", right), ("margin-left", left))


def _padding(value: str) -> Stated:
    top, _right, bottom, _left = four_sides(value)
    yield from (("padding-top", top), ("padding-bottom", bottom))


def _background(value: str) -> Stated:
    painted = "url(" in value or "gradient" in value or "image" in value
    yield "background-image", "url()" if painted else "none"
    yield "background-color", value
    yield "background-clip", "text" if re.search(r"\btext\b", value) else "border-box"


def _overflow(value: str) -> Stated:
    parts = value.split()
    yield from (("overflow-x", parts[0] if parts else ""), ("overflow-y", parts[-1] if parts else ""))


def _font(value: str) -> Stated:
    if value in _KEYWORDS:
        yield "font-size", value
    elif found := _FONT_SIZE.search(f"{value} "):
        yield "font-size", found[1]


def _flex(value: str) -> Stated:
    grows = {"none": "0", "auto": "1", "initial": "0"}.get(value, value)
    yield "flex-grow", grows.split(maxsplit=1)[0] if grows[:1].isdigit() else "0"


_SHORTHANDS = {
    "inset": _inset,
    "inset-inline": _inset_inline,
    "inset-block": _inset_block,
    "margin": _margin,
    "overflow": _overflow,
    "padding": _padding,
    "background": _background,
    "font": _font,
    "flex": _flex,
}
