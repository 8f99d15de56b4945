"""`evidence`, `usage` and `settings`: what is kept, what was spent, and what is in force."""

from pathlib import Path
from typing import Annotated, Any

import typer

from zarniwoop_cli.command import command
from zarniwoop_cli.fields import Modality
from zarniwoop_cli.session import Session, tell

EvidenceId = Annotated[str, typer.Argument(help="The evidence's id: ev-…")]
Level = Annotated[str | None, typer.Option(help="tenant, or project, which is the default.")]
Version = Annotated[
    str | None, typer.Option(help="The level's version that you have seen (`settings show`): another's change refuses.")
]


def register(app: typer.Typer) -> None:
    evidence = typer.Typer(help="Read, cite and verify what was read.", no_args_is_help=True)
    command(evidence, "list")(list_evidence)
    command(evidence, "show")(show_evidence)
    command(evidence, "cite")(cite)
    command(evidence, "verify")(verify)
    app.add_typer(evidence, name="evidence")
    settings = typer.Typer(help="Show and change settings (a token of level 4).", no_args_is_help=True)
    command(settings, "show")(show_settings)
    command(settings, "set")(set_settings)
    command(settings, "unset")(unset)
    command(settings, "test")(test_endpoint)
    app.add_typer(settings, name="settings")
    command(app, "usage")(usage)


def list_evidence(
    session: Session,
    task_id: Annotated[str | None, typer.Option(help="Only evidence of this task.")] = None,
    page_url: Annotated[str | None, typer.Option(help="Only evidence of this page.")] = None,
    limit: Annotated[int | None, typer.Option("--limit", "-n", help="How many, 1 to 100.")] = None,
    page_token: Annotated[str | None, typer.Option(help="Where the page before said that it goes on.")] = None,
) -> None:
    """List what this project has read, the newest first."""
    session.write(session.client.evidence.list(task_id=task_id, url=page_url, limit=limit, page_token=page_token))


def show_evidence(
    session: Session,
    evidence_id: EvidenceId,
    offset: Annotated[int | None, typer.Option(help="The character to start at.")] = None,
    text_chars: Annotated[int | None, typer.Option(help="How many characters of the text.")] = None,
) -> None:
    """Show one evidence with its text."""
    session.write(session.client.evidence.get(evidence_id, offset=offset, text_chars=text_chars))


def cite(
    session: Session,
    ids: Annotated[list[str], typer.Argument(help="Ids of evidence: ev-…")],
    form: Annotated[str, typer.Option("--format", "-f", help="markdown, bibtex or csl-json.")] = "markdown",
) -> None:
    """Write evidence as references."""
    session.call("evidence_store", {"action": "cite", "ids": ids, "format": form})


def verify(session: Session, evidence_id: EvidenceId) -> None:
    """Fetch the page again and tell whether what was read still stands."""
    session.write(session.client.evidence.verify(evidence_id))


def usage(
    session: Session,
    date_from: Annotated[str | None, typer.Option("--from", help="The first day, YYYY-MM-DD.")] = None,
    date_to: Annotated[str | None, typer.Option("--to", help="The last day: today.")] = None,
    instance_id: Annotated[str | None, typer.Option("--provider", help="Only this provider instance.")] = None,
    modality: Annotated[Modality | None, typer.Option("--modality", "-m", case_sensitive=False)] = None,
) -> None:
    """Sum up what was asked of whom and what it cost, seven days where none are named."""
    session.write(
        session.client.usage(date_from=date_from, date_to=date_to, instance_id=instance_id, modality=modality)
    )


def show_settings(session: Session) -> None:
    """Show what is in force and where it stands; keys by their first characters only."""
    session.write(session.client.settings.read())


def set_settings(
    session: Session,
    pairs: Annotated[list[str], typer.Argument(help="research.default.web=serper-main …")],
    version: Version = None,
    level: Level = None,
) -> None:
    """Change settings. A key on the command line is seen by others: `name=@FILE` reads it from a file."""
    session.write(session.client.settings.save(_changes(pairs), version=_version(session, version, level), level=level))
    tell("saved")


def unset(session: Session, name: str, version: Version = None, level: Level = None) -> None:
    """Take away a setting, or an endpoint with all of its settings."""
    session.write(session.client.settings.delete(name, version=_version(session, version, level), level=level))
    tell("taken away")


def test_endpoint(
    session: Session,
    endpoint_id: str,
    draft: Annotated[
        list[str] | None, typer.Argument(help="What to try instead of what is saved: timeoutSeconds=3")
    ] = None,
    query: Annotated[str | None, typer.Option(help="What to search for.")] = None,
) -> None:
    """Try an endpoint out, saved or not, before it is used."""
    session.write(session.client.settings.test(endpoint_id, _changes(draft or []), query=query))


def _version(session: Session, seen: str | None, level: str | None) -> str:
    """That which stands there now, where none is named."""
    return seen or str(session.client.settings.read().raw["data"]["versions"].get(level or "project", "*"))


def _changes(pairs: list[str]) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise typer.BadParameter("settings are written as name=value")
        if value.startswith("@"):
            try:
                value = Path(value[1:]).read_text("utf-8").strip()
            except OSError as error:
                raise typer.BadParameter(f"{value[1:]} cannot be read ({error.strerror})") from error
        changes[name] = value
    return changes
