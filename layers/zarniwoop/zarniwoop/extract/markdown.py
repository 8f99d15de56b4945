"""Markup to Markdown, in one pass: headings, lists, quotes, code, tables, links. https://spec.commonmark.org

Emphasis is left out: it would stand in the middle of what people quote. Pictures are left out: whoever shows the
Markdown would load them from where a stranger says.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from zarniwoop.extract.blocks import Blocks
from zarniwoop.extract.fence import code_block
from zarniwoop.extract.limits import MOST_MARKDOWN
from zarniwoop.extract.lines import Line

_CHUNK = 65_536
_BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "body",
        "center",
        "dd",
        "details",
        "dialog",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "header",
        "hgroup",
        "hr",
        "html",
        "legend",
        "main",
        "menu",
        "nav",
        "p",
        "search",
        "section",
        "summary",
        "tbody",
        "tfoot",
        "thead",
        "caption",
    ]
)
_UNREAD = frozenset(
    [
        "head",
        "title",
        "script",
        "style",
        "template",
        "noscript",
        "svg",
        "button",
        "img",
        "input",
        "select",
        "textarea",
        "rp",
        "iframe",
    ]
)
_CODE = frozenset(("code", "kbd", "samp", "tt"))
_LANGUAGE = re.compile(r"\b(?:language|lang|highlight-source|brush:?)[-\s]\s?([a-z0-9+#-]{1,20})", re.IGNORECASE)
_BESIDES = frozenset(("nav", "footer", "aside", "form"))
_BESIDES_WORDS = re.compile(
    r"\b(?:navigation|nav|navbar|menu|breadcrumbs?|banner|contentinfo|complementary|cookies?|consent|newsletter|share|"
    r"sharing|social|related|side|sidebar|sphinxsidebar|foot|masthead|topbar|site-header|advert(?:isement)?|ads?|promo|footer|pagination|skip-link|toolbar|popup|modal)\b",
    re.IGNORECASE,
)
_NEVER_BESIDES = frozenset(("html", "body", "main", "article", "h1"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Markdown, and how much of what a reader sees in it is links."""

    text: str
    chars: int
    link_chars: int
    cut: bool


class MarkdownWriter:
    """The target of a parser. `resolve` makes a link absolute, or None; `main_only` passes over what is beside."""

    def __init__(self, resolve: Callable[[str | None], str | None], *, main_only: bool = False) -> None:
        self._resolve = resolve
        self._main_only = main_only
        self._blocks = Blocks(MOST_MARKDOWN)
        self._line = Line()
        self._chars = 0
        self._link_chars = 0
        self._heading = 0
        self._skipping = 0
        self._pre = 0
        self._language = ""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if self._skipping or tag in _UNREAD or (self._main_only and _is_beside(tag, attributes)):
            self._skipping += 1
        elif tag in _STARTS:
            _STARTS[tag](self, attributes)
        elif tag in _BLOCKS:
            self._flush()

    def end(self, tag: str) -> None:
        if self._skipping:
            self._skipping -= 1
        elif tag in _ENDS:
            _ENDS[tag](self)
        elif tag in _BLOCKS:
            self._flush()

    def data(self, text: str) -> None:
        if self._skipping or self._blocks.full:
            return
        seen = len(text) - text.count(" ") - text.count("\n")
        self._chars += seen
        if self._line.in_link:
            self._link_chars += seen
        if self._pre:
            self._line.add_raw(text)
        else:
            self._line.add(text)

    def comment(self, _text: str) -> None: ...

    def pi(self, *_parts: object) -> None: ...

    def close(self) -> Written:
        self._flush()
        self._blocks.finish()
        return Written(text=self._blocks.text, chars=self._chars, link_chars=self._link_chars, cut=self._blocks.full)

    def _flush(self) -> None:
        if self._pre:
            return
        text = self._line.taken()
        if not text:
            return
        if self._heading and not self._blocks.in_cell:
            text = f"{'#' * self._heading} {text.replace(chr(10), ' ')}"
        self._blocks.emit(text)

    def _begin_heading(self, level: int) -> None:
        self._flush()
        self._heading = level

    def _end_heading(self) -> None:
        self._flush()
        self._heading = 0

    def _begin_list(self, attributes: Mapping[str, str], *, ordered: bool) -> None:
        self._flush()
        first = attributes.get("start", "")
        self._blocks.begin_list(ordered=ordered, first=int(first) if re.fullmatch("[0-9]{1,6}", first) else 1)

    def _end_list(self) -> None:
        self._flush()
        self._blocks.end_list()

    def _begin_pre(self, attributes: Mapping[str, str]) -> None:
        self._flush()
        self._pre += 1
        self._language = _language(attributes)

    def _end_pre(self) -> None:
        self._pre = max(0, self._pre - 1)
        if self._pre:
            return
        text = self._line.taken_raw().strip("\n").rstrip()
        if text:
            self._blocks.emit(text if self._blocks.in_cell else code_block(text, self._language))

    def _begin_code(self, attributes: Mapping[str, str]) -> None:
        if self._pre:
            self._language = self._language or _language(attributes)
        else:
            self._line.begin_code()

    def _end_code(self) -> None:
        if not self._pre:
            self._line.end_code()

    def _after_flush(self, done: Callable[[], None]) -> None:
        self._flush()
        done()

    def _break(self) -> None:
        if self._pre:
            self._line.add_raw("\n")
        else:
            self._line.break_off()

    def _begin_cell(self, attributes: Mapping[str, str]) -> None:
        self._flush()
        self._blocks.begin_cell(attributes)


