"""`python -m tests.benchmarks.documents`: 10,000 documents, indexed as the function does it, and searched; prints JSON.

The corpus is made here, the same every time: words of a natural (Zipf) distribution, 100 to 900 a document, in text,
Markdown and HTML. Queries are two or three words that stand together in some document. The plain scan that they are
compared with reads every document: what holds all words of a query, in at most 20 documents (passages), must be among
the 50 documents (passages) that the index gives.
"""

import itertools
import random
import re
import sqlite3
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import orjson

from tests.fakes.clock import FakeClock
from tests.fakes.document_store import InMemoryDocumentStore
from zarniwoop.documents.find import find
from zarniwoop.documents.library import Library
from zarniwoop.documents.reader import Reader
from zarniwoop.documents.synchronise import Synchroniser
from zarniwoop.stores.state import ProjectKey

DOCUMENTS = 10_000
QUERIES = 200
SCANS = 10
MOST_RELEVANT = 20
MOST_GIVEN = 50
PROJECT = ProjectKey(tenant_id="bench", project_id="documents")
_VOCABULARY = 30_000
_ONSETS = ("b", "br", "d", "f", "g", "gr", "h", "k", "kl", "l", "m", "n", "p", "r", "s", "st", "t", "v")
_VOWELS = ("a", "e", "i", "o", "u", "au")
_WORD = re.compile(r"[a-z]+")


def vocabulary(chance: random.Random) -> list[str]:
    """Pronounceable words that no stemmer takes for English: each ends in a consonant."""
    made: dict[str, None] = {}
    while len(made) < _VOCABULARY:
        syllables = [chance.choice(_ONSETS) + chance.choice(_VOWELS) for _ in range(chance.randint(1, 3))]
        made["".join(syllables) + chance.choice("kmptz")] = None
    return list(made)


def corpus(chance: random.Random, count: int) -> Iterator[tuple[str, str]]:
    """Names and texts."""
    words = vocabulary(chance)
    weights = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(len(words))))
    for number in range(count):
        drawn = chance.choices(words, cum_weights=weights, k=chance.randint(100, 900))
        sentences = [" ".join(drawn[start : start + 12]) + "." for start in range(0, len(drawn), 12)]
        paragraphs = [" ".join(sentences[start : start + 5]) for start in range(0, len(sentences), 5)]
        kind = ("txt", "md", "txt", "md", "html")[number % 5]
        if kind == "html":
            body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
            yield f"{number:05}.html", f"<html><body><article>{body}</article></body></html>"
        else:
            yield f"{number:05}.{kind}", "\n\n".join(paragraphs)


def queries(chance: random.Random, held: Sequence[set[str]]) -> Iterator[tuple[str, ...]]:
    """Words that stand together in one of them, for ever."""
    while True:
        yield tuple(chance.sample(sorted(chance.choice(held)), chance.choice((2, 3))))


def scan(texts: Mapping[str, str], words: Sequence[str]) -> set[str]:
    """The names of all texts that hold all of the words, found by reading them."""
    asked = [re.compile(rf"\b{word}\b") for word in words]
    return {name for name, text in texts.items() if all(each.search(text) for each in asked)}


def main(count: int = DOCUMENTS) -> dict[str, float]:
    chance, clock = random.Random(42), FakeClock()  # noqa: S311 - a corpus, not a secret
    store = InMemoryDocumentStore(clock)
    for name, text in corpus(chance, count):
        store.put(PROJECT, name, text.encode())
    numbers = itertools.count()
    started = time.perf_counter()
    with Reader() as reader:
        made = Synchroniser(store=store, reader=reader, clock=clock, version=lambda: f"v{next(numbers)}")
        indexed = made.run(PROJECT).indexed
        built = time.perf_counter() - started
        store.put(PROJECT, "00000.txt", b"a change of one document")
        started = time.perf_counter()
        made.run(PROJECT)
        updated = time.perf_counter() - started
    manifest = store.manifests[PROJECT].manifest
    library = Library(store)
    with library.opened(PROJECT) as index:
        if index is None:
            raise LookupError("there is no index")
        searched = _searched(index.connection, chance)
    library.close()
    return {
        "documents": float(indexed),
        "passages": float(manifest.passages),
        "text_mb": round(sum(len(body) for body, _ in store.bodies[PROJECT].values()) / 1e6, 1),
        "index_mb": round(manifest.size / 1e6, 1),
        "build_s": round(built, 1),
        "update_s": round(updated, 2),
        **searched,
    }


def _searched(connection: sqlite3.Connection, chance: random.Random) -> dict[str, float]:
    """Documents by what they hold anywhere, passages by what one of them holds."""
    texts: defaultdict[str, str] = defaultdict(str)
    passages: dict[str, str] = {}
    query = "SELECT name, start, text FROM passages JOIN documents ON documents.id = document"
    for name, start, text in connection.execute(query):
        texts[name] += text
        passages[f"{name}#{start}"] = text
    found = _measured(connection, chance, texts, each_document_once=True)
    found |= {f"passage_{name}": value for name, value in _measured(connection, chance, passages).items()}
    return {**found, "missed": max(found["missed"], found["passage_missed"])}


def _measured(
    connection: sqlite3.Connection,
    chance: random.Random,
    texts: Mapping[str, str],
    *,
    each_document_once: bool = False,
) -> dict[str, float]:
    held = {name: set(_WORD.findall(text)) for name, text in texts.items()}
    taken: list[float] = []
    scanned: list[float] = []
    wanted = given = 0
    for words in queries(chance, [held[name] for name in chance.sample(sorted(held), min(500, len(held)))]):
        relevant = {name for name, known in held.items() if known.issuperset(words)}
        if len(relevant) > MOST_RELEVANT:
            continue
        started = time.perf_counter()
        found = find(connection, " ".join(words), most=MOST_GIVEN, each_document_once=each_document_once)
        taken.append(time.perf_counter() - started)
        names = {match.name if each_document_once else f"{match.name}#{match.start}" for match in found}
        wanted, given = wanted + len(relevant), given + len(relevant & names)
        if len(scanned) < SCANS:
            started = time.perf_counter()
            if scan(texts, words) != relevant:
                raise AssertionError("the plain scan reads other words than the sets hold")
            scanned.append(time.perf_counter() - started)
        if len(taken) == QUERIES:
            break
    taken.sort()
    return {
        "p50_ms": round(taken[len(taken) // 2] * 1_000, 2),
        "p95_ms": round(taken[len(taken) * 95 // 100] * 1_000, 2),
        "scan_ms": round(statistics.median(scanned) * 1_000, 1),
        "over_scan": round(statistics.median(taken) / statistics.median(scanned), 4),
        "recall": round(given / wanted, 4),
        "missed": round(1 - given / wanted, 4),
    }


if __name__ == "__main__":
    sys.stdout.buffer.write(orjson.dumps(main(*map(int, sys.argv[1:]))) + b"\n")
