"""`investigate` and `runs`: runs are started, watched while they go on, stopped, and read afterwards.

Ctrl-C stops the run that `investigate` began, and leaves the one that `runs watch` only looks at, unless
`--keep-on-interrupt` or `--stop-on-interrupt` says otherwise; the end of `--timeout` never ends the run.
"""

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zarniwoop_cli.command import command
from zarniwoop_cli.exits import Exit
from zarniwoop_cli.fields import INVESTIGATING, given
from zarniwoop_cli.session import Form, Session, tell

if TYPE_CHECKING:
    from zarniwoop_client import Answer

RunId = Annotated[str, typer.Argument(help="The run's id: `runs list` has them.")]
StopOnInterrupt = Annotated[
    bool, typer.Option("--stop-on-interrupt/--keep-on-interrupt", help="Whether Ctrl-C stops the run as well.")
]


def register(app: typer.Typer) -> None:
    command(app, "investigate", fields=INVESTIGATING)(investigate)
    runs = typer.Typer(help="Watch, stop and read investigations.", no_args_is_help=True)
    command(runs, "list")(list_runs)
    command(runs, "watch")(watch)
    command(runs, "stop")(stop)
    command(runs, "open")(open_run)
    app.add_typer(runs, name="runs")


def investigate(
    session: Session,
    detach: Annotated[bool, typer.Option("--detach", "-d", help="Only start the run, and say its id.")] = False,
    stop_on_interrupt: StopOnInterrupt = True,
    **values: Any,
) -> Exit | None:
    """Answer a question with curated sources: searches of several kinds, judged and ranked."""
    arguments = given(values)
    try:
        answer = session.client.call("research_investigate", **arguments)
    except KeyboardInterrupt:
        tell("interrupted; whether the run has begun is not known: `zarniwoop runs list` shows it")
        return Exit.INTERRUPTED
    receipt = answer.raw["data"]
    if detach or "status_url" not in receipt:
        session.write(answer)
        return None
    return _watched(session, receipt["run_id"], stop_on_interrupt)


def list_runs(
    session: Session,
    limit: Annotated[int | None, typer.Option("--limit", "-n", help="How many, 1 to 100.")] = None,
    page_token: Annotated[str | None, typer.Option(help="Where the page before said that it goes on.")] = None,
) -> None:
    """List the project's runs, the newest first."""
    session.write(session.client.runs.list(limit=limit, page_token=page_token))


def watch(session: Session, run_id: RunId, stop_on_interrupt: StopOnInterrupt = False) -> Exit | None:
    """Watch a run until it has ended, and show what it found."""
    return _watched(session, run_id, stop_on_interrupt)


def stop(session: Session, run_id: RunId) -> None:
    """Stop a run; what it has found is kept."""
    session.write(session.client.runs.stop(run_id))


def open_run(
    session: Session,
    run_id: RunId,
    name: Annotated[str | None, typer.Argument(help="One of its files, which is written to stdout.")] = None,
) -> Exit | None:
    """Show a run as it stands and list its files, or write one of them."""
    if name is not None:
        return _write_file(session, run_id, name)
    if session.form is Form.PEOPLE:
        session.write(session.client.runs.get(run_id))
    session.write(session.client.runs.artifacts(run_id))
    return None


def _watched(session: Session, run_id: str, stop_on_interrupt: bool) -> Exit:
    from zarniwoop_cli.progress import RunProgress
    from zarniwoop_client.problems import OutOfTime

    try:
        with RunProgress(stops=stop_on_interrupt) as progress:
            told = progress.told if progress.shown else None
            answer = session.client.wait_for(run_id, on_progress=told, timeout=session.options.timeout)
    except KeyboardInterrupt:
        return _interrupted(session, run_id, stop_on_interrupt)
    except OutOfTime as error:
        code = session.fail(error)
        _tell_how_to_go_on(session, run_id)
        return code
    session.write(answer)
    return _judged(answer)


def _judged(answer: "Answer[Any]") -> Exit:
    """A run that did not come to its end has not answered, whatever it found until then."""
    run = answer.raw["data"]
    if run["state"] == "succeeded":
        return Exit.ANSWERED
    tell(f"the run ended as {run['state']}" + (f": {run['error']}" if run.get("error") else ""))
    return Exit.NOT_ANSWERED


def _interrupted(session: Session, run_id: str, stop_on_interrupt: bool) -> Exit:
    """Says how to go on; a second Ctrl-C does not wait for the stop."""
    if not stop_on_interrupt:
        tell(f"no longer watched: {run_id} goes on")
        _tell_how_to_go_on(session, run_id)
        return Exit.INTERRUPTED
    from zarniwoop_client.problems import ZarniwoopError

    try:
        session.client.runs.stop(run_id)
        tell(f"stopping {run_id}; what it found is kept")
    except ZarniwoopError as error:
        tell(f"{run_id} was not stopped: {error.problem.detail}")
        _tell_how_to_go_on(session, run_id)
        return Exit.INTERRUPTED
    except KeyboardInterrupt:
        tell(f"left at once: whether {run_id} was stopped is not known")
        _tell_how_to_go_on(session, run_id)
        return Exit.INTERRUPTED
    tell(f"  → zarniwoop runs open {run_id}{_where(session)}")
    return Exit.INTERRUPTED


def _tell_how_to_go_on(session: Session, run_id: str) -> None:
    tell(f"  → zarniwoop runs watch {run_id}{_where(session)}")
    tell(f"  → zarniwoop runs stop {run_id}{_where(session)}")


def _where(session: Session) -> str:
    return f" --project {session.options.project}" if session.options.project else ""


def _write_file(session: Session, run_id: str, name: str) -> Exit | None:
    """A file as it is, unless a terminal reads it. The link is the server's own, and is sent no token."""
    listed = session.client.runs.artifacts(run_id).raw["data"]["artifacts"]
    link = next((each["url"] for each in listed if each["name"] == name), None)
    if link is None:
        tell(f"the run has no such file; it has {', '.join(each['name'] for each in listed) or 'none'}")
        return Exit.NOT_ANSWERED
    import httpx

    try:
        content = httpx.get(link, timeout=session.options.timeout or 30.0).raise_for_status().content
    except httpx.HTTPError as error:
        tell(f"the file could not be read ({type(error).__name__}); its link works for a quarter of an hour")
        return Exit.UNREACHABLE
    if sys.stdout.isatty():
        session.printer.block(content.decode(errors="replace"))
        return None
    sys.stdout.buffer.write(content)
    return None
