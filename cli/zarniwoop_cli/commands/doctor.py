"""`doctor`: what keeps a stack from answering, from the URL to each provider, with the way out; it spends nothing."""

import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import typer

from zarniwoop_cli.command import command
from zarniwoop_cli.configuration import NotConfiguredError
from zarniwoop_cli.exits import Exit, exit_of
from zarniwoop_cli.findings import Finding, Weight, clock, of_providers, tools
from zarniwoop_cli.session import Form, Session
from zarniwoop_cli.ways_out import way_out, wording

_LOG = "look into the log of the stack's function for what it says of this request"
_SIGNS = {Weight.OK: ("✓", "green"), Weight.NOTE: ("!", "yellow"), Weight.WRONG: ("✗", "red")}


def register(app: typer.Typer) -> None:
    command(app, "doctor")(doctor)


def doctor(session: Session) -> Exit:
    """Look for what is missing or wrong: URL, token, clock, endpoints, providers that are left alone."""
    examination = _Examination(session)
    found: list[Finding] = []
    for finding in examination.findings():
        found.append(finding)
        if session.form is Form.PEOPLE:
            _show(finding, session)
    if session.form is not Form.PEOPLE:
        session.document({"findings": [asdict(each) for each in found]}, None)
        if session.form is Form.JSONL:
            session.write_lines([asdict(each) for each in found])
    return examination.exit or (Exit.NOT_ANSWERED if any(_is_wrong(each) for each in found) else Exit.ANSWERED)


class _Examination:
    """One look after the other, for as long as the one before leaves something to look at."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.exit: Exit | None = None

    def findings(self) -> Iterator[Finding]:
        from zarniwoop_client.problems import ZarniwoopError

        try:
            yield from self._findings()
        except NotConfiguredError as error:
            self.exit = Exit.USAGE
            what, action = error.parts()
            yield Finding(weight=Weight.WRONG, what=what, way_out=action)
        except ZarniwoopError as error:
            problem = error.problem
            self.exit = exit_of(problem.type, problem.status, retryable=problem.retryable)
            action = way_out(problem) or _LOG
            yield Finding(weight=Weight.WRONG, what=wording(problem), way_out=action)

    def _findings(self) -> Iterator[Finding]:
        known, client = self._session.configuration, self._session.client
        yield Finding(weight=Weight.OK, what=f"asking {known.url} (from {known.source})")
        catalogue = client.tools("json_schema")
        yield Finding(weight=Weight.OK, what="it is there, and it is Zarniwoop")
        yield tools(len(catalogue.data["tools"]))
        yield clock(time.time(), catalogue.sent_at)
        report: Any = client.call("research_providers", detail=True).data
        yield from of_providers(report)


def _show(finding: Finding, session: Session) -> None:
    sign, style = _SIGNS[finding.weight]
    session.printer.say(sign, finding.what, style=style)
    if finding.way_out:
        session.printer.say("→", finding.way_out, indent=2)


def _is_wrong(finding: Finding) -> bool:
    return finding.weight is Weight.WRONG
