"""What `doctor` makes of what it sees: pure, from a stack's answers to findings with a way out."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from zarniwoop_cli.ways_out import LEVEL_4

_SKEW_NOTED, _SKEW_WRONG = 30.0, 300.0
"""Seconds; AWS refuses signatures that are off by more than five minutes."""
_MINUTE, _HOUR = 60.0, 3_600.0


class Weight(StrEnum):
    OK = "ok"
    NOTE = "note"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at. `way_out` says what to do, where something is to be done."""

    weight: Weight
    what: str
    way_out: str | None = None


_WAYS_OUT = {
    "credentials_rejected": "save a key that it accepts: research.endpoint.{id}.apiKey",
    "quota_exhausted": "wait until its quota comes back, or add another endpoint",
    "rate_limited": "wait; others are asked meanwhile",
    "provider_unavailable": "wait; others are asked meanwhile",
    "malformed_answer": "check research.endpoint.{id}.baseUrl: what answers there does not speak its protocol",
    "access_refused": "check whether it lets the stack's addresses in",
}
_SEARXNG = (
    "give JSON: its settings.yml must say `search.formats: [html, json]`, and its limiter must let the stack pass"
)


def clock(here: float, there: float | None) -> Finding:
    """`there` is what the answer's Date header says."""
    if there is None:
        return Finding(weight=Weight.NOTE, what="the clocks could not be compared: the answer has no Date")
    skew = here - there
    told = f"this clock is {abs(skew):.0f} s {'ahead of' if skew > 0 else 'behind'} the stack's"
    if abs(skew) <= _SKEW_NOTED:
        return Finding(weight=Weight.OK, what="this clock agrees with the stack's")
    weight = Weight.WRONG if abs(skew) > _SKEW_WRONG else Weight.NOTE
    return Finding(weight=weight, what=told, way_out="set it by NTP: links, signatures and dates depend on it")


def tools(listed: int) -> Finding:
    if listed:
        return Finding(weight=Weight.OK, what=f"the token is valid, and good for {listed} tools")
    return Finding(
        weight=Weight.WRONG,
        what="the token is valid, but good for no tool",
        way_out='issue one of level 1 or higher: make token ARGS="--level 1 --project demo"',
    )


def of_providers(report: Mapping[str, Any]) -> Iterator[Finding]:
    """Out of `research_providers` in full."""
    yield from _modalities(report["routing"], report["providers"])
    for row in report["providers"]:
        yield from _instance(row)
    for each in report["misconfigured"]:
        what = f"{each['id']} is misconfigured: {each['setting']}: {each['reason']}"
        yield Finding(weight=Weight.WRONG, what=what, way_out="mend that setting (`zarniwoop settings show`)")
    for budget in report.get("budgets") or ():
        if any(budget.get(unit) and budget[unit]["left"] <= 0 for unit in ("calls", "usd")):
            way_out = f"raise research.budget.{budget['budget']}.*, or wait for the next {budget['period']}"
            yield Finding(weight=Weight.NOTE, what=f"the budget of the {budget['budget']} is spent", way_out=way_out)
    if report.get("settings_are_stale"):
        yield Finding(
            weight=Weight.NOTE,
            what="the settings are a copy: Parameter Store does not answer",
            way_out="wait; if it lasts, look at the function's role and at AWS's health page",
        )


def _modalities(routing: Mapping[str, Any], providers: Any) -> Iterator[Finding]:
    unserved = sorted(modality for modality, asked in routing.items() if not asked)
    if unserved and len(unserved) == len(routing):
        yield Finding(
            weight=Weight.WRONG,
            what="there is no endpoint at all",
            way_out="save research.endpoint.<id>.protocol = wikipedia, or another that needs no key",
        )
        return
    served = len(routing) - len(unserved)
    yield Finding(weight=Weight.OK, what=f"{len(providers)} providers serve {served} of {len(routing)} modalities")
    if unserved:
        yield Finding(
            weight=Weight.NOTE,
            what=f"nobody serves {', '.join(unserved)}",
            way_out="save research.endpoint.<id>.protocol = one that does: README's table of providers says which",
        )


def _instance(row: Mapping[str, Any]) -> Iterator[Finding]:
    is_searxng = row["protocol"] == "searxng"
    for reason, cooling in _by_reason(row["cooldowns"]).items():
        lefts = [each["remaining_seconds"] for each in cooling]
        until = "until its settings change" if None in lefts else f"for {_lasting(max(lefts))} yet"
        modalities = ", ".join(sorted({each["modality"] for each in cooling}))
        way_out = _WAYS_OUT.get(reason, "wait; others are asked meanwhile").format(id=row["id"])
        if is_searxng and reason == "access_refused":
            way_out = f"let it {_SEARXNG}"
        weight = Weight.WRONG if None in lefts else Weight.NOTE
        yield Finding(weight=weight, what=f"{row['id']} ({modalities}): {reason}, left alone {until}", way_out=way_out)
    exhausted = sorted(modality for modality, state in row["availability"].items() if state == "EXHAUSTED")
    if exhausted:
        yield Finding(
            weight=Weight.NOTE,
            what=f"{row['id']} has nothing left ({', '.join(exhausted)})",
            way_out="wait until its quota comes back, or add another endpoint",
        )
    if is_searxng and row["seen"].get("reachable") is None:
        yield Finding(
            weight=Weight.NOTE,
            what=f"nobody has asked {row['id']} yet, so whether it gives JSON is not known",
            way_out=f"`zarniwoop settings test {row['id']}` tries it, with a token of level 4: {LEVEL_4}",
        )


def _by_reason(cooldowns: Any) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for each in cooldowns:
        found.setdefault(each["reason"], []).append(each)
    return found


def _lasting(seconds: float) -> str:
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    return f"{seconds / _MINUTE:.0f} min" if seconds < _HOUR else f"{seconds / _HOUR:.1f} h"