_Start = Callable[[MarkdownWriter, Mapping[str, str]], None]
_STARTS: dict[str, _Start] = {
    "a": lambda writer, attributes: writer._line.begin_link(writer._resolve(attributes.get("href"))),
    "br": lambda writer, _attributes: writer._break(),
    "ul": lambda writer, attributes: writer._begin_list(attributes, ordered=False),
    "ol": lambda writer, attributes: writer._begin_list(attributes, ordered=True),
    "li": lambda writer, _attributes: writer._after_flush(writer._blocks.begin_item),
    "blockquote": lambda writer, _attributes: writer._after_flush(writer._blocks.begin_quote),
    "pre": lambda writer, attributes: writer._begin_pre(attributes),
    "table": lambda writer, _attributes: writer._after_flush(writer._blocks.begin_table),
    "tr": lambda writer, _attributes: writer._after_flush(writer._blocks.begin_row),
    "td": lambda writer, attributes: writer._begin_cell(attributes),
    "th": lambda writer, attributes: writer._begin_cell(attributes),
    **{tag: lambda writer, attributes: writer._begin_code(attributes) for tag in _CODE},
    **{
        f"h{level}": lambda writer, _attributes, level=level: writer._begin_heading(level)  # type: ignore[misc]
        for level in range(1, 7)
    },
}
_ENDS: dict[str, Callable[[MarkdownWriter], None]] = {
    "a": lambda writer: writer._line.end_link(),
    "ul": MarkdownWriter._end_list,
    "ol": MarkdownWriter._end_list,
    "li": lambda writer: writer._after_flush(writer._blocks.end_level),
    "blockquote": lambda writer: writer._after_flush(writer._blocks.end_level),
    "pre": MarkdownWriter._end_pre,
    "table": lambda writer: writer._after_flush(writer._blocks.end_table),
    "tr": MarkdownWriter._flush,
    "td": lambda writer: writer._after_flush(writer._blocks.end_cell),
    "th": lambda writer: writer._after_flush(writer._blocks.end_cell),
    **dict.fromkeys(_CODE, MarkdownWriter._end_code),
    **{f"h{level}": MarkdownWriter._end_heading for level in range(1, 7)},
}


def written(markup: str, resolve: Callable[[str | None], str | None], *, main_only: bool = False) -> Written:
    """The markup as Markdown. Linear in its length, and never raises for what it is."""
    from lxml import etree

    target = MarkdownWriter(resolve, main_only=main_only)
    parser = etree.HTMLParser(target=target, huge_tree=True)
    try:
        for start in range(0, len(markup), _CHUNK):
            parser.feed(markup[start : start + _CHUNK])
        closed: Written = parser.close()
    except etree.XMLSyntaxError:
        return target.close()
    return closed


def _is_beside(tag: str, attributes: Mapping[str, str]) -> bool:
    """Whether an element is of the site and not of the page."""
    if tag in _BESIDES:
        return True
    if tag in _NEVER_BESIDES or not attributes:
        return False
    words = " ".join(filter(None, (attributes.get("role"), attributes.get("class"), attributes.get("id"))))
    return bool(words) and _BESIDES_WORDS.search(words[:300]) is not None


def _language(attributes: Mapping[str, str]) -> str:
    stated = attributes.get("data-language") or attributes.get("data-lang")
    found = _LANGUAGE.search(attributes.get("class", "")[:200])
    language = (stated or (found[1] if found else "")).lower()
    return language if re.fullmatch(r"[a-z0-9+#-]{1,20}", language) else ""
