"""The keys of all items: tenant and project lead, and no id can forge another one's key.

State and audit share the partition key `T#<tenant>#P#<project>`. Sort keys: `CD#<instance>#<modality>#<fingerprint of
its settings>` (cooldown; with `-k<n>` behind it that of the n-th key), `QU#<instance>#<modality>` (quota),
`US#<instance>#<period>` (what an endpoint has spent in that period), `US#_project#<period>` (what the whole project
has), `US#_run#<run id>` (what a run has), `GEN` (generation), `CT#<sha256>` (stored content), `SQ#<name>` (what a
standing query has reported), `QF#<sha256>` (who answers a file of questions),
`AU#<instance>#<start, UTC, milliseconds>#<random>` (audit). Evidence has a table of its own, with `EV#<evidence id>`,
`CT#<sha256>` (its bodies) and `STOPPED` (when the project was stopped), and so have runs, with `RUN#<run id>` and
`KEY#<sha256>` (an idempotency key that a run has taken). Turns at a provider's rate belong to the whole fleet:
partition `FLEET`, sort key `RATE#<subject>`. What is a whole tenant's lies under `T#<tenant>#P#_tenant`: `GEN`,
`US#_tenant#<period>`, `EDIT` (who is changing its settings) and, beside the audit records, `SE#<time, UTC,
milliseconds>#<random>` (what was done to its settings).

Quirk: `#` separates, therefore no id may contain one. DynamoDB allows a sort key 1024 bytes.
"""

import hashlib
import re
from datetime import UTC, datetime

from zarniwoop.contract.modality import SearchModality
from zarniwoop.stores.runs import is_run_id
from zarniwoop.stores.state import ProjectKey, Subject

COOLDOWN = "CD#"
QUOTA = "QU#"
SPENT = "US#"
GENERATION = "GEN"
CONTENT = "CT#"
RESULT = "RC#"
RUN = "RUN#"
EVIDENCE = "EV#"
STANDING = "SQ#"
STOPPED = "STOPPED"
EDIT = "EDIT"
FLEET = "FLEET"

ID_PATTERN = r"[a-z0-9][a-z0-9_-]{0,62}"
"""What the whole id of a tenant, project, process or instance looks like."""

_ID = re.compile(ID_PATTERN)
_SHA256 = re.compile(r"[0-9a-f]{64}")
_EVIDENCE_ID = re.compile(r"ev-[0-9a-f]{32}")
_PLAIN_SUBJECT = re.compile(r"[A-Za-z0-9._:/@|-]{1,200}")


def is_id(text: str) -> bool:
    """Whether the text may be the id of a tenant, project, process or instance."""
    return _ID.fullmatch(text) is not None


def partition(project: ProjectKey) -> str:
    """Raises ValueError for an id that could forge a key."""
    return f"T#{_checked(project.tenant_id)}#P#{_checked(project.project_id)}"


def tenant_partition(tenant_id: str) -> str:
    """Where a whole tenant's items lie; no project can be called so. Raises ValueError as `partition` does."""
    return f"T#{_checked(tenant_id)}#P#_tenant"


def project_of(partition_key: str) -> ProjectKey:
    """The inverse of `partition`. Raises ValueError for anything else."""
    marks = partition_key.split("#")
    if len(marks) != 4 or (marks[0], marks[2]) != ("T", "P"):
        raise ValueError("not the partition key of a project")
    return ProjectKey(tenant_id=_checked(marks[1]), project_id=_checked(marks[3]))


def cooldown_key(subject: Subject, fingerprint: str) -> str:
    return f"{COOLDOWN}{_checked(subject[0])}#{subject[1].value}#{_checked(fingerprint)}"


def read_cooldown_key(sort_key: str) -> tuple[Subject, str]:
    """Subject and fingerprint. Raises ValueError for what is no key of a cooldown."""
    instance_id, modality, fingerprint = _parts(COOLDOWN, 3, sort_key)
    return (_checked(instance_id), SearchModality(modality)), _checked(fingerprint)


def quota_key(subject: Subject) -> str:
    return f"{QUOTA}{_checked(subject[0])}#{subject[1].value}"


def read_quota_key(sort_key: str) -> Subject:
    """Raises ValueError for what is no key of a quota."""
    instance_id, modality = _parts(QUOTA, 2, sort_key)
    return _checked(instance_id), SearchModality(modality)


def spent_key(instance_id: str, credit_period: str) -> str:
    return f"{SPENT}{_checked(instance_id)}#{_checked(credit_period)}"


def read_spent_key(sort_key: str) -> str:
    """The instance that spent. Raises ValueError for what is no key of spent credit."""
    return _checked(_parts(SPENT, 2, sort_key)[0])


def budget_key(owner: str, period: str) -> str:
    """Of a whole project or tenant; no instance can be called so."""
    return f"{SPENT}_{_checked(owner)}#{_checked(period)}"


