"""The process: one question, the requests of one page, one answer. What anybody prints or raises is nobody's answer."""

import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zarniwoop_browser import unpacked
from zarniwoop_browser.chromium import ChromiumFailedError, started
from zarniwoop_browser.parent import Parent
from zarniwoop_browser.rendering import Rendering

_START_SECONDS = 10.0


def main() -> None:
    """Says `ready` once Playwright is there; the parent's clock ends whatever does not end by itself."""
    import playwright.sync_api

    del playwright
    says, sys.stdout = sys.stdout.buffer, sys.stderr
    says.write(b"ready\n")
    says.flush()
    parent = Parent(sys.stdin.buffer, says)
    question, _ = parent.heard()
    parent.say(_answer(parent, question))
    sys.stdin.buffer.read()  # the parent ends us, and Chromium and Node.js with us


def _answer(parent: Parent, question: Mapping[str, Any]) -> Mapping[str, Any]:
    from playwright.sync_api import Error

    try:
        if question.get("packed"):
            os.environ["PLAYWRIGHT_NODEJS_PATH"] = unpacked.node(Path(question["packed"]), Path(question["room"]))
        endpoint = question.get("endpoint") or _chromium(question)
    except (ChromiumFailedError, OSError):
        return {"failed": "browser_unavailable"}
    try:
        markup = _html(parent, question, endpoint)
    except Error as error:  # its text quotes the page
        return {"failed": "browser_too_slow" if "Timeout" in type(error).__name__ else "browser_failed"}
    return {"html": markup.encode("utf-8", "replace").decode()}  # scripts can make texts that no encoding knows


def _chromium(question: Mapping[str, Any]) -> str:
    executable = question.get("chromium") or unpacked.chromium(Path(question["packed"]), Path(question["room"]))
    return started(executable, Path(tempfile.mkdtemp()), _START_SECONDS)


def _html(parent: Parent, question: Mapping[str, Any], endpoint: str) -> str:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.connect_over_cdp(
            endpoint, headers=question.get("headers") or {}, timeout=question["open_seconds"] * 1000
        )
        return Rendering(browser, parent, question).html()


if __name__ == "__main__":
    main()
