"""A tenant's own recipes, in S3 as `<tenant>/_recipes/<name>.md`; no project can have that name.

Kept for five minutes, the absent ones too: a run asks for the same few recipes dozens of times.
"""

from typing import TYPE_CHECKING

from zarniwoop.contract.deadline import Clock
from zarniwoop.stores.keys import is_id
from zarniwoop.stores.recent import Recent
from zarniwoop.stores.s3_calls import ObjectMissing, read_object

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_KEPT_SECONDS = 300.0


class S3RecipeOverrides:
    """By tenant and recipe: the text, or None. Raises StoreUnavailable when S3 does not answer and nothing is kept."""

    def __init__(self, client: "S3Client", bucket: str, clock: Clock) -> None:
        self._client = client
        self._bucket = bucket
        self._clock = clock
        self._kept: Recent[tuple[str, str], tuple[float, str | None]] = Recent()

    def __call__(self, tenant_id: str, name: str) -> str | None:
        if not is_id(tenant_id) or not is_id(name):
            raise ValueError("tenants and recipes are named by ids")
        key = (tenant_id, name)
        until, kept = self._kept.get(key) or (float("-inf"), None)
        if self._clock.monotonic() < until:
            return kept
        text = self._read(f"{tenant_id}/_recipes/{name}.md")
        self._kept.put(key, (self._clock.monotonic() + _KEPT_SECONDS, text))
        return text

    def _read(self, key: str) -> str | None:
        """What is not UTF-8 shows its wrong bytes, and fails where the recipe is read."""
        try:
            return read_object(self._client, self._bucket, key).decode("utf-8", "replace")
        except ObjectMissing:
            return None
