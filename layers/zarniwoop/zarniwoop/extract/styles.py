"""How declarations keep an element's words from readers, whatever is in it; and what stands behind them.

What a descendant can undo (its colour, size of letters, visibility) is `appearance`'s to know. What a style sheet of
another file does is not known here.
"""

import re
from collections.abc import Mapping
from enum import StrEnum

from zarniwoop.extract.colours import Colour, of_old, over, paint
from zarniwoop.extract.lengths import length, number
from zarniwoop.extract.style_values import four_sides

FAR = 400.0
_FAR_RIGHT = 5_000.0
_FAR_MOVED = 2_000.0
"""From where an element would stand: a row of pictures is moved by some of them."""
_WHOLE = 100.0
_OF_PAGE, _OF_ITSELF = 4.0, 1.0
"""Pixels of a percent: of the box around, which is as wide as a page; and of the element."""
_FAINT = 0.05
_SMALLEST_SCALE = 0.05
_SHAPE = re.compile(r"(rect|inset)\(((?:[^()]|\([^()]*\)){0,200})\)")
_NO_SHAPE = re.compile(
    r"(?:circle|ellipse)\(\s*0(?:\.0{1,9})?(?![.\d])|polygon\(\s*([^,()]{1,20})(?:,\s*\1){2,20}\s*\)", re.IGNORECASE
)
_MOVES = (
    "transform",
    "will-change",
    "transition",
    "transition-property",
    "transition-duration",
    "animation",
    "animation-name",
)
_AT_ONCE = re.compile(r"none|all|initial|unset|inherit|auto|(?:all\s)?(?:[a-z-]{1,20}\s)?(?:0m?s|none)(?:\s.*)?")
_TRANSFORM = re.compile(r"(translate|scale|matrix)(3d|[xyz])?\(((?:[^()]|\([^()]*\)){0,200})\)")
_CELLS = ("td", "th", "tr", "col")
_OUT_OF_FLOW = ("absolute", "fixed")
_PLACED = (*_OUT_OF_FLOW, "relative", "sticky", "-webkit-sticky")
_SIDES = ("left", "top", "right", "bottom")
_CLIPS = ("hidden", "clip", "auto", "scroll", "overlay", "-moz-hidden-unscrollable")
_UNPAINTED = re.compile(
    r"(?:oklch|oklab|lab|lch|hwb|color|color-mix|light-dark|device-cmyk|rgba?|hsla?|var)\(|currentcolor"
)

Declarations = Mapping[str, str]


class Hidden(StrEnum):
    """How words are kept from readers; the names under which they are counted."""

    DISPLAY_NONE = "display_none"
    INVISIBLE = "visibility_hidden"
    ZERO_SIZE = "zero_size"
    OFF_SCREEN = "off_screen"
    SAME_COLOUR = "same_colour"
    TRANSPARENT = "transparent"
    ARIA_HIDDEN = "aria_hidden"
    ATTRIBUTE = "hidden_attribute"
    TEMPLATE = "template"
    NOSCRIPT = "noscript"
    COMMENT = "comment"
    ALTERNATIVE = "alternative_text"
    ZERO_WIDTH = "zero_width"
    BIDI = "bidi"
    TAG_CHARACTER = "tag_character"
    CLOSED = "closed_dialog"
    REVEALED = "shown_by_scripts"
    """Given all the same: most of the page is invisible until a script shows it."""
    UNREAD = "unread_styles"
    """One: the page's style sheets are longer than what is read of them."""


def taken_out(stated: Declarations, tag: str = "") -> Hidden | None:
    """How the declarations hide all that is in an element; None where they do not."""
    if not stated:
        return None
    if stated.get("display") == "none":
        return Hidden.DISPLAY_NONE
    if stated.get("content-visibility") == "hidden":
        return Hidden.INVISIBLE
    if _is_tiny(stated, tag):
        return Hidden.ZERO_SIZE
    if _is_off_screen(stated):
        return Hidden.OFF_SCREEN
    return Hidden.TRANSPARENT if _is_faint(stated) else None


def background_of(stated: Declarations, attributes: Mapping[str, str], inherited: Colour | None) -> Colour | None:
    """The colour behind the element's words; None where a picture or an unknown colour is."""
    if stated.get("background-image", "none") not in ("none", "initial", "unset", "revert"):
        return None
    value = stated.get("background-color")
    if value is None:
        value = of_old(attributes.get("bgcolor", ""))
    painted = paint(value)
    if painted is None:
        return None if _UNPAINTED.search(value) else inherited
    return over(painted, inherited)


def _is_faint(stated: Declarations) -> bool:
    """Seen through; unless it is on its way, as what scrolls into view is."""
    if any(name in stated and not _AT_ONCE.fullmatch(stated[name]) for name in _MOVES):
        return False
    return any(amount is not None and amount < _FAINT for amount in (_share(stated.get("opacity")), _filtered(stated)))


