"""A page's own style sheets, found by the parser that reads the page: no comment or script can pass for one.

Quirk: what stands in `noscript` or `template` holds for nobody who runs scripts, and hides nothing.
"""

from collections.abc import Mapping

MOST_STYLE = 1_000_000
"""Characters, of all sheets of a page together."""
_CHUNK = 65_536
_UNUSED = frozenset(("noscript", "template"))


class StyleSheets:
    """The parser's target: what stands in style elements, as the parser itself sees them, each with its media."""

    def __init__(self) -> None:
        self.found: list[tuple[list[str], str]] = []
        self.left = MOST_STYLE
        """Characters that may still be read; less than none where there were more."""
        self._unused = 0
        self._reading: list[str] | None = None

    @property
    def imports(self) -> bool:
        return any("@import" in piece for pieces, _media in self.found for piece in pieces)

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._unused += tag in _UNUSED
        kind = attributes.get("type", "").strip().lower() if tag == "style" else "none"
        if kind in ("", "text/css") and not self._unused:
            self._reading = []
            self.found.append((self._reading, attributes.get("media", "")))

    def end(self, tag: str) -> None:
        self._unused -= tag in _UNUSED
        if tag == "style":
            self._reading = None

    def data(self, text: str) -> None:
        if self._reading is not None:
            self._reading.append(text[: max(0, self.left)])
            self.left -= len(text)

    def close(self) -> "StyleSheets":
        return self


def style_sheets(markup: str) -> StyleSheets:
    from lxml import etree

    target = StyleSheets()
    if "<style" not in markup.lower():
        return target
    parser = etree.HTMLParser(target=target, huge_tree=True)
    try:
        for start in range(0, len(markup), _CHUNK):
            parser.feed(markup[start : start + _CHUNK])
        parser.close()
    except etree.XMLSyntaxError:  # nothing that could be called markup was in it
        pass
    return target
