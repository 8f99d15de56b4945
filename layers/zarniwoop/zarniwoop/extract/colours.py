"""Colours as style sheets and old markup write them: names, hexadecimal digits, `rgb()` and `hsl()`, with their alpha.

Format: https://www.w3.org/TR/css-color-4/. Quirk: old attributes (`bgcolor`, `<font color>`) need no `#`. What is
written in another space (`oklch()`, `color-mix()`) is a colour that is not known: it hides nothing.
"""

import re
from colorsys import hls_to_rgb

from zarniwoop.extract.lengths import number

Colour = tuple[int, int, int]
WHITE = (255, 255, 255)
_NEAR = 16
"""How far two colours may lie apart in each part and still be one to the eye."""
_COLOUR = re.compile(
    r"#([0-9a-f]{3,8})\b|\b(rgba?|hsla?)\(([^()]{1,80})\)|(?<![\w#-])([a-z]{3,20})\b(?!\()", re.IGNORECASE
)
_OTHER_SPACE = re.compile(r"(?:hwb|lab|lch|oklab|oklch|color|color-mix|light-dark|device-cmyk|rgba?|hsla?)\(")
_SYSTEM = frozenset((
    "currentcolor", "inherit", "initial", "unset", "revert", "revert-layer", "canvas", "canvastext", "linktext",
    "visitedtext", "activetext", "buttonface", "buttontext", "buttonborder", "field", "fieldtext", "highlight",
    "highlighttext", "selecteditem", "selecteditemtext", "mark", "marktext", "graytext", "accentcolor",
    "accentcolortext",
))  # fmt: skip
_NO_DIGIT = re.compile(r"[^0-9a-f]")
_TURNS = {"turn": 1.0, "rad": 1 / 6.283185307179586, "grad": 1 / 400}
_NAMES = """aliceblue f0f8ff antiquewhite faebd7 aqua 00ffff aquamarine 7fffd4 azure f0ffff beige f5f5dc bisque ffe4c4
black 000000 blanchedalmond ffebcd blue 0000ff blueviolet 8a2be2 brown a52a2a burlywood deb887 cadetblue 5f9ea0
chartreuse 7fff00 chocolate d2691e coral ff7f50 cornflowerblue 6495ed cornsilk fff8dc crimson dc143c cyan 00ffff
darkblue 00008b darkcyan 008b8b darkgoldenrod b8860b darkgray a9a9a9 darkgreen 006400 darkgrey a9a9a9
darkkhaki bdb76b darkmagenta 8b008b darkolivegreen 556b2f darkorange ff8c00 darkorchid 9932cc darkred 8b0000
darksalmon e9967a darkseagreen 8fbc8f darkslateblue 483d8b darkslategray 2f4f4f darkslategrey 2f4f4f
darkturquoise 00ced1 darkviolet 9400d3 deeppink ff1493 deepskyblue 00bfff dimgray 696969 dimgrey 696969
dodgerblue 1e90ff firebrick b22222 floralwhite fffaf0 forestgreen 228b22 fuchsia ff00ff gainsboro dcdcdc
ghostwhite f8f8ff gold ffd700 goldenrod daa520 gray 808080 green 008000 greenyellow adff2f grey 808080
honeydew f0fff0 hotpink ff69b4 indianred cd5c5c indigo 4b0082 ivory fffff0 khaki f0e68c lavender e6e6fa
lavenderblush fff0f5 lawngreen 7cfc00 lemonchiffon fffacd lightblue add8e6 lightcoral f08080 lightcyan e0ffff
lightgoldenrodyellow fafad2 lightgray d3d3d3 lightgreen 90ee90 lightgrey d3d3d3 lightpink ffb6c1
lightsalmon ffa07a lightseagreen 20b2aa lightskyblue 87cefa lightslategray 778899 lightslategrey 778899
lightsteelblue b0c4de lightyellow ffffe0 lime 00ff00 limegreen 32cd32 linen faf0e6 magenta ff00ff maroon 800000
mediumaquamarine 66cdaa mediumblue 0000cd mediumorchid ba55d3 mediumpurple 9370db mediumseagreen 3cb371
mediumslateblue 7b68ee mediumspringgreen 00fa9a mediumturquoise 48d1cc mediumvioletred c71585
midnightblue 191970 mintcream f5fffa mistyrose ffe4e1 moccasin ffe4b5 navajowhite ffdead navy 000080
oldlace fdf5e6 olive 808000 olivedrab 6b8e23 orange ffa500 orangered ff4500 orchid da70d6 palegoldenrod eee8aa
palegreen 98fb98 paleturquoise afeeee palevioletred db7093 papayawhip ffefd5 peachpuff ffdab9 peru cd853f
pink ffc0cb plum dda0dd powderblue b0e0e6 purple 800080 rebeccapurple 663399 red ff0000 rosybrown bc8f8f
royalblue 4169e1 saddlebrown 8b4513 salmon fa8072 sandybrown f4a460 seagreen 2e8b57 seashell fff5ee
sienna a0522d silver c0c0c0 skyblue 87ceeb slateblue 6a5acd slategray 708090 slategrey 708090 snow fffafa
springgreen 00ff7f steelblue 4682b4 tan d2b48c teal 008080 thistle d8bfd8 tomato ff6347 turquoise 40e0d0
violet ee82ee wheat f5deb3 white ffffff whitesmoke f5f5f5 yellow ffff00 yellowgreen 9acd32"""
_WORDS = _NAMES.split()
_NAMED = dict(zip(_WORDS[::2], _WORDS[1::2], strict=True))

