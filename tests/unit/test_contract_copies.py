"""Copies that are spelt out for speed keep every field that their dataclass has."""

from dataclasses import fields, replace
from typing import Any

from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.request import SearchScope
from zarniwoop.contract.result import SearchResult


def marked(kind: type[Any]) -> Any:
    """One of this kind with a value of its own in every field."""
    return kind(**{field.name: object() for field in fields(kind) if field.init})


def test_a_ranked_hit_differs_in_its_rank_alone() -> None:
    """A field that is added to the hit and forgotten in the copy fails here."""
    hit = marked(SearchHit)
    ranked = hit.ranked(7)
    changed = {field.name for field in fields(SearchHit) if getattr(hit, field.name) is not getattr(ranked, field.name)}
    assert (changed, ranked.rank) == ({"rank"}, 7)


def test_an_account_changes_attempts_note_and_costs_alone() -> None:
    """The same for the result."""
    result = marked(SearchResult)
    told = result.with_account((), "note")
    changed = {
        field.name for field in fields(SearchResult) if getattr(result, field.name) is not getattr(told, field.name)
    }
    assert changed == {"attempts", "note", "cost", "credits"}


def test_a_hit_at_its_own_rank_is_itself() -> None:
    """No copy is made of what is right already."""
    hit = marked(SearchHit)
    assert hit.ranked(hit.rank) is hit


def test_more_extras_change_extras_alone_and_win() -> None:
    """What was there under another name stays."""
    hit = replace(marked(SearchHit), extras={"a": 1, "b": 2})
    assert hit.with_extras({"b": 3}) == replace(hit, extras={"a": 1, "b": 3})


def test_another_deadline_changes_nothing_else_of_a_scope() -> None:
    """Who asks stays the same on the way."""
    scope, deadline = marked(SearchScope), marked(SearchScope).deadline
    assert scope.until(deadline) == replace(scope, deadline=deadline)
