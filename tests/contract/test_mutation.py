"""Whatever a provider breaks in its answer, an adapter gives a valid result or one of its typed failures."""

import copy
from collections.abc import Callable, Iterator
from typing import Any
from xml.etree.ElementTree import Element, ParseError, tostring

import orjson
import pytest
from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contract.fixtures import RecordedTransport, answers_for
from tests.contract.payloads import payload, recorded
from tests.contract.test_conformance import CASES, every_modality, made
from tests.contract.validity import assert_valid
from tests.fakes.instances import request, scope
from zarniwoop.adapters import BUILTIN
from zarniwoop.contract.failure import ProviderError
from zarniwoop.contract.modality import SearchModality
from zarniwoop.wire.driver import WireProtocol

Slot = tuple[Any, Any]
"""A container and the key or index of one of its nodes."""

Choice = tuple[int, int]
"""Which node, and which mutation; both are taken modulo what there is."""

HUGE = "x" * 100_000
STRANGE: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 10**18, 1e308, "", " ", "text", HUGE, "<b>&lt;\u200b</b>", "//x", "http://", "0"),
    *("https://[::1", "2026-99-99", "9999999999-01-01", "javascript:alert(1)", [], {}, [None], [[]], {"": None}, [{}]),
)

choices = st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), min_size=1, max_size=3)
quick = settings(deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))

RECORDED = [(protocol, name) for protocol in BUILTIN for name in recorded(protocol.id())]
every_recording = pytest.mark.parametrize(
    ("protocol", "name"), RECORDED, ids=[f"{protocol.id()}-{name}" for protocol, name in RECORDED]
)


def search_holds(protocol: WireProtocol, modality: SearchModality, *bodies: bytes) -> None:
    """Search on these answers: a result has to be valid, a failure typed; anything else fails the test."""
    asked = request(modality=modality)
    try:
        result = made(protocol, RecordedTransport(*bodies)).search(asked, scope())
    except ProviderError:
        return
    assert_valid(result, asked)


def mutated(body: bytes, chosen: list[Choice]) -> bytes:
    """The body with some of its nodes broken; one that is no tree is given back as it is."""
    if body.lstrip()[:1] in (b"{", b"["):
        return _mutated_json(body, chosen)
    try:
        return _mutated_xml(fromstring(body), chosen)
    except (ParseError, DefusedXmlException):
        return body


def _mutated_json(body: bytes, chosen: list[Choice]) -> bytes:
    tree = {"root": orjson.loads(body)}
    for node, mutation in chosen:
        slots = list(_slots(tree))
        if not slots:
            break
        container, key = slots[node % len(slots)]
        _JSON[mutation % len(_JSON)](container, key, mutation)
    return orjson.dumps(tree.get("root"))


def _slots(tree: Any) -> Iterator[Slot]:
    """All nodes, the root first."""
    keys = list(tree) if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ()
    for key in keys:
        yield tree, key
        yield from _slots(tree[key])


def _drop(container: Any, key: Any, _mutation: int) -> None:
    del container[key]


def _retype(container: Any, key: Any, mutation: int) -> None:
    container[key] = copy.deepcopy(STRANGE[mutation // len(_JSON) % len(STRANGE)])


def _duplicate(container: Any, key: Any, _mutation: int) -> None:
    twin = copy.deepcopy(container[key])
    if isinstance(container, list):
        container.insert(key, twin)
    else:
        container[key] = [twin, twin]


def _swap(container: Any, key: Any, mutation: int) -> None:
    other = list(container)[mutation % len(container)] if isinstance(container, dict) else mutation % len(container)
    container[key], container[other] = container[other], container[key]


_JSON: tuple[Callable[[Any, Any, int], None], ...] = (_drop, _retype, _retype, _retype, _duplicate, _swap)


def _mutated_xml(root: Element, chosen: list[Choice]) -> bytes:
    for node, mutation in chosen:
        elements = list(root.iter())
        _XML[mutation % len(_XML)](root, elements[node % len(elements)], mutation)
    return tostring(root)


def _drop_element(root: Element, element: Element, _mutation: int) -> None:
    for parent in root.iter():
        if element in list(parent):
            parent.remove(element)
            return


def _retype_text(_root: Element, element: Element, mutation: int) -> None:
    texts = [value for value in STRANGE if value is None or isinstance(value, str)]
    element.text = texts[mutation // len(_XML) % len(texts)]


def _empty_element(_root: Element, element: Element, _mutation: int) -> None:
    element.clear()


def _rename_element(_root: Element, element: Element, _mutation: int) -> None:
    element.tag = "other"


def _duplicate_element(_root: Element, element: Element, _mutation: int) -> None:
    element.append(copy.deepcopy(element))


_XML: tuple[Callable[[Element, Element, int], None], ...] = (
    *(_drop_element, _retype_text, _retype_text, _empty_element, _rename_element, _duplicate_element),
)


@every_modality
@settings(quick, max_examples=60)
@given(position=st.integers(0, 9), chosen=choices)
def test_a_broken_node_costs_an_item_or_the_answer_but_never_the_process(
    protocol: WireProtocol, modality: SearchModality, position: int, chosen: list[Choice]
) -> None:
    """Dropped, emptied, retyped, doubled or swapped, in any call of the exchange."""
    bodies = list(answers_for(protocol.id(), modality))
    position %= len(bodies)
    bodies[position] = mutated(bodies[position], chosen)
    search_holds(protocol, modality, *bodies)


@every_modality
@settings(quick, max_examples=25)
@given(position=st.integers(0, 9), cut=st.integers(0, 10**6), flip=st.integers(0, 255))
def test_cut_and_flipped_bytes_are_survived(
    protocol: WireProtocol, modality: SearchModality, position: int, cut: int, flip: int
) -> None:
    """A body that ends anywhere, and one with a wrong byte anywhere."""
    bodies = list(answers_for(protocol.id(), modality))
    position %= len(bodies)
    whole = bodies[position]
    cut %= len(whole)
    for broken in (whole[:cut], whole[:cut] + bytes([flip]) + whole[cut + 1 :]):
        search_holds(protocol, modality, *bodies[:position], broken, *bodies[position + 1 :])


@every_recording
@settings(quick, max_examples=15)
@given(case=st.integers(0, 9), position=st.integers(0, 9), chosen=choices)
def test_a_recorded_answer_may_be_broken_anywhere(
    protocol: WireProtocol, name: str, case: int, position: int, chosen: list[Choice]
) -> None:
    """Whole or broken, and also where another kind of answer was due."""
    modalities = [modality for served, modality in CASES if served is protocol]
    modality = modalities[case % len(modalities)]
    due = answers_for(protocol.id(), modality)
    before = due[: position % len(due)]
    body = payload(protocol.id(), name)
    search_holds(protocol, modality, *before, body)
    search_holds(protocol, modality, *before, mutated(body, chosen))
