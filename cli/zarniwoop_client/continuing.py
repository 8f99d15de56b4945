"""Answers that were too long for their bound: what leads on from one, and how the rest is put back into it.

The rest comes as JSON under the paths that its lists have in the answer. Of web_fetch it comes as `parts`, which are
pieces of the pages' text, each in the answer's own fence.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_LEAST = "least_max_chars"


@dataclass(frozen=True, slots=True, kw_only=True)
class Onwards:
    """How to go on: by which handle, and with which bound where the usual one lets no hit through."""

    handle: str
    max_chars: int | None


def onwards(raw: Mapping[str, Any]) -> Onwards | None:
    """Where an envelope leads on to; None where it is complete, or its rest could not be kept."""
    data = raw.get("data")
    size = data.get("size") if isinstance(data, Mapping) else None
    if not isinstance(size, Mapping) or not isinstance(size.get("handle"), str):
        return None
    least = size.get(_LEAST) if not size.get("hits") else None
    return Onwards(handle=size["handle"], max_chars=least if isinstance(least, int) else None)


def merged(raw: Mapping[str, Any], rest: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The envelope with everything that its continuations brought; its `size` is that of the last of them."""
    whole = copy.deepcopy(dict(raw))
    for page in copy.deepcopy(list(rest)):
        whole["evidence"] = [*(whole.get("evidence") or ()), *_links_taken(page["data"])]
        data = page["data"]
        lists = {name: value for name, value in data.items() if name != "size" and isinstance(value, (list, Mapping))}
        if data["tool"] == "web_fetch":
            _add_to_pages(whole["data"]["pages"], lists)
        else:
            _add(whole["data"], lists)
        whole["data"]["size"] = data["size"]
    return whole


def _links_taken(place: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What hits that were put aside have taken along of `evidence`, which is its place in a whole answer."""
    taken: list[dict[str, Any]] = []
    for name, value in place.items():
        if isinstance(value, Mapping):
            taken += _links_taken(value)
        for hit in value if name == "hits" and isinstance(value, list) else ():
            found = hit.get("hit", hit)
            named = {fact: found[fact] for fact in ("url", "title") if fact in found}
            taken += [{**link, **named} for link in hit.pop("evidence", ())]
    return taken


def _add(place: dict[str, Any], lists: Mapping[str, Any]) -> None:
    for name, value in lists.items():
        if isinstance(value, Mapping):
            _add(place.setdefault(name, {}), value)
        elif isinstance(value, list):
            place[name] = [*(place.get(name) or ()), *value]
            if name == "hits" and "returned_count" in place:
                place["returned_count"] = len(place[name])


def _add_to_pages(pages: list[dict[str, Any]], lists: Mapping[str, Any]) -> None:
    for part in lists.get("parts", ()):
        page = pages[part["page"]]
        page["content"] = _joined(page.get("content"), part["text"])
        page["content_end"] = part["end"]
    for link in lists.get("links", ()):
        page = pages[link["page"]]
        page["links"] = [*(page.get("links") or ()), link]


def _joined(fenced: str | None, more: str) -> str:
    """Two texts in one fence: its first and its last line are equally long."""
    if not fenced:
        return more
    edge = fenced.index("\n") + 1
    return fenced[:-edge] + more[edge:]
