"""`python -m tests.benchmarks.extraction`: how well pages are read, over our own gold pages; prints JSON.

Our chain, trafilatura alone and readability alone read the same HTML pages (the two others are given the text already
decoded, and the page's title, which they report apart, is set before what they found). What they find is compared with
the gold text as multisets of four words in a row (one character each where words are not spaced), page by page; the
figures are the means over the pages. https://github.com/scrapinghub/article-extraction-benchmark measures so, too.
Outcomes are ours alone: of all pages, walls and files included, how many end as their truth says.
"""

import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from html import unescape

import orjson

from tests.benchmarks.gold import GoldPage, gold_pages
from zarniwoop.extract.outcome import Extraction
from zarniwoop.extract.page import extract_page
from zarniwoop.extract.weigh import words_of

_WORD = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]|[^\W_]+")
_LONG = 4
MEASURES = ("precision", "recall", "f1")
_TAG = re.compile(r"<[^<>]*>")
_FENCE = re.compile(r"^`{3,}\S*$", re.MULTILINE)
_BLOCK = re.compile(r"</?(?:p|div|h[1-6]|li|tr|td|th|br|pre|section|dt|dd|blockquote)\b[^<>]*>", re.IGNORECASE)


def read(page: GoldPage) -> Extraction:
    """The page as the fetcher reads it."""
    return extract_page(page.body, url=page.url, media_type=page.media_type, charset=page.charset, status=page.status)


def by_chain(page: GoldPage) -> str:
    found = read(page).page
    return words_of(_FENCE.sub("", found.markdown)) if found else ""


def by_trafilatura(page: GoldPage) -> str:
    from trafilatura import extract

    return _titled(page, extract(page.body.decode(page.encoding), url=page.url) or "")


def by_readability(page: GoldPage) -> str:
    from readability import Document

    markup: str = Document(page.body.decode(page.encoding), url=page.url).summary(html_partial=True)
    return _titled(page, unescape(_TAG.sub("", _BLOCK.sub("\n", markup))))


def _titled(page: GoldPage, text: str) -> str:
    """With the headline that stands in the gold text, unless it is there."""
    headline = next((each for each in (page.title, *page.title_any) if each and each in page.text), "")
    return text if headline in text[:400] else f"{headline}\n{text}"


READERS: Mapping[str, Callable[[GoldPage], str]] = {
    "chain": by_chain,
    "trafilatura": by_trafilatura,
    "readability": by_readability,
}


def quality(found: str, gold: str) -> tuple[float, float, float]:
    """Precision, recall and F1 of one text."""
    ours, truth = _shingles(found), _shingles(gold)
    both = (ours & truth).total()
    precision = both / ours.total() if ours else 0.0
    recall = both / truth.total()
    return precision, recall, 2 * precision * recall / (precision + recall) if both else 0.0


def _shingles(text: str) -> Counter[tuple[str, ...]]:
    words = _WORD.findall(text.casefold())
    return Counter(tuple(words[start : start + _LONG]) for start in range(max(1, len(words) - _LONG + 1)) if words)


def measured(pages: Sequence[GoldPage]) -> dict[str, Mapping[str, tuple[float, float, float]]]:
    """Per page with a gold text, per reader."""
    return {
        page.name: {name: quality(reader(page), page.text) for name, reader in READERS.items()}
        for page in pages
        if page.is_good and page.text
    }


def main() -> dict[str, float]:
    pages = list(gold_pages())
    by_page = measured(pages)
    figures = {
        "pages": float(len(pages)),
        "kinds": float(len({page.kind for page in pages})),
        "walls": float(sum(not page.is_good for page in pages)),
        "texts": float(len(by_page)),
        "wrong_outcomes": float(sum(read(page).outcome is not page.outcome for page in pages)),
    }
    figures["outcome_accuracy"] = round(1 - figures["wrong_outcomes"] / len(pages), 4)
    for name in READERS:
        sums = map(sum, zip(*(each[name] for each in by_page.values()), strict=True))
        figures |= {
            f"{name}_{measure}": round(each / len(by_page), 4) for measure, each in zip(MEASURES, sums, strict=True)
        }
    missed = {name: 1 - figures[f"{name}_f1"] for name in READERS}
    over_best = missed["chain"] / min(missed["trafilatura"], missed["readability"])
    return {**figures, "missed": round(missed["chain"], 4), "over_best": round(over_best, 4)}


def table(figures: Mapping[str, float]) -> dict[str, object]:
    """The figures as they are reported: one line a reader."""
    lines = {name: {measure: figures[f"{name}_{measure}"] for measure in MEASURES} for name in READERS}
    counts = ("pages", "kinds", "texts", "walls", "wrong_outcomes", "outcome_accuracy")
    return {**{name: figures[name] for name in counts}, "readers": lines}


if __name__ == "__main__":
    sys.stdout.buffer.write(orjson.dumps(main()) + b"\n")
