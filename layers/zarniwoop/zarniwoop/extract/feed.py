"""RSS, RDF and Atom by defusedxml: a list of entries, each with its link, its day and what it says in a few lines.

https://www.rssboard.org/rss-specification, https://datatracker.ietf.org/doc/html/rfc4287
Quirk: names are compared without their namespaces: feeds mix them freely, and many declare none.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from html import escape
from typing import TYPE_CHECKING

from zarniwoop.contract.hit import PublishedAt
from zarniwoop.contract.page import ExtractedPage, PageLink
from zarniwoop.extract.hygiene import Cleaner, cleaned
from zarniwoop.extract.limits import LONGEST_TITLE, MOST_FEED_ENTRIES, MOST_LINKS
from zarniwoop.extract.lines import without_pictures
from zarniwoop.extract.metadata import read_date
from zarniwoop.extract.outcome import Fault, Unreadable
from zarniwoop.extract.signs import signs
from zarniwoop.text.plain import clip, plain, plain_title

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_ENTRIES = frozenset(("item", "entry"))
_DATES = ("published", "pubdate", "date", "issued", "updated")
_TEXTS = ("summary", "description", "encoded", "content")
_ROOT_TAG = re.compile(r"<[A-Za-z_]")
_LONGEST_TEXT = 600
_MOST_MARKUP = 20_000


def parsed_xml(text: str) -> "Element":
    """Raises Unreadable. Declarations of its own are refused; a reference to a DTD elsewhere is not followed."""
    from xml.etree.ElementTree import ParseError

    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    root_tag = _ROOT_TAG.search(text)
    declared = text[: root_tag.start() if root_tag else len(text)].partition("<!DOCTYPE")[2]
    if "[" in declared:
        raise Unreadable(Fault.BOMB)
    try:
        root: Element = fromstring(text.lstrip("\ufeff \t\r\n"))
    except DefusedXmlException as error:
        raise Unreadable(Fault.BOMB) from error
    except (ParseError, ValueError) as error:
        raise Unreadable(Fault.DAMAGED) from error
    return root


class Said:
    """What a feed's elements say, as a page's reader sees it; what nobody sees of it is counted."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.concealed: list[str] = []

    def title(self, element: "Element") -> str | None:
        """A title is words, in which `<y>` may be one: only what hides something is taken for markup."""
        markup = _text(element, ("title",)) or ""
        page = self._cleaned(markup)
        return _unlinked(plain_title(page.markup if page and page.counts else markup))

    def text(self, element: "Element", names: tuple[str, ...]) -> str | None:
        markup = (_text(element, names) or "")[:_MOST_MARKUP]
        page = self._cleaned(markup)
        return _unlinked(plain(page.markup if page else markup))

    def _cleaned(self, markup: str) -> Cleaner | None:
        """None where nothing is to be cleaned."""
        if "<" not in markup and markup.isascii():
            return None
        page = cleaned(markup)
        self.counts += page.counts
        if page.counts:
            self.concealed.append(page.facts.concealed)
        return page


def _unlinked(text: str | None) -> str | None:
    """Words that are written like a link or a picture lead nowhere."""
    return without_pictures(text).replace("](", "]\\(") if text else None


def read_feed(text: str, resolve: Callable[[str | None], str | None]) -> ExtractedPage:
    """Raises Unreadable."""
    root = parsed_xml(text)
    channel = next((element for element in root.iter() if _name(element) in ("channel", "feed")), root)
    entries = [element for element in root.iter() if _name(element) in _ENTRIES]
    said = Said()
    title = said.title(channel)
    blocks = [f"# {title}"] if title else []
    blocks += filter(None, [said.text(channel, ("subtitle", "description", "tagline"))])
    links: dict[str, PageLink] = {}
    for entry in entries[:MOST_FEED_ENTRIES]:
        blocks.append(_entry(entry, resolve, links, said))
    markdown = without_pictures("\n\n".join(blocks))
    return ExtractedPage(
        markdown=markdown,
        extractor="feed",
        title=clip(title, LONGEST_TITLE) if title else None,
        published_at=_date(channel),
        language=(_text(channel, ("language",)) or _attribute(root, "lang") or "").strip()[:2].lower() or None,
        links=tuple(links.values())[:MOST_LINKS],
        hidden=dict(said.counts),
        suspicious=signs(markdown, hidden="\n".join(said.concealed)),
        truncated=len(entries) > MOST_FEED_ENTRIES,
    )


def read_xml(text: str) -> str:
    """Any other XML: its texts, line by line. Raises Unreadable."""
    return "\n".join(line for piece in parsed_xml(text).itertext() if (line := " ".join(piece.split())))


def _entry(
    entry: "Element", resolve: Callable[[str | None], str | None], links: dict[str, PageLink], texts: Said
) -> str:
    title = texts.title(entry) or "…"
    url = resolve(_link(entry))
    if url:
        links.setdefault(url, PageLink(url=url, text=clip(title, 200)))
    shown = f"[{title.replace('[', '(').replace(']', ')')}]({url})" if url else title
    date = _date(entry)
    said = texts.text(entry, _TEXTS)
    lines = [f"- {shown}{f' ({date.value})' if date else ''}"]
    lines += [f"  {clip(said, _LONGEST_TEXT)}"] if said and said != title else []
    return "\n".join(lines)


def _date(element: "Element") -> PublishedAt | None:
    return read_date(_text(element, _DATES))


def _link(entry: "Element") -> str | None:
    """Atom's are attributes, of which the one without a relation, or `alternate`, is the entry's page."""
    for element in _children(entry):
        if _name(element) == "link":
            href = element.get("href")
            if href and element.get("rel", "alternate") == "alternate":
                return href
            if element.text and element.text.strip():
                return element.text.strip()
    permanent = _text(entry, ("guid", "id"))
    return permanent if permanent and permanent.startswith(("http://", "https://")) else None


def _text(element: "Element", names: tuple[str, ...]) -> str | None:
    """Of the first of the names that has any; of XHTML in Atom's content it is the markup."""
    for name in names:
        for child in _children(element):
            if _name(child) == name and "".join(child.itertext()).strip():
                return _markup(child) if len(child) else (child.text or "").strip()
    return None


def _markup(element: "Element") -> str:
    """The elements in it, by their local names, as far as it is read."""
    pieces = [escape(element.text or "", quote=False)]
    waiting: list[Element | str] = list(reversed(element))
    left = _MOST_MARKUP
    while waiting and left > 0:
        each = waiting.pop()
        if isinstance(each, str):
            piece = each
        else:
            name = _name(each)
            stated = "".join(f' {key.rpartition("}")[2]}="{escape(value)}"' for key, value in each.attrib.items())
            piece = f"<{name}{stated}>{escape(each.text or '', quote=False)}" if name else ""
            waiting.append(f"</{name}>{escape(each.tail or '', quote=False)}" if name else each.tail or "")
            waiting.extend(reversed(each))
        pieces.append(piece)
        left -= len(piece)
    return "".join(pieces).strip()


def _children(element: "Element") -> "Iterator[Element]":
    return (child for _number, child in zip(range(200), element, strict=False))


def _name(element: "Element") -> str:
    return element.tag.rpartition("}")[2].lower() if isinstance(element.tag, str) else ""


def _attribute(element: "Element", name: str) -> str | None:
    return next((value for key, value in element.attrib.items() if key.rpartition("}")[2] == name), None)
