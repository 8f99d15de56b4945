"""Reading settings out of SSM Parameter Store, one level at a time, and one secret when it is needed.

API: https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetParametersByPath.html
Quirks: a page has at most 10 parameters, may be empty and still not be the last. Without decryption the value of a
SecureString is its ciphertext, so a secure parameter has no value here. Parameter Store answers 40 calls a second.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import SystemRandom
from typing import TYPE_CHECKING, Protocol, TypeVar

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.failure import ConfigurationUnavailable
from zarniwoop.settings.levels import Place, key_of
from zarniwoop.settings.names import is_secret
from zarniwoop.settings.ssm_calls import ParameterMissing, ParameterStoreUnavailable, call

if TYPE_CHECKING:
    from mypy_boto3_ssm import SSMClient
    from mypy_boto3_ssm.type_defs import GetParametersByPathRequestTypeDef, ParameterTypeDef

_PAGE = 10
_MOST_PAGES = 50
_LONGEST_WAIT = 0.3
_RANDOM = SystemRandom()

Returned = TypeVar("Returned")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A saved setting. `value` is None for a secret; `version` is another one after every change."""

    value: str | None
    secure: bool
    name: str
    version: str


class ParameterStore(Protocol):
    """Raises ConfigurationUnavailable when it does not answer."""

    def read_level(self, place: Place) -> Mapping[str, Parameter]:
        """What is saved at exactly this place, by key; secrets without their values."""
        ...

    def reveal(self, name: str) -> str | None:
        """The decrypted value of one parameter, or None when there is none of this name."""
        ...


class SsmParameterStore:
    """`ParameterStore` under `root` (`/zarniwoop/<stack>`): one call per 10 parameters of a level."""

    def __init__(
        self, client: "SSMClient", root: str, clock: Clock, *, jitter: Callable[[], float] = _RANDOM.random
    ) -> None:
        self._client = client
        self._root = root.rstrip("/")
        self._clock = clock
        self._jitter = jitter

    def read_level(self, place: Place) -> Mapping[str, Parameter]:
        asked: GetParametersByPathRequestTypeDef = {
            "Path": place.path(self._root),
            "Recursive": True,
            "WithDecryption": False,
            "MaxResults": _PAGE,
        }
        found: dict[str, Parameter] = {}
        for _page in range(_MOST_PAGES):
            page = self._twice(lambda: call(self._client.get_parameters_by_path, **asked))
            for parameter in page["Parameters"]:
                key = key_of(self._root, place, parameter["Name"])
                if key is not None:
                    found[key] = _read(key, parameter)
            if not page.get("NextToken"):
                return found
            asked["NextToken"] = page["NextToken"]
        raise ConfigurationUnavailable(f"there are more than {_PAGE * _MOST_PAGES} settings at one level")

    def reveal(self, name: str) -> str | None:
        if not name.startswith(self._root + "/"):
            return None
        try:
            answer = self._twice(lambda: call(self._client.get_parameter, Name=name, WithDecryption=True))
        except ParameterMissing:
            return None
        return answer["Parameter"]["Value"]

    def _twice(self, ask: Callable[[], Returned]) -> Returned:
        """Ask, and once more after a short random wait when the refusal may pass."""
        try:
            return ask()
        except ParameterStoreUnavailable as error:
            if not error.passing:
                raise
        self._clock.sleep(self._jitter() * _LONGEST_WAIT)
        return ask()


def _read(key: str, parameter: "ParameterTypeDef") -> Parameter:
    secure = parameter["Type"] == "SecureString" or is_secret(key)
    return Parameter(
        value=None if secure else parameter["Value"],
        secure=secure,
        name=parameter["Name"],
        version=_version(parameter),
    )


def _version(parameter: "ParameterTypeDef") -> str:
    """Number and time, because a parameter that was deleted and saved anew counts from 1 again."""
    changed = parameter.get("LastModifiedDate")
    return f"{parameter.get('Version', 0)}@{changed.timestamp() if changed else 0}"
