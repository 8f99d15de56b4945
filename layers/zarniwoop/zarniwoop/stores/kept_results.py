"""What stands under the identity of a search: the answer that was kept, or the news that somebody is asking."""

from dataclasses import dataclass, field

LANDED = 0.0
"""What `held_until` is when a flight ended without an answer that may be kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAnswer:
    """An answer, good for `kept_seconds` from `stored_at` (epoch seconds) on, within its project's generation.

    `body` is the packed answer, None where it lies in S3 as `file`.
    """

    generation: int
    stored_at: float
    kept_seconds: float
    body: bytes | None = field(default=None, repr=False)
    file: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Flight:
    """`holder` is asking, and nobody else need ask before `held_until` (epoch seconds): a lease, should it die."""

    generation: int
    holder: str
    held_until: float

    @property
    def landed(self) -> bool:
        return self.held_until == LANDED


Standing = KeptAnswer | Flight
