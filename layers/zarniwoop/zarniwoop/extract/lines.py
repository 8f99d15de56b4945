"""The running text of one block of Markdown: white space as a page shows it, links, code.

Markup that is written out as text must not become markup: what would be a picture or a link is escaped.
"""

import re

from zarniwoop.extract.limits import MOST_LINK_CHARS

BREAK = "\x0b"
"""Where a page breaks the line itself; it is never in a page's text."""
_SPACE = re.compile("[ \t\r\n\f\xa0\x85\u2028\u2029]+")
_AROUND_BREAK = re.compile(f" *{BREAK} *")
_PICTURE = re.compile(r"(?<!\\)!(?=\[[^\[\]\n]{0,400}\]\s?[(\[])")
_PERMALINKS = frozenset(("¶", "#", "§", "🔗"))
_WOULD_LINK = re.compile(r"!(?=\[)|(?<=\])(?=\()")


def without_pictures(text: str) -> str:
    """Markdown in which no picture is left to load: each becomes the mark and a link."""
    return _PICTURE.sub(r"\\!", text) if "![" in text else text


class Line:
    """Pieces of the block that is being written. Links may reach over several blocks: the first one is linked."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._links: list[tuple[str | None, int]] = []
        self._code = 0

    @property
    def in_link(self) -> bool:
        return any(url for url, _start in self._links[-3:])

    def add(self, text: str) -> None:
        if not self._code and ("[" in text or "]" in text):
            text = _WOULD_LINK.sub(lambda found: f"\\{found[0]}", text)
        self._pieces.append(_SPACE.sub(" ", text))

    def add_raw(self, text: str) -> None:
        self._pieces.append(text)

    def break_off(self) -> None:
        self._pieces.append(BREAK)

    def begin_link(self, url: str | None) -> None:
        self._links.append((url, len(self._pieces)))

    def end_link(self) -> None:
        if self._links:
            url, start = self._links.pop()
            self._link(url, start)

    def begin_code(self) -> None:
        self._code += 1
        if self._code == 1:
            self._pieces.append("`")

    def end_code(self) -> None:
        if self._code == 1:
            if self._pieces[-2:-1] == ["`"] and self._pieces[-1].isspace():
                self._pieces[-2:] = [" "]
            elif self._pieces[-1:] == ["`"]:
                self._pieces.pop()
            else:
                self._pieces.append("`")
        self._code = max(0, self._code - 1)

    def taken(self) -> str:
        """The block's text; what comes is another block."""
        for url, start in reversed(self._links):
            if url and self._link(url, start):
                self._links = [(None, 0) for _link in self._links]
                break
        self._links = [(url, 0) for url, _start in self._links]
        text = _AROUND_BREAK.sub("\n", _SPACE.sub(" ", "".join(self._pieces))).strip()
        text = without_pictures(text)
        self._pieces = []
        if self._code:
            self._pieces.append("`")
        return text if text.strip("`\n ") else ""

    def taken_raw(self) -> str:
        """The block's text with its white space, as it was added."""
        text, self._pieces = "".join(self._pieces).replace(BREAK, "\n"), []
        self._links = [(url, 0) for url, _start in self._links]
        return text

    def _link(self, url: str | None, start: int) -> bool:
        text = "".join(self._pieces[start:])
        shown = " ".join(text.replace(BREAK, " ").split())
        if shown in _PERMALINKS:
            del self._pieces[start:]
            return False
        if not url or self._code or not shown or len(url) > MOST_LINK_CHARS or "](" in shown:
            return False
        space = " " if text[:1].isspace() else ""
        behind = " " if text[-1:].isspace() else ""
        self._pieces[start:] = [f"{space}[{shown.replace('[', '(').replace(']', ')')}]({url}){behind}"]
        return True
