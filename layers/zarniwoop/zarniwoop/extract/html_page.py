"""An HTML page: cleaned of what nobody sees, its article found, its metadata read, and judged."""

from collections.abc import Callable, Set
from dataclasses import replace

from zarniwoop.contract.page import ExtractedPage, PageOutcome, PageStep
from zarniwoop.extract.given_html import given_html
from zarniwoop.extract.html_chain import Article, HtmlChain
from zarniwoop.extract.hygiene import Cleaner, cleaned
from zarniwoop.extract.judged import Judged
from zarniwoop.extract.limits import MOST_HTML_BYTES
from zarniwoop.extract.linked_data import linked_data
from zarniwoop.extract.links import Resolver, believed_canonical, page_links
from zarniwoop.extract.metadata import metadata
from zarniwoop.extract.outcome import Extraction
from zarniwoop.extract.signs import signs
from zarniwoop.extract.verdicts import Verdict, verdict
from zarniwoop.extract.weigh import words_of


def read_html_page(
    text: str,
    *,
    url: str,
    status: int,
    want_html: bool,
    without: Set[str],
    begins: Callable[[str], None],
) -> Extraction:
    """Never raises for what the markup is, but MemoryError."""
    begins("clean")
    page = cleaned(text)
    found = HtmlChain(url=url, without=without, begins=begins).article(page)
    begins("judge")
    linked = linked_data(page.facts.linked_data)
    judged = Judged(
        status=status,
        url=url,
        raw=text,
        markup=page.markup,
        facts=page.facts,
        article=found.chosen.article,
        free=linked.free,
    )
    judgement = verdict(judged)
    begins("metadata")
    return Extraction(
        outcome=judgement.outcome,
        reason=judgement.reason or found.oversize,
        page=_page(page, found, judgement, url=url, want_html=want_html, small="metadata" not in without),
        steps=_judged_steps(found, judgement),
    )


def _page(
    page: Cleaner, found: Article, judgement: Verdict, *, url: str, want_html: bool, small: bool
) -> ExtractedPage:
    facts, markup = page.facts, page.markup
    resolver = Resolver(url, facts.base)
    chosen = found.chosen
    stated = metadata(
        facts,
        linked_data(facts.linked_data),
        markup=markup,
        text=words_of(chosen.article.text[:20_000]),
        small=small and found.oversize is None,
    )
    return ExtractedPage(
        markdown=chosen.article.text,
        extractor=chosen.name,
        title=stated.title,
        byline=stated.byline,
        site_name=stated.site_name,
        published_at=stated.published_at,
        modified_at=stated.modified_at,
        language=stated.language,
        canonical_url=believed_canonical(facts.canonical or facts.metas.get("og:url"), resolver, url),
        links=page_links(facts.links, resolver),
        html=_within(given_html(chosen.markup, resolver.absolute_or_self), MOST_HTML_BYTES) if want_html else None,
        hidden=dict(sorted(page.counts.items())),
        suspicious=signs(chosen.article.text, hidden=facts.concealed),
        truncated=judgement.truncated or chosen.article.cut or page.full or found.oversize is not None,
    )


def _within(markup: str, most_bytes: int) -> str:
    """As much of it as fits; what is cut off is repaired by whoever parses it."""
    if len(markup) * 4 <= most_bytes:
        return markup
    return markup.encode()[:most_bytes].decode("utf-8", "ignore")


def _judged_steps(found: Article, judgement: Verdict) -> tuple[PageStep, ...]:
    """A step found its text before it was known what the text is: the one that is the page's says so, or the last one
    that there is none.
    """
    steps = list(found.steps)
    read = judgement.outcome is PageOutcome.OK
    place = next((place for place, step in enumerate(steps) if read and step.name == found.chosen.name), len(steps) - 1)
    reason = judgement.reason if read else judgement.reason or steps[place].reason
    steps[place] = replace(steps[place], outcome=judgement.outcome, reason=reason)
    return tuple(steps)
