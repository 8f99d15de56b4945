"""The one line that Scholar shows of a work."""

import pytest

from zarniwoop.text.publication import read_publication


@pytest.mark.parametrize(
    ("line", "authors", "venue", "year"),
    [
        ("A Vaswani, N Shazeer… - Advances in …, 2017 - nips.cc", ("A Vaswani", "N Shazeer"), "Advances in …", "2017"),
        ("JC Robinson, VG Saúco - 2010 - books.google.com", ("JC Robinson", "VG Saúco"), None, "2010"),
        (
            "A Tailor - Journal of Bells - Series B, 2019 - arxiv.org",
            ("A Tailor",),
            "Journal of Bells - Series B",
            "2019",
        ),
        ("P Anon", ("P Anon",), None, None),
        ("", (), None, None),
        (None, (), None, None),
    ],
)
def test_a_publication_line_gives_authors_venue_and_year(
    line: str | None, authors: tuple[str, ...], venue: str | None, year: str | None
) -> None:
    """Whatever of them is missing."""
    assert read_publication(line) == (authors, venue, year)


def test_a_publication_line_of_any_length_is_read_quickly() -> None:
    """It is cut before the pattern sees it."""
    authors, _, _ = read_publication("A - " * 100_000)
    assert authors
