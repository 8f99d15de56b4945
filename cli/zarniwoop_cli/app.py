"""The command as a whole: what it is called, what it says of itself, and which commands it has."""

from typing import Annotated

import typer

from zarniwoop_cli.commands import doctor, local, runs, stored, tools
from zarniwoop_cli.exits import MEANING

_HELP = """Research and search for AI agents, from the command line: asks a Zarniwoop stack over HTTP.

Which stack: --url and --token, else ZARNIWOOP_URL and ZARNIWOOP_TOKEN, else the one that `zarniwoop serve` keeps up."""


def _epilog() -> str:
    """Lines that typer leaves apart only when a blank one stands between them."""
    told = "\n\n".join(f"{number.value} {meaning}" for number, meaning in MEANING.items())
    return f"Exit codes:\n\n{told}\n\nResults go to stdout, all else to stderr. NO_COLOR is heeded."


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"zarniwoop {version('zarniwoop-cli')}")
        raise typer.Exit


_Version = Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which version it is.")]


def _every(version: _Version = False) -> None:
    """Takes what stands before the command."""


def made() -> typer.Typer:
    app = typer.Typer(
        name="zarniwoop",
        help=_HELP,
        epilog=_epilog(),
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    app.callback()(_every)
    for module in (tools, runs, stored, doctor, local):
        module.register(app)
    return app
