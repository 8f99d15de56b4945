"""Selectors, matched against the elements that are open while a page is read from front to back.

Format: https://www.w3.org/TR/selectors-4/, read by cssselect. What stands behind an element is not known yet where it
begins: `:last-child`, `:has()` and their like are doubtful, and a state that a reader brings about (`:hover`) is not
there. https://cssselect.readthedocs.io
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from cssselect import parser

Test = Callable[["OpenElement"], bool | None]
"""None is for what is not known."""
Specificity = tuple[int, int, int]
_LONGEST = 600
_BEHIND = frozenset((
    "last-child", "only-child", "empty", "first-of-type", "last-of-type", "only-of-type", "nth-of-type",
    "nth-last-child", "nth-last-of-type", "lang", "dir", "placeholder-shown", "read-only", "read-write", "required",
    "optional", "valid", "invalid", "in-range", "out-of-range",
))  # fmt: skip
_FORGIVEN = (":not(", ":is(", ":where(", ":has(", ":nth-", ":host", ":dir(", ":lang(")
"""What cssselect does not always read, and browsers do."""
_NOT = re.compile(r":not\(([^()]{1,500},[^()]{1,500})\)")
_CASE_FLAG = re.compile(r"\s+[isIS]\s{0,20}\]")


@dataclass(slots=True, eq=False)
class OpenElement:
    """An element whose end has not come, and what of its siblings and parents a selector can ask for."""

    tag: str
    attributes: Mapping[str, str]
    identifier: str
    classes: frozenset[str]
    parent: "OpenElement | None"
    place: int = 1
    before: "OpenElement | None" = None
    """The sibling that came last."""
    children: int = 0
    last_child: "OpenElement | None" = None
    names: tuple[str, ...] = ()
    context: int = 0

    @classmethod
    def of(
        cls, tag: str, attributes: Mapping[str, str], identifier: str, classes: str, parent: "OpenElement | None"
    ) -> "OpenElement":
        own, identifier = frozenset(classes.split()), identifier.strip()
        names = (tag, *((f"#{identifier}",) if identifier else ()), *(f".{name}" for name in own))
        return cls(tag, attributes, identifier, own, parent, names=names)


@dataclass(slots=True)
class Compound:
    """What one element has to be."""

    tag: str | None = None
    identifiers: list[str] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)
    attributes: list[str] = field(default_factory=list)
    tests: list[Test] = field(default_factory=list)

    def fits(self, element: OpenElement) -> bool | None:
        if self.tag is not None and self.tag != element.tag:
            return False
        if any(each != element.identifier for each in self.identifiers):
            return False
        if not all(each in element.classes for each in self.classes):
            return False
        found: bool | None = True
        for test in self.tests:
            told = test(element)
            if told is False:
                return False
            found = None if told is None else found
        return found

    @property
    def names(self) -> Iterator[str]:
        """What has to be there for it, as an element's `names` say it."""
        if self.tag:
            yield self.tag
        yield from (f"#{each}" for each in self.identifiers)
        yield from (f".{each}" for each in self.classes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """`compounds` from right to left, `combinators[i]` between the ones at `i` and `i + 1`."""

    compounds: tuple[Compound, ...]
    combinators: tuple[str, ...]
    specificity: Specificity
    above: frozenset[str]
    """Names that have to be open for it to match."""
    plain: bool
    """It asks for names of the element and of those around it alone."""

    def fits(self, element: OpenElement, spend: Callable[[int], None]) -> bool | None:
        """None is for what is not known. Every step to another element is spent."""
        sure = self.compounds[0].fits(element)
        if sure is False or not self.combinators:
            return sure
        places: dict[OpenElement, bool | None] = {element: sure}
        for combinator, compound in zip(self.combinators, self.compounds[1:], strict=True):
            reached = _reached(places, combinator)
            spend(len(reached) + 1)
            places = {}
            for other, known in reached.items():
                told = compound.fits(other)
                if told is not False:
                    places[other] = known and told
            if not places:
                return False
        return True if True in places.values() else None


def _reached(places: Mapping[OpenElement, bool | None], combinator: str) -> dict[OpenElement, bool | None]:
    """Each element is passed once for each degree of certainty."""
    found: dict[OpenElement, bool | None] = {}
    for element, known in places.items():
        sibling = combinator in "+~"
        other = element.before if sibling else element.parent
        while other is not None and not (other in found and (found[other] or not known)):
            found[other] = known
            if combinator in "+>":
                break
            other = other.before if sibling else other.parent
    return found


def read_selectors(text: str, *, lower: bool) -> list[Selector] | None:
    """The selectors of one between commas; none where it is of no use here, None where a browser takes it for wrong.
    `lower` is for pages without a document type, in which classes of either case are one.
    """
    if len(text) > _LONGEST:
        return []
    text = _NOT.sub(lambda found: "".join(f":not({each})" for each in found[1].split(",")), text)
    text = _CASE_FLAG.sub("]", text).replace(",", ", ")  # without the gap, cssselect swallows what is behind a comma
    try:
        parsed = parser.parse(text)
        compiled = [_compiled(each, lower=lower) for each in parsed if each.pseudo_element is None]
        return [each for each in compiled if not any(_never in compound.tests for compound in each.compounds)]
    except (parser.SelectorSyntaxError, RecursionError, ValueError):
        return [] if any(each in text for each in _FORGIVEN) else None


def _compiled(selector: parser.Selector, *, lower: bool) -> Selector:
    compounds, combinators, tree = [], [], selector.parsed_tree
    while isinstance(tree, parser.CombinedSelector):
        compounds.append(_compound(tree.subselector, lower=lower))
        combinators.append(tree.combinator)
        tree = tree.selector
    compounds.append(_compound(tree, lower=lower))
    beside = "+" in combinators or "~" in combinators
    return Selector(
        compounds=tuple(compounds),
        combinators=tuple(combinators),
        specificity=selector.specificity(),
        plain=not beside and not any(each.tests for each in compounds),
        above=frozenset(() if beside else (name for each in compounds[1:] for name in each.names)),
    )


def _compound(tree: parser.Tree, *, lower: bool) -> Compound:
    """cssselect wraps each part of a compound around the one before it."""
    found = Compound()
    while not isinstance(tree, parser.Element):
        if isinstance(tree, parser.Class):
            found.classes.append(tree.class_name.lower() if lower else tree.class_name)
        elif isinstance(tree, parser.Hash):
            found.identifiers.append(tree.id.lower() if lower else tree.id)
        elif isinstance(tree, parser.Attrib):
            found.attributes.append(tree.attrib.lower())
            found.tests.append(_attribute_test(tree))
        elif not isinstance(tree, parser.CombinedSelector):
            found.tests.append(_test(tree, lower=lower))
        tree = tree.selector
    found.tag = tree.element.lower() if tree.element else None
    return found


def _test(tree: parser.Tree, *, lower: bool) -> Test:
    if isinstance(tree, parser.Pseudo):
        return _unknown if tree.ident in _BEHIND else _STATES.get(tree.ident, _never)
    if isinstance(tree, parser.Function):
        return _child_test(tree) if tree.name == "nth-child" else _unknown if tree.name in _BEHIND else _never
    if isinstance(tree, parser.Negation):
        return _none_of(_compound(tree.subselector, lower=lower))
    if isinstance(tree, parser.Matching | parser.SpecificityAdjustment):
        return _any_of([_compound(each, lower=lower) for each in tree.selector_list])
    return _unknown


def _never(_element: OpenElement) -> bool:
    return False


def _unknown(_element: OpenElement) -> None:
    return None


def _none_of(compound: Compound) -> Test:
    def test(element: OpenElement) -> bool | None:
        told = compound.fits(element)
        return None if told is None else not told

    return test


def _any_of(compounds: list[Compound]) -> Test:
    def test(element: OpenElement) -> bool | None:
        told = [compound.fits(element) for compound in compounds]
        return True if True in told else None if None in told else False

    return test


_STATES: Mapping[str, Test] = {
    "root": lambda element: element.tag == "html",
    "scope": lambda element: element.tag == "html",
    "first-child": lambda element: element.place == 1,
    "defined": lambda _element: True,
    "link": lambda element: element.tag == "a" and "href" in element.attributes,
    "any-link": lambda element: element.tag == "a" and "href" in element.attributes,
    "checked": lambda element: "checked" in element.attributes or "selected" in element.attributes,
    "disabled": lambda element: "disabled" in element.attributes,
    "enabled": lambda element: "disabled" not in element.attributes,
    "open": lambda element: "open" in element.attributes,
}


def _child_test(tree: parser.Function) -> Test:
    step, first = parser.parse_series(tree.arguments)

    def test(element: OpenElement) -> bool:
        beyond = element.place - first
        return beyond == 0 if step == 0 else beyond % step == 0 and beyond // step >= 0

    return test


def _attribute_test(tree: parser.Attrib) -> Test:
    name, operator = tree.attrib.lower(), tree.operator
    wanted = (tree.value.value or "") if tree.value is not None else ""

    def test(element: OpenElement) -> bool:
        value = element.attributes.get(name)
        return value is not None and _HOLDS[operator](value, wanted)

    return test


_HOLDS: Mapping[str, Callable[[str, str], bool]] = {
    "exists": lambda _value, _wanted: True,
    "=": lambda value, wanted: value == wanted,
    "!=": lambda value, wanted: value != wanted,
    "~=": lambda value, wanted: wanted in value.split(),
    "|=": lambda value, wanted: value == wanted or value.startswith(f"{wanted}-"),
    "^=": lambda value, wanted: bool(wanted) and value.startswith(wanted),
    "$=": lambda value, wanted: bool(wanted) and value.endswith(wanted),
    "*=": lambda value, wanted: bool(wanted) and wanted in value,
}
