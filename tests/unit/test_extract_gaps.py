"""What extractors lose in the middle of a page is put back, where its neighbours show that it belongs there."""

import pytest

from zarniwoop.extract.gaps import is_in_order, with_gaps_filled
from zarniwoop.extract.markdown import Written


def text(markdown: str) -> Written:
    return Written(text=markdown, chars=len(markdown), link_chars=0, cut=False)


OWN = """# Storm

## Key points

- Gusts of 148 km/h
- Ferries cancelled
- Schools closed

## Power

The grid is back.

```python
if dark:
    wait()
```

Trees are being cleared from the lane.

## Related stories

[Pier repairs](https://example.org/pier)"""


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ("The grid is back.", "## Power\n\nThe grid is back."),
        (
            "- Ferries cancelled",
            "## Key points\n\n- Gusts of 148 km/h\n- Ferries cancelled\n- Schools closed",
        ),
        (
            "The grid is back.\n\nTrees are being cleared from the lane.",
            "## Power\n\nThe grid is back.\n\n```python\nif dark:\n    wait()\n```\n\n"
            "Trees are being cleared from the lane.",
        ),
        ("```\nif dark:\nwait()\n```", "```python\nif dark:\n    wait()\n```"),
        ("Something that is not on the page.", "Something that is not on the page."),
        ("", ""),
    ],
    ids=["a heading", "items of a list", "code", "the indentation of code", "nothing", "an empty article"],
)
def test_what_belongs_to_what_was_found_is_put_back(found: str, expected: str) -> None:
    """Whole sections that nobody found stay away: an extractor had its reasons."""
    filled = with_gaps_filled(text(found), text(OWN))
    assert filled.text == expected
    assert filled.chars >= len(found)


def test_a_fence_that_is_never_closed_ends_with_the_text() -> None:
    """Such a line is looked at once, however many there are."""
    hostile = "\n".join(["```a"] * 50_000)
    assert with_gaps_filled(text(hostile), text(hostile)).text == hostile


LINES = [f"This is line number {number} of the page." for number in range(10)]


@pytest.mark.parametrize(
    ("found", "ordered"),
    [
        (LINES, True),
        (LINES[2:6], True),
        ([*LINES[1:], LINES[0]], True),
        ([*LINES[3:], *LINES[:3]], False),
        ([], True),
    ],
    ids=["all", "some", "one moved", "a part moved", "nothing"],
)
def test_parts_that_changed_places_are_noticed(found: list[str], ordered: bool) -> None:
    """Comments of a discussion that were gathered behind it say something else there."""
    assert is_in_order(text("\n\n".join(found)), text("\n\n".join(LINES))) is ordered
