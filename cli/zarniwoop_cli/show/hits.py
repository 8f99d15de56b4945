"""Hits, one below the other, and who was asked for them."""

from collections.abc import Mapping, Sequence
from typing import Any

from zarniwoop_cli.printer import Printer, money

_MOST_SNIPPET = 300
_MOST_AUTHORS = 3


def show_search(data: Mapping[str, Any], printer: Printer) -> None:
    for hit in data["hits"]:
        show_hit(hit, printer)
    if not data["hits"] and not (data.get("size") or {}).get("hits_left"):
        printer.say("nothing was found" if data.get("failure") is None else "nobody answered")
    show_account(data, printer)


def show_rich(data: Mapping[str, Any], printer: Printer) -> None:
    for modality, result in data["results"].items():
        printer.say(modality, style="bold underline")
        show_search(result, printer)
        problem = data["problems"].get(modality)
        if problem:
            printer.say("not answered:", problem["detail"], style="yellow", indent=2)
        printer.say()
    _show_size(data, printer)


def show_rest(data: Mapping[str, Any], printer: Printer) -> None:
    """What did not fit into an answer."""
    for modality, result in (data.get("results") or {}).items():
        printer.say(modality, style="bold underline")
        for hit in result.get("hits") or ():
            show_hit(hit, printer)
    for rows in data.values():
        for each in rows if isinstance(rows, list) else ():
            _show_row(each, printer)
    _show_size(data, printer)


def show_hit(hit: Mapping[str, Any], printer: Printer, *, rank: int | None = None, why: str | None = None) -> None:
    printer.say(f"{rank or hit.get('rank') or '-':>3}.", hit["title"], style="bold")
    printer.say(hit["url"], style="cyan", indent=5)
    facts = " · ".join(str(fact) for fact in _facts(hit) if fact)
    if facts:
        printer.say(facts, style="dim", indent=5)
    if hit.get("snippet"):
        printer.paragraph(_shortened(hit["snippet"]), indent=5)
    if why:
        printer.paragraph(why, style="dim", indent=5)


def show_account(data: Mapping[str, Any], printer: Printer) -> None:
    """Who was asked, what became of the filters, and what it cost."""
    asked = ", ".join(_attempt(attempt) for attempt in data.get("attempts") or ())
    if data.get("cached"):
        asked = f"nobody: kept from {data.get('age_seconds') or 0:.0f} s ago"
    if asked:
        cost = money(data.get("cost"), data.get("credits"))
        printer.say("asked:", asked, f"· {cost}" if cost else None, style="dim")
    left_out = [
        f"{each['name']} ({each.get('reason') or 'not supported'})"
        for each in data.get("applied") or ()
        if each["handling"] == "ignored"
    ]
    if left_out:
        printer.say("ignored:", ", ".join(left_out), style="yellow")
    for told in ("note", "degraded"):
        if data.get(told):
            printer.say(f"{told}:", data[told], style="yellow")
    _show_size(data, printer)


def show_plan(data: Mapping[str, Any], printer: Printer) -> None:
    """A dry run: who would be asked, who would not, and the worst case."""
    for modality, plan in (data.get("plans") or {}).items():
        asked = [f"{each['position']}. {each['instance_id']}" for each in plan["eligible"]]
        printer.say(modality, "would ask", ", ".join(asked) or "nobody")
        for each in (skipped for skipped in plan["skipped"] if skipped["reason"] != "other_modality"):
            printer.say("not", each["instance_id"], "because of", each["reason"], each["detail"], indent=2, style="dim")
    for page in data.get("pages") or ():
        steps = [
            f"{step['name']} ({step['skipped']})" if step.get("skipped") else step["name"] for step in page["steps"]
        ]
        printer.say(page["url"], " → ".join(steps))
    for note in data.get("notes") or ():
        printer.say(note, style="dim")
    worst = data.get("worst_case") or {}
    cost = money(worst.get("usd"), worst.get("credits")) or "nothing"
    printer.say(f"at most {worst.get('calls', 0)} calls, costing {cost}; nobody was asked")


def _facts(hit: Mapping[str, Any]) -> Sequence[Any]:
    authors = list(hit.get("authors") or ())
    more = [f"and {len(authors) - _MOST_AUTHORS} more"] if len(authors) > _MOST_AUTHORS else []
    named = [f"{name} {value}" for name, value in (hit.get("identifiers") or {}).items() if name in ("doi", "isbn")]
    published = hit.get("published_at") or {}
    return [
        str(published.get("value", ""))[:10],
        hit.get("source"),
        ", ".join([*authors[:_MOST_AUTHORS], *more]),
        *named,
    ]


def _attempt(attempt: Mapping[str, Any]) -> str:
    why = f" ({attempt['reason']})" if attempt.get("reason") else ""
    took = f" {attempt['duration_ms']} ms" if attempt.get("duration_ms") else ""
    return f"{attempt['instance_id']} {attempt['outcome']}{why}{took}"


def _shortened(text: str) -> str:
    return text if len(text) <= _MOST_SNIPPET else text[:_MOST_SNIPPET].rsplit(" ", 1)[0] + " …"


def _show_size(data: Mapping[str, Any], printer: Printer) -> None:
    size = data.get("size") or {}
    if size.get("hits_left"):
        rest = f"; `zarniwoop more {size['handle']}` has them" if size.get("handle") else ""
        least = f"; --max-chars {size['least_max_chars']} would let the next in" if size.get("least_max_chars") else ""
        printer.say(f"{size['hits_left']} more did not fit into the bound{rest}{least}", style="yellow")


def _show_row(row: Any, printer: Printer) -> None:
    hit = row.get("hit", row)
    if "title" in hit and "url" in hit:
        show_hit(hit, printer, rank=row.get("rank"), why=row.get("reason"))
    elif isinstance(row.get("text"), str) and "start" in row:
        printer.block(row["text"])
    else:
        printer.say(*(f"{name}={value}" for name, value in row.items() if value not in (None, [], {})))
