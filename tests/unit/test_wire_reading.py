"""Reading answers: one guard for JSON, one for XML, and lists item by item."""

import sys
from typing import Any

import pytest

from tests.fakes.transport import answer
from zarniwoop.contract.failure import Cause, MalformedAnswer, ProviderUnavailable
from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.wire.reading import read_hits, read_json, read_number, read_numbers, read_xml


class BugOfOursError(Exception):
    """What no provider's answer can raise."""


BOMB = b"""<!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;">]><lolz>&lol2;</lolz>"""
OUTSIDE = b"""<!DOCTYPE x [<!ENTITY secret SYSTEM "file:///etc/passwd">]><x>&secret;</x>"""


def to_hit(item: Any) -> SearchHit | None:
    title = item["title"].strip()
    return SearchHit(title=title, url=item["url"], modality=SearchModality.WEB) if title else None


def test_json_is_read() -> None:
    """Any document."""
    assert read_json(answer(b' {"a": [1, null]} ')) == {"a": [1, None]}


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        (b"<!doctype html><p>Sign in", Cause.CONTENT_TYPE),
        (b"", Cause.SHAPE),
        (b'{"a": [1, ', Cause.SHAPE),
        (b'{"a": NaN}', Cause.SHAPE),
        (b'{"a": "\xff"}', Cause.SHAPE),
        (b'{"a": "\\ud800"}', Cause.SHAPE),
        (b"[" * 100_000, Cause.SHAPE),
    ],
)
def test_what_is_no_json_is_a_malformed_answer(body: bytes, cause: Cause) -> None:
    """A page, nothing, half of it, what JSON cannot say, and a tower of brackets."""
    with pytest.raises(MalformedAnswer) as caught:
        read_json(answer(body))
    assert caught.value.cause is cause


def test_xml_is_read_with_its_doctype() -> None:
    """PubMed sends an external one, which nobody fetches."""
    body = b'<?xml version="1.0"?><!DOCTYPE s PUBLIC "-//NLM//DTD" "https://dtd.test/s.dtd"><s><t>x</t></s>'
    assert read_xml(answer(body)).findtext("t") == "x"


@pytest.mark.parametrize("body", [BOMB, OUTSIDE, b"", b"<a><b></a>", b"<a>\x00</a>", b'<?xml encoding="no-such"?><a/>'])
def test_what_is_no_plain_xml_is_a_malformed_answer(body: bytes) -> None:
    """Entities of its own, whether they multiply or reach out, and anything not well-formed."""
    with pytest.raises(MalformedAnswer) as caught:
        read_xml(answer(body))
    assert caught.value.cause is Cause.SHAPE


def test_xml_is_not_read_without_the_reader_that_refuses_entities(monkeypatch: pytest.MonkeyPatch) -> None:
    """A layer built by hand may lack it; that takes the provider out and is no fault of its answer."""
    monkeypatch.setitem(sys.modules, "defusedxml", None)
    with pytest.raises(ProviderUnavailable):
        read_xml(answer(b"<a/>"))


def test_one_malformed_item_is_dropped_and_counted() -> None:
    """It never costs the others; an item without a title is no hit and counts as well."""
    items: list[Any] = [
        {"title": "one", "url": "https://a.test"},
        *(None, "text", 5, [], {"title": None}, {"title": 5}, {"title": "no url"}, {"title": " ", "url": "x"}),
        {"title": "two", "url": "https://b.test"},
    ]
    hits, dropped = read_hits(items, to_hit)
    assert [hit.title for hit in hits] == ["one", "two"]
    assert dropped == 8


@pytest.mark.parametrize("items", [None, 5, True, "text", b"text", {"title": "one"}])
def test_what_is_no_list_costs_the_answer(items: Any) -> None:
    """Walked through, it would pass for a list of malformed items, and so for an empty answer."""
    with pytest.raises(TypeError):
        read_hits(items, to_hit)


def test_a_mistake_of_ours_is_not_taken_for_a_malformed_item() -> None:
    """Only what misreading raises is caught."""

    def broken(_item: Any) -> SearchHit:
        raise BugOfOursError

    with pytest.raises(BugOfOursError):
        read_hits([1], broken)


@pytest.mark.parametrize(
    ("value", "number"),
    [("5", 5.0), ("0.5", 0.5), ("-1", -1.0), ("", None), ("n/a", None), ("nan", None), ("inf", None)],
)
def test_a_header_is_read_as_a_finite_number(value: str, number: float | None) -> None:
    """Anything else counts as absent."""
    assert read_number({"x-left": value}, "x-left") == number
    assert read_number({}, "x-left") is None


@pytest.mark.parametrize(
    ("header", "numbers"),
    [
        ("1, 15000", (1.0, 15000.0)),
        (" 7 ", (7.0,)),
        ("1;w=1, 15000", ()),
        ("1, nan", ()),
        ("1,,2", ()),
        ("", ()),
        (None, ()),
    ],
)
def test_a_header_may_list_a_number_per_window(header: str | None, numbers: tuple[float, ...]) -> None:
    """All of them or none, so that two such lists fit together."""
    assert read_numbers({} if header is None else {"x-limit": header}, "x-limit") == numbers
