"""The stack's HMAC key for query hashes: a secret of the whole stack, read when something is first to be hashed.

Without it hashing goes on, but its hashes are comparable with fewer others, and nothing made up is kept for longer than
need be: a key that was saved, or that can be read again, is soon in use.
"""

import secrets
import threading
from collections.abc import Callable

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.failure import ConfigurationUnavailable

LOOK_AGAIN_SECONDS = 300.0
"""How long a missing key is taken to be still missing."""
_KEY_BYTES = 32


class StackHashKey:
    """`reveal` looks for it and raises ConfigurationUnavailable; `warn` is told what it means that there is none."""

    def __init__(self, reveal: Callable[[], str | None], clock: Clock, *, warn: Callable[[str], None]) -> None:
        self._reveal = reveal
        self._clock = clock
        self._warn = warn
        self._lock = threading.Lock()
        self._found: bytes | None = None
        self._instead: bytes | None = None
        self._look_again_at = float("-inf")

    def saved(self) -> bytes | None:
        """The key, or None while it is missing or cannot be read. Threads that come together read it once."""
        with self._lock:
            if self._found is None and self._clock.monotonic() >= self._look_again_at:
                self._found = self._look()
            return self._found

    def key(self) -> bytes:
        """The key; this environment's own when there is none; one for this call alone when that cannot be known."""
        return self.saved() or self._instead or secrets.token_bytes(_KEY_BYTES)

    def _look(self) -> bytes | None:
        try:
            saved = self._reveal()
        except ConfigurationUnavailable as error:
            self._look_again_at = self._clock.monotonic() + error.retry_after
            self._warn("the query hash key cannot be read: hashes made meanwhile are comparable with no others")
            return None
        if saved is not None:
            return saved.encode()
        self._look_again_at = self._clock.monotonic() + LOOK_AGAIN_SECONDS
        if self._instead is None:
            self._instead = secrets.token_bytes(_KEY_BYTES)
            self._warn("no query hash key: audit hashes are comparable within this environment only")
        return None
