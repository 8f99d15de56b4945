"""Which elements a page's own styles hide: declarations of `style` attributes and of simple rules in `<style>`.

Simple is a rule whose selector is one class, one id, or an element with one of them, outside of any `@` block: what
is looked for are words that no reader sees and a model does, and those are hidden where the words stand. What a style
sheet of another file does is not known here.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

_MOST_STYLE = 400_000
_MOST_RULES = 4_000
_SELECTOR = re.compile(r"([a-z][a-z0-9]{0,20})?([.#])(-?[_a-z][\w-]{0,100})", re.IGNORECASE)
_NUMBER = re.compile(r"([+-]?(?:\d{1,9}(?:\.\d{0,9})?|\.\d{1,9}))(px|em|rem|ex|ch|vw|vh|pt|%)?")
_COLOUR = re.compile(r"#([0-9a-f]{3,8})\b|rgba?\(([^)]{1,60})\)|\b([a-z]{3,20})\b", re.IGNORECASE)
_NAMED = {
    "white": (255, 255, 255), "snow": (255, 250, 250), "ivory": (255, 255, 240), "whitesmoke": (245, 245, 245),
    "ghostwhite": (248, 248, 255), "floralwhite": (255, 250, 240), "black": (0, 0, 0), "red": (255, 0, 0),
    "green": (0, 128, 0), "blue": (0, 0, 255), "yellow": (255, 255, 0), "gray": (128, 128, 128),
    "grey": (128, 128, 128), "silver": (192, 192, 192), "navy": (0, 0, 128), "lightgray": (211, 211, 211),
    "lightgrey": (211, 211, 211), "darkblue": (0, 0, 139), "orange": (255, 165, 0), "purple": (128, 0, 128),
}  # fmt: skip
WHITE = (255, 255, 255)
_NEAR = 16
"""How far two colours may lie apart in each part and still be one to the eye."""
_PIXELS = {"em": 16.0, "rem": 16.0, "ex": 8.0, "ch": 8.0, "pt": 1.33, "vw": 10.0, "vh": 10.0, "px": 1.0, None: 1.0}
_TINY_FONT = 2.0
_FAR = 400.0
_ZERO_CLIP = re.compile(r"rect\(\s*(?:0|1px|auto)|inset\(\s*(?:50|100)%|circle\(\s*0", re.IGNORECASE)
_BRACE = re.compile(r"[{}]")
_MOVES = ("transform", "transition", "animation", "will-change")

Colour = tuple[int, int, int]
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


@dataclass(slots=True)
class StyleRules:
    """Declarations by selector: `.class`, `#id`, `tag.class`. Later ones win, as in the cascade."""

    by_selector: dict[str, dict[str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, markup: str) -> "StyleRules":
        rules = cls()
        for sheet in _sheets(markup):
            rules._add(sheet)
        return rules

    def _add(self, sheet: str) -> None:
        for selectors, body in _rules(_without_comments(sheet)):
            if len(self.by_selector) >= _MOST_RULES:
                return
            stated = declarations(body)
            for selector in selectors.split(",")[:50]:
                found = _SELECTOR.fullmatch(selector.strip())
                if found and stated:
                    key = f"{(found[1] or '').lower()}{found[2]}{found[3]}"
                    self.by_selector.setdefault(key, {}).update(stated)

    def of_element(self, tag: str, attributes: Mapping[str, str]) -> Declarations:
        """What holds for an element: its classes, its id, its own style, each over the one before."""
        inline = attributes.get("style")
        own = declarations(inline) if inline else {}
        if not self.by_selector:
            return own
        names = [f".{name}" for name in attributes.get("class", "").split()[:40]]
        names += [f"#{identifier}" for identifier in (attributes.get("id"),) if identifier]
        merged: dict[str, str] = {}
        for name in names:
            merged.update(self.by_selector.get(name, {}))
            merged.update(self.by_selector.get(tag + name, {}))
        return {**merged, **own}


def declarations(body: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in body[:5_000].split(";")[:100]:
        name, colon, value = part.partition(":")
        if colon:
            found[name.strip().lower()] = value.replace("!important", "").strip().lower()[:200]
    return found


def hidden_by(stated: Declarations, background: Colour | None) -> Hidden | None:
    """How the declarations hide an element that stands on that background; None where they do not."""
    if not stated:
        return None
    if stated.get("display") == "none":
        return Hidden.DISPLAY_NONE
    if stated.get("visibility") in ("hidden", "collapse") or stated.get("content-visibility") == "hidden":
        return Hidden.INVISIBLE
    if _is_tiny(stated):
        return Hidden.ZERO_SIZE
    if _is_off_screen(stated):
        return Hidden.OFF_SCREEN
    opacity = _number(stated.get("opacity"))
    if opacity is not None and opacity < 0.05 and not any(name in stated for name in _MOVES):
        return Hidden.TRANSPARENT
    return Hidden.SAME_COLOUR if _is_of_one_colour(stated, background) else None


def background_of(stated: Declarations, attributes: Mapping[str, str], inherited: Colour | None) -> Colour | None:
    """The colour behind the element's words; None where a picture or an unknown colour is."""
    value = stated.get("background-color") or stated.get("background") or attributes.get("bgcolor")
    if stated.get("background-image", "none") != "none":
        return None
    if not value or value in ("inherit", "none", "transparent", "initial", "unset"):
        return inherited
    return None if "url(" in value or "gradient" in value else colour(value)


