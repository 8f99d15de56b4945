"""Copies that are spelt out for speed keep every field that their dataclass has."""

from dataclasses import fields
from typing import Any

from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.result import SearchResult


def marked(kind: type[Any]) -> Any:
    """One of this kind with a value of its own in every field."""
    return kind(**{field.name: object() for field in fields(kind)})


def test_a_ranked_hit_differs_in_its_rank_alone() -> None:
    """A field that is added to the hit and forgotten in the copy fails here."""
    hit = marked(SearchHit)
    ranked = hit.ranked(7)
    changed = {field.name for field in fields(SearchHit) if getattr(hit, field.name) is not getattr(ranked, field.name)}
    assert (changed, ranked.rank) == ({"rank"}, 7)


def test_an_account_changes_attempts_note_and_cost_alone() -> None:
    """The same for the result."""
    result = marked(SearchResult)
    told = result.with_account((), "note")
    changed = {
        field.name for field in fields(SearchResult) if getattr(result, field.name) is not getattr(told, field.name)
    }
    assert changed == {"attempts", "note", "cost"}
