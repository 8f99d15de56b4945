"""Writing settings: what seeding scripts and the settings API use.

Quirks: Parameter Store takes no empty value, reads `{{` as a reference to another parameter, and cannot turn a String
into a SecureString.
"""

from typing import TYPE_CHECKING, Protocol

from zarniwoop.contract.problem import InvalidArgument
from zarniwoop.settings.levels import Place, is_key, parameter_name
from zarniwoop.settings.names import LONGEST_VALUE, is_secret
from zarniwoop.settings.ssm_calls import ParameterMissing, call

if TYPE_CHECKING:
    from mypy_boto3_ssm import SSMClient


class SettingsWriter(Protocol):
    """Raises ConfigurationUnavailable when Parameter Store does not answer, ParameterLimitReached when it is full."""

    def put(self, place: Place, key: str, value: str, *, secure: bool = False) -> None:
        """Save, or replace what is there. Raises InvalidArgument for what is no setting."""
        ...

    def delete(self, place: Place, key: str) -> bool:
        """Whether there was something to delete."""
        ...


class SsmSettingsWriter:
    """`SettingsWriter` under `root` (`/zarniwoop/<stack>`); `key_id` is the KMS key of secrets, if not the usual."""

    def __init__(self, client: "SSMClient", root: str, *, key_id: str | None = None) -> None:
        self._client = client
        self._root = root.rstrip("/")
        self._encryption = {"KeyId": key_id} if key_id else {}

    def put(self, place: Place, key: str, value: str, *, secure: bool = False) -> None:
        """Save, or replace what is there; a key (`….apiKey`) always as a SecureString. Raises InvalidArgument."""
        check_setting(key, value)
        as_secret = secure or is_secret(key)
        call(
            self._client.put_parameter,
            Name=parameter_name(self._root, place, key),
            Value=value,
            Type="SecureString" if as_secret else "String",
            Overwrite=True,
            **(self._encryption if as_secret else {}),  # type: ignore[arg-type]
        )

    def delete(self, place: Place, key: str) -> bool:
        """Whether there was something to delete."""
        if not is_key(key):
            return False
        try:
            call(self._client.delete_parameter, Name=parameter_name(self._root, place, key))
        except ParameterMissing:
            return False
        return True


def check_setting(key: str, value: str) -> None:
    """Raises InvalidArgument for what Parameter Store would not take, or not as it is meant."""
    if not is_key(key):
        raise InvalidArgument("a key has parts of letters, digits, '_' and '-' with dots between them", field="key")
    if not value.strip():
        raise InvalidArgument("a value must not be empty", field=key, suggested_action="delete the setting instead")
    if len(value.encode()) > LONGEST_VALUE:
        raise InvalidArgument(f"a value has at most {LONGEST_VALUE} bytes", field=key, suggested_action="shorten it")
    if "{{" in value:
        raise InvalidArgument("a value must not contain '{{'", field=key, suggested_action="leave that out")
