"""What is sent: a request as bytes, with the key put in its place last, after everything that may be shown."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from urllib.parse import urlencode

import orjson

from zarniwoop.contract.failure import Cause, CredentialsRejected, QueryRejected
from zarniwoop.contract.transport import Authentication, HeaderKey, HttpRequest, Secret
from zarniwoop.net.url import Target

Headers = tuple[tuple[bytes, bytes], ...]

_SENT_ANYWHERE = frozenset((b"accept", b"accept-language", b"accept-encoding", b"user-agent"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A checked key and where its provider looks for it."""

    place: Authentication
    value: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One request to one origin. `path_and_query` and `headers` are without the key."""

    method: str
    target: Target
    path_and_query: str
    headers: Headers
    body: bytes | None = None
    key: Key | None = None

    def target_on_the_wire(self) -> bytes:
        if self.key is None or isinstance(self.key.place, HeaderKey):
            return self.path_and_query.encode("ascii")
        return _with_query(self.path_and_query, urlencode({self.key.place.name: self.key.value})).encode("ascii")

    def headers_on_the_wire(self) -> list[tuple[bytes, bytes]]:
        headers = [(b"Host", self.target.authority.encode("ascii")), *self.headers]
        if self.body is not None:
            headers.append((b"Content-Length", b"%d" % len(self.body)))
        if self.key is not None and isinstance(self.key.place, HeaderKey):
            place = self.key.place
            headers.append((place.name.encode("ascii"), place.value_of(self.key.value).encode("ascii")))
        return headers

    def at(self, target: Target) -> "Message":
        """The same request at another place. To another origin go neither the key nor headers that may hold one."""
        moved = replace(self, target=target, path_and_query=target.path_and_query)
        if target.origin == self.target.origin:
            return moved
        kept = tuple(header for header in self.headers if header[0].lower() in _SENT_ANYWHERE)
        return replace(moved, key=None, headers=kept)

    def as_get(self) -> "Message":
        kept = tuple(header for header in self.headers if header[0].lower() != b"content-type")
        return replace(self, method="GET", body=None, headers=kept)


def message_of(request: HttpRequest, target: Target, standing: Headers, key: Key | None) -> Message:
    """A request as it is sent, with our standing headers where it has none of its own."""
    path_and_query = target.path_and_query
    if request.params:
        path_and_query = _with_query(path_and_query, urlencode(request.params))
    body, content_type = _body(request)
    return Message(
        method=request.method,
        target=target,
        path_and_query=path_and_query,
        headers=_headers(request, standing) + content_type,
        body=body,
        key=key,
    )


def checked_key(place: Authentication | None, secret: Secret | None) -> Key | None:
    """The key, when there is one to send. Raises CredentialsRejected for text that no header may carry."""
    if place is None or secret is None:
        return None
    if not secret.is_sendable():
        raise CredentialsRejected("the saved key is not printable ASCII of 8 to 512 characters")
    return Key(place=place, value=secret.reveal())


def unsendable() -> QueryRejected:
    return QueryRejected("this request cannot be put on the wire", cause=Cause.PROTOCOL)


def _with_query(path_and_query: str, query: str) -> str:
    if "?" not in path_and_query:
        return f"{path_and_query}?{query}"
    separator = "" if path_and_query.endswith(("?", "&")) else "&"
    return f"{path_and_query}{separator}{query}"


def _headers(request: HttpRequest, standing: Headers) -> Headers:
    if not request.headers:
        return standing
    given = tuple(_header(request.headers.items()))
    names = {name.lower() for name, _ in given}
    return tuple(header for header in standing if header[0].lower() not in names) + given


def _header(items: Iterable[tuple[str, str]]) -> Iterable[tuple[bytes, bytes]]:
    for name, value in items:
        if not (name.isascii() and value.isascii() and value.isprintable()):
            raise unsendable()
        yield name.encode("ascii"), value.strip().encode("ascii")


def _body(request: HttpRequest) -> tuple[bytes | None, Headers]:
    if request.json is not None:
        return orjson.dumps(request.json), _content_type(request, b"application/json")
    if request.form is not None:
        form = urlencode(request.form).encode("ascii")
        return form, _content_type(request, b"application/x-www-form-urlencoded")
    return (b"" if request.method == "POST" else None), ()


def _content_type(request: HttpRequest, usual: bytes) -> Headers:
    own = any(name.lower() == "content-type" for name in request.headers)
    return () if own else ((b"Content-Type", usual),)
