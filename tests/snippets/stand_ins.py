"""`make` and `aws` as the snippets type them: what must not happen in a test is only looked at, the rest is done.

    python -m tests.snippets.stand_ins make deploy ARGS=--guided

`make token` issues one for the stack of `.local/stack.json`; of other targets make says what it would do. `aws` knows
the operations of boto3 by the names that AWS's command line gives them, and checks them against the same models; the
environment says that it is reached in the emulator.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stack import places


def make(words: Sequence[str]) -> None:
    targets = [word for word in words if "=" not in word]
    if targets == ["token"]:
        places.STACK_FILE = Path(".local/stack.json").resolve()  # of the folder of the snippet
        from stack import token  # half a second that only this needs

        given = dict(word.split("=", 1) for word in words if "=" in word)
        token.main(shlex.split(given.get("ARGS", "")))
        return
    if "serve" in targets and not Path(".local/stack.json").exists():
        raise SystemExit("the test has a stack up already, and writes its file before")
    variables = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    command = ["/usr/bin/env", "make", "--dry-run", *words]
    subprocess.run(command, cwd=places.ROOT, check=True, stdout=sys.stderr, env=variables | {"PATH": os.defpath})  # noqa: S603


def aws(words: Sequence[str]) -> None:
    import boto3

    service, operation, *options = words
    if (service, operation) == ("s3", "cp"):
        source, target = options
        bucket, _, key = target.removeprefix("s3://").partition("/")
        boto3.client("s3").upload_file(source, bucket, key)
        return
    client = boto3.client(service)  # type: ignore[call-overload]
    names = {re.sub(r"[^a-z]", "", name.lower()): name for name in client.meta.method_to_api_mapping.values()}
    members = client.meta.service_model.operation_model(names[operation.replace("-", "")]).input_shape.members
    known = {name.lower(): (name, shape.type_name) for name, shape in members.items()}
    pairs = zip(options[::2], options[1::2], strict=True)
    asked = [(*known[option.removeprefix("--").replace("-", "")], value) for option, value in pairs]
    getattr(client, operation.replace("-", "_"))(**{name: _typed(kind, value) for name, kind, value in asked})


def _typed(kind: str, value: str) -> Any:
    """As JSON, or in the shorthand of `Mode=FLEXIBLE,MaximumWindowInMinutes=30`."""
    if kind == "string":
        return value
    if kind == "structure" and not value.startswith("{"):
        pairs = (each.split("=", 1) for each in value.split(","))
        return {name: int(word) if word.isdecimal() else word for name, word in pairs}
    return json.loads(value)


if __name__ == "__main__":
    {"make": make, "aws": aws}[sys.argv[1]](sys.argv[2:])
