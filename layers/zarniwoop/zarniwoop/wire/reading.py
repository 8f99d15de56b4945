"""Reading answers: JSON and XML behind one guard each, lists item by item, numbers out of headers."""

from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any

import orjson

from zarniwoop.contract.failure import Cause, MalformedAnswer, ProviderUnavailable
from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.transport import HttpAnswer

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MISREAD = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
"""What reading code raises when an answer does not have the documented shape."""


def read_json(answer: HttpAnswer) -> Any:
    """The body as JSON. Raises MalformedAnswer for HTML, truncation, depth over 1024, NaN or lone surrogates."""
    try:
        return orjson.loads(answer.body)
    except orjson.JSONDecodeError as error:
        if answer.body.lstrip()[:1] == b"<":
            raise MalformedAnswer("an HTML page came instead of JSON", cause=Cause.CONTENT_TYPE) from error
        raise MalformedAnswer("the body is not valid JSON", cause=Cause.SHAPE) from error


def read_xml(answer: HttpAnswer) -> "Element":
    """The body as XML, with entity declarations refused. Raises MalformedAnswer, or ProviderUnavailable.

    Default flags: `forbid_dtd` would refuse PubMed, which sends an external DOCTYPE.
    """
    from xml.etree.ElementTree import ParseError

    try:
        from defusedxml import DefusedXmlException
        from defusedxml.ElementTree import fromstring
    except ImportError as error:  # a layer built by hand: what speaks JSON goes on without it
        raise ProviderUnavailable("defusedxml is not installed, and XML is not read without it") from error

    try:
        root: Element = fromstring(answer.body)
    except DefusedXmlException as error:
        raise MalformedAnswer("the XML declares entities", cause=Cause.SHAPE) from error
    except (ParseError, ValueError, LookupError) as error:
        raise MalformedAnswer("the body is not well-formed XML", cause=Cause.SHAPE) from error
    return root


def read_hits(items: Iterable[Any], to_hit: Callable[[Any], SearchHit | None]) -> tuple[tuple[SearchHit, ...], int]:
    """Hits in order, and how many items were dropped: one malformed item never costs the others.

    `to_hit` returns None for an item that is well-formed but no hit (no title, no link). Raises TypeError when text or
    an object stands where the list should be: walked through, it would look like a list of malformed items.
    """
    if isinstance(items, (str, bytes, Mapping)):
        raise TypeError("the items are no list")
    hits: list[SearchHit] = []
    dropped = 0
    for item in items:
        try:
            hit = to_hit(item)
        except MISREAD:
            hit = None
        if hit is None:
            dropped += 1
        else:
            hits.append(hit)
    return tuple(hits), dropped


def read_number(headers: Mapping[str, str], name: str) -> float | None:
    """A header as a finite number, or None where it is absent or something else."""
    try:
        number = float(headers.get(name, ""))
    except ValueError:
        return None
    return number if isfinite(number) else None


def read_numbers(headers: Mapping[str, str], name: str) -> tuple[float, ...]:
    """A header that lists a number per window ("1, 15000"); none of them where one is something else."""
    listed = [part.strip() for part in headers.get(name, "").split(",")]
    numbers = [number for part in listed if (number := read_number({name: part}, name)) is not None]
    return tuple(numbers) if len(numbers) == len(listed) else ()
