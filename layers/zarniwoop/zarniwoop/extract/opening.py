"""The headline and the lead of an article, which extractors often take for the page's head and leave out."""

import re
from dataclasses import replace

from zarniwoop.extract.markdown import Written
from zarniwoop.extract.weigh import LINK, letters, words_of

_HEADLINE = re.compile(r"# \S")
_CREDIT = re.compile(
    r"(?:by|von|par|por|di|posted|published|updated|written|veröffentlicht|aktualisiert|publié|publicado)\s(?!.*[.!?…]$)",
    re.IGNORECASE,
)
"""Who wrote it and when: no sentence of the article."""
_LEAST_LINE = 40
_MOST_LINES = 3
_SEARCHED = 60


def with_opening(article: Written, own: Written) -> Written:
    """The article, led by what stands on the page from its headline to where the article begins."""
    lines = own.text.split("\n", 2_000)[:2_000]
    headline = next((number for number, line in enumerate(lines) if _HEADLINE.match(line)), None)
    if headline is None or not article.text:
        return article
    found = _lines_of(article.text)
    begins = next(
        (n for n in range(headline + 1, min(len(lines), headline + _SEARCHED)) if _plain(lines[n]) in found), None
    )
    between = lines[headline + 1 : begins] if begins is not None else []
    lead = [
        line
        for line in between
        if len(_plain(line)) >= _LEAST_LINE and not LINK.search(line) and not _CREDIT.match(line)
    ]
    title = LINK.sub(r"\1", lines[headline])
    opening = [line for line in (title, *lead[:_MOST_LINES]) if _plain(line) not in found]
    if opening and _plain(article.text.partition("\n")[0]).startswith(_plain(opening[0])):
        return article  # run together with what follows it
    if not opening:
        return article
    chars = sum(map(letters, opening))
    return replace(article, text="\n\n".join((*opening, article.text)), chars=article.chars + chars)


def _lines_of(text: str) -> frozenset[str]:
    """The article's first lines; an empty one is none of them."""
    return frozenset(filter(None, map(_plain, text.split("\n", _SEARCHED)[:_SEARCHED])))


def _plain(line: str) -> str:
    return " ".join(words_of(line).split())
