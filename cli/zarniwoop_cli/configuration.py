"""Whom to ask and with which token: options first, then `ZARNIWOOP_URL` and `ZARNIWOOP_TOKEN`, then the local stack.

`.local/stack.json` is what `make serve` leaves while it is up. It may have come with a folder that a stranger filled,
so it can only name this machine, and the token of the environment goes to no URL that it names; only one that was typed
does. Its own token goes to no other URL, and a file that belongs to somebody else is not believed.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from zarniwoop_cli.ways_out import ISSUE

URL, TOKEN, PROJECT = "ZARNIWOOP_URL", "ZARNIWOOP_TOKEN", "ZARNIWOOP_PROJECT"
_REPOSITORY = Path(__file__).resolve().parents[2]
_ROUTE = re.compile(
    r"(/v1/(tools|runs|results|evidence|documents|usage|settings)\b.*|(?<=[^/])/v1|/mcp|/docs|/openapi\.json)/*$"
)
"""What people copy along with the API's URL. A domain of one's own may have `/v1` for its base path."""


class NotConfiguredError(Exception):
    """Nobody is named who could be asked; the message says what to do."""

    def parts(self) -> tuple[str, str]:
        """What is wrong, and the way out."""
        what, _, way_out = str(self).partition(": ")
        return what, way_out


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """`source` and `token_source` tell a person where URL and token come from."""

    url: str
    token: str = field(repr=False)
    project_id: str | None
    source: str
    token_source: str


def repository() -> Path | None:
    """The checkout that this command was installed from in place; None when it was installed by itself."""
    is_checkout = (_REPOSITORY / "template.yaml").is_file() and (_REPOSITORY / "cli" / "stack").is_dir()
    return _REPOSITORY if is_checkout else None


def stack_file() -> Path:
    return (repository() or Path.cwd()) / ".local" / "stack.json"


def configure(
    url: str | None, token: str | None, project_id: str | None, environment: Mapping[str, str] = os.environ
) -> Configuration:
    """Raises NotConfiguredError."""
    given, source = (url, "--url") if url else (environment.get(URL), URL)
    key, token_source = (token, "--token") if token else (environment.get(TOKEN) if given else None, TOKEN)
    local = _local_stack() if not (given and key) else {}
    own = local.get("api_url")
    if not given and own:
        given, source = _on_this_machine(own), str(stack_file())
    if not given:
        raise NotConfiguredError(
            f"no stack is named: start one here with `make serve`, or set {URL} (the stack's output ApiUrl) and {TOKEN}"
        )
    given = _without_a_route(given, source)
    if not key and own and given == own.rstrip("/"):
        key, token_source = local.get("token"), str(stack_file())
    if not key and source not in ("--url", URL) and environment.get(TOKEN):
        raise NotConfiguredError(f"{TOKEN} is set, {URL} is not: set {URL} to whom the token is for")
    if not key:
        raise NotConfiguredError(f"no token for {given}: set {TOKEN}; {ISSUE}")
    return Configuration(
        url=given,
        token=key,
        project_id=project_id or environment.get(PROJECT) or None,
        source=source,
        token_source=token_source,
    )


def _without_a_route(url: str, source: str) -> str:
    """Raises NotConfiguredError."""
    try:
        route = _ROUTE.search(urlsplit(url.strip()).path)
    except ValueError:
        route = None  # of a URL that is none, which the client says
    if route:
        raise NotConfiguredError(f"{source} is a page of the API: the URL is the ApiUrl, without {route.group()}")
    return url.rstrip("/")


def _on_this_machine(url: str) -> str:
    """Raises NotConfiguredError."""
    from zarniwoop_client.api import is_loopback

    try:
        believed = is_loopback(url)
    except ValueError:
        believed = False
    if not believed:
        raise NotConfiguredError(
            f"{stack_file()} names a stack that is not on this machine: set {URL} and {TOKEN} if it is meant"
        )
    return url


def _local_stack() -> Mapping[str, str]:
    path = stack_file()
    try:
        own = getattr(os, "getuid", None)  # where there is one
        if own is not None and path.stat().st_uid != own():
            return {}
        known = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(known, dict):
        return {}
    return {name: value for name, value in known.items() if isinstance(value, str)}
