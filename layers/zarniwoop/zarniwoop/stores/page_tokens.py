"""Where a list goes on: tokens that only we can make, good for the one project that they were given out to.

A raw `LastEvaluatedKey` in a caller's hands could name another tenant's partition. A token holds the last sort key and
a MAC under the stack's key that also covers tenant, project and the kind of list.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Callable

from zarniwoop.stores.failure import StoreError
from zarniwoop.stores.keys import partition
from zarniwoop.stores.state import ProjectKey

_MAC_BYTES = 16
_LONGEST = 512


class InvalidPageToken(StoreError):  # noqa: N818 - named by its consequence
    """The token was made by somebody else, or for another list."""

    def __init__(self) -> None:
        super().__init__("this page token does not belong to this list")


class PageTokens:
    """Seals and opens the tokens of one kind of list; `key` is asked for when it is first needed."""

    def __init__(self, kind: str, key: Callable[[], bytes]) -> None:
        self._kind = kind
        self._key = key

    def seal(self, project: ProjectKey, last: str) -> str:
        """`last` is the last sort key of the page before. No id holds a `#`: the parts cannot run into each other."""
        signed = f"page#{self._kind}#{partition(project)}#{last}".encode()
        mac = hmac.digest(self._key(), signed, hashlib.sha256)[:_MAC_BYTES]
        return base64.urlsafe_b64encode(mac + last.encode()).decode().rstrip("=")

    def open(self, project: ProjectKey, token: str) -> str:
        """The sort key in the token. Raises InvalidPageToken for all but the one spelling in which it was sealed."""
        if not token.isascii() or len(token) > _LONGEST:
            raise InvalidPageToken
        try:
            raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
            last = raw[_MAC_BYTES:].decode()
        except (binascii.Error, ValueError):
            raise InvalidPageToken from None
        if not hmac.compare_digest(self.seal(project, last), token):
            raise InvalidPageToken
        return last
