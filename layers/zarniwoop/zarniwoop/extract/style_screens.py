"""Which of two readers a conditional block is for: one at a wide screen, where nothing doubtful holds, and one at a
narrow screen, where everything doubtful does. Words are hidden when neither sees them.

Format: https://www.w3.org/TR/mediaqueries-5/. So a style for print hides nothing, one for telephones alone neither,
and one that shows words to anybody shows them.
"""

import re

from zarniwoop.extract.lengths import length

WIDE, NARROW = 1, 2
NEVER, ALWAYS = 0, WIDE | NARROW
_SIZES = {"width": (1280.0, 390.0), "height": (800.0, 844.0)}
_PLAIN = re.compile(r"\(\s*(?:(min|max)-)?(?:device-)?(width|height)\s*:\s*([^)]{1,40})\)")
_RANGE = re.compile(r"\(\s*(?:([^()<>=]{1,20})\s*(<=?))?\s*(width|height)\s*(?:([<>]=?)\s*([^()<>=]{1,20}))?\)")
_RANGE_BACK = re.compile(r"\(\s*([^()<>=]{1,20}?)\s*([<>]=?)\s*(width|height)\s*\)")
_HOLDS = frozenset(("prefers-color-scheme:light", "prefers-reduced-motion:no-preference", "scripting:enabled", "color"))
_DOUBTFUL = re.compile(
    r"(?:any-)?(?:hover|pointer)\b|prefers-|orientation\b|(?:-webkit-)?(?:min-|max-)?(?:device-)?(?:aspect-ratio"
    r"|pixel-ratio|resolution)\b|display-mode\b|forced-colors\b|inverted-colors\b|update\b|overflow-|dynamic-range\b"
    r"|color-gamut\b|scripting\b|grid\b|monochrome\b|-moz-|-ms-|video-|environment-blending\b|nav-controls\b"
)
_TYPES = {"screen": ALWAYS, "all": ALWAYS, "only": ALWAYS, "": ALWAYS}
_MOST_QUERY = 2_000


def screens_of_block(name: str, condition: str) -> int:
    if name == "@media":
        return screens_of(condition)
    if name == "@supports":
        return NEVER if condition.strip().startswith("not") else ALWAYS
    return NARROW if name == "@container" else ALWAYS if name == "@layer" else NEVER


def screens_of(queries: str) -> int:
    """For whom a list of media queries holds."""
    found = NEVER
    for query in queries.lower()[:_MOST_QUERY].split(","):
        found |= _of_query(query.strip())
    return found


def _of_query(query: str) -> int:
    negated = query.startswith("not ")
    query = query[4:] if negated else query
    if " or " in query:
        found = NEVER
        for part in query.split(" or "):
            found |= _of_part(part.strip())
    else:
        found = ALWAYS
        for part in re.split(r"\s+and\s+|(?<=\))\s*and\s+", query):
            found &= _of_part(part.strip())
    return _not(found, query) if negated else found


def _of_part(part: str) -> int:
    if part.startswith("not"):
        return _not(_of_part(part[3:].strip()), part)
    if not part.startswith("("):
        return _TYPES.get(part.removeprefix("only").strip(), NEVER)
    return _of_feature(part)


def _of_feature(part: str) -> int:
    if plain := _PLAIN.fullmatch(part):
        signs = {"min": ">=", "max": "<=", None: "=="}
        return _sized(plain[2], signs[plain[1]], plain[3])
    if back := _RANGE_BACK.fullmatch(part):
        return _sized(back[3], back[2].translate(str.maketrans("<>", "><")), back[1])
    if between := _RANGE.fullmatch(part):
        low = _sized(between[3], between[2].replace("<", ">"), between[1]) if between[2] else ALWAYS
        return low & (_sized(between[3], between[4], between[5]) if between[4] else ALWAYS)
    inner = re.sub(r"\s", "", part.strip("() "))
    if inner in _HOLDS:
        return ALWAYS
    return NARROW if _DOUBTFUL.match(inner) else NEVER


def _sized(name: str, sign: str, value: str) -> int:
    bound = length(value.strip())
    if bound is None:
        return NEVER
    wide, narrow = (_holds(size, sign, bound) for size in _SIZES[name])
    return WIDE * wide | NARROW * narrow


def _holds(size: float, sign: str, bound: float) -> bool:
    if sign == "==":
        return size == bound
    return size >= bound if sign[0] == ">" else size <= bound


def _not(screens: int, query: str) -> int:
    """What is doubtful stays so."""
    doubtful = screens == NARROW and "width" not in query
    return screens if doubtful else ALWAYS - screens
