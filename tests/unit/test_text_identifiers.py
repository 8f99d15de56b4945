"""Identifiers in their bare form."""

import pytest

from zarniwoop.text.identifiers import bare_arxiv_id, bare_doi
from zarniwoop.text.inverted_index import in_reading_order


@pytest.mark.parametrize(
    ("value", "doi"),
    [
        ("10.1000/XYZ", "10.1000/xyz"),
        ("https://doi.org/10.1016/s0021-9258(19)52451-6", "10.1016/s0021-9258(19)52451-6"),
        ("doi:10.1000/a.b.", "10.1000/a.b"),
        ("see 10.1000/a;", "10.1000/a"),
        ("10.1/too-short", None),
        ("no doi", None),
        ("", None),
        (None, None),
    ],
)
def test_a_doi_is_bare_and_in_lower_case(value: str | None, doi: str | None) -> None:
    """Out of a URL, a prefix or a sentence."""
    assert bare_doi(value) == doi


@pytest.mark.parametrize(
    ("value", "arxiv_id"),
    [
        ("2301.00001", "2301.00001"),
        ("arXiv:2301.00001v3", "2301.00001"),
        ("http://arxiv.org/abs/2301.00001v1", "2301.00001"),
        ("https://arxiv.org/pdf/2301.00001v2.pdf", "2301.00001"),
        ("http://arxiv.org/abs/hep-th/9901001v2", "hep-th/9901001"),
        ("https://arxiv.org/abs/math.GT/0309136", "math.GT/0309136"),
        ("https://doi.org/10.5555/2301.00001", None),
        ("", None),
        (None, None),
    ],
)
def test_an_arxiv_id_is_bare_and_without_its_version(value: str | None, arxiv_id: str | None) -> None:
    """New and old numbering."""
    assert bare_arxiv_id(value) == arxiv_id


def test_an_inverted_index_is_read_in_the_order_of_its_positions() -> None:
    """Gaps close up, and of two words at one position the first counts."""
    assert in_reading_order({"ring": [1], "Bells": [0, 7], "loudly": [3], "late": [1]}) == "Bells ring loudly Bells"


@pytest.mark.parametrize(
    "index", [None, [], "text", {}, {"a": None}, {"a": "0"}, {"a": [None, "1", 1.0, True, -1, 10**18]}, {"a": [[0]]}]
)
def test_what_is_no_position_is_passed_over(index: object) -> None:
    """A null, a number of another kind, a negative or an absurd one."""
    assert in_reading_order(index) == ""


def test_a_hostile_index_stays_small() -> None:
    """A long word at every position would multiply."""
    assert len(in_reading_order({"x" * 1_000_000: list(range(100_000))})) <= 5000 * 101
