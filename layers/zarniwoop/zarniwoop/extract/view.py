"""Which of a page's elements a reader sees, as they go by: what takes one out, and what its words look like.

An element that is taken out goes with all that is in it. One whose words are not seen (white on white, invisible, of
no size) stays, since what is in it may be: its words are one passage, until something in it is seen again.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from zarniwoop.extract.appearance import PLAIN, Look
from zarniwoop.extract.style_rules import StyleRules
from zarniwoop.extract.styles import Hidden, taken_out

_NEVER_HIDDEN = frozenset(("html", "head", "body"))
_SCREEN_READERS = re.compile(
    r"(?:^|\s)(?:sr-only|visually-?hidden|screen-reader-text|element-invisible)(?:\s|$)", re.IGNORECASE
)
"""Classes of frameworks whose sheets are mostly in other files; what they mark is for ears."""


@dataclass(slots=True)
class Passage:
    """Words that nobody sees, from where they begin to be hidden."""

    hiding: Hidden
    presumed: bool = False
    """Only if the page is as white as it is taken for."""
    texts: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Frame:
    """An element that is open: how it looks, the passage that its words are of, and whether that begins here."""

    look: Look
    passage: Passage | None = None
    begins: bool = False
    told: bool = False
    """Shown, though the page hides it until a script comes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What is taken for granted: that a page which names no background is white, and that no script shows what its
    styles make invisible.
    """

    white: bool = True
    still: bool = True


class View:
    """Each element is `seen`, and then entered or passed."""

    def __init__(self, rules: StyleRules, reading: Reading) -> None:
        self.white = False
        """The page as a whole writes in white, and does not say on what."""
        self._rules = rules
        self._still = reading.still
        self._frames = [Frame(PLAIN if reading.white else replace(PLAIN, background=None))]

    @property
    def exhausted(self) -> bool:
        return self._rules.exhausted

    @property
    def frame(self) -> Frame:
        return self._frames[-1]

    @property
    def passages(self) -> Iterator[Passage]:
        """Those that are open."""
        yield from (frame.passage for frame in self._frames if frame.begins and frame.passage is not None)

    def seen(self, tag: str, attributes: Mapping[str, str], *, unknown: bool) -> tuple[Hidden | None, Frame]:
        """What takes the element out, or how it looks: to the one of two readers who sees more of it."""
        self._rules.opened(tag, attributes)
        unknown = unknown or self._rules.imports
        wide, narrow = self._rules.stated(attributes)
        hiding, frame = self._seen_with(tag, attributes, wide, unknown)
        if narrow is not wide and (hiding is not None or frame.passage is not None):
            other, seen_frame = self._seen_with(tag, attributes, narrow, unknown)
            if other is None and (hiding is not None or seen_frame.passage is None):
                return None, seen_frame
        return hiding, frame

    def enter(self, tag: str, frame: Frame) -> bool:
        """True where words begin that are given although the page makes them invisible."""
        begins = frame.told and not self.frame.told
        self.white = self.white or (tag in _NEVER_HIDDEN and frame.look.presumed)
        self._frames.append(frame)
        return begins

    def passed(self) -> None:
        self._rules.closed()

    def leave(self) -> Passage | None:
        """The passage that ends with the element."""
        self._rules.closed()
        if len(self._frames) == 1:
            return None
        frame = self._frames.pop()
        return frame.passage if frame.begins else None

    def _seen_with(
        self, tag: str, attributes: Mapping[str, str], stated: Mapping[str, str], unknown: bool
    ) -> tuple[Hidden | None, Frame]:
        around = self.frame
        hiding = _taken_out(tag, attributes, stated)
        look = around.look.within(tag, attributes, stated, unknown=unknown)
        if tag in _NEVER_HIDDEN:
            look = replace(look, visible=True, font=max(look.font, PLAIN.font), pushed=False)
        told = around.told
        if not self._still and (hiding is Hidden.TRANSPARENT or (hiding is None and not look.visible)):
            hiding, look, told = None, replace(look, visible=True), True
        if look is around.look and told is around.told:
            return hiding, replace(around, begins=False) if around.begins else around
        return hiding, _framed(look, around, told=told)


def _framed(look: Look, around: Frame, *, told: bool) -> Frame:
    """The passage that is open goes on, another begins, or there is none."""
    if look.hiding is None:
        return Frame(look, told=told)
    if around.passage is not None:
        return Frame(look, around.passage, told=told)
    return Frame(look, Passage(look.hiding, look.presumed), begins=True, told=told)


def _taken_out(tag: str, attributes: Mapping[str, str], stated: Mapping[str, str]) -> Hidden | None:
    if tag in _NEVER_HIDDEN:
        return None
    hiding = _hidden_by_markup(tag, attributes) or taken_out(stated, tag)
    screen_readers = hiding is None and _SCREEN_READERS.search(attributes.get("class", ""))
    return Hidden.OFF_SCREEN if screen_readers else hiding


def _hidden_by_markup(tag: str, attributes: Mapping[str, str]) -> Hidden | None:
    if tag in ("template", "noscript", "noframes"):
        return Hidden.TEMPLATE if tag == "template" else Hidden.NOSCRIPT
    if "hidden" in attributes:
        return Hidden.ATTRIBUTE
    if attributes.get("aria-hidden", "").strip().lower() == "true":
        return Hidden.ARIA_HIDDEN
    return Hidden.CLOSED if tag == "dialog" and "open" not in attributes else None
