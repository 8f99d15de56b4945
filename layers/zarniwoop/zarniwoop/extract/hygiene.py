"""A page's markup without what no reader sees, in one pass that no markup makes long.

libxml2 calls this target for every tag and text as it reads, so that no tree is built of markup that nobody has
measured. What comes out is markup again: shown elements, their texts, the attributes that extractors look at. It is
for extractors alone: what is given out is `given_html`.

    markup → parser → hidden or shown? → facts, counts, clean markup
"""

import re
from collections import Counter
from collections.abc import Mapping
from html import escape
from itertools import islice
from typing import Any

from zarniwoop.extract.facts import PageFacts
from zarniwoop.extract.invisible import seen, smuggled
from zarniwoop.extract.limits import MOST_EVENTS
from zarniwoop.extract.styles import WHITE, Colour, Hidden, StyleRules, background_of, hidden_by

_CHUNK = 65_536
_NEVER_HIDDEN = frozenset(("html", "head", "body"))
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
_LONG_ALTERNATIVE = 250
_ALTERNATIVES = ("alt", "title", "aria-label", "data-prompt", "data-instructions")
_SCREEN_READERS = re.compile(
    r"(?:^|\s)(?:sr-only|visually-?hidden|screen-reader-text|element-invisible)(?:\s|$)", re.IGNORECASE
)


class Cleaner:
    """The parser's target. `presume_white` takes a page that names no background for a white one."""

    def __init__(self, rules: StyleRules, *, presume_white: bool = True) -> None:
        self.facts = PageFacts()
        self.counts: Counter[str] = self.facts.counts
        self.presumed_chars = 0
        self.tags = 0
        self.depth = 0
        self.deepest = 0
        self._rules = rules
        self._backgrounds: list[Colour | None] = [WHITE if presume_white else None]
        self._pieces: list[str] = []
        self._events = 0
        self._hiding: Hidden | None = None
        self._presumed = False
        self._inside = 0
        self._hidden_text: list[str] = []
        self._silent = 0
        self._linked_data: list[str] | None = None

    @property
    def full(self) -> bool:
        return self._events > MOST_EVENTS

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
        attributes = {name: self._seen(value or "") for name, value in islice(attributes.items(), 60)}
        stated = self._rules.of_element(tag, attributes) if attributes else {}
        hiding = self._hides(tag, attributes, stated)
        self.facts.begin(tag, attributes, shown=hiding is None)
        self._count_alternatives(attributes)
        if hiding is not None:
            self._hiding, self._inside, self._hidden_text = hiding, 1, []
            return
        if tag in _NOT_TEXT:
            self._silent = 1
            self._linked_data = [] if "ld+json" in attributes.get("type", "") else None
            return
        self._backgrounds.append(background_of(stated, attributes, self._backgrounds[-1]))
        self._write_start(tag, attributes)

    def end(self, tag: str) -> None:
        self._events += 1
        if self.full:
            return
        if self._hiding is not None:
            self._inside -= 1
            if self._inside == 0:
                self._end_hiding()
            return
        if self._silent:
            self._silent -= 1
            if not self._silent and self._linked_data is not None:
                self.facts.linked("".join(self._linked_data))
            return
        self.facts.end(tag)
        if len(self._backgrounds) > 1:
            self._backgrounds.pop()
        self.depth -= 1
        if tag not in _VOID:
            self._pieces.append(f"</{tag}>")

    def data(self, text: str) -> None:
        self._events += 1
        if self.full:
            return
        if self._hiding is not None:
            self._hidden_text.append(text)
        elif self._silent:
            self.facts.script(text)
            if self._linked_data is not None:
                self._linked_data.append(text)
        else:
            shown = self._seen(text)
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
        if self._hiding is not None:
            self._end_hiding()
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
            self.facts.begin(tag, {name: value or "" for name, value in islice(attributes.items(), 60)}, shown=False)

    def _hides(self, tag: str, attributes: Mapping[str, str], stated: Mapping[str, str]) -> Hidden | None:
        if tag in _NEVER_HIDDEN:
            return None
        if by_markup := _hidden_by_markup(tag, attributes):
            return by_markup
        if not attributes:
            return None
        behind = background_of(stated, attributes, self._backgrounds[-1]) if stated else None
        hiding = hidden_by(stated, behind)
        if hiding is None and tag == "font" and attributes.get("color"):
            hiding = hidden_by({"color": attributes["color"].lower()}, self._backgrounds[-1])
        if hiding is None and _SCREEN_READERS.search(attributes.get("class", "")):
            return Hidden.OFF_SCREEN
        self._presumed = hiding is Hidden.SAME_COLOUR and behind == WHITE
        return hiding

    def _end_hiding(self) -> None:
        hiding, self._hiding = self._hiding, None
        text = " ".join(" ".join(self._hidden_text).split())
        if not text or hiding is None:
            return
        self.counts[hiding.value] += 1
        self.presumed_chars += len(text) if self._presumed else 0
        if hiding is Hidden.NOSCRIPT:
            self.facts.noscript = (self.facts.noscript + " " + text)[:4_000]
        self.facts.hidden(text)
        self._presumed = False

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


def _name_of(attributes: Mapping[str, str]) -> str:
    return attributes.get("property") or attributes.get("name") or attributes.get("itemprop") or ""


def _hidden_by_markup(tag: str, attributes: Mapping[str, str]) -> Hidden | None:
    if tag in ("template", "noscript", "noframes"):
        return Hidden.TEMPLATE if tag == "template" else Hidden.NOSCRIPT
    if "hidden" in attributes:
        return Hidden.ATTRIBUTE
    if attributes.get("aria-hidden", "").strip().lower() == "true":
        return Hidden.ARIA_HIDDEN
    return Hidden.CLOSED if tag == "dialog" and "open" not in attributes else None


def cleaned(markup: str) -> Cleaner:
    """The page as its reader sees it. Never raises for what the markup is."""
    rules = StyleRules.of(markup)
    found = _parsed(markup, Cleaner(rules))
    if found.facts.style_sheets and found.presumed_chars > found.facts.chars:
        # Most of the page is written in white: a style sheet that is not read here has made its background dark.
        return _parsed(markup, Cleaner(rules, presume_white=False))
    return found


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
