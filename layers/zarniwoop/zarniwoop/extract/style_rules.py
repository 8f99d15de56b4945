"""The rules of a page's own style sheets, and what they state of an element: by specificity, order and importance.

https://www.w3.org/TR/css-cascade-5/. Rules are found by the rarest name in their last compound, as browsers do; what
that costs is counted, and a page that is made to cost more is cut (`spent`), never read without its rules.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zarniwoop.extract.style_screens import ALWAYS, NARROW, NEVER, WIDE, screens_of
from zarniwoop.extract.style_sheets import MOST_STYLE, style_sheets
from zarniwoop.extract.style_text import Declarations, Declared, StyleBlock, blocks, declarations, split_selectors
from zarniwoop.extract.style_variables import resolved

if TYPE_CHECKING:
    from zarniwoop.extract.selectors import Compound, OpenElement, Selector

_MOST_RULES = 12_000
_MOST_WORK = 2_000_000
"""Looks at a rule or at an element above; a long article with a framework in its head takes a tenth of it."""
_SIBLING_WORK, _MERGING_WORK = 20, 3
_MOST_CONTEXTS = 20_000
_MOST_KEPT, _LONGEST_KEPT = 500, 300
_CLOAK = re.compile(r"\bcloak\b|-cloak\b", re.IGNORECASE)
"""By which frameworks (`v-cloak`, `x-cloak`, `ng-cloak`) hide a page until their script has come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    selector: "Selector"
    order: tuple[int, int, int, int, int]
    screens: int
    declared: Declared


Stated = tuple[Mapping[str, str], Mapping[str, str]]


@dataclass(slots=True)
class _Match:
    """The rules that fit an element, each with those whom it is for, and what they come to."""

    rules: list[tuple[_Rule, int]] = field(default_factory=list)
    asks: list[_Rule] = field(default_factory=list)
    """Those that fit some elements of these names, and others not."""
    stated: Stated | None = None


def _order(match: tuple[_Rule, int]) -> tuple[int, ...]:
    return match[0].order


_NOTHING: Mapping[str, str] = {}
_NO_MATCH = _Match(stated=(_NOTHING, _NOTHING))


