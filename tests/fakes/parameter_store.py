"""Parameter Store in memory: read like `settings.parameter_store`, written like `settings.writer`."""

from collections.abc import Mapping
from itertools import count

from tests.fakes.outage import Outage
from zarniwoop.settings.levels import Place, key_of, parameter_name
from zarniwoop.settings.names import is_secret
from zarniwoop.settings.parameter_store import Parameter
from zarniwoop.settings.writer import check_setting


class InMemoryParameterStore(Outage):
    """`settings.parameter_store.ParameterStore` and the members of `settings.writer.SsmSettingsWriter`."""

    def __init__(self, root: str = "/zarniwoop/test") -> None:
        super().__init__()
        self._root = root
        self._saved: dict[str, tuple[str, bool, str]] = {}
        self._writes = count(1)

    def read_level(self, place: Place) -> Mapping[str, Parameter]:
        with self._lock:
            self._called("read_level")
            found = {}
            for name, (value, secure, version) in self._saved.items():
                key = key_of(self._root, place, name)
                if key is not None:
                    found[key] = Parameter(value=None if secure else value, secure=secure, name=name, version=version)
            return found

    def reveal(self, name: str) -> str | None:
        with self._lock:
            self._called("reveal")
            return self._saved[name][0] if name in self._saved else None

    def put(self, place: Place, key: str, value: str, *, secure: bool = False) -> None:
        with self._lock:
            self._called("put")
            check_setting(key, value)
            self.put_unchecked(place, key, value, secure=secure)

    def put_unchecked(self, place: Place, key: str, value: str, *, secure: bool = False) -> None:
        """Save what our own writer would refuse, as somebody with the AWS console can."""
        saved = (value, secure or is_secret(key), str(next(self._writes)))
        self._saved[parameter_name(self._root, place, key)] = saved

    def put_secret(self, name: str, value: str) -> None:
        """Save a SecureString that is no setting, under its whole name."""
        self._saved[name] = (value, True, str(next(self._writes)))

    def delete(self, place: Place, key: str) -> bool:
        with self._lock:
            self._called("delete")
            return self._saved.pop(parameter_name(self._root, place, key), None) is not None
