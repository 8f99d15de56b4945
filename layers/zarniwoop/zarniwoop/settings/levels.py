"""Where a setting may be saved, and under which name it lies in Parameter Store.

`research.endpoint.serper-main.protocol` at the level of a tenant is the parameter
`/zarniwoop/<stack>/<tenant>/_tenant/research/endpoint/serper-main/protocol`; a project's settings lie under
`…/<tenant>/<project>/_project/`, a process's under `…/<tenant>/<project>/<process>/`.

Quirk: no id starts with `_`, so that no project can be called `_tenant`; and since a dot in a key is a slash in a name,
a parameter with a dot in its own part of the name is none of ours.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from zarniwoop.stores.keys import is_id

_KEY = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")
_LONGEST_KEY = 512


class Level(StrEnum):
    """Where it was saved, the most trusted first."""

    TENANT = "tenant"
    PROJECT = "project"
    PROCESS = "process"

    def is_less_trusted_than(self, other: "Level") -> bool:
        order = tuple(Level)
        return order.index(self) > order.index(other)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One level of one tenant, project or process: a tenant alone, with a project, or with both."""

    tenant_id: str
    project_id: str | None = None
    process_id: str | None = None

    def __post_init__(self) -> None:
        ids = [each for each in (self.tenant_id, self.project_id, self.process_id) if each is not None]
        if not all(map(is_id, ids)) or (self.process_id is not None and self.project_id is None):
            raise ValueError("settings are saved for a tenant, a project of it, or a process of that")

    @property
    def level(self) -> Level:
        if self.project_id is None:
            return Level.TENANT
        return Level.PROJECT if self.process_id is None else Level.PROCESS

    def path(self, root: str) -> str:
        """Without a slash at its end; `root` is `/zarniwoop/<stack>`."""
        if self.project_id is None:
            return f"{root}/{self.tenant_id}/_tenant"
        return f"{root}/{self.tenant_id}/{self.project_id}/{self.process_id or '_project'}"


def is_key(key: str) -> bool:
    return len(key) <= _LONGEST_KEY and _KEY.fullmatch(key) is not None


def parameter_name(root: str, place: Place, key: str) -> str:
    """Raises ValueError for what is no key."""
    if not is_key(key):
        raise ValueError("a key consists of parts of letters, digits, '_' and '-' with dots between them")
    return f"{place.path(root)}/{key.replace('.', '/')}"


def key_of(root: str, place: Place, name: str) -> str | None:
    """The inverse of `parameter_name`; None for a parameter that is no setting of this place."""
    path = place.path(root) + "/"
    own = name.removeprefix(path)
    key = own.replace("/", ".")
    return key if name.startswith(path) and "." not in own and is_key(key) else None
