"""The keys of all items: tenant and project lead, and no id can forge another one's key.

State and audit share the partition key `T#<tenant>#P#<project>`. Sort keys: `CD#<instance>#<modality>` (cooldown),
`QU#<instance>#<modality>` (quota), `GEN` (generation), `AU#<instance>#<start, UTC, milliseconds>#<random>` (audit).
Turns at a provider's rate belong to the whole fleet: partition `FLEET`, sort key `RATE#<subject>`.

Quirk: `#` separates, therefore no id may contain one. DynamoDB allows a sort key 1024 bytes.
"""

import hashlib
import re
from datetime import UTC, datetime

from zarniwoop.contract.modality import SearchModality
from zarniwoop.stores.state import ProjectKey, Subject

COOLDOWN = "CD#"
QUOTA = "QU#"
GENERATION = "GEN"
FLEET = "FLEET"

_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
_PLAIN_SUBJECT = re.compile(r"[A-Za-z0-9._:/@|-]{1,200}")


def is_id(text: str) -> bool:
    """Whether the text may be the id of a tenant, project, process or instance."""
    return _ID.fullmatch(text) is not None


def partition(project: ProjectKey) -> str:
    """Raises ValueError for an id that could forge a key."""
    return f"T#{_checked(project.tenant_id)}#P#{_checked(project.project_id)}"


def project_of(partition_key: str) -> ProjectKey:
    """The inverse of `partition`. Raises ValueError for anything else."""
    marks = partition_key.split("#")
    if len(marks) != 4 or (marks[0], marks[2]) != ("T", "P"):
        raise ValueError("not the partition key of a project")
    return ProjectKey(tenant_id=_checked(marks[1]), project_id=_checked(marks[3]))


def cooldown_key(subject: Subject) -> str:
    return f"{COOLDOWN}{_checked(subject[0])}#{subject[1].value}"


def quota_key(subject: Subject) -> str:
    return f"{QUOTA}{_checked(subject[0])}#{subject[1].value}"


def subject_of(sort_key: str) -> Subject:
    """The inverse of `cooldown_key` and `quota_key`. Raises ValueError for anything else."""
    marks = sort_key.split("#")
    if len(marks) != 3 or f"{marks[0]}#" not in (COOLDOWN, QUOTA):
        raise ValueError("not the sort key of a subject")
    return _checked(marks[1]), SearchModality(marks[2])


def rate_key(subject: str) -> str:
    """A subject is a host, or a host and a key's name; what is longer or stranger than that is hashed."""
    if _PLAIN_SUBJECT.fullmatch(subject):
        return f"RATE#{subject}"
    return f"RATE#~{hashlib.sha256(subject.encode()).hexdigest()}"


def call_key(instance_id: str, started_at: float, nonce: str) -> str:
    return f"AU#{_checked(instance_id)}#{_moment(started_at)}#{nonce}"


def calls_since(instance_id: str, since: float) -> tuple[str, str]:
    """The first and last sort key that a call of the instance since then can have."""
    prefix = f"AU#{_checked(instance_id)}#"
    return prefix + _moment(since), prefix + "~"


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, tz=UTC).isoformat(timespec="milliseconds")


def _checked(text: str) -> str:
    if not is_id(text):
        raise ValueError("an id has 1 to 63 characters out of a-z, 0-9, '_' and '-', and starts with a letter or digit")
    return text
