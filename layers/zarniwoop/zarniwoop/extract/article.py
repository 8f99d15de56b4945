"""The article of a page by trafilatura and by readability: clean markup in, the markup of the article out.

https://trafilatura.readthedocs.io, https://github.com/buriy/python-readability
Quirk: trafilatura's memory of what it has seen (`deduplicate`) stays off: the same page must read the same, warm or
cold. It writes a dialect of TEI, which is turned into HTML again here: its own way back makes blocks of inline code.
"""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.etree import _Element

_TAGS = {
    "hi": "span", "item": "li", "quote": "blockquote", "row": "tr", "lb": "br", "del": "s", "ref":
        "a", "graphic": "img",
}  # fmt: skip
_PRE = re.compile(r"<pre( [^<>]{0,2000})?>(?!\s{0,9}<code)")
_CLOSED_PRE = re.compile(r"(?<!</code>)</pre>")
"""trafilatura takes what is preformatted, and not code, for a quotation, and runs its lines together."""
_BESIDE = " | ".join(
    f'//*[contains(concat(" ", @class, " "), " {name} ")]'
    for name in ("postprofile", "signature", "post-signature", "stat-block", "affiliate", "disclosure")
)
"""What forums put beside a post, and shops before a review, under names that nothing else has."""
_HEADINGS = frozenset(f"h{level}" for level in range(1, 7))


def by_trafilatura(markup: str, url: str) -> str | None:
    """The article's markup; None when there is none."""
    from lxml.etree import tostring
    from trafilatura import bare_extraction
    from trafilatura.settings import Document

    found = bare_extraction(
        _CLOSED_PRE.sub("</code></pre>", _PRE.sub(r"<pre\1><code>", markup)),
        url=url,
        include_comments=True,
        include_formatting=True,
        include_links=True,
        include_tables=True,
        deduplicate=False,
        with_metadata=False,
        prune_xpath=_BESIDE,
    )
    if not isinstance(found, Document) or found.body is None:
        return None
    bodies = [found.body, *([found.commentsbody] if found.commentsbody is not None else [])]
    parts = []
    for body in bodies:
        _as_html(body)
        parts.append(tostring(body, encoding="unicode", method="html"))
    return "".join(parts)


def by_readability(markup: str, url: str) -> str | None:
    """The article's markup; None when there is none."""
    from readability import Document
    from readability.readability import Unparseable

    try:
        found: str = Document(markup, url=url).summary(html_partial=True)
    except Unparseable:
        return None
    return found


def _as_html(body: "_Element") -> None:
    body.tag = "div"
    for element in body.iter():
        tag = element.tag
        if not isinstance(tag, str):
            continue
        if tag == "head":
            rend = element.get("rend", "h2")
            element.tag = rend if rend in _HEADINGS else "h2"
        elif tag == "list":
            element.tag = "ol" if element.get("rend") == "ol" else "ul"
        elif tag == "cell":
            element.tag = "th" if element.get("role") == "head" else "td"
        elif tag == "code":
            _as_code(element)
        elif tag == "ref":
            element.set("href", element.get("target", ""))
            element.tag = "a"
        else:
            element.tag = _TAGS.get(tag, tag)


def _as_code(element: "_Element") -> None:
    parent = element.getparent()
    inside = parent is not None and parent.tag in ("pre", "code")
    block = "\n" in "".join(element.itertext()) or element.find(".//lb") is not None
    element.tag = "pre" if block and not inside else "code"
