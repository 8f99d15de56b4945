"""Real markup looked at again: what no reader sees of it may change as it likes, every word that one reads may not.

Pages are fetched over a test's web and read by the real chain, and kept and compared as they are deployed.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from tests.fakes.clock import FakeClock
from tests.fakes.evidence import DEMO
from tests.fakes.evidence_store import InMemoryEvidenceStore
from tests.fakes.fetching import environment_on
from tests.fakes.web import PUBLIC, Web, page
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.evidence import Evidence
from zarniwoop.contract.page import PageFetcher, PageOutcome, PageQuestion
from zarniwoop.evidence.ledger import EvidenceLedger
from zarniwoop.evidence.verify import MARKS, QuoteVerdict, Verdict, Verification, Verifier

HOST = "www.example.com"
WORDS = (
    "The great bell weighs four tonnes and was cast by Bo Ström.",
    "It is tuned with the tool rib_of(bell) until the hum stands an octave below.",
    "In 1984 the council had it rung for peace, against the will of the mayor.",
)
"""What is quoted of every page, as it is read."""
MARKED = (
    '<a href="/m?sid={n}&amp;utm_source=t{n}">The great bell</a> weighs four tonnes and was cast by '
    '<a href="https://people.example.net/bo_(founder)?s={n}"><b>Bo Ström</b></a>.',
    "It is tuned with the tool <code>rib_of(bell)</code> until the <em>hum</em> stands an octave below.",
    'In <span data-at="2026-11-30T12:00:{n:02}Z">1984</span> the <a href="/c?t={n}">council</a> had it rung for '
    "peace, against the will of the mayor.",
)
MORE = (
    "A pit was dug below the furnace, and the mould stood in it for three weeks before anybody dared to open it.",
    "Visitors may watch the casting on the first Friday of the month, from a gallery behind a wall of thick glass.",
    "What a bell sounds like is decided by its rib, the curve of its wall, which is drawn before anything else.",
)


def paragraphs(*texts: str) -> str:
    return "".join(f"<p>{text}</p>" for text in texts)


def around(inner: str, tag: str = "article") -> str:
    return f"<{tag}><h1>The foundry's great bell</h1>{inner}{paragraphs(*MORE)}</{tag}>"


KINDS: Mapping[str, Callable[[tuple[str, ...]], str]] = {
    "article": lambda texts: around(paragraphs(*texts)),
    "main": lambda texts: around(paragraphs(*texts), "main"),
    "one paragraph": lambda texts: around(f"<p>{' '.join(texts)}</p>"),
    "list": lambda texts: around(f"<ul>{''.join(f'<li>{text}</li>' for text in texts)}</ul>"),
    "steps": lambda texts: around(f"<ol>{''.join(f'<li>{text}</li>' for text in texts)}</ol>"),
    "quotation": lambda texts: around(f"<blockquote>{paragraphs(*texts)}</blockquote>"),
    "table": lambda texts: around(
        "<table><tr><th>No.</th><th>What</th></tr>"
        + "".join(f"<tr><td>{number}</td><td>{text}</td></tr>" for number, text in enumerate(texts, 1))
        + "</table>"
    ),
    "sections": lambda texts: around(
        "".join(f'<section id="s{{n}}"><h2>Part</h2><p>{text}</p></section>' for text in texts)
    ),
    "lines": lambda texts: around(f"<p>{'<br>'.join(texts)}</p>"),
    "code before it": lambda texts: around(f"<pre><code>a[i](x) | `b` # no</code></pre>{paragraphs(*texts)}"),
    "pictures": lambda texts: around(
        "".join(f'<p><img src="/p?{{n}}" alt="A bell" width="4{{n}}">{text}</p>' for text in texts)
    ),
    "notes": lambda texts: around(
        paragraphs(*(f'{text}<sup><a href="/n?{{n}}#1">[{number}]</a></sup>' for number, text in enumerate(texts, 1)))
    ),
}  # fmt: skip


class Site:
    """One page, a ledger, and whoever looks at it again. `n` is what each request has of its own."""

    def __init__(self, web: Web, fetcher: PageFetcher) -> None:
        self._web = web
        self._fetcher = fetcher
        self.clock = FakeClock(1_796_000_000.0)
        self.ledger = EvidenceLedger(store=InMemoryEvidenceStore(self.clock), clock=self.clock)

    def serve(self, kind: str, n: int, *, say: Callable[[str], str] = str) -> str:
        body = KINDS[kind](tuple(map(say, MARKED))).replace("{n:02}", f"{n:02}").replace("{n}", str(n))
        head = f'<meta name="csrf" content="{n}"><script nonce="n{n}">var t = {n};</script>'
        whole = f'<head><title>Bells</title>{head}</head><body class="v{n}">{body}</body>'
        markup = f'<html lang="en" data-t="{n}">{whole}</html>'
        url = f"http://{HOST}/{kind.replace(' ', '-')}"
        self._web.pages[url.removeprefix("http://")] = page(f"<!doctype html>{markup}".encode())
        return url

    def kept(self, url: str, quotes: tuple[str, ...] = WORDS) -> Evidence:
        question = PageQuestion(url=url, seconds=5.0)
        answer = self._fetcher.fetch(question, deadline=Deadline.after(5.0, self.clock))
        assert answer.outcome is PageOutcome.OK
        return self.ledger.keep_page(DEMO, answer, quotes=quotes)

    def verified(self, kept: Evidence) -> Verification:
        body = self.ledger.body(DEMO, kept)
        assert body is not None
        return Verifier(self._fetcher, self.clock).verify(kept, body, Deadline.after(5.0, self.clock))


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    missing = page(b"none", status=404)
    with (
        Web(names={HOST: [(PUBLIC,)]}, otherwise=missing) as web,
        environment_on(web) as environment,
        environment._page_reader,
    ):
        yield Site(web, environment.local_fetcher)


@pytest.mark.parametrize("kind", KINDS)
def test_what_nobody_reads_may_change_and_every_changed_word_is_found(site: Site, kind: str) -> None:
    """Sessions, tracking, nonces, moments and classes; then one quoted sentence after the other, and none besides."""
    kept = site.kept(site.serve(kind, 1))
    assert len(kept.quotes) == len(WORDS)
    for n in (2, 31):
        site.serve(kind, n)
        found = site.verified(kept)
        assert (found.verdict, found.alike) == (Verdict.UNCHANGED, 1.0)
        assert found.reason == MARKS
        assert {quote.verdict for quote in found.quotes} == {QuoteVerdict.STANDS}
    for number, (old, new) in enumerate((("four", "five"), ("an octave", "a third"), ("peace", "war"))):
        site.serve(kind, 3, say=lambda text, old=old, new=new: text.replace(old, new))  # type: ignore[misc]
        changed = site.verified(kept)
        assert changed.verdict is Verdict.DRIFTED
        assert [quote.verdict is QuoteVerdict.GONE for quote in changed.quotes] == [at == number for at in range(3)]


def test_words_that_are_planted_or_removed_are_found(site: Site) -> None:
    """Between quotes that all still stand, and in the text of a link alone."""
    kept = site.kept(site.serve("article", 1))
    changes: Any = (("</b></a>.", "</b></a>. It is not for sale."), ("an octave below.", "an octave below!"))
    for old, new in changes:
        site.serve("article", 1, say=lambda text, old=old, new=new: text.replace(old, new))  # type: ignore[misc]
        assert site.verified(kept).verdict is Verdict.DRIFTED
    site.serve("article", 1, say=lambda text: text.replace(">council<", ">bishop<"))
    found = site.verified(kept)
    assert [quote.verdict for quote in found.quotes] == [QuoteVerdict.STANDS, QuoteVerdict.STANDS, QuoteVerdict.GONE]
