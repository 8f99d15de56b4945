"""A page's markup without what no reader sees, in one pass that no markup makes long.

libxml2 calls this target for every tag and text as it reads, so that no tree is built of markup that nobody has
measured. What comes out is markup again: shown elements, their texts, the attributes that extractors look at. It is
for extractors alone: what is given out is `given_html`.

    markup → parser → hidden or shown? → facts, counts, clean markup
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from html import escape
from itertools import islice
from typing import Any

from zarniwoop.extract.facts import PageFacts
from zarniwoop.extract.invisible import seen, smuggled
from zarniwoop.extract.limits import MOST_EVENTS
from zarniwoop.extract.style_rules import StyleRules
from zarniwoop.extract.styles import Hidden
from zarniwoop.extract.view import Frame, Passage, Reading, View

_CHUNK = 65_536
_NOT_TEXT = frozenset(
    [
        "script",
        "style",
        "svg",
        "canvas",
        "iframe",
        "frame",
        "noframes",
        "object",
        "embed",
        "audio",
        "video",
        "applet",
        "map",
        "select",
        "option",
        "datalist",
        "textarea",
    ]
)
_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"]
)
_KEPT_ATTRIBUTES = (
    "class", "id", "href", "rel", "lang", "role", "itemprop", "itemtype", "datetime", "colspan", "rowspan", "start",
    "name", "property", "content", "type", "data-language", "data-lang",
)  # fmt: skip
_UNSEEN_ATTRIBUTES = frozenset(_KEPT_ATTRIBUTES) - {"href", "lang", "datetime", "colspan", "rowspan", "start"}
_DESCRIBES = re.compile(r"(?:description|title|headline)$", re.IGNORECASE)
"""What search engines show of a page is not hidden."""
_MOST_ATTRIBUTE = 2_000
_MOST_ATTRIBUTES = 60
_HIDE = ("style", "class", "id", "hidden", "aria-hidden", "bgcolor", "color")
_SHOWN_BY_SCRIPTS = (Hidden.INVISIBLE, Hidden.TRANSPARENT)
_LONG_ALTERNATIVE = 250
_ALTERNATIVES = ("alt", "title", "aria-label", "data-prompt", "data-instructions")


class Cleaner:
    """The parser's target."""

    def __init__(self, rules: StyleRules, reading: Reading) -> None:
        self.facts = PageFacts()
        self.counts: Counter[str] = self.facts.counts
        self.presumed_chars = 0
        self.waiting_chars = 0
        """Of what a script may yet show."""
        self.tags = 0
        self.depth = 0
        self.deepest = 0
        self._view = View(rules, reading)
        self._pieces: list[str] = []
        self._events = 0
        self._hiding: Passage | None = None
        self._inside = 0
        self._silent = 0
        self._linked_data: list[str] | None = None
        if rules.unread:
            self.counts[Hidden.UNREAD.value] = 1

    @property
    def full(self) -> bool:
        return self._events > MOST_EVENTS or self._view.exhausted

    @property
    def writes_in_white(self) -> bool:
        return self._view.white

    @property
    def markup(self) -> str:
        return "".join(self._pieces)

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._events += 1
        if self.full:
            return
        if self._hiding is not None or self._silent:
            self._start_unseen(tag, attributes)
            return
        attributes = {name: self._seen(value or "") for name, value in _looked_at(attributes)}
        hiding, frame = self._view.seen(tag, attributes, unknown=self.facts.style_sheets > 0)
        self.facts.begin(tag, attributes, shown=hiding is None and frame.passage is None)
        self._count_alternatives(attributes)
        if hiding is not None:
            self._hiding, self._inside = Passage(hiding), 1
        elif tag in _NOT_TEXT:
            self._silent = 1
            self._linked_data = [] if "ld+json" in attributes.get("type", "") else None
        else:
            if self._view.enter(tag, frame):
                self.counts[Hidden.REVEALED.value] += 1
            self._write_start(tag, attributes if frame.passage is None else {})
            return
        self._view.passed()

    def end(self, tag: str) -> None:
        self._events += 1
        if self.full:
            return
        if self._hiding is not None:
            self._inside -= 1
            if self._inside == 0:
                self._end_passage(self._hiding)
                self._hiding = None
            return
        if self._silent:
            self._end_silence()
            return
        self.facts.end(tag)
        passage = self._view.leave()
        if passage is not None:
            self._end_passage(passage)
        self.depth -= 1
        if tag not in _VOID:
            self._pieces.append(f"</{tag}>")

    def data(self, text: str) -> None:
        self._events += 1
        if self.full:
            return
        if self._hiding is not None:
            self._hiding.texts.append(text)
        elif self._silent:
            self.facts.script(text)
            if self._linked_data is not None:
                self._linked_data.append(text)
        else:
            self._show(text, self._view.frame)

    def _end_silence(self) -> None:
        self._silent -= 1
        if not self._silent and self._linked_data is not None:
            self.facts.linked("".join(self._linked_data))

    def _show(self, text: str, frame: Frame) -> None:
        if frame.passage is not None:
            frame.passage.texts.append(text)
            text = " "
        shown = self._seen(text)
        if frame.told:
            self.facts.hidden(shown)
        self.facts.shown(shown)
        self._pieces.append(escape(shown, quote=False))

    def comment(self, text: str) -> None:
        self._events += 1
        if not self.full and len(text.strip()) > 2:
            self.counts[Hidden.COMMENT.value] += 1
            self.facts.hidden(text)

    def pi(self, *_parts: Any) -> None:
        self._events += 1

    def doctype(self, *_parts: Any) -> None: ...

    def close(self) -> "Cleaner":
        for passage in (self._hiding, *self._view.passages):
            if passage is not None:
                self._end_passage(passage)
        self._hiding = None
        return self

    def _seen(self, text: str) -> str:
        shown = seen(text, self.counts)
        if len(shown) != len(text):
            self.facts.hidden(smuggled(text))
        return shown

    def _start_unseen(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Scripts and forms count wherever they stand."""
        if self._hiding is not None:
            self._inside += 1
        else:
            self._silent += 1
        if tag in ("script", "input", "form", "meta"):
            self.facts.begin(tag, {name: value or "" for name, value in _looked_at(attributes)}, shown=False)

    def _end_passage(self, passage: Passage) -> None:
        text = " ".join(" ".join(passage.texts).split())
        if not text:
            return
        self.counts[passage.hiding.value] += 1
        self.presumed_chars += len(text) if passage.presumed else 0
        self.waiting_chars += len(text) if passage.hiding in _SHOWN_BY_SCRIPTS else 0
        if passage.hiding is Hidden.NOSCRIPT:
            self.facts.noscript = (self.facts.noscript + " " + text)[:4_000]
        self.facts.hidden(text)

    def _count_alternatives(self, attributes: Mapping[str, str]) -> None:
        for name in _ALTERNATIVES:
            if len(attributes.get(name, "")) > _LONG_ALTERNATIVE:
                self.counts[Hidden.ALTERNATIVE.value] += 1
                self.facts.hidden(attributes[name])

    def _write_start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self.tags += 1
        self.depth += 1
        self.deepest = max(self.deepest, self.depth)
        if tag == "img":
            return
        kept = {name: attributes[name][:_MOST_ATTRIBUTE] for name in _KEPT_ATTRIBUTES if name in attributes}
        for name, value in kept.items():
            if name in _UNSEEN_ATTRIBUTES and not (name == "content" and _DESCRIBES.search(_name_of(kept))):
                self.facts.unseen(value)
        written = "".join(f' {name}="{escape(value)}"' for name, value in kept.items())
        self._pieces.append(f"<{tag}{written}>")


def _looked_at(attributes: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The first ones, and those that hide wherever they stand."""
    yield from islice(attributes.items(), _MOST_ATTRIBUTES)
    if len(attributes) > _MOST_ATTRIBUTES:
        yield from ((name, attributes[name]) for name in _HIDE if name in attributes)


def _name_of(attributes: Mapping[str, str]) -> str:
    return attributes.get("property") or attributes.get("name") or attributes.get("itemprop") or ""


def cleaned(markup: str) -> Cleaner:
    """The page as its reader sees it. Never raises for what the markup is.

    Most of the page in white: a style sheet that is not read here has made its background dark. Most of it invisible:
    a script shows it.
    """
    rules = StyleRules.of(markup)
    found = _parsed(markup, Cleaner(rules, Reading()))
    facts = found.facts
    white = not ((facts.style_sheets or rules.imports or found.writes_in_white) and found.presumed_chars > facts.chars)
    still = not (facts.scripts and found.waiting_chars > facts.chars)
    if white and still:
        return found
    return _parsed(markup, Cleaner(rules.again(), Reading(white=white, still=still)))


def _parsed(markup: str, target: Cleaner) -> Cleaner:
    from lxml import etree

    parser = etree.HTMLParser(target=target, huge_tree=True)
    try:
        for start in range(0, len(markup), _CHUNK):
            if target.full:
                break
            parser.feed(markup[start : start + _CHUNK])
        parser.close()
    except etree.XMLSyntaxError:  # nothing that could be called markup was in it
        target.close()
    return target
