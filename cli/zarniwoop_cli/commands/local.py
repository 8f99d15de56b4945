"""`serve`, `stop`, `demo` and `token`: what the checkout's own `stack` modules do, under this command's name.

They replace this process: Ctrl-C, exit codes and output are theirs. An installation without the checkout has none.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import typer

from zarniwoop_cli.configuration import repository
from zarniwoop_cli.exits import Exit
from zarniwoop_cli.session import tell

_COMMANDS = {
    "serve": "Keep a stack up on this machine until Ctrl-C, with the real providers that need no key.",
    "stop": "End every stack of this checkout that is up on this machine.",
    "demo": "Deploy to an emulator on this machine, show real tool calls, and stop.",
    "token": "Issue a token, or take one back: for the local stack, or by --stack-name for one in AWS.",
}
_PYTHON = Path(".venv/bin/python")
_AS_GIVEN = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


def register(app: typer.Typer) -> None:
    for name, told in _COMMANDS.items():
        app.command(name, help=told, context_settings=_AS_GIVEN)(_runner(name))


def _runner(name: str) -> Callable[[typer.Context], None]:
    def run(context: typer.Context) -> None:
        reason = _unable(name)
        if reason is None:
            _become(name, context.args)
        tell(reason)
        raise typer.Exit(Exit.USAGE)

    run.__name__ = name
    return run


def _unable(name: str) -> str | None:
    """Why that cannot be done here, if it cannot."""
    root = repository()
    if root is None:
        return f"`{name}` needs a checkout of Zarniwoop: there, `make {name}` does the same"
    if not is_set_up(root):
        return f"the checkout is not set up: run `make setup` in {root}"
    return None


def is_set_up(root: Path) -> bool:
    return (root / _PYTHON).exists() and (root / ".stack-venv" / ".ready").exists()


def _become(name: str, arguments: list[str]) -> NoReturn:
    root = repository() or Path()
    python = root / _PYTHON
    sys.stdout.flush()
    os.execve(python, [str(python), "-m", f"stack.{name}", *arguments], _environment(root))  # noqa: S606 - no shell


def _environment(root: Path) -> dict[str, str]:
    folders = ("cli", "layers/zarniwoop", "layers/browser")
    return {**os.environ, "PYTHONPATH": os.pathsep.join(str(root / folder) for folder in folders)}
