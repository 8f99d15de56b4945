"""The `zarniwoop` command as tests call it: within their own process, or in a pseudo-terminal of its own."""

import functools
import io
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pexpect
import pytest
import typer.main

from tests.fakes.http_api import TOKEN, FakeApi
from tests.fakes.template import ROOT
from zarniwoop_cli.app import made

_OURS = ("ZARNIWOOP_URL", "ZARNIWOOP_TOKEN", "ZARNIWOOP_PROJECT")
_COLOURS = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "PY_COLORS", "GITHUB_ACTIONS")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    exit_code: int
    stdout: str
    stderr: str


def zarniwoop(
    *words: str, api: FakeApi | None = None, stdin: str = "", variables: Mapping[str, str] | None = None
) -> Ended:
    """The command in this process; its output is a pipe's."""
    known = {"ZARNIWOOP_URL": api.url, "ZARNIWOOP_TOKEN": TOKEN} if api else {}
    told, complained = _pipe(), _pipe()
    with pytest.MonkeyPatch.context() as patched:
        for name in (*_OURS, *_COLOURS):
            patched.delenv(name, raising=False)
        for name, value in {**known, **(variables or {})}.items():
            patched.setenv(name, value)
        patched.setattr(sys, "stdin", io.StringIO(stdin))
        patched.setattr(sys, "stdout", told)
        patched.setattr(sys, "stderr", complained)
        with pytest.raises(SystemExit) as ended:
            _command().main(args=list(words), prog_name="zarniwoop")
    return Ended(exit_code=int(ended.value.code or 0), stdout=_written(told), stderr=_written(complained))


def heed_ctrl_c() -> None:
    """What a shell starts in its background is told to ignore it, and so is all that this starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def spawned(
    *words: str, api: FakeApi, columns: int = 100, variables: Mapping[str, str] | None = None
) -> "pexpect.spawn[str]":
    """The command in a pseudo-terminal."""
    return pexpect.spawn(
        sys.executable,
        ["-m", "zarniwoop_cli", *words],
        env={**environment(api), "TERM": "xterm-256color", **(variables or {})},
        dimensions=(40, columns),
        encoding="utf-8",
        timeout=20,
        preexec_fn=heed_ctrl_c,
    )


def to_its_end(child: "pexpect.spawn[str]") -> str:
    """What it wrote since; its exit status is there then."""
    child.expect(pexpect.EOF)
    child.close()
    return str(child.before)


def environment(api: FakeApi) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in (*_OURS, *_COLOURS)}
    paths = {"PYTHONPATH": str(ROOT / "cli"), "PYTHONWARNINGS": "error"}
    return {**kept, **paths, "ZARNIWOOP_URL": api.url, "ZARNIWOOP_TOKEN": TOKEN}


@functools.cache
def _command() -> Any:
    """Made once, which takes longer than a call: it holds nothing of one."""
    return typer.main.get_command(made())


def _pipe() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)


def _written(pipe: io.TextIOWrapper) -> str:
    pipe.seek(0)
    return pipe.read()