Paint = tuple[int, int, int, float]
"""A colour and how much of it covers what is behind, from 0 to 1."""


def colour(value: str) -> Colour | None:
    """The first colour of a value, whatever its alpha; None where there is none that is known."""
    found = paint(value)
    return found[:3] if found else None


def paint(value: str) -> Paint | None:
    """The first colour of a value; None where there is none that is known."""
    for found in _COLOUR.finditer(value[:200]):
        word = (found[4] or "").lower()
        if found[1]:
            return _of_hex(found[1])
        if found[2]:
            return _of_function(found[2].lower(), found[3])
        if word == "transparent":
            return 0, 0, 0, 0.0
        if word in _NAMED:
            return _of_hex(_NAMED[word])
    return None


def is_colour(value: str) -> bool:
    """Whether a browser would take it: what it would not changes nothing."""
    if value in _SYSTEM or _OTHER_SPACE.match(value):
        return True
    found = _COLOUR.fullmatch(value)
    return found is not None and paint(value) is not None


def of_old(value: str) -> str:
    """An old attribute's colour as a style would have it (HTML's rules for legacy colours): letters of no digit are
    noughts, and three parts of equal length are what is left.
    """
    value = value.strip().lower()
    if not value or is_colour(value):
        return value
    digits = _NO_DIGIT.sub("0", value[:128].removeprefix("#"))
    size = max(1, -(-len(digits) // 3))
    digits = digits.ljust(size * 3, "0")
    parts = [digits[start : start + size][-8:] for start in range(0, size * 3, size)]
    while len(parts[0]) > 2 and all(part.startswith("0") for part in parts):
        parts = [part[1:] for part in parts]
    return "#" + "".join(part[:2].rjust(2, "0") for part in parts)


def over(letters: Paint, behind: Colour | None) -> Colour | None:
    """What is seen of a colour on another one; None where that is not known and shines through."""
    red, green, blue, alpha = letters
    if alpha >= 1:
        return red, green, blue
    if behind is None:
        return None
    mixed = (round(one * alpha + other * (1 - alpha)) for one, other in zip(letters[:3], behind, strict=True))
    red, green, blue = mixed
    return red, green, blue


def look_alike(one: Colour, other: Colour) -> bool:
    return all(abs(first - second) <= _NEAR for first, second in zip(one, other, strict=True))


def _of_hex(digits: str) -> Paint | None:
    if len(digits) in (3, 4):
        digits = "".join(digit * 2 for digit in digits)
    if len(digits) not in (6, 8):
        return None
    alpha = int(digits[6:8], 16) / 255 if len(digits) == 8 else 1.0
    return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:6], 16), alpha


def _of_function(name: str, inner: str) -> Paint | None:
    parts = [part for part in re.split(r"[,\s/]+", inner.strip()) if part][:4]
    numbers = [0.0 if part == "none" else number(part) for part in parts]
    if len(numbers) < 3 or any(each is None for each in numbers):
        return None
    first, second, third = (each or 0.0 for each in numbers[:3])
    alpha = _share(parts[3], 1.0) if len(parts) == 4 else 1.0
    if name.startswith("hsl"):
        turn = next((part for unit, part in _TURNS.items() if parts[0].endswith(unit)), 1 / 360)
        mixed = hls_to_rgb((first * turn) % 1.0, _within(third / 100), _within(second / 100))
        red, green, blue = (round(each * 255) for each in mixed)
    else:
        red, green, blue = (round(_share(part, 255.0) * 255) for part in parts[:3])
    return red, green, blue, alpha


def _share(part: str, whole: float) -> float:
    found = number(part) or 0.0
    return _within(found / (100.0 if part.endswith("%") else whole))


def _within(share: float) -> float:
    return min(1.0, max(0.0, share))
