"""Abstracts in the markup of publishers, to plain text."""

import pytest

from zarniwoop.text.abstracts import abstract_text


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("Bells ring.", "Bells ring."),
        ("Bells &amp; chimes, p < 0.05.", "Bells & chimes, p < 0.05."),
        ("<jats:p>Bells\n      ring.</jats:p>", "Bells ring."),
        ("<jats:title>Abstract</jats:title><jats:p>Bells ring.</jats:p>", "Bells ring."),
        ("<p>One.</p><p>Two.</p>", "One.\nTwo."),
        (
            "<jats:title>ABSTRACT</jats:title><jats:sec><jats:title>Aim:</jats:title><jats:p>Ring.</jats:p></jats:sec>"
            "<jats:sec><jats:title>Results</jats:title><jats:p>One.</jats:p><jats:p>Two.</jats:p></jats:sec>",
            "Aim: Ring.\nResults: One.\nTwo.",
        ),
        (
            "<h4>Background</h4>Bells ring.<h4>Results</h4>They <i>differ</i>.",
            "Background: Bells ring.\nResults: They differ.",
        ),
        ("<h4 class='x'>Methods </h4> 1 < 2", "Methods: 1 < 2"),
        ("<jats:p>one<jats:list><jats:list-item>two</jats:list-item></jats:list></jats:p>", "one\ntwo"),
        ("Heading never begun</h4>text", "Heading never begun: text"),
        ("<h4>Heading without text</h4>", None),
        ("with a mark\x1e inside <b>it</b>", "with a mark inside it"),
    ],
)
def test_an_abstract_has_a_line_for_each_section_and_paragraph(markup: str, text: str | None) -> None:
    """A heading stands before its first paragraph; "Abstract" says nothing."""
    assert abstract_text(markup) == text


@pytest.mark.parametrize(
    "markup", [None, "", " ", "<jats:p>Abstract</jats:p>", "Abstract", "<p></p>", "<jats:title>Summary</jats:title>"]
)
def test_an_abstract_of_nothing_but_its_heading_is_none(markup: str | None) -> None:
    """Some records have that and no more."""
    assert abstract_text(markup) is None
