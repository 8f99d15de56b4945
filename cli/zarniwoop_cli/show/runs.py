"""A run: how it stands, what it has found, and what is missing."""

from collections.abc import Mapping
from typing import Any

from zarniwoop_cli.printer import Printer, money
from zarniwoop_cli.show.hits import show_hit
from zarniwoop_cli.show.state import took

_MOST_DROPPED = 5


def show_run(data: Mapping[str, Any], printer: Printer) -> None:
    results = data.get("results") or {}
    for each in results.get("hits") or ():
        score = f"{each['score']:.2f}" if isinstance(each.get("score"), int | float) else None
        why = ": ".join(filter(None, (score, each.get("reason"))))
        show_hit(each.get("hit") or each, printer, rank=each.get("rank"), why=why)
    dropped = results.get("dropped") or []
    if dropped:
        printer.say(f"{len(dropped)} dropped, such as:", style="dim")
        for each in dropped[:_MOST_DROPPED]:
            printer.say(each["title"], f"({each['reason']})", style="dim", indent=2)
    for told in ("gaps", "notes"):
        for each in results.get(told) or ():
            printer.say(f"{told.removesuffix('s')}:", each, style="yellow")
    for each in (data.get("results_note"), data.get("error")):
        if each:
            printer.say(each, style="yellow")
    facts = [took(data), money(data.get("cost")), f"mode {results['mode']}" if results.get("mode") else None]
    printer.say(
        data["run_id"], data["state"], data.get("outcome"), *(f"· {fact}" for fact in facts if fact), style="dim"
    )


def show_receipt(data: Mapping[str, Any], printer: Printer) -> None:
    printer.say(data["run_id"], data["state"])
    printer.say(f"watch it: zarniwoop runs watch {data['run_id']}", style="dim")


def show_files(data: Mapping[str, Any], printer: Printer) -> None:
    printer.table(["file", "bytes"], [(each["name"], each["size"]) for each in data["artifacts"]])
