"""What keeps editors of a tenant's settings out of each other's way, and remembers what they did.

Parameter Store has no conditional write: without a lock, two editors who saw the same version would both be right.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol


class SettingsAction(StrEnum):
    """What somebody did to settings."""

    SAVE = "save"
    DELETE = "delete"
    REVEAL = "reveal"
    TEST = "test"


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsEvent:
    """Who did what to which settings, without a value. `project_id` None: to the tenant's own.

    `actor` is the start of the token's hash, or `iam` for a direct invocation.
    """

    tenant_id: str
    project_id: str | None
    action: SettingsAction
    keys: Sequence[str] = field(default=())
    actor: str
    request_id: str
    at: float
    expires_at: float


class SettingsEdits(Protocol):
    """Every method is one DynamoDB call and raises StoreUnavailable when it fails."""

    def begin(self, tenant_id: str, holder: str, *, now: float, seconds: float) -> bool:
        """Whether this holder may change the tenant's settings: nobody else may until it ends, or `seconds` passed."""
        ...

    def end(self, tenant_id: str, holder: str) -> None:
        """Let the next one in; nothing happens to a lock that somebody else has taken over."""
        ...

    def record(self, event: SettingsEvent) -> None: ...
