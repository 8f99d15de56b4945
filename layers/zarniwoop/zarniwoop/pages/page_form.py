"""Question and answer of the fetching function as JSON, both ways: strict, and never larger than Lambda carries.

Lambda takes 6 MB of an answer. Quirk: its Python 3.11 writes every character outside of ASCII as six or twelve bytes of
escapes, and so an answer is measured like that whatever runs it.
"""

import re
from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from zarniwoop.contract.page import ExtractedPage, PageAnswer, PageQuestion
from zarniwoop.pages.headers import etag_of, http_date_of

if TYPE_CHECKING:
    from pydantic import TypeAdapter

MOST_BYTES = 5_500_000
_LONGEST_QUESTION = 100_000
_LONGEST_URL = 20_000
_LONGEST_NAME = 300
_MOST_DOMAINS = 500
_MOST_SECONDS = 900.0
_MOST_PAGE_BYTES = 50_000_000
_MOST_STEPS = 100
_MOST_LINKS = 2_000
_STRIDES = (65_536, 4_096, 256)
_WORD = re.compile(r"[A-Za-z0-9_.:/+-]{1,100}")

Form = TypeVar("Form", PageQuestion, PageAnswer)


class NotTheFormError(ValueError):
    """What was read is not the JSON that was agreed on. It repeats nothing of it."""


def question_form(question: PageQuestion) -> bytes:
    """The question as it is sent."""
    return orjson.dumps(question)


def question_of(form: Any) -> PageQuestion:
    """The question out of the event that Lambda made of it. Raises NotTheFormError."""
    question = _read(PageQuestion, _written(form))
    sound = (
        len(question.url) <= _LONGEST_URL
        and 0.0 < question.seconds <= _MOST_SECONDS
        and 0 < question.max_bytes <= _MOST_PAGE_BYTES
        and question.robots_seconds >= 0.0
        and len(question.known_url or "") <= _LONGEST_URL
        and len(question.browser_domains) <= _MOST_DOMAINS
        and all(len(domain) <= _LONGEST_NAME for domain in question.browser_domains)
    )
    if not sound:
        raise NotTheFormError("the question is out of bounds")
    return replace(question, etag=etag_of(question.etag), last_modified=http_date_of(question.last_modified))


def answer_form(answer: PageAnswer) -> dict[str, Any]:
    """The answer as a handler returns it, cut where it would not pass: markup first, then links, then text."""
    if answer.page is not None and _size(answer) > MOST_BYTES:
        bare = _size(replace(answer, page=None))
        answer = replace(answer, page=_cut(answer.page, MOST_BYTES - bare))
    form: dict[str, Any] = orjson.loads(orjson.dumps(answer))
    return form


def answer_of(payload: bytes) -> PageAnswer:
    """The answer out of what the function sent. Raises NotTheFormError.

    Whoever sent it parses what strangers wrote, so it is believed as little as they are.
    """
    answer = _read(PageAnswer, payload)
    urls = (answer.url, answer.final_url, answer.moved_to or "", *answer.hops)
    words = (answer.reason, answer.media_type, answer.charset, *(step.name for step in answer.steps))
    reasons = (step.reason for step in answer.steps)
    sound = (
        all(len(url) <= _LONGEST_URL for url in urls)
        and len(answer.hops) <= _MOST_STEPS
        and len(answer.steps) <= _MOST_STEPS
        and all(word is None or _WORD.fullmatch(word) for word in (*words, *reasons))
    )
    if not sound:
        raise NotTheFormError("the answer is out of bounds")
    return replace(answer, etag=etag_of(answer.etag), last_modified=http_date_of(answer.last_modified))


@cache
def _adapters() -> "Mapping[type, TypeAdapter[Any]]":
    from pydantic import TypeAdapter

    return {kind: TypeAdapter(kind) for kind in (PageQuestion, PageAnswer)}


def _read(kind: type[Form], payload: bytes) -> Form:
    """Strictly: no field that is not known, no number for a text. Raises NotTheFormError."""
    from pydantic import ValidationError

    try:
        known = orjson.loads(payload)
        if isinstance(known, dict) and known.keys() <= {field.name for field in fields(kind)}:
            read: Form = _adapters()[kind].validate_json(payload, strict=True)
            return read
    except (orjson.JSONDecodeError, ValidationError):
        pass
    raise NotTheFormError("this is not the agreed form")


def _written(form: Any) -> bytes:
    """An event as JSON again. Raises NotTheFormError: it may hold half a surrogate pair, which no URL may."""
    try:
        payload = orjson.dumps(form)
    except TypeError:
        payload = b""
    if not 0 < len(payload) <= _LONGEST_QUESTION:
        raise NotTheFormError("this is not the agreed form")
    return payload


def _size(value: Any) -> int:
    """How many bytes the value takes as JSON when everything outside of ASCII is escaped."""
    text = orjson.dumps(value).decode()
    plain = len(text.encode("ascii", "ignore"))
    return plain + 6 * (len(text.encode("utf-16-le")) // 2 - plain)


def _cut(page: ExtractedPage, room: int) -> ExtractedPage:
    page = replace(page, html=None)
    if _size(page) > room:
        page = replace(page, links=page.links[:_MOST_LINKS], truncated=True)
    if _size(page) <= room:
        return page
    text = _fitting(page.markdown, room - _size(replace(page, markdown="")))
    anchors = tuple(anchor for anchor in page.anchors if anchor.start < len(text))
    return replace(page, markdown=text, anchors=anchors)


def _fitting(text: str, room: int) -> str:
    """The text from its beginning, as much as the room holds of it."""
    kept = 0
    for stride in _STRIDES:
        while kept < len(text) and (size := _size(text[kept : kept + stride])) <= room:
            kept += stride
            room -= size
    return text[:kept]
