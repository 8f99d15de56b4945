"""Where snippets run: a folder with what `make serve` leaves, README's variables, and no make but the stand-in."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from stack import places
from stack.running import Stack
from stack.serve import write_stack_file

_PATIENCE_SECONDS = 120
_STAND_IN = '#!/bin/sh\nPYTHONPATH="{path}" exec "{python}" -m tests.snippets.stand_ins {name} "$@"\n'
_SCHEMATHESIS = '#!/bin/sh\nexec "{program}" "$@" --include-path /openapi.json --max-examples 1\n'
"""One route stands for all: `tests/e2e/test_openapi.py` is the run over every one of them."""
_NOT_EVERYWHERE = ("curl", "openssl")


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """`stack` with the token that the snippets get; `model_url` is where their models are."""

    stack: Stack
    folder: Path
    model_url: str

    @classmethod
    def made(cls, stack: Stack, folder: Path, model_url: str) -> "World":
        (folder / ".local").mkdir()
        write_stack_file(folder / ".local" / "stack.json", stack)
        (folder / ".venv").symlink_to(places.ROOT / ".venv")
        (folder / "docs").symlink_to(places.ROOT / "docs")
        path = os.pathsep.join(str(places.ROOT / each) for each in ("", "cli", "layers/zarniwoop"))
        for name in ("make", "aws"):
            _program(folder / "bin" / name, _STAND_IN.format(path=path, python=sys.executable, name=name))
        clients = ".clients-venv/bin/schemathesis"
        _program(folder / clients, _SCHEMATHESIS.format(program=places.ROOT / clients))
        return cls(stack=stack, folder=folder, model_url=model_url)

    def bash(self, code: str, **variables: str) -> str:
        """What it wrote to stdout. Every command, the last of a pipe or not, must succeed."""
        for program in _NOT_EVERYWHERE:
            if program in code and shutil.which(program) is None:
                pytest.skip(f"{program} is not on this machine")
        return self._ran("bash", "-e", "-u", "-o", "pipefail", "-c", code, **variables)

    def python(self, code: str, *, python: Path = Path(sys.executable), **variables: str) -> str:
        return self._ran(str(python), "-c", code, **variables)

    def _ran(self, *command: str, **variables: str) -> str:
        done = subprocess.run(  # noqa: S603
            command,
            cwd=self.folder,
            env={**self._environment(), **variables},
            capture_output=True,
            text=True,
            check=False,
            timeout=_PATIENCE_SECONDS,
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout

    def _environment(self) -> Mapping[str, str]:
        programs = [str(self.folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
        aws = {name: value for name, value in self.stack.target.environment().items() if name.startswith("AWS_")}
        return {
            **aws,
            "HOME": str(self.folder),
            "PATH": os.pathsep.join(programs),
            "NO_PROXY": "*",
            "ZARNIWOOP_URL": self.stack.api_url,
            "ZARNIWOOP_TOKEN": self.stack.token,
            "ANTHROPIC_BASE_URL": self.model_url,
            "ANTHROPIC_API_KEY": "scripted",
            "OPENAI_BASE_URL": f"{self.model_url}/v1",
            "OPENAI_API_KEY": "scripted",
            "OPENAI_AGENTS_DISABLE_TRACING": "1",
        }


def _program(path: Path, code: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(code, encoding="utf-8")
    path.chmod(0o755)
