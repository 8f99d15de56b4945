"""Sending with a key that may have been replaced since it was read: a refused one is looked up again, once."""

from collections.abc import Callable
from typing import TypeVar

from zarniwoop.contract.failure import CredentialsRejected
from zarniwoop.contract.transport import Secret

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
