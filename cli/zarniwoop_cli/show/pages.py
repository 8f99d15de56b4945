"""Pages that were fetched, evidence, and places."""

from collections.abc import Mapping, Sequence
from typing import Any

from zarniwoop_cli.printer import Printer, moment

_MOST_LINKS = 5


def show_pages(data: Mapping[str, Any], printer: Printer) -> None:
    """Each page's text stands in its fence, as a model gets it: that it ends there can be seen."""
    for page in data["pages"]:
        _show_page(page, printer)
    left = (data.get("size") or {}).get("hits_left")
    if left:
        printer.say(f"{left} parts did not fit; `zarniwoop more {data['size'].get('handle')}` reads on", style="yellow")


def show_places(data: Mapping[str, Any], printer: Printer) -> None:
    printer.table(
        ["place", "lat", "lon", "precision", "country", "kind"],
        [
            (
                each.get("label") or each["name"],
                *(each.get(fact) for fact in ("lat", "lon", "precision", "country", "kind")),
            )
            for each in data["places"]
        ],
    )
    if data.get("note"):
        printer.say("note:", data["note"], style="yellow")


def show_evidence_list(data: Mapping[str, Any], printer: Printer) -> None:
    counts = data.get("quote_counts") or {}
    for each in data["evidence"]:
        printer.say(each["id"], each["title"], style="bold")
        printer.say(each["final_url"], style="cyan", indent=5)
        facts = [f"read {moment(each['retrieved_at'])}", f"score {each['credibility_score']:g}"]
        if counts.get(each["id"]):
            facts.append(f"{counts[each['id']]} quotes")
        printer.say(" · ".join(facts), style="dim", indent=5)
    if not data["evidence"]:
        printer.say(data.get("note") or "nothing was read")
    _show_more(data, printer)


def show_evidence(data: Mapping[str, Any], printer: Printer) -> None:
    evidence = data["evidence"]
    printer.say(evidence["title"], style="bold")
    printer.say(evidence["final_url"], style="cyan")
    printer.say("read", moment(evidence["retrieved_at"]), "by", evidence["extractor"], style="dim")
    dates = [
        f"{name} {evidence[f'{name}_at']['value']}" for name in ("published", "modified") if evidence.get(f"{name}_at")
    ]
    if dates:
        printer.say(", ".join(dates), style="dim")
    _show_warnings(evidence, printer)
    parts = [f"{each['name']} at {each['start']}" for each in evidence.get("anchors") or ()]
    if parts:
        printer.say("parts:", ", ".join(parts), style="dim")
    for quote in evidence.get("quotes") or ():
        printer.say(f"quote {quote['start']} to {quote['end']}:", f"“{quote['text']}”")
    printer.block(data["content"])
    if data.get("next_offset") is not None:
        printer.say(f"goes on at --offset {data['next_offset']}", style="yellow")


def show_links(links: Sequence[Mapping[str, Any]], printer: Printer) -> None:
    """The evidence that an answer stands on."""
    if links:
        more = f"and {len(links) - _MOST_LINKS} more: `zarniwoop evidence list`" if len(links) > _MOST_LINKS else None
        printer.say("evidence:", ", ".join(each["id"] for each in links[:_MOST_LINKS]), more, style="dim")


def show_citations(data: Mapping[str, Any], printer: Printer) -> None:
    import json

    printer.block(data["text"] if data.get("text") is not None else json.dumps(data["items"], indent=2))


def show_verification(data: Mapping[str, Any], printer: Printer) -> None:
    alike = f"({data['alike']:.0%} of its lines stand)" if data.get("alike") is not None else None
    printer.say(data["evidence_id"], data["verdict"], alike, data.get("reason"), style="bold")
    for each in data.get("quotes") or ():
        printer.say(each.get("verdict"), f"“{each.get('text')}”", indent=2)


def _show_page(page: Mapping[str, Any], printer: Printer) -> None:
    moved = f"→ {page['final_url']}" if page.get("final_url") not in (None, page["url"]) else None
    printer.say(page["url"], moved, style="bold cyan")
    printer.say(page["outcome"], f"({page['reason']})" if page.get("reason") else None, page.get("title"), indent=2)
    steps = [f"{each['name']} {each['outcome']} {each['milliseconds']} ms" for each in page.get("steps") or ()]
    printer.say(" → ".join(steps), style="dim", indent=2)
    for quote in page.get("quotes") or ():
        _show_quote(quote, printer)
    _show_warnings(page, printer)
    if page.get("evidence_id"):
        printer.say("kept as", page["evidence_id"], style="dim", indent=2)
    for name in ("not_kept", "note", "suggested_action"):
        if page.get(name):
            printer.say(f"{name.replace('_', ' ')}:", page[name], style="yellow", indent=2)
    if page.get("content"):
        printer.block(page["content"])
    for link in page.get("links") or ():
        printer.say(link["url"], link["text"], indent=2)
    printer.say()


def _show_warnings(page: Mapping[str, Any], printer: Printer) -> None:
    """What somebody put there for models and not for people."""
    hidden = [f"{count} {kind}" for kind, count in (page.get("hidden") or {}).items()]
    if hidden:
        printer.say("taken out, since no reader sees it:", ", ".join(hidden), style="yellow", indent=2)
    if page.get("suspicious"):
        printer.say("looks like orders to a model:", ", ".join(page["suspicious"]), style="yellow", indent=2)


def _show_quote(quote: Mapping[str, Any], printer: Printer) -> None:
    if quote["stands"]:
        printer.say(
            f"the quote stands at {quote['start']} to {quote['end']}: “{quote['text']}”", style="green", indent=2
        )
        return
    closest = quote.get("closest") or {}
    near = f"; closest is “{closest['text']}”" if closest else ""
    printer.say(f"quote {quote['index'] + 1} does not stand{near}", style="yellow", indent=2)


def _show_more(data: Mapping[str, Any], printer: Printer) -> None:
    if data.get("next_page_token"):
        printer.say(f"goes on with --page-token {data['next_page_token']}", style="yellow")
