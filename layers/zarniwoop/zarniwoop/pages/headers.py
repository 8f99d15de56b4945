"""What is taken over from the headers of a stranger's answer: bounded, and in a form that may be sent back.

Validators: RFC 9110 section 8.8. They are stored and sent again with the next question, so what no header could carry
is left out when it comes.
"""

import re
from collections.abc import Mapping

_MEDIA_TYPE = re.compile(r"\s*([a-z0-9!#$&^_.+-]{1,60}/[a-z0-9!#$&^_.+-]{1,60})\s*(?:;|$)")
_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([a-z0-9_.:-]{1,40})[\"']?\s*(?:;|$)")
_LOOKED_AT = 1_000
_ETAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e]{0,500}"')
_HTTP_DATE = re.compile(r"[A-Za-z]{3}, [0-9]{2} [A-Za-z]{3} [0-9]{4} [0-9:]{8} GMT")


def media_type_of(headers: Mapping[str, str]) -> str | None:
    """The type that the answer claims for itself, in lower case and without parameters."""
    found = _MEDIA_TYPE.match(headers.get("content-type", "")[:_LOOKED_AT].lower())
    return found[1] if found else None


def charset_of(headers: Mapping[str, str]) -> str | None:
    """The label that the answer claims, in lower case. It is a stranger's word: no codec is looked up by it here."""
    found = _CHARSET.search(headers.get("content-type", "")[:_LOOKED_AT].lower())
    return found[1] if found else None


def etag_of(value: str | None) -> str | None:
    """An entity tag that may be sent back, or None."""
    return value if value is not None and _ETAG.fullmatch(value) else None


def http_date_of(value: str | None) -> str | None:
    """A date that may be sent back, or None."""
    return value if value is not None and _HTTP_DATE.fullmatch(value) else None


def conditions(etag: str | None, last_modified: str | None) -> dict[str, str]:
    """The headers that ask for a page only if it is no longer the one with these validators."""
    headers = {}
    if tag := etag_of(etag):
        headers["If-None-Match"] = tag
    if date := http_date_of(last_modified):
        headers["If-Modified-Since"] = date
    return headers
