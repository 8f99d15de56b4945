"""The one place where text on its way out loses its secrets."""

import base64
import re
from urllib.parse import quote, quote_plus

import orjson

from zarniwoop.contract.transport import Secret, keys_in

_MASK = "[redacted]"
_ASSIGNED = re.compile(
    r"(?i)\b((?:api[_-]?key|x-api-key|access[_-]?token|token|secret|signature|authorization)\"?\s*[=:]\s*\"?)"
    r"(?!(?:null|true|false)\b|[\[{])(?:(bearer\s+)?(?:\\.|[^\s\"\\&,}])+)"
)
_SHORTEST = 8


class Redactor:
    """Knows every secret that this environment has revealed, in the spellings in which it could leak."""

    def __init__(self) -> None:
        self._spellings: frozenset[str] = frozenset()

    def learn(self, secret: Secret) -> None:
        """Mask this secret from now on: as it is, URL-encoded, in base64 and in JSON. Under 8 characters is no key."""
        value = secret.reveal()
        several = keys_in(value)
        for key in several if len(several) > 1 else ():
            self.learn(Secret(key))
        if len(value) < _SHORTEST:
            return
        encoded = base64.b64encode(value.encode()).decode().rstrip("=")
        in_json = orjson.dumps(value).decode()[1:-1]
        self._spellings |= {value, quote(value, safe=""), quote_plus(value), encoded, in_json}

    def redact(self, text: str) -> str:
        """The text without known secrets, and without whatever is assigned to a name that means one."""
        for spelling in self._spellings:
            if spelling in text:
                text = text.replace(spelling, _MASK)
        return _ASSIGNED.sub(lambda found: f"{found.group(1)}{_MASK}", text)
