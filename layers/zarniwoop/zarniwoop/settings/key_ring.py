"""Keys, one at a time and only when their endpoint is about to be called.

Quirk: Parameter Store keeps whatever was pasted, newlines included, and an HTTP client that meets one in a header shows
the whole key in its error. So what cannot stand in a header is no key.
"""

import threading
from collections.abc import Callable, Mapping

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.failure import ConfigurationUnavailable
from zarniwoop.contract.transport import Secret
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
        self._kept: dict[str, tuple[float, Secret]] = {}

    def secret(self, credential_key: str, *, fresh: bool = False) -> Secret | None:
        if credential_key.startswith(ENVIRONMENT):
            return self._revealed(self._environment.get(credential_key.removeprefix(ENVIRONMENT)))
        with self._lock:  # one thread reads, and the others find what it read
            kept_at, kept = self._kept.get(credential_key, (0.0, None))
            if kept is not None and not fresh and 0 <= self._clock.now() - kept_at < _KEPT_SECONDS:
                return kept
            try:
                secret = self._revealed(self._parameters.reveal(credential_key))
            except ConfigurationUnavailable:
                if kept is None:
                    raise
                return kept
            self._keep(credential_key, secret)
            return secret

    def forget(self, prefix: str) -> None:
        """Let go of the keys whose names start so: they may have been replaced, and belong to another address now."""
        with self._lock:
            for name in [name for name in self._kept if name.startswith(prefix)]:
                del self._kept[name]

    def _revealed(self, value: str | None) -> Secret | None:
        secret = Secret((value or "").strip())
        if not secret.is_sendable():
            return None
        self._on_reveal(secret)
        return secret

    def _keep(self, credential_key: str, secret: Secret | None) -> None:
        """A missing key is not remembered, so that it works as soon as it was saved."""
        self._kept.pop(credential_key, None)
        if secret is not None:
            self._kept[credential_key] = (self._clock.now(), secret)
        while len(self._kept) > _MOST_KEYS:
            self._kept.pop(next(iter(self._kept)))