def read_budget_key(sort_key: str) -> str:
    """Whose spending it is. Raises ValueError for what is no key of a budget."""
    owner = _parts(SPENT, 2, sort_key)[0]
    if not owner.startswith("_"):
        raise ValueError("not a sort key of a budget")
    return _checked(owner.removeprefix("_"))


def content_key(sha256: str) -> str:
    """Raises ValueError for what is no hash."""
    return f"{CONTENT}{checked_sha256(sha256)}"


def checked_sha256(text: str) -> str:
    """Raises ValueError for what is no SHA-256 in lower-case hexadecimal."""
    if not _SHA256.fullmatch(text):
        raise ValueError("a hash has 64 characters out of 0-9 and a-f")
    return text


def result_key(identity: str) -> str:
    """Raises ValueError for what is no hash."""
    return f"{RESULT}{checked_sha256(identity)}"


def read_result_key(sort_key: str) -> str:
    """The identity. Raises ValueError for what is no key of a kept answer."""
    return checked_sha256(_parts(RESULT, 1, sort_key)[0])


def standing_key(name: str) -> str:
    """Raises ValueError for a name that could forge a key."""
    return f"{STANDING}{_checked(name)}"


def question_file_key(sha256: str) -> str:
    """Raises ValueError for what is no hash."""
    return f"QF#{checked_sha256(sha256)}"


def run_key(run_id: str) -> str:
    """Raises ValueError for what is no run's id."""
    return f"{RUN}{checked_run_id(run_id)}"


def checked_run_id(text: str) -> str:
    """Raises ValueError for what is no run's id."""
    if not is_run_id(text):
        raise ValueError("a run's id is 'r-' and 26 characters")
    return text


def is_evidence_id(text: str) -> bool:
    return _EVIDENCE_ID.fullmatch(text) is not None


def evidence_key(evidence_id: str) -> str:
    """Raises ValueError for what is no evidence's id."""
    if not is_evidence_id(evidence_id):
        raise ValueError("an evidence's id is 'ev-' and 32 characters out of 0-9 and a-f")
    return f"{EVIDENCE}{evidence_id}"


def evidence_of_task(project: ProjectKey, task_id: str) -> str:
    """The key in the index of tasks. Raises ValueError for an id that could forge a key."""
    return f"{partition(project)}#K#{_checked(task_id)}"


def evidence_of_url(project: ProjectKey, url: str) -> str:
    """The key in the index of URLs; they are whatever strangers make of them, so they are hashed."""
    return f"{partition(project)}#U#{hashlib.sha256(url.encode('utf-8', 'replace')).hexdigest()}"


def seen_key(at: float, evidence_id: str) -> str:
    """Orders evidence by when it was last read, to the millisecond, then by its id."""
    if not is_evidence_id(evidence_id):
        raise ValueError("an evidence's id is 'ev-' and 32 characters out of 0-9 and a-f")
    return f"{_moment(at)}#{evidence_id}"


def claim_key(key: str) -> str:
    """Keys are whatever callers make of them, so they are hashed."""
    return f"KEY#{hashlib.sha256(key.encode()).hexdigest()}"


def rate_key(subject: str) -> str:
    """A subject is a host, or a host and a key's name; what is longer or stranger than that is hashed."""
    if _PLAIN_SUBJECT.fullmatch(subject):
        return f"RATE#{subject}"
    return f"RATE#~{hashlib.sha256(subject.encode()).hexdigest()}"


def call_key(instance_id: str, started_at: float, nonce: str) -> str:
    return f"AU#{_checked(instance_id)}#{_moment(started_at)}#{nonce}"


def settings_event_key(at: float, nonce: str) -> str:
    return f"SE#{_moment(at)}#{nonce}"


def calls_since(instance_id: str, since: float) -> tuple[str, str]:
    """The first and last sort key that a call of the instance since then can have."""
    prefix = f"AU#{_checked(instance_id)}#"
    return prefix + _moment(since), prefix + "~"


def calls_between(instance_id: str, since: float, until: float) -> tuple[str, str]:
    """Around the sort keys of the instance's calls that began from `since` on and before `until`."""
    prefix = f"AU#{_checked(instance_id)}#"
    return prefix + _moment(since), prefix + _moment(until)


def calls_after(instance_id: str | None) -> tuple[str, str]:
    """Around the sort keys of the calls of every instance behind this one, or of every one."""
    return ("AU#" if instance_id is None else f"AU#{_checked(instance_id)}#~"), "AU#~"


def instance_of(call_sort_key: str) -> str:
    """Whose call it is. Raises ValueError for what is no key of a call."""
    return _checked(_parts("AU#", 3, call_sort_key)[0])


def _parts(prefix: str, count: int, sort_key: str) -> list[str]:
    parts = sort_key.removeprefix(prefix).split("#")
    if not sort_key.startswith(prefix) or len(parts) != count:
        raise ValueError(f"not a sort key of {prefix}")
    return parts


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, tz=UTC).isoformat(timespec="milliseconds")


def _checked(text: str) -> str:
    if not is_id(text):
        raise ValueError("an id has 1 to 63 characters out of a-z, 0-9, '_' and '-', and starts with a letter or digit")
    return text
