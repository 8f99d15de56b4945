"""Arguments of tools as options of commands: one line each, under the tool's own names.

A test compares them with the registry, so that a tool's new argument is missing here only until the next `make test`.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import typer


class Modality(StrEnum):
    WEB = "WEB"
    IMAGE = "IMAGE"
    VIDEO = "VIDEO"
    PDF = "PDF"
    NEWS = "NEWS"
    ACADEMIC = "ACADEMIC"
    ENCYCLOPEDIA = "ENCYCLOPEDIA"
    BOOK = "BOOK"
    MAP = "MAP"
    CODE = "CODE"
    INTERNAL_DOC = "INTERNAL_DOC"
    RAG = "RAG"


class Strategy(StrEnum):
    CASCADE = "cascade"
    FANOUT = "fanout"


class CacheUse(StrEnum):
    PREFER = "prefer"
    ONLY = "only"
    NO_STORE = "no-store"


class PageFormat(StrEnum):
    MARKDOWN = "markdown"
    TEXT = "text"
    HTML = "html"
    LINKS = "links"


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One argument of a tool; None, which is what it is when it was not given, is not sent."""

    name: str
    kind: Any
    help: str
    flags: tuple[str, ...] = ()
    positional: bool = False
    default: Any = None
    many: bool = False
    required: bool = False
    parser: Callable[[str], Any] | None = None

    def parameter(self) -> inspect.Parameter:
        kind = list[self.kind] if self.many else self.kind  # type: ignore[name-defined] # a type that a value names
        needed = self.positional or self.required
        annotation = kind if needed else kind | None
        told = typer.Argument(help=self.help) if self.positional else self._option()
        default = inspect.Parameter.empty if needed else self.default
        return inspect.Parameter(
            self.name, inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[annotation, told], default=default
        )

    def _option(self) -> Any:
        flag = "--" + self.name.replace("_", "-")
        if self.kind is bool and not self.flags:
            return typer.Option(flag, help=self.help)
        told: dict[str, Any] = {"help": self.help, "case_sensitive": False, "show_default": self.default is not None}
        return typer.Option(*(self.flags or (flag,)), parser=self.parser, **told)


def field(name: str, kind: Any, told: str, *flags: str, **more: Any) -> Field:
    return Field(name=name, kind=kind, help=told, flags=flags, **more)


def given(values: Mapping[str, Any]) -> dict[str, Any]:
    """What was given, as JSON has it."""
    return {name: value for name, value in values.items() if value is not None and value != []}


PROCESS = field("process_id", str, "A process within the project whose settings shall win.", "--process")
DRY_RUN = field("dry_run", bool, "Only tell who would be asked and what it would cost at most.")
FREE_ONLY = field("free_only", bool, "Ask only providers whose calls cost nothing.")
MAX_CHARS = field("max_chars", int, "How many characters of JSON the answer may have, 2000 to 1000000.")
LOCALE = field("locale", str, "Language and optional region of the answers: de, en-GB.", "--locale", "-l")
CACHE = field("cache", CacheUse, "prefer a kept answer, take only such a one, or ask anew.")
QUERY = field("query", str, "What to look for, in plain words of any language.", positional=True)
MODALITY = field("modality", Modality, "What kind of thing to look for.", "--modality", "-m", default=Modality("WEB"))
SEARCHING = (
    field("max_results", int, "How many hits at most, 1 to 50.", "--max-results", "-n"),
    LOCALE,
    field("strategy", Strategy, "One provider after the other (cascade), or several at once, fused (fanout)."),
    field("min_results", int, "Of a fanout: go on while there are fewer different works than that."),
    CACHE,
    field("max_calls", int, "How many requests may be sent to providers at most."),
    field("max_cost", float, "What it may cost at most, in USD."),
    FREE_ONLY,
    MAX_CHARS,
    DRY_RUN,
)
STORE_EVIDENCE = field("store_evidence", bool, "Keep the hits as evidence.")
FILTERS = (
    field("site", str, "Only this host, optionally with a path: arxiv.org, example.com/docs."),
    field("domain", str, "Only this domain and everything below it."),
    field("filetype", str, "Only files with this extension: pdf."),
    field("date_from", str, "Published on or after this day, YYYY-MM-DD."),
    field("date_to", str, "Published on or before this day, YYYY-MM-DD."),
    field("freshness_days", int, "Published within so many days before today."),
    field("pinned_provider_id", str, "Ask exactly this provider instance.", "--pin", "--pinned-provider-id"),
)
INVESTIGATING = (
    field("question", str, "What you want to know, in plain words of any language.", positional=True),
    field("modalities", Modality, "Only these kinds of source; repeatable.", "--modality", "-m", many=True),
    field("max_searches", int, "How many searches the plan may hold, 1 to 20."),
    field("max_results", int, "How many hits each search may bring, 1 to 25.", "--max-results", "-n"),
    field("max_concurrency", int, "How many searches run at once, 1 to 20."),
    field("refine", bool, "Whether a second wave of searches may fill gaps.", "--refine/--no-refine"),
    field("refine_depth", int, "1: load the bodies of the best hits before they are judged."),
    field("insights", bool, "Draw entities and relations out of what is kept.", "--insights/--no-insights"),
    field("wall_seconds", int, "How long the run may take, 10 to 900 seconds."),
    field("max_model_tokens", int, "How many tokens models may read and write."),
    field("max_cost", float, "What the run may cost at most, in USD."),
    field("max_calls", int, "How many requests may be sent to providers at most."),
    FREE_ONLY,
    MAX_CHARS,
    STORE_EVIDENCE,
    field("webhook_url", str, "A public https address that is told of the end."),
    field("idempotency_key", str, "The same key twice is one run."),
    DRY_RUN,
    PROCESS,
)
