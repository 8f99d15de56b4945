"""Settings: what is in force, what became of a change, and how a trial went."""

from collections.abc import Mapping

from pydantic import Field

from zarniwoop_client.results.record import Record
from zarniwoop_client.results.searches import QuotaStatus


class SettingRow(Record):
    """One setting in force. Of a secret `value` is None and `preview` its mask; the whole key is never in here.

    `key_count` is how many keys a secret holds, the first of which is the preview's; None where it was not read.
    """

    key: str
    value: str | None
    level: str
    secret: bool = False
    preview: str | None = None
    key_count: int | None = None


class ProblemRow(Record):
    setting: str
    reason: str


class EndpointRow(Record):
    """One endpoint, saved or there without a setting.

    `badge` tells whether it has what it takes to be asked; `key_from` a level, a variable, or None. `named_by` lists
    the routing that names it.
    """

    id: str
    protocol: str | None
    base_url: str | None
    enabled: bool
    badge: str
    key_from: str | None
    key_preview: str | None
    key_count: int | None
    problems: tuple[ProblemRow, ...]
    named_by: tuple[str, ...]


class SettingsView(Record):
    """`versions` by level; that of the level to be changed belongs into the change. `writable` names those levels.

    `protocols` has the badge of every protocol: configured when one of its endpoints is.
    """

    tenant_id: str
    project_id: str | None
    process_id: str | None
    versions: Mapping[str, str]
    writable: tuple[str, ...]
    settings: tuple[SettingRow, ...]
    endpoints: tuple[EndpointRow, ...]
    protocols: Mapping[str, str]
    problems: tuple[ProblemRow, ...]


class TrialReport(Record):
    """What became of the one call. `asked` is `quota` or `search`; `cost` is in the endpoint's own unit."""

    endpoint_id: str
    protocol: str
    asked: str
    modality: str
    outcome: str
    message: str
    duration_ms: int
    hit_count: int = 0
    quota: QuotaStatus | None = None
    cost: float = 0.0
    note: str | None = None


class SettingsTold(Record):
    """What became of a change. `left` names the settings that are not saved; `version` goes into the next change.

    `takes_effect` says when; `named_by` lists routing that still names an endpoint that was taken away.
    """

    level: str
    saved: tuple[str, ...]
    left: tuple[str, ...]
    version: str | None
    takes_effect: str
    named_by: tuple[str, ...]


class SecretShown(Record):
    """A saved key, whole. Its repr does not show it."""

    key: str
    level: str
    value: str = Field(repr=False)