def _share(value: str | None) -> float | None:
    if not value:
        return None
    amount = length(value, percent=0.01)
    return number(value) if amount is None else amount


def _filtered(stated: Declarations) -> float | None:
    found = re.search(r"opacity\(([^()]{1,20})\)", stated.get("filter", ""))
    return _share(found[1].strip()) if found else None


def _is_tiny(stated: Declarations, tag: str) -> bool:
    zoom = _share(stated.get("zoom"))
    if zoom is not None and zoom < _SMALLEST_SCALE:
        return True
    scales = [amount for kind, amount in _moves(stated) if kind == "scale"]
    if any(abs(amount) < _SMALLEST_SCALE for amount in scales):
        return True
    if tag in _CELLS:  # these are as large as their table makes them
        return False
    return _is_narrow(stated, "width") or _is_narrow(stated, "height")


def _is_narrow(stated: Declarations, side: str) -> bool:
    """A box of nothing that shows nothing beyond it; unless padding or its row makes it larger."""
    if not any(stated.get(name) in _CLIPS for name in ("overflow-x", "overflow-y")):
        return False
    sizes = [length(stated.get(name)) for name in (side, f"max-{side}")]
    if not any(size is not None and size <= 1.0 for size in sizes):
        return False
    grows = number(stated.get("flex-grow")) or 0.0
    least = length(stated.get(f"min-{side}"), percent=_OF_PAGE) or 0.0
    padding = [length(stated.get(f"padding-{end}"), percent=_OF_PAGE) or 0.0 for end in ("top", "bottom")]
    return not (least > 1.0 or (grows > 0 and sizes[1] is None) or (side == "height" and sum(padding) > 1.0))


def _moves(stated: Declarations) -> list[tuple[str, float]]:
    """Every `scale` and `translate` of an element: factors, and pixels."""
    if not any(name in stated for name in ("transform", "translate", "scale")):
        return []
    found: list[tuple[str, float | None]] = []
    for name, axis, inner in _TRANSFORM.findall(stated.get("transform", "")[:1_000]):
        parts = inner.split(",")
        if name == "matrix":
            corners = (0, 5, 12, 13) if axis else (0, 3, 4, 5)
            kinds = ("scale", "scale", "translate", "translate")
            found += [
                (kind, number(parts[place].strip()))
                for kind, place in zip(kinds, corners, strict=True)
                if place < len(parts)
            ]
        elif axis != "z":
            found += [(name, _amount(name, part)) for part in parts[:2]]
    for name in ("scale", "translate"):
        value = stated.get(name, "none")
        parts = re.findall(r"[^\s(]*\([^)]*\)+|\S+", value)[:2] if value != "none" else []
        found += [(name, _amount(name, part)) for part in parts]
    return [(name, amount) for name, amount in found if amount is not None]


def _amount(name: str, part: str) -> float | None:
    return length(part.strip(), percent=0.01 if name == "scale" else _OF_ITSELF)


def _is_off_screen(stated: Declarations) -> bool:
    if _is_clipped(stated):
        return True
    if any(name == "translate" and (amount <= -_FAR_MOVED or amount >= _FAR_RIGHT) for name, amount in _moves(stated)):
        return True
    margins = [length(stated.get(name)) for name in ("margin-left", "margin-top", "margin-right")]
    return any(margin is not None and margin <= -FAR for margin in margins) or _is_placed_far(stated)


def _is_placed_far(stated: Declarations) -> bool:
    position = stated.get("position")
    if position not in _PLACED:
        return False
    out = position in _OUT_OF_FLOW
    sides = [length(stated.get(name), percent=_OF_PAGE if out else _OF_ITSELF) for name in _SIDES]
    return any(side is not None and (side <= -(FAR if out else _FAR_MOVED) or side >= _FAR_RIGHT) for side in sides)


def _is_clipped(stated: Declarations) -> bool:
    """To nothing, or next to it. `rect()` counts from the upper left corner, `inset()` from each side."""
    path = stated.get("clip-path", "")
    if _NO_SHAPE.match(path):
        return True
    clip = stated.get("clip", "") if stated.get("position") in _OUT_OF_FLOW else ""
    return any(_is_nothing(*found) for found in (*_SHAPE.findall(clip), *_SHAPE.findall(path)))


def _is_nothing(shape: str, inner: str) -> bool:
    sides = four_sides(inner.partition("round")[0].replace(",", " "))
    if shape == "rect":
        edges = [length(each) for each in sides]
        up, far_right, down, near = (edges[0] or 0.0, edges[1], edges[2], edges[3] or 0.0)
        return (down is not None and down - up <= 1.0) or (far_right is not None and far_right - near <= 1.0)
    shares = [length(each, percent=1.0) if each.endswith("%") else 0.0 for each in sides]
    up, far_right, down, near = (share or 0.0 for share in shares)
    return up + down >= _WHOLE or far_right + near >= _WHOLE
