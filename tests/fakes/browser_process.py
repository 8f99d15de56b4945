"""A browser's process that plays an act, named by the last part of the page's path; it speaks as the real one does.

Started as `python -m tests.fakes.browser_process`.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from tests.fakes.web_pages import article

Say = Callable[[Any], None]
Ask = Callable[[Mapping[str, Any]], Any]


def request(url: str, kind: str = "fetch") -> dict[str, Any]:
    return {"asks": {"url": url, "kind": kind, "headers": {}}}


def _renders(url: str, say: Say, ask: Ask) -> None:
    page = ask(request(url, "document"))
    say({"html": page["body"] + "rendered"})


def _fills(url: str, say: Say, ask: Ask) -> None:
    ask(request(url, "document"))
    say({"html": article("Bells", paragraphs=12)})


def _asks_for_ever(url: str, say: Say, ask: Ask) -> None:
    while True:
        ask(request(url + "/more"))


def _hangs(url: str, say: Say, ask: Ask) -> None:
    subprocess.Popen(["sleep", "60"], stdout=subprocess.DEVNULL)
    time.sleep(60)


ACTS: dict[str, Callable[[str, Say, Ask], None]] = {
    "renders": _renders,
    "fills": _fills,
    "asks-for-ever": _asks_for_ever,
    "hangs": _hangs,
    "dies": lambda _url, _say, _ask: sys.exit(1),
    "babbles": lambda _url, say, _ask: say("not an object"),
    "says-nothing": lambda _url, say, _ask: say({}),
    "says-numbers": lambda _url, say, _ask: say({"html": 7}),
    "fails": lambda _url, say, _ask: say({"failed": "browser_failed"}),
    "fails-in-its-own-words": lambda _url, say, _ask: say({"failed": "bells of four tonnes"}),
    "fails-with-a-list": lambda _url, say, _ask: say({"failed": ["bells"]}),
    "has-none": lambda _url, say, _ask: say({"failed": "browser_unavailable"}),
    "is-large": lambda _url, say, _ask: say({"html": "x" * 2_000_000}),
    "says-half-a-character": lambda _url, say, _ask: say({"html": "bells \ud83d rendered"}),
}


def main() -> None:
    hears, says = sys.stdin.buffer, sys.stdout.buffer

    def write(line: bytes) -> None:
        says.write(line + b"\n")
        says.flush()

    def ask(asked: Mapping[str, Any]) -> dict[str, Any]:
        write(json.dumps(asked).encode())
        said: dict[str, Any] = json.loads(hears.readline())
        return {**said, "body": hears.read(said["size"]).decode()}

    write(b"ready")
    question = json.loads(hears.readline())
    ACTS[question["url"].rpartition("/")[2]](question["url"], lambda said: write(json.dumps(said).encode()), ask)
    hears.read()


if __name__ == "__main__":
    main()
