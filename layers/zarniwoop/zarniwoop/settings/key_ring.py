"""Keys, one at a time and only when their endpoint is about to be called.

Quirk: Parameter Store keeps whatever was pasted, newlines included, and an HTTP client that meets one in a header shows
the whole key in its error. So what cannot stand in a header is no key.
A setting may hold several (`contract.transport.keys_in`).
"""

import threading
from collections.abc import Callable, Mapping

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.failure import ConfigurationUnavailable
from zarniwoop.contract.transport import MOST_IN_A_POOL, Secret, keys_in
from zarniwoop.settings.credentials import ENVIRONMENT
from zarniwoop.settings.parameter_store import ParameterStore

_KEPT_SECONDS = 300.0
_MOST_KEYS = 256


class SettingsKeyRing:
    """`contract.transport.KeyRing`. `environment` holds the operator's variables; `on_reveal` hears of every secret."""

    def __init__(
        self,
        parameters: ParameterStore,
        clock: Clock,
        environment: Mapping[str, str],
        on_reveal: Callable[[Secret], None],
    ) -> None:
        self._parameters = parameters
        self._clock = clock
        self._environment = environment
        self._on_reveal = on_reveal
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[float, tuple[Secret, ...]]] = {}

    def secret(self, credential_key: str, *, fresh: bool = False, index: int = 1) -> Secret | None:
        secrets = self._secrets(credential_key, fresh=fresh)
        return secrets[index - 1] if index <= len(secrets) else None

    def count(self, credential_key: str) -> int:
        if credential_key.startswith(ENVIRONMENT):
            return max(1, len(self._secrets(credential_key, fresh=False)))
        with self._lock:
            _, kept = self._kept.get(credential_key, (0.0, ()))
            return max(1, len(kept))

    def most(self, credential_key: str) -> int:
        with self._lock:
            is_known = credential_key in self._kept or credential_key.startswith(ENVIRONMENT)
        return self.count(credential_key) if is_known else MOST_IN_A_POOL

    def _secrets(self, credential_key: str, *, fresh: bool) -> tuple[Secret, ...]:
        if credential_key.startswith(ENVIRONMENT):
            return self._revealed(self._environment.get(credential_key.removeprefix(ENVIRONMENT)))
        with self._lock:  # one thread reads, and the others find what it read
            kept_at, kept = self._kept.get(credential_key, (0.0, ()))
            if kept and not fresh and 0 <= self._clock.now() - kept_at < _KEPT_SECONDS:
                return kept
            try:
                secrets = self._revealed(self._parameters.reveal(credential_key))
            except ConfigurationUnavailable:
                if not kept:
                    raise
                return kept
            self._keep(credential_key, secrets)
            return secrets

    def forget(self, prefix: str) -> None:
        """Let go of the keys whose names start so: they may have been replaced, and belong to another address now."""
        with self._lock:
            for name in [name for name in self._kept if name.startswith(prefix)]:
                del self._kept[name]

    def _revealed(self, value: str | None) -> tuple[Secret, ...]:
        """Nothing where one of them cannot be sent: what was pasted wrongly is no pool."""
        secrets = tuple(Secret(key) for key in keys_in(value or ""))[:MOST_IN_A_POOL]
        if not all(secret.is_sendable() for secret in secrets):
            return ()
        for secret in secrets:
            self._on_reveal(secret)
        return secrets

    def _keep(self, credential_key: str, secrets: tuple[Secret, ...]) -> None:
        """A missing key is not remembered, so that it works as soon as it was saved."""
        self._kept.pop(credential_key, None)
        if secrets:
            self._kept[credential_key] = (self._clock.now(), secrets)
        while len(self._kept) > _MOST_KEYS:
            self._kept.pop(next(iter(self._kept)))
