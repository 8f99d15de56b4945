"""`make demo`: the deployed template answers real tool calls over HTTP; each answer is checked while it is shown."""

import sys
import time
from contextlib import closing
from typing import Any

import httpx
from rich.console import Console
from rich.table import Table

from stack.demo_pages import DemoFailedError, PagesDemo, expect
from stack.running import AlreadyRunningError, Stack, running_stack

SEARCHES = (
    ("WEB", "solar energy"),
    ("NEWS", "climate change"),
    ("IMAGE", "cathedral bells"),
    ("VIDEO", "graphene"),
    ("PDF", "climate change"),
    ("ACADEMIC", "crispr gene editing"),
    ("ENCYCLOPEDIA", "graphene"),
    ("BOOK", "python"),
    ("CODE", "asyncio"),
    ("MAP", "Kölner Dom"),
    ("INTERNAL_DOC", "solar energy"),
    ("RAG", "notice period of the lease"),
)
EXPERT: dict[str, Any] = {
    "query": "graphene",
    "modality": "ACADEMIC",
    "date_from": "2004-01-01",
    "date_to": "2012-12-31",
    "locale": "en",
    "pinned_provider_id": "arxiv-main",
    "max_results": 3,
}
INVESTIGATION: dict[str, Any] = {
    "question": "What is the history of cathedral bells in books and news?",
    "max_searches": 8,
    "max_results": 8,
}
SHOWN_HITS = 5


