"""One call of the command: whom it asks, and in which of three forms it writes the answer.

Results go to stdout, everything else to stderr. The client, and with it httpx and pydantic, is imported when somebody
is asked, and rich when a person reads the answer.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

from zarniwoop_cli.configuration import Configuration, NotConfiguredError, configure
from zarniwoop_cli.exits import Exit, exit_of
from zarniwoop_cli.safe import escaped, line
from zarniwoop_cli.show.shapes import rows_of, show
from zarniwoop_cli.ways_out import ISSUE, NO_URL, PLAIN_HTTP, way_out, wording

if TYPE_CHECKING:
    from zarniwoop_cli.printer import Printer
    from zarniwoop_client import Answer, Problem, Zarniwoop, ZarniwoopError


USUAL_SECONDS = 60.0
"""For an answer, with all that is asked again meanwhile."""


class UnreadableAnswerError(Exception):
    """An answer that is not shaped as the API's are."""


class Form(StrEnum):
    PEOPLE = "people"
    JSON = "json"
    JSONL = "jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What every command takes."""

    url: str | None = None
    token: str | None = field(default=None, repr=False)
    project: str | None = None
    timeout: float | None = None
    form: Form = Form.PEOPLE


class Session:
    def __init__(self, options: Options) -> None:
        self.options = options
        self.form = options.form

    @cached_property
    def configuration(self) -> Configuration:
        """Raises NotConfiguredError."""
        return configure(self.options.url, self.options.token, self.options.project)

    @cached_property
    def client(self) -> "Zarniwoop":
        """Raises NotConfiguredError."""
        known = self.configuration
        from zarniwoop_client import Zarniwoop
        from zarniwoop_client.api import TOKENS_HAVE, PlainHttpError, is_token

        if not is_token(known.token):
            raise NotConfiguredError(f"{known.token_source} holds no token: one has {TOKENS_HAVE}; {ISSUE}")
        timeout = USUAL_SECONDS if self.options.timeout is None else self.options.timeout
        try:
            return Zarniwoop(known.url, known.token, project_id=known.project_id, timeout=timeout)
        except PlainHttpError as error:
            raise NotConfiguredError(PLAIN_HTTP.format(source=known.source)) from error
        except ValueError as error:
            raise NotConfiguredError(NO_URL.format(source=known.source)) from error

    @cached_property
    def printer(self) -> "Printer":
        from zarniwoop_cli.printer import Printer

        return Printer(sys.stdout)

    def call(self, tool: str, arguments: Mapping[str, Any]) -> None:
        """Ask a tool and write what it answers; what was not given is left to the tool's own defaults."""
        given = {name: value for name, value in arguments.items() if value is not None}
        self.write(self.client.call(tool, **given))

    def write(self, answer: "Answer[Any]") -> None:
        """The answer in the form that was asked for."""
        self.document(answer.raw, answer.raw.get("data"))

    def document(self, envelope: Any, data: Any) -> None:
        if self.form is Form.JSON:
            self.write_json(envelope, indent=2)
        elif self.form is Form.JSONL:
            self.write_lines(rows_of(data))
        else:
            self._show(envelope, data)

    def _show(self, envelope: Any, data: Any) -> None:
        """Raises UnreadableAnswerError."""
        try:
            show(data, self.printer)
            self._show_links(envelope, data)
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            raise UnreadableAnswerError from error

    def _show_links(self, envelope: Any, data: Any) -> None:
        """Where what is shown does not name its evidence itself."""
        if envelope.get("evidence") and not {"pages", "evidence"} & set(data or ()):
            from zarniwoop_cli.show.pages import show_links

            show_links(envelope["evidence"], self.printer)

    def write_lines(self, rows: Sequence[Any]) -> None:
        for row in rows:
            self.write_json(row)

    def write_json(self, value: Any, indent: int | None = None) -> None:
        sys.stdout.write(escaped(json.dumps(value, ensure_ascii=False, indent=indent)) + "\n")

    def fail(self, error: "ZarniwoopError") -> Exit:
        """What can be said of a failure, and the number that says it to scripts."""
        self._write_failed(error.answer)
        self.tell_problem(error.problem, error.request_id)
        problem = error.problem
        return exit_of(problem.type, problem.status, retryable=problem.retryable)

    def tell_problem(self, problem: "Problem", request_id: str | None = None) -> None:
        tell(wording(problem))
        if action := way_out(problem):
            wait = f" (wait_seconds: {problem.wait_seconds:g})" if problem.wait_seconds is not None else ""
            tell(f"  → {action}{wait}")
        if request_id:
            tell(f"  request {request_id}")

    def _write_failed(self, answer: "Answer[Any]") -> None:
        """Data that came along: who was asked, or the run as it ended."""
        if self.form is Form.JSON and answer.raw:
            self.write_json(answer.raw, indent=2)
        elif self.form is Form.PEOPLE and answer.raw.get("data"):
            show(answer.raw["data"], self.printer)

    def close(self) -> None:
        if "client" in self.__dict__:
            self.client.close()


def tell(text: object) -> None:
    """One line on stderr, which may be gone."""
    with suppress(BrokenPipeError):
        sys.stderr.write(line_kept(text) + "\n")
        sys.stderr.flush()


def line_kept(text: object) -> str:
    """A line with its indentation."""
    told = str(text)
    return " " * (len(told) - len(told.lstrip(" "))) + line(told)