@dataclass(slots=True)
class StyleRules:
    """Of one page; `opened` and `closed` follow its elements."""

    lower: bool = False
    spent: int = 0
    unread: bool = False
    """There is more in the page's sheets than is read of them."""
    imports: bool = False
    """They name sheets of other files."""
    _by_name: dict[str, dict[frozenset[str], list[_Rule]]] = field(default_factory=dict)
    """By the rarest name of the element, and by all that has to be open around it."""
    _count: int = 0
    _variables: dict[str, str | None] = field(default_factory=dict)
    _inline: dict[str, Declared] = field(default_factory=dict)
    _open: "list[OpenElement]" = field(default_factory=list)
    _names: dict[str, int] = field(default_factory=dict)
    _siblings: bool = False
    _contexts: dict[tuple[int, tuple[str, ...]], int] = field(default_factory=dict)
    _matches: dict[int, _Match] = field(default_factory=dict)

    @classmethod
    def of(cls, markup: str) -> "StyleRules":
        rules = cls(lower="<!doctype" not in markup[:3_000].lower())
        sheets = style_sheets(markup)
        rules.unread, rules.imports = sheets.left < 0, sheets.imports
        for place, (pieces, media) in enumerate(sheets.found):
            screens = screens_of(media)
            for block in blocks("".join(pieces)) if screens else ():
                if rules._count >= _MOST_RULES:
                    rules.unread = True
                    return rules
                rules._add(block, screens & block.screens, place)
        return rules

    @property
    def exhausted(self) -> bool:
        return self.spent > _MOST_WORK

    def again(self) -> "StyleRules":
        """The same rules for another reading of the page."""
        return StyleRules(
            self.lower,
            0,
            self.unread,
            self.imports,
            self._by_name,
            self._count,
            self._variables,
            self._inline,
            _siblings=self._siblings,
            _contexts=self._contexts,
            _matches=self._matches,
        )

    def opened(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element begins, in the one that was opened last."""
        if not self._by_name:
            return
        from zarniwoop.extract.selectors import OpenElement

        parent = self._open[-1] if self._open else None
        identifier, classes = attributes.get("id", ""), attributes.get("class", "")
        if self.lower:
            identifier, classes = identifier.lower(), classes.lower()
        element = OpenElement.of(tag, attributes, identifier, classes, parent)
        element.context = self._context(parent.context if parent is not None else 1, element.names)
        if parent is not None:
            parent.children += 1
            element.place = parent.children
            if self._siblings:
                element.before, parent.last_child = parent.last_child, element
                self.spent += _SIBLING_WORK
        self._open.append(element)
        for name in element.names:
            self._names[name] = self._names.get(name, 0) + 1

    def _context(self, around: int, names: tuple[str, ...]) -> int:
        """One number for the same names all the way up; 0 when there are too many to be remembered."""
        if not around or len(self._contexts) > _MOST_CONTEXTS:
            return 0
        return self._contexts.setdefault((around, names), len(self._contexts) + 2)

    def closed(self) -> None:
        if self._open:
            for name in self._open.pop().names:
                if self._names[name] == 1:
                    del self._names[name]
                else:
                    self._names[name] -= 1

    def stated(self, attributes: Mapping[str, str]) -> Stated:
        """What holds for the element that was opened last, to either of two readers (`style_screens`)."""
        text = attributes.get("style")
        found = self._matched() if self._by_name else _NO_MATCH
        if text:
            return self._for_both(found.rules, self._read(text))
        if found.stated is None:
            found.stated = self._for_both(found.rules, None)
        return found.stated

    def _for_both(self, matched: "list[tuple[_Rule, int]]", inline: Declared | None) -> Stated:
        wide = self._merged(matched, inline, WIDE)
        if all(screens == ALWAYS for _rule, screens in matched):
            return wide, wide
        return wide, self._merged(matched, inline, NARROW)

    def _read(self, text: str) -> Declared:
        known = self._inline.get(text)
        if known is None:
            known = declarations(text)
            if len(self._inline) < _MOST_KEPT and len(text) < _LONGEST_KEPT:
                self._inline[text] = known
        return known

    def _matched(self) -> _Match:
        """Elements of the same names in elements of the same names match the same, but for rules that look at more."""
        element = self._open[-1]
        looked_at = [f"[{name}" for name in element.attributes if f"[{name}" in self._by_name]
        known = self._matches.get(element.context)
        if known is None:
            known = self._by_names(element)
            if element.context:
                self._matches[element.context] = known
        asked = [*known.asks, *(rule for name in looked_at for rule in self._possible(name))]
        more = self._fitting(asked, element) if asked else []
        return _Match(sorted((*known.rules, *more), key=_order)) if more else known

    def _by_names(self, element: "OpenElement") -> _Match:
        plain: list[_Rule] = []
        found = _Match()
        for name in ("*", *element.names):
            for rule in self._possible(name):
                (plain if rule.selector.plain else found.asks).append(rule)
        found.rules = sorted(self._fitting(plain, element), key=_order)
        return found

    def _fitting(self, rules: list[_Rule], element: "OpenElement") -> list[tuple[_Rule, int]]:
        """Those that fit the element, each with those whom it is for."""
        self.spent += len(rules)
        found: list[tuple[_Rule, int]] = []
        for rule in () if self.exhausted else rules:
            told = rule.selector.fits(element, self._spend)
            screens = rule.screens if told else rule.screens & NARROW if told is None else NEVER
            if screens:
                found.append((rule, screens))
        return found

    def _possible(self, name: str) -> Iterator[_Rule]:
        groups = self._by_name.get(name)
        if groups is None or self.exhausted:
            return
        self.spent += len(groups)
        for above, rules in groups.items():
            if above.issubset(self._names):
                yield from rules

    def _spend(self, work: int) -> None:
        self.spent += work

    def _merged(self, matched: list[tuple[_Rule, int]], inline: Declared | None, reader: int) -> Declarations:
        merged: Declarations = {}
        self.spent += len(matched) * _MERGING_WORK
        of_reader = [rule.declared for rule, screens in matched if screens & reader]
        for declared in of_reader:
            merged.update(declared.normal)
        if inline is not None:
            merged.update(inline.normal)
        for declared in of_reader:
            merged.update(declared.important)
        if inline is not None:
            merged.update(inline.important)
        return self._with_variables(merged) if any("var(" in value for value in merged.values()) else merged

    def _with_variables(self, merged: Declarations) -> Declarations:
        """A variable that the page sets to several values is not known outside of where it is set."""
        from zarniwoop.extract.style_values import expanded

        known = {**self._variables, **{name: value for name, value in merged.items() if name.startswith("--")}}
        found: Declarations = {}
        for name, value in merged.items():
            worth = resolved(value, known)
            if worth is None and "color" not in name:
                continue
            found.update(expanded(name, worth, known={}) if worth not in (None, value) else [(name, value)])
        return found

    def _add(self, block: StyleBlock, screens: int, sheet: int) -> None:
        from zarniwoop.extract.selectors import read_selectors

        declared = block.declared
        if not screens or not declared or block.selectors.startswith("@"):
            return
        self._remember_variables(declared)
        if all(name.startswith("--") for name in (*declared.normal, *declared.important)):
            return
        read = [read_selectors(text, lower=self.lower) for text in split_selectors(block.selectors)[:_MOST_RULES]]
        if None in read:
            return
        if _CLOAK.search(block.selectors):
            declared = _cloaked(declared)
        for selector in (each for selectors in read for each in selectors or ()):
            order = (int(not block.layered), *selector.specificity, sheet * (MOST_STYLE + 1) + block.place)
            rule = _Rule(selector=selector, order=order, screens=screens, declared=declared)
            groups = self._by_name.setdefault(_rarest(selector.compounds[0]), {})
            groups.setdefault(selector.above, []).append(rule)
            self._siblings = self._siblings or "+" in selector.combinators or "~" in selector.combinators
            self._count += 1

    def _remember_variables(self, declared: Declared) -> None:
        for name, value in (*declared.normal.items(), *declared.important.items()):
            if name.startswith("--"):
                same = self._variables.setdefault(name, value) == value
                self._variables[name] = value if same else None


def _cloaked(declared: Declared) -> Declared:
    """Kept out of sight for a moment: what a script reveals, and not what is taken out of the page."""
    found = Declared(dict(declared.normal), dict(declared.important))
    for stated in (found.normal, found.important):
        if stated.get("display") == "none":
            stated |= {"display": "block", "visibility": "hidden"}
    return found


def _rarest(compound: "Compound") -> str:
    if compound.identifiers:
        return f"#{compound.identifiers[0]}"
    if compound.classes:
        return f".{compound.classes[0]}"
    if compound.attributes:
        return f"[{compound.attributes[0]}"
    return compound.tag or "*"
