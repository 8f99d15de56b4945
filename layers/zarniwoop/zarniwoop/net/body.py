"""The body of an answer: decoded of at most one content coding, and never larger than allowed while it is decoded.

RFC 9110 section 8.4. Quirk: gzip can unfold to a thousand times its size, so the decoder is told how much it may give.
"""

import zlib
from collections.abc import Iterable, Mapping

from zarniwoop.contract.failure import Cause, MalformedAnswer
from zarniwoop.net.exchange import too_large

DEFAULT_MAX_BYTES = 5 * 1000 * 1000
_AT_ONCE = 64 * 1024
_GZIP = 31  # zlib's window bits for a gzip header and trailer
_IDENTITY = ("", "identity")
_GZIP_NAMES = ("gzip", "x-gzip")


def read_body(parts: Iterable[bytes], headers: Mapping[str, str], max_bytes: int) -> bytes:
    """The whole body. Raises MalformedAnswer: too large, in an unknown coding, or cut short."""
    coding = headers.get("content-encoding", "").strip().lower()
    if (content_length(headers) or 0) > max_bytes:
        raise too_large()
    if coding in _IDENTITY:
        return _read_plain(parts, max_bytes)
    if coding in _GZIP_NAMES:
        return _read_gzip(parts, max_bytes)
    raise MalformedAnswer("the answer has a content coding that was not asked for", cause=Cause.ENCODING)


def content_length(headers: Mapping[str, str]) -> int | None:
    """The stated length of the body on the wire; None where there is none or the body is chunked."""
    stated = headers.get("content-length")
    return int(stated) if stated is not None else None


def _read_plain(parts: Iterable[bytes], max_bytes: int) -> bytes:
    body: list[bytes] = []
    size = 0
    for part in parts:
        size += len(part)
        if size > max_bytes:
            raise too_large()
        body.append(part)
    return body[0] if len(body) == 1 else b"".join(body)


def _read_gzip(parts: Iterable[bytes], max_bytes: int) -> bytes:
    decoder = zlib.decompressobj(_GZIP)
    body: list[bytes] = []
    size = received = 0
    for part in parts:
        received += len(part)
        while part:
            if decoder.eof:
                decoder = zlib.decompressobj(_GZIP)
            decoded = _decoded(decoder, part)
            size += len(decoded)
            if size > max_bytes:
                raise too_large()
            body.append(decoded)
            part = decoder.unused_data or decoder.unconsumed_tail
    if received and not decoder.eof:
        raise MalformedAnswer("the compressed answer is cut short", cause=Cause.TRUNCATED)
    return b"".join(body)


def _decoded(decoder: "zlib._Decompress", part: bytes) -> bytes:
    """The next piece; what it leaves of the part is the decoder's to say."""
    try:
        return decoder.decompress(part, _AT_ONCE)
    except zlib.error as error:
        raise MalformedAnswer("the answer is not what its content coding says", cause=Cause.ENCODING) from error
