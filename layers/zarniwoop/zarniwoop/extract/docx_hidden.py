"""What a Word file hides from who reads it: hidden runs, letters of a point, words in their background's colour.

Properties: ECMA-376, 17.3.2 (`vanish`, `color`, `sz`, `shd`, `highlight`), of the run, of its style, of its paragraph's
style and of the file's defaults, in this order. What a style of a table paints is not known, nor a page's or a shape's
colour: there no colour hides. `webHidden` does not hide: it stands at the page numbers of every table of contents,
which are seen in print.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zarniwoop.extract.appearance import hidden_by
from zarniwoop.extract.colours import WHITE, Colour, colour
from zarniwoop.extract.docx import WordFile, is_repeated, local_name
from zarniwoop.extract.styles import Hidden

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_OFF = frozenset(("0", "false", "off", "none"))
_PAINTED = frozenset(("txbxContent", "background"))
_MOST_HIDDEN = 100_000
_MOST_BASES = 12
_MOST_PROPERTIES = 60

Properties = dict[str, str]


@dataclass(slots=True)
class HiddenWords:
    """How many runs were taken out, by what hid them, and what they say."""

    counts: Counter[str] = field(default_factory=Counter)
    text: str = ""

    def add(self, hidden: Hidden, text: str) -> None:
        self.counts[hidden.value] += 1
        if len(self.text) < _MOST_HIDDEN:
            self.text += text[:_MOST_HIDDEN] + " "


@dataclass(frozen=True, slots=True)
class _Behind:
    """What stands behind a run: the colour, if it is known, and what the paragraph's style says of letters."""

    colour: Colour | None
    stated: Mapping[str, str] = field(default_factory=dict)


def without_hidden(word: WordFile) -> HiddenWords:
    """Empties the runs that nobody sees, in the file's own tree."""
    found = HiddenWords()
    styles = _styles(word.styles)
    painted = any(local_name(element) == "background" for element in word.root)
    waiting = [(word.root, _Behind(None if painted else WHITE, styles.get("", {})))]
    while waiting:
        element, behind = waiting.pop()
        if is_repeated(element):
            continue
        name = local_name(element)
        if name == "r":
            _check(element, behind, styles, found)
        within = _within(element, name, behind, styles)
        waiting.extend((child, within) for child in element)
    return found


def _check(run: "Element", behind: _Behind, styles: Mapping[str, Properties], found: HiddenWords) -> None:
    text = "".join(child.text or "" for child in run if local_name(child) == "t")
    if not text.strip():
        return
    own = _properties(_child(run, "rPr"))
    stated = {**behind.stated, **styles.get(own.get("rStyle", ""), {}), **own}
    hidden = _hiding(stated, behind.colour)
    if hidden:
        found.add(hidden, text)
        for child in list(run):
            if local_name(child) == "t":
                run.remove(child)


def _hiding(stated: Mapping[str, str], behind: Colour | None) -> Hidden | None:
    if stated.get("vanish", "0") not in _OFF:
        return Hidden.DISPLAY_NONE
    size = stated.get("sz", "")
    if size.isascii() and size.isdigit() and int(size[:6]) <= 2:  # halves of a point
        return Hidden.ZERO_SIZE
    letters = stated.get("color", "auto")
    behind = _painted(stated, behind)
    return hidden_by({"color": f"#{letters}"}, behind) if letters != "auto" else None


def _painted(stated: Mapping[str, str], behind: Colour | None) -> Colour | None:
    """The colour behind letters that are marked or shaded; None where it is not known."""
    marked = stated.get("highlight", "none")
    if marked != "none":
        return colour(marked)
    return _filled(stated, behind)


def _filled(stated: Mapping[str, str], behind: Colour | None) -> Colour | None:
    if "shd" not in stated:
        return behind
    return behind if stated["shd"] == "auto" else colour(f"#{stated['shd']}")


def _within(element: "Element", name: str | None, behind: _Behind, styles: Mapping[str, Properties]) -> _Behind:
    """What stands behind what is in the element."""
    if name == "p":
        own = _properties(_child(element, "pPr"))
        style = styles.get(own.get("pStyle", ""), {})
        letters = {key: value for key, value in style.items() if key not in ("shd", "painted")}
        shaded = {"shd": style["painted"]} if "painted" in style else {}
        return _Behind(_filled({**shaded, **own}, behind.colour), {**behind.stated, **letters})
    if name == "tc":
        return _Behind(_filled(_properties(_child(element, "tcPr")), behind.colour), behind.stated)
    if name == "tbl":
        own = _properties(_child(element, "tblPr"))
        return _Behind(None if "tblStyle" in own else _filled(own, behind.colour), behind.stated)
    return _Behind(None, behind.stated) if name in _PAINTED else behind


def _styles(root: "Element | None") -> dict[str, Properties]:
    """By their ids, with what they take from those that they are based on; the file's defaults are `""`."""
    if root is None:
        return {}
    own: dict[str, Properties] = {}
    bases: dict[str, str] = {}
    for style in root:
        if local_name(style) == "docDefaults":
            defaults = _child(style, "rPrDefault")
            own[""] = _properties(_child(defaults, "rPr")) if defaults is not None else {}
        elif local_name(style) == "style":
            identifier = _attribute(style, "styleId")
            paragraph = _properties(_child(style, "pPr"))
            painted = {"painted": paragraph["shd"]} if "shd" in paragraph else {}
            own[identifier] = {**painted, **_properties(_child(style, "rPr"))}
            bases[identifier] = _properties(style).get("basedOn", "")
            if _attribute(style, "type") == "paragraph" and _attribute(style, "default") in ("1", "true", "on"):
                own[""] = {**own.get("", {}), **_properties(_child(style, "rPr"))}
    return {identifier: _inherited(identifier, own, bases) for identifier in own}


def _inherited(identifier: str, own: Mapping[str, Properties], bases: Mapping[str, str]) -> Properties:
    found: Properties = {}
    for _level in range(_MOST_BASES):
        found = {**own.get(identifier, {}), **found}
        identifier = bases.get(identifier, "")
        if not identifier:
            break
    return found


def _properties(element: "Element | None") -> Properties:
    """What each property is set to; one that is only named is on. Of a shade it is the fill."""
    found: Properties = {}
    for _number, child in zip(range(_MOST_PROPERTIES), element if element is not None else (), strict=False):
        name = local_name(child)
        if name == "shd":
            found[name] = _fill(child)
        elif name:
            found[name] = _attribute(child, "val") or "1"
    return found


def _fill(shade: "Element") -> str:
    """A colour, `auto` for none, or `unknown`: a pattern's, or one of the theme."""
    fill = _attribute(shade, "fill") or "auto"
    pattern = _attribute(shade, "val") not in ("clear", "nil", "")
    return "unknown" if pattern or (fill == "auto" and _attribute(shade, "themeFill")) else fill


def _child(element: "Element", name: str) -> "Element | None":
    return next((child for child in element if local_name(child) == name), None)


def _attribute(element: "Element", name: str) -> str:
    return next((value for key, value in element.attrib.items() if key.rpartition("}")[2] == name), "")
