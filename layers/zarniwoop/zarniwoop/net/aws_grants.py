"""Which tenant may name which of the account's resources.

The role may ask for all that the stack's parameters list; without this, any tenant's settings could name another's.
"""

import re
from dataclasses import dataclass

_EVERYBODY = "*"
_GRANT = re.compile(r"(\*|[a-z0-9][a-z0-9_-]{0,62})=([0-9A-Za-z]{10})")


@dataclass(frozen=True, slots=True)
class ResourceGrants:
    """Pairs of a tenant and the id of a resource; the tenant `*` is every one."""

    pairs: frozenset[tuple[str, str]] = frozenset()

    @classmethod
    def parse(cls, written: str) -> "ResourceGrants":
        """Read `acme=ABCDEFGHIJ,*=KLMNOPQRST`. Raises ValueError for anything else."""
        grants = [_GRANT.fullmatch(each.strip()) for each in written.split(",") if each.strip()]
        if not all(grants):
            raise ValueError("a grant is a tenant, an equals sign and the ten characters of an id")
        return cls(frozenset((grant[1], grant[2]) for grant in grants if grant))

    def allow(self, tenant_id: str, resource: str | None) -> bool:
        """What names no resource of the account's needs no grant."""
        return resource is None or not self.pairs.isdisjoint(((tenant_id, resource), (_EVERYBODY, resource)))
