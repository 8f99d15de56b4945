"""What a page says of itself besides its text: its head, its forms, its scripts, its links.

Collected in the one pass over its markup, of shown and of hidden elements; verdicts and metadata stand on it.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from zarniwoop.extract.walls import LOGIN_ACTION

_MOST_METAS = 300
_MOST_LINKED_DATA = 12
_MOST_LINKED_CHARS = 300_000
_MOST_TIMES = 20
_MOST_LINKS = 3_000
_MOST_ANCHOR_CHARS = 500
_MOST_KEPT = 4_000
_MOST_HIDDEN = 100_000
_WORDS = re.compile(r"[A-Za-z]{2,40}[\s,]+[A-Za-z]{2,40}[\s,:]+[A-Za-z]{2}")
_MOST_NAME = 300
_LOGIN_FIELD = re.compile(r"\b(?:username|current-password|webauthn)\b", re.IGNORECASE)
_ONE_FOR_EACH = frozenset(("citation_author", "dc.creator", "dcterms.creator"))
"""Authors, each in an element of their own."""


@dataclass(slots=True)
class FoundLink:
    href: str
    rel: str | None = None
    text: list[str] = field(default_factory=list)
    chars: int = 0


@dataclass(slots=True)
class PageFacts:
    """Everything is bounded; of what is named once, the first one counts."""

    title: str = ""
    headline: str = ""
    language: str | None = None
    base: str | None = None
    canonical: str | None = None
    metas: dict[str, str] = field(default_factory=dict)
    linked_data: list[str] = field(default_factory=list)
    times: list[str] = field(default_factory=list)
    links: list[FoundLink] = field(default_factory=list)
    passwords: int = 0
    logins: int = 0
    """Forms that are for nothing else: by where they are sent to, or by what they ask for. A search is none."""
    scripts: int = 0
    script_chars: int = 0
    frames: int = 0
    style_sheets: int = 0
    noscript: str = ""
    hidden_text: str = ""
    attribute_texts: dict[str, None] = field(default_factory=dict)
    chars: int = 0
    link_chars: int = 0
    elements: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    _attribute_chars: int = 0
    _open: str = ""
    _open_link: FoundLink | None = None

    def begin(self, tag: str, attributes: Mapping[str, str], *, shown: bool) -> None:
        self.elements += 1
        read = _READS.get(tag)
        if read:
            read(self, attributes, shown)

    def end(self, tag: str) -> None:
        if tag == self._open:
            self._open = ""
        if tag == "a":
            self._open_link = None

    def script(self, text: str) -> None:
        self.script_chars += len(text)

    def linked(self, text: str) -> None:
        if len(self.linked_data) < _MOST_LINKED_DATA and len(text) <= _MOST_LINKED_CHARS:
            self.linked_data.append(text)

    def hidden(self, text: str) -> None:
        if len(self.hidden_text) < _MOST_HIDDEN:
            self.hidden_text += text[:_MOST_HIDDEN] + " "

    def unseen(self, value: str) -> None:
        """An attribute's value that nobody sees, if it could be a sentence."""
        if value in self.attribute_texts or (value.isascii() and not _WORDS.search(value)):
            return
        if self._attribute_chars < _MOST_HIDDEN:
            self.attribute_texts[value] = None
            self._attribute_chars += len(value)

    @property
    def concealed(self) -> str:
        """All that was there for nobody to see."""
        return "\n".join((self.hidden_text, *self.attribute_texts))

    def shown(self, text: str) -> None:
        """Text that a reader sees, or the title's."""
        if self._open == "title":
            self.title = (self.title + text)[:_MOST_KEPT]
            return
        if self._open == "h1":
            self.headline = (self.headline + text)[:_MOST_KEPT]
        length = len(text) - text.count(" ") - text.count("\n")
        self.chars += length
        link = self._open_link
        if link is not None:
            self.link_chars += length
            if link.chars < _MOST_ANCHOR_CHARS:
                link.chars += len(text)
                link.text.append(text)

    def _page(self, attributes: Mapping[str, str], _shown: bool) -> None:
        self.language = self.language or attributes.get("lang") or attributes.get("xml:lang")

    def _heading(self, _attributes: Mapping[str, str], shown: bool) -> None:
        if shown and not self.headline:
            self._open = "h1"

    def _titled(self, _attributes: Mapping[str, str], shown: bool) -> None:
        if shown and not self.title:
            self._open = "title"

    def _meta(self, attributes: Mapping[str, str], _shown: bool) -> None:
        name = attributes.get("property") or attributes.get("name") or attributes.get("itemprop")
        name = name or attributes.get("http-equiv")
        if not name or len(self.metas) >= _MOST_METAS:
            return
        name, content = name.strip().lower(), attributes.get("content", "")[:_MOST_KEPT]
        known = self.metas.setdefault(name, content)
        if name in _ONE_FOR_EACH and content not in known and len(known) < _MOST_KEPT:
            self.metas[name] = f"{known}; {content}"

    def _link(self, attributes: Mapping[str, str], _shown: bool) -> None:
        kinds = attributes.get("rel", "").lower().split()
        if "canonical" in kinds:
            self.canonical = self.canonical or attributes.get("href")
        self.style_sheets += "stylesheet" in kinds

    def _base(self, attributes: Mapping[str, str], _shown: bool) -> None:
        self.base = self.base or attributes.get("href")

    def _anchor(self, attributes: Mapping[str, str], shown: bool) -> None:
        href = attributes.get("href")
        if shown and href and len(self.links) < _MOST_LINKS:
            self._open_link = FoundLink(href, attributes.get("rel"))
            self.links.append(self._open_link)

    def _input(self, attributes: Mapping[str, str], _shown: bool) -> None:
        self.passwords += attributes.get("type", "").lower() == "password"
        self.logins += _LOGIN_FIELD.search(attributes.get("autocomplete", "")[:_MOST_NAME]) is not None

    def _form(self, attributes: Mapping[str, str], _shown: bool) -> None:
        named = " ".join(attributes.get(name, "")[:_MOST_NAME] for name in ("action", "id", "name", "class"))
        self.logins += LOGIN_ACTION.search(named) is not None and attributes.get("role") != "search"

    def _script(self, _attributes: Mapping[str, str], _shown: bool) -> None:
        self.scripts += 1

    def _frame(self, _attributes: Mapping[str, str], _shown: bool) -> None:
        self.frames += 1

    def _time(self, attributes: Mapping[str, str], shown: bool) -> None:
        moment = attributes.get("datetime")
        if shown and moment and len(self.times) < _MOST_TIMES:
            self.times.append(moment[:64])


_READS = {
    "html": PageFacts._page,
    "h1": PageFacts._heading,
    "title": PageFacts._titled,
    "meta": PageFacts._meta,
    "link": PageFacts._link,
    "base": PageFacts._base,
    "a": PageFacts._anchor,
    "input": PageFacts._input,
    "form": PageFacts._form,
    "script": PageFacts._script,
    "iframe": PageFacts._frame,
    "frame": PageFacts._frame,
    "time": PageFacts._time,
}
