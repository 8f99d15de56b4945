"""The part of `make demo` about pages: found, fetched, quoted, kept, verified after a change; attacks refused."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import httpx

from stack.running import Stack

QUOTE = "the nights of work are marked with a small moon"
_CHANGE = {"path": "/web/mills/history", "find": "a small moon", "put": "a little star"}
_METADATA = "http://169.254.169.254/latest/meta-data/iam/security-credentials/"


_MOST_SHOWN = 200


class DemoFailedError(Exception):
    """An answer was not what a user may expect."""


def expect(what: str, expected: object, got: object) -> None:
    """Raises DemoFailedError in a line, however much there is of what came."""
    if got != expected:
        raise DemoFailedError(f"{what}: expected {_line(expected)}, got {_line(got)}")


class Call(Protocol):
    """Calls a tool, tells of it, and fails unless the answer is `ok` or a page was refused as it should be."""

    def __call__(self, tool: str, *, may_fail: bool = False, **arguments: Any) -> Mapping[str, Any]: ...


class PagesDemo:
    """Each step tells what came back in a few lines, and fails on an answer that is not right."""

    def __init__(self, stack: Stack, api: httpx.Client, call: Call, tell: Callable[[str], None]) -> None:
        self._stack = stack
        self._api = api
        self._call = call
        self._tell = tell

    def run(self) -> None:
        self._find()
        evidence_id, start, end = self._fetch()
        self._read(evidence_id, start, end)
        self._verify(evidence_id, "unchanged", "stands")
        httpx.post(f"{self._stack.simulator_url}/_control/pages", json=_CHANGE).raise_for_status()
        self._tell("\nThe page now speaks of a little star where it spoke of a small moon")
        self._verify(evidence_id, "drifted", "gone")
        self._cite(evidence_id)
        self._attack()
        self._resolve()

    def _find(self) -> None:
        """Hits of the simulator's own web, each kept as evidence."""
        envelope = self._call("web_search", query="tide mill", max_results=2)
        for hit, kept in zip(envelope["data"]["hits"], envelope["evidence"], strict=False):
            self._tell(f"  {hit['rank']}. {hit['title']}  {hit['url']}\n     kept as {kept['href']}")
        expect("hits kept as evidence", 2, len(envelope["evidence"]))

    def _fetch(self) -> tuple[str, int, int]:
        """An article that was moved, a PDF, and a wall: the id of the article's evidence, and its quote's place."""
        paths = ("mills/old-history", "mills/survey.pdf", "walls/bot")
        urls = [f"{self._stack.simulator_url}/web/{path}" for path in paths]
        envelope = self._call("web_fetch", urls=urls, quotes=[QUOTE])
        for page in envelope["data"]["pages"]:
            self._show(page)
        pages = envelope["data"]["pages"]
        expect("outcomes of the pages", ["ok", "ok", "blocked"], [page["outcome"] for page in pages])
        article, report, wall = pages
        expect("evidence of the wall", None, wall["evidence_id"])
        stands = [[quote["stands"] for quote in page["quotes"]] for page in (article, report)]
        expect("whether the quote stands in the article and in the report", [[True], [False]], stands)
        (quote,) = article["quotes"]
        self._tell(f"  the quote stands in the first, characters {quote['start']} to {quote['end']}: “{quote['text']}”")
        return article["evidence_id"], quote["start"], quote["end"]

    def _read(self, evidence_id: str, start: int, end: int) -> None:
        """The stored text at the quote's offsets is the quote."""
        asked: dict[str, str | int] = {
            "project_id": self._stack.project_id,
            "offset": start,
            "text_chars": end - start,
        }
        read = self._answered(self._api.get(f"/v1/evidence/{evidence_id}", params=asked))
        evidence, fence = read["evidence"], read["fence"]
        text = read["content"].removeprefix(f"<<<UNTRUSTED {fence}\n").removesuffix(f"\nUNTRUSTED {fence}>>>")
        signals = ", ".join(f"{each['value']} {each['points']:+.2f}" for each in evidence["signals"] if each["points"])
        self._tell(f"  offset {start}: “{text}”; credibility {evidence['credibility_score']:.2f} ({signals})")
        expect("the stored text where the quote stands", QUOTE, text)

    def _verify(self, evidence_id: str, verdict: str, of_quote: str) -> None:
        asked = {"project_id": self._stack.project_id}
        seen = self._answered(self._api.post(f"/v1/evidence/{evidence_id}/verify", params=asked))
        quotes = ", ".join(each["verdict"] for each in seen["quotes"])
        self._tell(f"  {seen['verdict']} ({seen['alike'] or 0:.0%} of its lines stand), quote: {quotes}")
        expect("the verdicts on page and quote", (verdict, of_quote), (seen["verdict"], quotes))

    def _cite(self, evidence_id: str) -> None:
        cited = self._call("evidence_store", action="cite", ids=[evidence_id])["data"]
        self._tell(f"  {cited['text'].strip()}")
        title = "How a tide mill works"
        expect("the title in the reference", title, title if title in cited["text"] else cited["text"])

    def _attack(self) -> None:
        """The account's credentials, and a page that leads there."""
        urls = [_METADATA, f"{self._stack.simulator_url}/web/moves/metadata"]
        pages = self._call("web_fetch", may_fail=True, urls=urls)["data"]["pages"]
        for page in pages:
            self._show(page)
        expect("outcomes of the attacks", ["address_refused"] * 2, [page["outcome"] for page in pages])

    def _resolve(self) -> None:
        data = self._call("geo_resolve", query="Kölner Dom", max_results=1)["data"]
        expect("places of that name", 1, len(data["places"]))
        (place,) = data["places"]
        box = ", ".join(f"{name} {degrees}" for name, degrees in (place["bounding_box"] or {}).items())
        self._tell(f"  {place['name']}: {place['lat']}, {place['lon']} ({place['precision']}), {box}")

    def _show(self, page: Mapping[str, Any]) -> None:
        title = f" “{page['title']}”" if page["title"] else ""
        way = " → ".join(url.removeprefix(self._stack.simulator_url or "") for url in page["hops"] or [page["url"]])
        self._tell(f"  {way}: {page['outcome']}{title}")
        self._tell(f"     {' → '.join(map(_step, page['steps']))}")

    def _answered(self, answer: httpx.Response) -> Mapping[str, Any]:
        path = answer.request.url.path.partition("/v1/")[2]
        self._tell(f"\n[bold]{answer.request.method} /v1/{path}[/] → {answer.status_code}")
        expect(f"the answer of {path}", 200, answer.status_code)
        data: Mapping[str, Any] = answer.json()["data"]
        return data


def _line(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"


def _step(step: Mapping[str, Any]) -> str:
    why = f" ({step['reason']})" if step["reason"] and step["reason"] != step["outcome"] else ""
    size = f", {step['chars']} characters" if step["chars"] else ""
    return f"{step['name']} {step['outcome']}{why}{size}, {step['milliseconds']} ms"
