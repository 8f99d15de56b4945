"""The sample documents of a local stack are such as the index takes, and found by what the demo asks."""

from pathlib import Path

import pytest

from stack.places import SAMPLES
from zarniwoop.documents.extract import extract


@pytest.mark.parametrize("path", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_a_sample_has_a_title_and_text(path: Path) -> None:
    """None is refused."""
    found = extract(path, path.name)
    assert found.title
    assert len("".join(found.pages)) > 80


def test_the_samples_are_of_different_kinds() -> None:
    """One of each that needs no office."""
    assert {path.suffix for path in SAMPLES.iterdir()} == {".md", ".txt", ".html", ".pdf"}
