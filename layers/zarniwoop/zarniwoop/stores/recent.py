"""What an execution environment remembers from one search to the next: never more than so much of it."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """A mapping that lets go of what was used longest ago; safe to use from several threads."""

    def __init__(self, most: int = 256) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._entries: dict[Key, Value] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Key) -> Value | None:
        with self._lock:
            if key not in self._entries:
                return None
            value = self._entries.pop(key)
            self._entries[key] = value
            return value

    def put(self, key: Key, value: Value) -> None:
        with self._lock:
            self._entries.pop(key, None)
            self._entries[key] = value
            while len(self._entries) > self._most:
                self._entries.pop(next(iter(self._entries)))

    def pop(self, key: Key) -> Value | None:
        with self._lock:
            return self._entries.pop(key, None)

    def change(self, chosen: Callable[[Key], bool], to: Callable[[Value], Value]) -> None:
        """Put something else in the place of every entry whose key is chosen."""
        with self._lock:
            for key, value in self._entries.items():
                if chosen(key):
                    self._entries[key] = to(value)

    def drop(self, unwanted: Callable[[Key], bool]) -> None:
        """Let go of every entry whose key is unwanted."""
        with self._lock:
            for key in [key for key in self._entries if unwanted(key)]:
                del self._entries[key]
