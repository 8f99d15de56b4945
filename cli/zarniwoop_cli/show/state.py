"""What a stack is made of and what it did: providers, settings, usage, tools."""

from collections.abc import Mapping, Sequence
from typing import Any

from zarniwoop_cli.printer import Printer, amount, moment, money

_OF_EVERY_TOOL = ("project_id", "process_id", "dry_run")


def show_providers(data: Mapping[str, Any], printer: Printer) -> None:
    rows = [
        (row["id"], row["protocol"], states(row), quota(row), money(row.get("cost_per_call")))
        for row in data["providers"]
    ]
    printer.table(["instance", "protocol", "modalities and their state", "left", "a call"], rows)
    for modality, asked in data["routing"].items():
        printer.say(f"{modality}:", " → ".join(asked) or "nobody", style="dim")
    for budget in data.get("budgets") or ():
        for unit in ("calls", "usd"):
            if budget.get(unit):
                left, limit = budget[unit]["left"], budget[unit]["limit"]
                told = f"{amount(left)} of {amount(limit)} {unit} left this {budget['period']}"
                printer.say(f"budget of the {budget['budget']}: {told}")
    for each in data["misconfigured"]:
        printer.say(f"misconfigured: {each['id']}: {each['setting']}: {each['reason']}", style="yellow")
    if data.get("settings_are_stale"):
        printer.say("Parameter Store does not answer: these settings are a copy", style="yellow")


def states(row: Mapping[str, Any]) -> str:
    """Each modality, with its state and how long that lasts where it is another than READY."""
    left = {each["modality"]: each["remaining_seconds"] for each in row["cooldowns"]}

    def told(modality: str, state: str) -> str:
        seconds = f" {left[modality]:.0f} s left" if left.get(modality) else ""
        return modality if state == "READY" else f"{modality} {state}{seconds}"

    return ", ".join(told(modality, state) for modality, state in row["availability"].items())


def quota(row: Mapping[str, Any]) -> str:
    known = row.get("quota") or {}
    left = known.get("remaining")
    return "" if left is None else f"{amount(left)} {known.get('unit') or ''}".strip()


def show_usage(data: Mapping[str, Any], printer: Printer) -> None:
    printer.say(f"{data['date_from']} to {data['date_to']}", style="bold")
    columns = ["asked", "calls", "failed", "hits", "kept hits", "cost"]
    for name in ("providers", "modalities", "days"):
        if data[name]:
            rows = [(key, *_usage_cells(row)) for key, row in data[name].items()]
            printer.table([name, *columns], rows)
            printer.say()
    printer.table(["", *columns], [("total", *_usage_cells(data["total"]))])
    models = data["models"]
    tokens = f"{models['input_tokens']} + {models['output_tokens']} tokens"
    printer.say(f"{data['runs']} runs; models: {models['calls']} calls, {tokens}, {money(models['usd']) or '$0'}")
    for cut in data.get("cut") or ():
        printer.say("not whole:", cut["what"], cut.get("instance_id"), style="yellow")


def show_settings(data: Mapping[str, Any], printer: Printer) -> None:
    rows = [(row["key"], row["value"] or row["preview"], row["level"]) for row in data["settings"]]
    printer.table(["setting", "value", "level"], rows)
    printer.say()
    endpoints = [
        (
            row["id"],
            row["protocol"],
            row["badge"] if row["enabled"] else "disabled",
            row["key_from"],
            row["key_preview"],
        )
        for row in data["endpoints"]
    ]
    printer.table(["endpoint", "protocol", "state", "key from", "key"], endpoints)
    for problem in (*data["problems"], *(each for row in data["endpoints"] for each in row["problems"])):
        printer.say(f"{problem['setting']}: {problem['reason']}", style="yellow")
    printer.say(
        "versions:", ", ".join(f"{level} {version}" for level, version in data["versions"].items()), style="dim"
    )


def show_tools(tools: Sequence[Mapping[str, Any]], printer: Printer) -> None:
    printer.table(
        ["tool", "level", "arguments (* needed)"],
        [(tool["name"], tool.get("level"), _arguments(tool.get("json_schema") or tool)) for tool in tools],
    )


def _arguments(tool: Mapping[str, Any]) -> str:
    schema = tool.get("schema") or {}
    needed = schema.get("required") or ()
    names = [name for name in schema.get("properties") or () if name not in _OF_EVERY_TOOL]
    return " ".join(f"{name}*" if name in needed else name for name in names)


def _usage_cells(row: Mapping[str, Any]) -> Sequence[object]:
    cost = money(row["usd"], row["credits"])
    return (row["asked"], row["calls"], row["failed"], row["hits"], row["kept_hits"], cost)


def show_runs(data: Mapping[str, Any], printer: Printer) -> None:
    printer.table(
        ["run", "state", "outcome", "began", "took", "cost"],
        [
            (run["run_id"], run["state"], run["outcome"], moment(run["created_at"]), took(run), money(run["cost"]))
            for run in data["runs"]
        ],
    )
    if data.get("next_page_token"):
        printer.say(f"goes on with --page-token {data['next_page_token']}", style="yellow")


def took(run: Mapping[str, Any]) -> str:
    end = run.get("ended_at") or run.get("updated_at")
    return f"{end - run['created_at']:.1f} s" if end else ""
