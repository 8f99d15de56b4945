"""The wire formats that are there: the built-ins, and add-ons by the entry point group `zarniwoop.protocols`."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points

from zarniwoop.contract.provider import SearchProtocol

ENTRY_POINT_GROUP = "zarniwoop.protocols"


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocols:
    """By id; `broken` gives, for an add-on that could not be loaded, its entry point's name and the kind of error."""

    by_id: Mapping[str, SearchProtocol]
    broken: Mapping[str, str] = field(default_factory=dict)


def collect_protocols(builtin: Iterable[SearchProtocol], addons: Iterable[EntryPoint] | None = None) -> Protocols:
    """All protocols. An add-on that fails to import, or takes a built-in's id, is left out and told of."""
    by_id: dict[str, SearchProtocol] = {protocol.id(): protocol for protocol in builtin}
    broken: dict[str, str] = {}
    for entry_point in entry_points(group=ENTRY_POINT_GROUP) if addons is None else addons:
        try:
            protocol: SearchProtocol = entry_point.load()
            protocol_id = protocol.id()
        except Exception as error:  # noqa: BLE001 - foreign code at import: whatever it raises, the others must work
            broken[entry_point.name] = f"cannot be loaded ({type(error).__name__})"
            continue
        if protocol_id in by_id:
            broken[entry_point.name] = f"its protocol id '{protocol_id}' is taken"
        else:
            by_id[protocol_id] = protocol
    return Protocols(by_id=by_id, broken=broken)
