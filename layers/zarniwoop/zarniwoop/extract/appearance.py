"""How an element's words look to who reads them: what is inherited from the elements around, and what hides letters.

A box of `font-size: 0`, of white letters or of `visibility: hidden` may hold words that are seen, as each of its
descendants can state otherwise; and white letters on a dark box are hidden in a white box within it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from zarniwoop.extract.colours import WHITE, Colour, Paint, look_alike, of_old, over, paint
from zarniwoop.extract.lengths import length
from zarniwoop.extract.styles import FAR, Declarations, Hidden, background_of, taken_out

_TINY_FONT = 2.0
_CROWDED = -0.5
"""Of the size of the letters, between them."""
_FAINT = 0.05
_NORMAL_FONT = 16.0
_FONTS = {"xx-small": 9.0, "x-small": 10.0, "small": 13.0, "medium": 16.0, "large": 18.0, "x-large": 24.0}
_INHERITED = ("inherit", "unset", "currentcolor")
_COLOUR_ATTRIBUTES = {"font": "color", "body": "text"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What holds inside an element. Colours are None where they are not known."""

    background: Colour | None = WHITE
    stated_background: bool = False
    letters: Paint | None = None
    font: float = _NORMAL_FONT
    visible: bool = True
    pushed: bool = False
    alike: bool = False

    @property
    def hiding(self) -> Hidden | None:
        if not self.visible:
            return Hidden.INVISIBLE
        if self.font <= _TINY_FONT:
            return Hidden.ZERO_SIZE
        if self.pushed:
            return Hidden.OFF_SCREEN
        return Hidden.SAME_COLOUR if self.alike else None

    @property
    def presumed(self) -> bool:
        """Hidden only if the page is as white as it is taken for."""
        return self.hiding is Hidden.SAME_COLOUR and not self.stated_background and self.background == WHITE

    def within(self, tag: str, attributes: Mapping[str, str], stated: Declarations, *, unknown: bool) -> "Look":
        """Inside of that element. `unknown`: style sheets of other files may have set what is not stated here."""
        if not stated and not _paints_itself(tag, attributes):
            return self
        background = background_of(stated, attributes, self.background)
        letters, own = self._letters(tag, attributes, stated, background)
        font = _font(tag, stated, self.font)
        alike = _is_alike(letters, background)
        if alike and not own and not self.alike and unknown:
            alike = False
        return replace(
            self,
            background=background,
            stated_background=self.stated_background or "background-color" in stated or "bgcolor" in attributes,
            letters=letters,
            font=font,
            visible=_is_visible(stated, self.visible),
            pushed=_is_pushed(stated, self.pushed, font),
            alike=alike,
        )

    def _letters(
        self, tag: str, attributes: Mapping[str, str], stated: Declarations, background: Colour | None
    ) -> tuple[Paint | None, bool]:
        """Their colour, and whether it is stated here."""
        if stated.get("background-clip") == "text":
            return None, True
        value = stated.get("-webkit-text-fill-color") or stated.get("color")
        if value is None and tag in _COLOUR_ATTRIBUTES:
            value = of_old(attributes.get(_COLOUR_ATTRIBUTES[tag], "")) or None
        if value is None:
            return (None if _has_own_colour(tag, attributes) else self.letters), False
        if value in _INHERITED:
            return self.letters, False
        found = (0, 0, 0, 1.0) if value == "initial" else paint(value)
        if found and found[3] >= 1 and _is_outlined(stated, background):
            return None, True
        return found, True


PLAIN = Look()


def hidden_by(stated: Declarations, background: Colour | None) -> Hidden | None:
    """How the declarations alone hide an element's words on that background; None where they do not."""
    look = Look(background=background).within("span", {}, stated, unknown=False)
    return taken_out(stated) or look.hiding


def _has_own_colour(tag: str, attributes: Mapping[str, str]) -> bool:
    """Browsers give these a colour, or a background, that is not the one around."""
    return tag in ("mark", "button") or (tag == "a" and "href" in attributes)


def _paints_itself(tag: str, attributes: Mapping[str, str]) -> bool:
    return tag in _COLOUR_ATTRIBUTES or "bgcolor" in attributes or _has_own_colour(tag, attributes)


def _is_alike(letters: Paint | None, background: Colour | None) -> bool:
    if letters is None:
        return False
    if letters[3] < _FAINT:
        return True
    shown = over(letters, background)
    return shown is not None and background is not None and look_alike(shown, background)


def _is_outlined(stated: Declarations, background: Colour | None) -> bool:
    shadow = paint(stated.get("text-shadow", ""))
    shown = over(shadow, background) if shadow else None
    return shown is not None and background is not None and not look_alike(shown, background)


def _font(tag: str, stated: Declarations, around: float) -> float:
    value = stated.get("font-size")
    if value is None:
        return 13.0 if tag == "button" else around
    if value in _INHERITED:
        return around
    if value in ("smaller", "larger"):
        return around * (1.2 if value == "larger" else 0.83)
    size = length(value, percent=around / 100, font=around)
    return _FONTS.get(value, _NORMAL_FONT) if size is None else size


def _is_visible(stated: Declarations, around: bool) -> bool:
    value = stated.get("visibility")
    return around if value is None or value in _INHERITED else value not in ("hidden", "collapse")


def _is_pushed(stated: Declarations, around: bool, font: float) -> bool:
    """Out of its own box by an indent, or into one heap by its spacing."""
    indent, spacing = stated.get("text-indent"), stated.get("letter-spacing")
    if font and (length(spacing, font=font) or 0.0) <= _CROWDED * font:
        return True
    if indent is None or indent in _INHERITED:
        return around
    far = length(indent) or 0.0
    clipped = stated.get("overflow-x") in ("hidden", "clip")
    return far <= -FAR or (clipped and (length(indent, percent=10.0) or 0.0) >= 2 * FAR)
