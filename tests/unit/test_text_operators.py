"""Operators inside a query."""

import pytest

from zarniwoop.text.operators import Sites, split_sites


@pytest.mark.parametrize(
    ("query", "sites"),
    [
        ("cathedral bells", Sites(words="cathedral bells")),
        ("site:arxiv.org bells", Sites(words="bells", wanted=("arxiv.org",))),
        ("bells site:Nature.com/articles  cast", Sites(words="bells cast", wanted=("nature.com",))),
        ("bells -site:ads.example", Sites(words="bells", unwanted=("ads.example",))),
        ('bells site:"a.example" site:b.example', Sites(words="bells", wanted=("a.example", "b.example"))),
        ("site:a.example", Sites(words="a.example", wanted=("a.example",))),
        ("website:a.example site: x", Sites(words="website:a.example site: x")),
    ],
)
def test_sites_are_taken_out_of_a_query(query: str, sites: Sites) -> None:
    """A word that merely ends in one, and one without a host, stay words."""
    assert split_sites(query) == sites
