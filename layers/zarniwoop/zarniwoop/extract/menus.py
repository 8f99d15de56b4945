"""Menus and teasers in Markdown that was written of a whole page, told from the page by what is linked.

A menu is a stretch of lines that are links and nothing else; a teaser begins with a headline that is a link to another
page. A page that is mostly links is what it is for (an index, the results of a search), and keeps them.
"""

import re
from dataclasses import replace

from zarniwoop.extract.markdown import Written
from zarniwoop.extract.weigh import LINK, letters

_MARKS = re.compile(r"^(?:\s{0,40}(?:#{1,6}|[-*>]|\d{1,7}\.) )+")
_OWN_HEADLINE = re.compile(r"# (?!\[)")
_LINKED_HEADLINE = re.compile(r"#{2,6} \[[^\[\]\n]{1,400}\]\([^()\s]{1,2100}\)")
_LINKED = 0.85
_LEAST_LINES = 3
_LEAST_KEPT = 0.4


def counted(text: str) -> Written:
    """Markdown that another reader wrote, with what of it is links."""
    shown = LINK.sub(r"\1", text)
    linked = sum(letters(found[1]) for found in LINK.finditer(text))
    return Written(text=text, chars=letters(shown), link_chars=linked, cut=False)


def without_menus(article: Written) -> Written:
    """The article without its menus, unless little of it would be left."""
    lines = article.text.split("\n")
    return _without(article, lines, _in_stretches(lines, [_is_menu_line(line) for line in lines]))


def without_teasers(article: Written) -> Written:
    """The article without what leads to other pages, if it has a headline of its own."""
    lines = article.text.split("\n")
    if not any(_OWN_HEADLINE.match(line) for line in lines):
        return article
    drops, teaser = [], False
    for line in lines:
        if line.startswith("#"):
            teaser = _LINKED_HEADLINE.fullmatch(line) is not None
        drops.append(teaser)
    return _without(article, lines, drops)


def without_loose_end(article: Written) -> Written:
    """The article without headings that nothing follows: of comments that are closed, of forms that are gone."""
    lines = article.text.split("\n")
    last = next((number for number in range(len(lines), 0, -1) if lines[number - 1][:1] not in ("", "#")), 0)
    return _without(article, lines, [number >= last for number in range(len(lines))])


def _without(article: Written, lines: list[str], drops: list[bool]) -> Written:
    gone = [line for line, drop in zip(lines, drops, strict=True) if drop]
    lost = sum(letters(_MARKS.sub("", LINK.sub(r"\1", line))) for line in gone)
    if not lost or article.chars - lost < article.chars * _LEAST_KEPT:
        return article
    linked = sum(letters(found[1]) for line in gone for found in LINK.finditer(line))
    kept = "\n".join(line for line, drop in zip(lines, drops, strict=True) if not drop)
    return replace(
        article,
        text=re.sub(r"\n{3,}", "\n\n", kept).strip(),
        chars=max(0, article.chars - lost),
        link_chars=max(0, article.link_chars - linked),
    )


def _is_menu_line(line: str) -> bool:
    if "](" not in line:
        return False
    links = "".join(found[1] for found in LINK.finditer(line))
    shown = _MARKS.sub("", LINK.sub(r"\1", line))
    return len(links) >= _LINKED * len(shown)


def _in_stretches(lines: list[str], menu: list[bool]) -> list[bool]:
    """Which lines belong to a stretch of menu lines (blank ones between them count for neither) that is long enough."""
    drops = [False] * len(lines)
    stretch: list[int] = []
    links = 0
    for index, line in enumerate([*lines, "end"]):
        if index < len(lines) and menu[index]:
            stretch.append(index)
            links += line.count("](")
        elif line.strip():
            if len(stretch) >= _LEAST_LINES or links >= _LEAST_LINES:
                for place in stretch:
                    drops[place] = not lines[place].lstrip().startswith("#")
            stretch, links = [], 0
    return drops
