"""What is said between this process and its parent, as in `zarniwoop.extract.worker`.

parent → {"url": …, "seconds": …, "size": 0}⏎           child → {"asks": {"url": …, "kind": "script"}}⏎
parent → {"status": 200, "headers": {…}, "size": 5}⏎ and 5 bytes, or {"refused": true, "size": 0}⏎
                                                         child → {"html": …} or {"failed": …}⏎
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the guard let through."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Parent:
    """One request at a time; whoever does not answer has ended us already."""

    def __init__(self, hears: IO[bytes], says: IO[bytes]) -> None:
        self._hears = hears
        self._says = says

    def say(self, said: Mapping[str, Any]) -> None:
        self._says.write(json.dumps(said).encode() + b"\n")
        self._says.flush()

    def heard(self) -> tuple[Mapping[str, Any], bytes]:
        """Raises EOFError when the parent is gone."""
        line = self._hears.readline()
        if not line:
            raise EOFError
        said = json.loads(line)
        return said, self._hears.read(said["size"])

    def ask(self, request: Mapping[str, Any]) -> Answer | None:
        """None for a request that the guard refuses."""
        self.say({"asks": request})
        said, body = self.heard()
        if said.get("refused"):
            return None
        return Answer(status=said["status"], headers=said["headers"], body=body)