def colour(value: str) -> Colour | None:
    """The first colour of a value; None where there is none that is known, or it cannot be seen at all."""
    for found in _COLOUR.finditer(value[:200]):
        if found[1]:
            return _of_hex(found[1])
        if found[2]:
            return _of_numbers(found[2])
        if found[3].lower() in _NAMED:
            return _NAMED[found[3].lower()]
    return None


def _is_tiny(stated: Declarations) -> bool:
    font = _length(stated.get("font-size"))
    if font is not None and font <= _TINY_FONT:
        return True
    if _number(_scale(stated.get("transform", ""))) == 0:
        return True
    clipped = stated.get("overflow", stated.get("overflow-y", "")) in ("hidden", "clip")
    sizes = [_length(stated.get(name)) for name in ("width", "height", "max-width", "max-height")]
    return clipped and any(size is not None and size <= 1.0 for size in sizes)


def _scale(transform: str) -> str | None:
    return transform[6:] if transform.startswith("scale(") else None


def _is_off_screen(stated: Declarations) -> bool:
    if _ZERO_CLIP.match(stated.get("clip", "")) or _ZERO_CLIP.match(stated.get("clip-path", "")):
        return True
    placed = stated.get("position") in ("absolute", "fixed")
    sides = ("left", "top", "right", "bottom") if placed else ()
    for name in (*sides, "text-indent", "margin-left", "margin-top", "margin-right"):
        length = _length(stated.get(name))
        if length is not None and (length <= -_FAR or (name in sides and length >= 5_000)):
            return True
    return False


def _is_of_one_colour(stated: Declarations, background: Colour | None) -> bool:
    value = stated.get("color")
    if not value:
        return False
    if value == "transparent":
        return "background-clip" not in stated and "-webkit-background-clip" not in stated
    shown = colour(value)
    return (
        shown is not None
        and background is not None
        and all(abs(one - other) <= _NEAR for one, other in zip(shown, background, strict=True))
    )


def _of_hex(digits: str) -> Colour | None:
    if len(digits) in (3, 4):
        digits = "".join(digit * 2 for digit in digits)
    return (int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:6], 16)) if len(digits) in (6, 8) else None


def _of_numbers(inner: str) -> Colour | None:
    parts = [part for part in re.split(r"[,\s/]+", inner.strip()) if part][:4]
    numbers = [_number(part) for part in parts]
    if len(numbers) < 3 or any(number is None for number in numbers):
        return None
    red, green, blue = (min(255, max(0, int(number or 0))) for number in numbers[:3])
    return red, green, blue


def _number(value: str | None) -> float | None:
    found = _NUMBER.match(value) if value else None
    return float(found[1]) if found else None


def _length(value: str | None) -> float | None:
    """In pixels, roughly; what is relative to a box (`%`) is not known, but nothing of it is nothing."""
    found = _NUMBER.match(value) if value else None
    if not found:
        return None
    number = float(found[1])
    if found[2] == "%":
        return 0.0 if number == 0 else None
    return number * _PIXELS[found[2]]


def _sheets(markup: str) -> Iterator[str]:
    """What stands in the page's style elements, found without a parser, in order."""
    lowered, place, left = markup.lower(), 0, _MOST_STYLE
    if len(lowered) != len(markup):  # a few letters have a longer lower case
        lowered = markup
    while left > 0 and (start := lowered.find("<style", place)) >= 0:
        opened = lowered.find(">", start)
        end = lowered.find("</style", opened)
        if opened < 0 or end < 0:
            return
        yield markup[opened + 1 : min(end, opened + 1 + left)]
        left -= end - opened
        place = end


def _without_comments(sheet: str) -> str:
    kept, place = [], 0
    while (start := sheet.find("/*", place)) >= 0:
        kept.append(sheet[place:start])
        end = sheet.find("*/", start + 2)
        if end < 0:
            return "".join(kept)
        place = end + 2
    return "".join((*kept, sheet[place:]))


def _rules(sheet: str) -> Iterator[tuple[str, str]]:
    """Selectors and declarations of each rule that stands outside of `@` blocks."""
    place = 0
    while (opened := sheet.find("{", place)) >= 0:
        selectors = sheet[place:opened].rpartition(";")[2].strip()
        if selectors.startswith("@"):
            place = _behind_block(sheet, opened)
            continue
        closed = sheet.find("}", opened)
        if closed < 0:
            return
        if len(selectors) < 5_000:
            yield selectors, sheet[opened + 1 : closed]
        place = closed + 1


def _behind_block(sheet: str, opened: int) -> int:
    depth = 0
    for found in _BRACE.finditer(sheet, opened):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return found.end()
    return len(sheet)
