"""A page's article: trafilatura, then readability, then all of its text that is not beside; each step says how it went.

What a step finds is measured against the page's own text (`text`, which is linear and cannot fail): an extractor that
leaves most of it out has lost tables or sections, and one that finds nothing but links has found a menu.
"""

from collections.abc import Callable, Set
from dataclasses import dataclass

from zarniwoop.contract.page import PageOutcome, PageStep
from zarniwoop.extract.article import by_readability, by_trafilatura
from zarniwoop.extract.gaps import is_in_order, with_gaps_filled
from zarniwoop.extract.hygiene import Cleaner
from zarniwoop.extract.limits import LEAST_WEIGHT, MOST_DEPTH, MOST_TAGS, MOST_TREE_CHARS
from zarniwoop.extract.link_lines import LinkLines
from zarniwoop.extract.links import Resolver
from zarniwoop.extract.markdown import Written, written
from zarniwoop.extract.menus import without_loose_end, without_menus, without_teasers
from zarniwoop.extract.opening import with_opening
from zarniwoop.extract.weigh import text_weight

TOO_LITTLE, LINK_SOUP, FAILED, FLAT = "too_little_text", "link_soup", "failed", "structure_lost"
_LEAST_SHARE = 0.5
"""Of the page's own text that an extractor has to find."""
_MOST_LINKED = 0.5
_AGREED, _LEAST_AGREED = 0.7, 600
_TABLE_RULE = "| --- |"
_PARAGRAPH = 40
_LEAST_SAID, _SAID_SHARE = 60, 0.15
"""Letters beside the links, and for every letter of these, that stand below menus: whose they are, and since when."""
_SEVERAL, _MOST_MENU, _SHORT_LINK = 400, 6_000, 20
"""So much text of a page that is links is what the page is for, if it has a heading or its links are no mere names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """What one step made of the page."""

    name: str
    article: Written
    markup: str

    @property
    def weight(self) -> int:
        return text_weight(self.article.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Article:
    """The best of the candidates, what became of each step, and whether the page was too large to be read whole."""

    chosen: Candidate
    steps: tuple[PageStep, ...]
    oversize: str | None = None


class HtmlChain:
    """`without` are steps that ran away before; `begins` is told before one starts."""

    def __init__(self, *, url: str, without: Set[str], begins: Callable[[str], None]) -> None:
        self._url = url
        self._without = without
        self._begins = begins

    def article(self, page: Cleaner) -> Article:
        resolver = Resolver(self._url, page.facts.base)
        markup = page.markup
        self._begins("text")
        own = _own_text(markup, resolver)
        lines = LinkLines(page.facts.links)
        oversize = _oversize(page, markup)
        steps: list[PageStep] = []
        found: list[Candidate] = []
        for name, extract in (("trafilatura", by_trafilatura), ("readability", by_readability)):
            if name in self._without:
                continue
            if oversize:
                steps.append(PageStep(name=name, outcome=PageOutcome.TOO_LARGE, reason=oversize))
                continue
            self._begins(name)
            candidate = self._tried(name, extract, markup, resolver, own, lines)
            reason = _wanting(candidate, own)
            steps.append(_step(name, candidate, reason))
            if candidate:
                found.append(candidate)
            if candidate and reason is None:
                return Article(chosen=candidate, steps=tuple(steps))
        chosen = _best(found, own)
        if chosen is own:
            steps.append(_step("text", own, _wanting(own, own)))
        return Article(chosen=chosen, steps=tuple(steps), oversize=oversize)

    def _tried(
        self,
        name: str,
        extract: Callable[[str, str], str | None],
        markup: str,
        resolver: Resolver,
        own: Candidate,
        lines: LinkLines,
    ) -> Candidate | None:
        try:
            article = extract(markup, self._url)
        except MemoryError:  # the process is spent: whoever keeps it starts another one, without this step
            raise
        except Exception:  # noqa: BLE001 - other people's parsers on other people's pages: whatever they raise, they failed
            return None
        found = with_opening(without_loose_end(_main(article or "", resolver)), own.article)
        found = lines.counted(with_gaps_filled(found, own.article))
        return Candidate(name=name, article=found, markup=article or "")


def _own_text(markup: str, resolver: Resolver) -> Candidate:
    return Candidate(name="text", article=without_teasers(without_menus(_main(markup, resolver))), markup=markup)


def _main(markup: str, resolver: Resolver) -> Written:
    """The text without what is beside; all of it when that is next to nothing."""
    main = written(markup, resolver.absolute, main_only=True)
    if text_weight(main.text) < 2 * LEAST_WEIGHT:
        whole = written(markup, resolver.absolute)
        if _plain_chars(main) < _plain_chars(whole) // 2:
            main = whole
    return main


def _oversize(page: Cleaner, markup: str) -> str | None:
    if page.tags > MOST_TAGS:
        return "too_many_tags"
    if page.deepest > MOST_DEPTH:
        return "too_deep"
    return "too_long" if len(markup) > MOST_TREE_CHARS or page.full else None


def _wanting(candidate: Candidate | None, own: Candidate) -> str | None:
    """Why the chain has to go on; None when it has not."""
    if candidate is None:
        return FAILED
    if candidate.weight < LEAST_WEIGHT:
        return TOO_LITTLE
    if is_link_soup(candidate.article):
        return LINK_SOUP
    if _plain_chars(candidate.article) < _LEAST_SHARE * _plain_chars(own.article):
        return TOO_LITTLE
    return FLAT if _has_lost_structure(candidate.article, own.article) else None


def _has_lost_structure(article: Written, own: Written) -> bool:
    """Tables that are gone, paragraphs that were run together, or parts that changed places."""
    if _TABLE_RULE in own.text and _TABLE_RULE not in article.text:
        return True
    paragraphs = sum(len(line) > _PARAGRAPH for line in own.text.split("\n"))
    found = sum(len(line) > _PARAGRAPH for line in article.text.split("\n"))
    return (paragraphs > 2 and found * 2 < paragraphs) or not is_in_order(article, own)


def is_link_soup(article: Written) -> bool:
    return article.chars > 0 and article.link_chars > article.chars * _MOST_LINKED


def is_menu(article: Written) -> bool:
    """Links and nothing else, and not so many words of them that somebody wrote them to be read."""
    said = _plain_chars(article)
    if not is_link_soup(article) or said >= _LEAST_SAID + _SAID_SHARE * article.link_chars:
        return False
    if article.chars < _SEVERAL or article.chars > _MOST_MENU:
        return article.chars < _SEVERAL and said < _LEAST_SAID
    headed = any(line.startswith(("# ", "## ")) and "](" not in line for line in article.text.split("\n"))
    return not headed and article.link_chars < _SHORT_LINK * article.text.count("](")


def _best(found: list[Candidate], own: Candidate) -> Candidate:
    """Nobody was convincing. Two extractors that agree are right about a page full of other things, all the same."""
    sound = [each for each in found if not _has_lost_structure(each.article, own.article)]
    sizes = [_plain_chars(each.article) for each in sound]
    if len(sound) > 1 and min(sizes) >= max(_LEAST_AGREED, _AGREED * max(sizes)) and not is_link_soup(sound[0].article):
        return sound[0]
    if own.weight >= LEAST_WEIGHT and not is_link_soup(own.article):
        return own
    return max(own, *sound, key=lambda each: _plain_chars(each.article)) if sound else own


def _plain_chars(article: Written) -> int:
    return article.chars - article.link_chars


def _step(name: str, candidate: Candidate | None, reason: str | None) -> PageStep:
    chars = len(candidate.article.text) if candidate else 0
    outcome = PageOutcome.OK if reason is None else PageOutcome.MALFORMED if reason == FAILED else PageOutcome.EMPTY
    return PageStep(name=name, outcome=outcome, reason=reason, chars=chars)
