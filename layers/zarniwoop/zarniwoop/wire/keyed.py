"""The key of an endpoint, and sending with one that may have been replaced: a refused one is looked up again, once."""

from collections.abc import Callable
from typing import TypeVar

from zarniwoop.contract.failure import CredentialsRejected
from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.contract.transport import Secret
from zarniwoop.wire.format import WireFormat

Returned = TypeVar("Returned")


def send_with_key(read_key: Callable[[bool], Secret | None], send: Callable[[Secret | None], Returned]) -> Returned:
    """Send; when the key is refused and a fresh look finds another one, send with that.

    `read_key` is told whether to look past every cache. Raises what `send` raises.
    """
    secret = read_key(False)
    try:
        return send(secret)
    except CredentialsRejected:
        renewed = read_key(True)
        if renewed == secret:
            raise
        return send(renewed)


def key_of(config: ProviderInstanceConfig, declared: WireFormat, *, fresh: bool, index: int | None) -> Secret | None:
    """What authenticates a request; of several keys that at `index`. Raises CredentialsRejected where one is needed."""
    key = config.credential_key
    if declared.authentication is None:
        return None
    if key is None or index is None:
        secret = config.keys.secret(key, fresh=fresh) if key is not None else None
    else:
        secret = config.keys.secret(key, fresh=fresh, index=index)
    if secret is None and declared.key_required:
        raise CredentialsRejected(f"no key is saved for {config.instance_id}")
    return secret
