"""Whose everything is: tenant and project start every key."""

from dataclasses import dataclass

from zarniwoop.contract.request import SearchScope


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectKey:
    """Whose state it is; it starts every key of a project's items."""

    tenant_id: str
    project_id: str

    @classmethod
    def of(cls, scope: SearchScope) -> "ProjectKey":
        return cls(tenant_id=scope.tenant_id, project_id=scope.project_id)
