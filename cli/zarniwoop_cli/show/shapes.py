"""Which answer is which: by what it holds, so that a tool needs no entry here to be shown, only to be shown well."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zarniwoop_cli.printer import Printer

Data = Mapping[str, Any]
Rows = Callable[[Data], Sequence[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """An answer that has all of `members`; `show` names a function of a module here, imported when it is needed."""

    members: frozenset[str]
    show: tuple[str, str]
    rows: Rows


def _whole(data: Data) -> Sequence[Any]:
    return [data]


def _listed(name: str) -> Rows:
    return lambda data: data[name]


def _of_run(data: Data) -> Sequence[Any]:
    return [{**each.get("hit", each), **_judged(each)} for each in (data.get("results") or {}).get("hits") or ()]


def _judged(each: Data) -> dict[str, Any]:
    return {name: each[name] for name in ("rank", "score", "reason") if name in each}


def _of_rich(data: Data) -> Sequence[Any]:
    return [hit for result in data["results"].values() for hit in result["hits"]]


def _of_rest(data: Data) -> Sequence[Any]:
    """What did not fit into an answer: lists of whatever that held, those of several searches by modality."""
    several = [each for result in (data.get("results") or {}).values() for each in result.get("hits") or ()]
    return several or [each for rows in data.values() if isinstance(rows, list) for each in rows]


def _shape(members: str, module: str, function: str, rows: Rows = _whole) -> Shape:
    return Shape(members=frozenset(members.split()), show=(module, function), rows=rows)


SHAPES = (
    _shape("dry_run worst_case", "hits", "show_plan"),
    _shape("hits attempts", "hits", "show_search", _listed("hits")),
    _shape("results problems partial", "hits", "show_rich", _of_rich),
    _shape("pages fence", "pages", "show_pages", _listed("pages")),
    _shape("places attempts", "pages", "show_places", _listed("places")),
    _shape("providers routing", "state", "show_providers", _listed("providers")),
    _shape("run_id progress", "runs", "show_run", _of_run),
    _shape("run_id artifacts", "runs", "show_files", _listed("artifacts")),
    _shape("run_id status_url", "runs", "show_receipt"),
    _shape("runs next_page_token", "state", "show_runs", _listed("runs")),
    _shape("evidence quote_counts", "pages", "show_evidence_list", _listed("evidence")),
    _shape("evidence content", "pages", "show_evidence"),
    _shape("format ids", "pages", "show_citations"),
    _shape("verdict evidence_id", "pages", "show_verification"),
    _shape("tool size", "hits", "show_rest", _of_rest),
    _shape(
        "total days models",
        "state",
        "show_usage",
        lambda data: [{"day": day, **row} for day, row in data["days"].items()],
    ),
    _shape("settings endpoints versions", "state", "show_settings", _listed("settings")),
)


def rows_of(data: Any) -> Sequence[Any]:
    """What stands on a line of its own in `--jsonl`: each hit, page, place, run …; else the whole."""
    shape = _shape_of(data)
    return shape.rows(data) if shape else ([] if data is None else [data])


def show(data: Any, printer: "Printer") -> None:
    shape = _shape_of(data)
    if shape is None:
        printer.block(json.dumps(data, indent=2, ensure_ascii=False))
        return
    import importlib

    module, function = shape.show
    getattr(importlib.import_module(f"zarniwoop_cli.show.{module}"), function)(data, printer)


def _shape_of(data: Any) -> Shape | None:
    if not isinstance(data, Mapping):
        return None
    return next((shape for shape in SHAPES if shape.members <= data.keys()), None)