class Demo:
    """Calls tools, shows what comes back in a few lines, and fails on an answer that is not right."""

    def __init__(self, stack: Stack, console: Console) -> None:
        self._stack = stack
        self._console = console
        self._called: set[str] = set()
        self._api = httpx.Client(base_url=stack.api_url, headers={"Authorization": f"Bearer {stack.token}"}, timeout=30)

    def _cold(self, tool: str) -> str:
        """The first call of a function starts it."""
        first = tool not in self._called
        self._called.add(tool)
        return " (cold start)" if first else ""

    def run(self) -> None:
        self._providers("who is there")
        for modality, query in SEARCHES:
            self._search(modality, query)
        self._expert()
        self._rich()
        self._investigate()
        PagesDemo(self._stack, self._api, self._call, self._tell).run()
        self.failover()

    def close(self) -> None:
        self._api.close()

    def _tell(self, line: str) -> None:
        self._console.print(line, highlight=False, soft_wrap=True)

    def _call(self, tool: str, *, may_fail: bool = False, **arguments: Any) -> dict[str, Any]:
        started = time.monotonic()
        answer = self._api.post(f"/v1/tools/{tool}", json={"project_id": self._stack.project_id, **arguments})
        self._console.print(
            f"\n[bold]POST /v1/tools/{tool}[/] {_shown(arguments)} → {answer.status_code}, "
            f"{(time.monotonic() - started) * 1000:.0f} ms{self._cold(tool)}",
            highlight=False,
        )
        told = answer.json() if "json" in answer.headers.get("Content-Type", "") else {}
        if answer.status_code not in (200, 202) or not (told.get("ok") or may_fail):
            why = (told.get("error") or {}).get("detail", "no envelope")
            raise DemoFailedError(f"{tool}: expected an answer that is ok, got {answer.status_code}: {why}")
        envelope: dict[str, Any] = told
        return envelope

    def _providers(self, title: str) -> dict[str, Any]:
        data: dict[str, Any] = self._call("research_providers")["data"]
        table = Table("instance", "protocol", "modalities and their state", title=title)
        for row in data["providers"]:
            states = [_state(row, modality, word) for modality, word in row["availability"].items()]
            table.add_row(row["id"], row["protocol"], " ".join(states))
        self._console.print(table)
        expect("misconfigured endpoints", [], data["misconfigured"])
        return data

    def _search(self, modality: str, query: str) -> dict[str, Any]:
        data: dict[str, Any] = self._call("research_search", query=query, modality=modality, max_results=2)["data"]
        self._show(data)
        return data

    def _expert(self) -> None:
        data = self._call("research_search_expert", **EXPERT)["data"]
        self._show(data)
        handled = ", ".join(f"{each['name']} {each['handling']}" for each in data["applied"])
        self._console.print(f"  filters: {handled}", highlight=False)
        for hit in data["hits"]:
            dated = hit["published_at"]["value"]
            if not "2004" <= dated[:4] <= "2012":
                raise DemoFailedError(f"the date filter: expected hits of 2004 to 2012, got one of {dated}")

    def _rich(self) -> None:
        data = self._call("research_rich", query="solar energy", max_results=1)["data"]
        for modality, result in data["results"].items():
            self._show(result, label=f"{modality}: ")

    def _investigate(self) -> None:
        """A question becomes searches of many kinds, side by side in a state machine; hits are judged and ranked."""
        run = self._call("research_investigate", **INVESTIGATION)["data"]
        shown = ""
        while run["state"] in ("queued", "running"):
            answer = self._api.get(f"{self._stack.api_url}{run['status_url']}", params={"wait": 0.5})
            run = answer.raise_for_status().json()["data"]
            progress = " ".join(f"{node} {each['done']}/{each['total']}" for node, each in run["progress"].items())
            if progress != shown:
                self._console.print(f"  {run['state']}: {progress}", highlight=False)
            shown = progress
        ended = (run["state"], run["outcome"], run["error"])
        expect("the end of the investigation", ("succeeded", "success", None), ended)
        self._show_ranked(run["results"])

    def _show_ranked(self, results: dict[str, Any]) -> None:
        survivors, dropped = results["hits"], results["dropped"]
        expect("the mode of the judgement", "builtin", results["mode"])
        if not survivors or not dropped:
            got = f"{len(survivors)} and {len(dropped)}"
            raise DemoFailedError(f"the investigation: expected survivors and dropped hits, got {got}")
        for search in results["searches"]:
            self._console.print(
                f"  wave {search['wave']}, {search['modality']} {search['query']!r}: "
                f"{search['hits']} hits from {search['instance_id']}",
                highlight=False,
            )
        self._console.print(f"  {len(survivors)} survivors, judged and planned without a model (builtin):")
        for hit in survivors[:SHOWN_HITS]:
            self._console.print(
                f"    {hit['rank']}. {hit['score']:.2f} {hit['hit']['title']}\n       {hit['reason']}",
                highlight=False,
                markup=False,
            )
        self._console.print(f"  {len(dropped)} dropped:")
        for hit in dropped[:SHOWN_HITS]:
            self._console.print(f"    {hit['title']}\n       {hit['reason']}", highlight=False, markup=False)

    def failover(self) -> None:
        """Serper's web search starts to answer 429: the next one answers, and the cooldown shows."""
        httpx.post(
            f"{self._stack.simulator_url}/_control/faults",
            json={"prefix": "/serper/search", "fault": "429", "retry_after": 120, "times": 1},
        ).raise_for_status()
        self._console.print("\n[bold]serper-main now answers 429 with Retry-After: 120[/]", highlight=False)
        data = self._search("WEB", "cathedral bells")
        failed, answered = data["attempts"][0], data["attempts"][-1]
        expect("the first attempt's reason", "rate_limited", failed["reason"])
        if answered["instance_id"] == failed["instance_id"]:
            raise DemoFailedError(f"the failover: expected another endpoint's answer, got {answered['instance_id']}'s")
        rows = {row["id"]: row for row in self._providers("after the failover")["providers"]}
        states = rows["serper-main"]["availability"]
        expect("serper-main's state for WEB and IMAGE", ("COOLDOWN", "READY"), (states["WEB"], states["IMAGE"]))

    def _show(self, result: dict[str, Any], *, label: str = "") -> None:
        if not result["hits"]:
            reasons = {each["instance_id"]: each["reason"] or each["outcome"] for each in result["attempts"]}
            raise DemoFailedError(f"{result['query']!r}: expected hits, got none; {reasons}")
        for attempt in result["attempts"]:
            why = f" ({attempt['reason']})" if attempt["reason"] else ""
            self._console.print(
                f"  {label}{attempt['instance_id']}: {attempt['outcome']}{why}, {attempt['duration_ms']} ms",
                highlight=False,
            )
        for hit in result["hits"]:
            dated = f"{hit['published_at']['value'][:10]} " if hit["published_at"] else ""
            self._console.print(
                f"    {hit['rank']}. {dated}{hit['title']}\n       {hit['url']}",
                highlight=False,
                markup=False,
                soft_wrap=True,
            )


def _shown(arguments: dict[str, Any]) -> str:
    return " ".join(f"{name}={value!r}" for name, value in arguments.items())


def _state(row: dict[str, Any], modality: str, word: str) -> str:
    if word == "READY":
        return modality
    left = next((each["remaining_seconds"] for each in row["cooldowns"] if each["modality"] == modality), None)
    return f"{modality} {word}" + (f" {left:.0f} s left" if left else "")


def farewell(seconds: float) -> str:
    return f"\nEvery answer was as expected. {seconds:.0f} s in all; nothing is left running."


def main() -> int:
    console = Console(width=110)
    started = time.monotonic()
    try:
        with running_stack(
            "demo", simulator=True, tell=lambda step: console.print(f"… {step}", highlight=False)
        ) as stack:
            console.print(
                f"… deployed after {time.monotonic() - started:.0f} s, API at {stack.api_url}", highlight=False
            )
            with closing(Demo(stack, console)) as demo:
                demo.run()
    except (AlreadyRunningError, DemoFailedError, httpx.HTTPError) as error:
        console.print(f"\nThe demo failed: {error}", style="bold red", markup=False)
        return 1
    except KeyboardInterrupt:
        return 130
    console.print(farewell(time.monotonic() - started))
    return 0


if __name__ == "__main__":
    sys.exit(main())
