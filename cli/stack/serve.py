"""`make serve`: keeps a local stack up, with the real providers, until Ctrl-C or `make stop`.

While it is up, `.local/stack.json` says how to reach it; the file is readable by its owner only, because of the token.
"""

import argparse
import json
import os
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from stack import places
from stack.running import AlreadyRunningError, Stack, running_stack
from stack.target import LOCAL_REGION

EXPORT = (
    """eval "$(python3 -c 'import json; s = json.load(open(".local/stack.json")); """
    """print("export ZARNIWOOP_URL=%(api_url)s ZARNIWOOP_TOKEN=%(token)s" % s)')\""""
)
"""README's line, to be typed in the checkout."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="stack.serve", description=__doc__)
    parser.add_argument("--simulator", action="store_true", help="ask the bundled provider simulator instead")
    given = parser.parse_args(arguments)
    with suppress(KeyboardInterrupt):
        try:
            _serve(simulator=given.simulator)
        except AlreadyRunningError as error:
            raise SystemExit(str(error)) from error


def _serve(*, simulator: bool) -> None:
    with running_stack("serve", simulator=simulator, tell=_tell) as stack:
        try:
            write_stack_file(places.STACK_FILE, stack)
            announce(stack)
            threading.Event().wait()
        finally:
            places.STACK_FILE.unlink(missing_ok=True)
            _tell("stopping")


def announce(stack: Stack) -> None:
    """The URL as every client takes it; the token stays in its file."""
    _tell(f"up: {stack.api_url} (details and a token in .local/stack.json)")
    _tell(f"for clients: {EXPORT}")
    _tell("Ctrl-C or `make stop` ends it")


def write_stack_file(path: Path, stack: Stack) -> None:
    """Appears whole or not at all, so that whoever waits for it reads all of it."""
    known = {
        "api_url": stack.api_url,
        "token": stack.token,
        "tenant_id": stack.tenant_id,
        "project_id": stack.project_id,
        "stack_name": stack.target.stack_name,
        "endpoint_url": stack.endpoint_url,
        "region": LOCAL_REGION,
        "credentials": {"aws_access_key_id": "test", "aws_secret_access_key": "test"},
        "simulator_url": stack.simulator_url,
        "outputs": dict(stack.outputs),
        "pid": os.getpid(),
        "processes": [asdict(process) for process in stack.processes()],
    }
    unfinished = path.with_suffix(".new")
    unfinished.unlink(missing_ok=True)
    with open(unfinished, "w", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        json.dump(known, file, indent=2)
    unfinished.replace(path)


def _tell(step: str) -> None:
    sys.stdout.write(f"{step}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
