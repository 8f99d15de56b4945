"""No code in README or docs that nobody runs, and none in README that is long."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.fakes.template import ROOT
from tests.snippets.blocks import LANGUAGES, Section, sections
from tests.snippets.how import LOOKED_AT, RUN
from tests.snippets.shapes import assert_shows

_SECTIONS = sections()
_MOST_LINES = 10
_MOST_COLUMNS = 120


def test_every_block_is_run_or_compared_with_what_comes() -> None:
    """`tests/snippets/how.py` names each section that has one, and no other."""
    assert [each.key for each in _SECTIONS if each.key not in {**RUN, **LOOKED_AT}] == []
    assert {**RUN, **LOOKED_AT}.keys() == {each.key for each in _SECTIONS}
    assert not RUN.keys() & LOOKED_AT.keys()


@pytest.mark.parametrize("section", _SECTIONS, ids=str)
def test_every_block_says_what_it_is(section: Section) -> None:
    """Output is text; and code in README has ten lines at most."""
    for block in section.blocks:
        assert block.language in LANGUAGES, f"{section.document}:{block.line}"
        lines = [line for line in block.text.splitlines() if line.strip()]
        if section.document == "README.md" and block.language != "text":
            assert len(lines) <= _MOST_LINES, f"{section.document}:{block.line}"


def test_each_way_of_use_has_ten_lines_at_most_on_the_first_page() -> None:
    """All its blocks together, blank lines counted, and none so wide that it is several."""
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    use_it = re.search(r"^## Use it$(.+?)^## ", page, re.MULTILINE | re.DOTALL)
    assert use_it
    headings = re.findall(r"^### (.+)$", use_it[1], re.MULTILINE)
    ways = [each for each in _SECTIONS if each.document == "README.md" and each.heading in headings]
    assert len(ways) == len(headings) > 5
    for way in ways:
        lines = [line for block in way.blocks for line in block.text.splitlines()]
        assert len(lines) <= _MOST_LINES, way
        assert max(map(len, lines)) <= _MOST_COLUMNS, way


@pytest.mark.parametrize("section", [each for each in _SECTIONS if each.key in LOOKED_AT], ids=str)
def test_what_needs_no_stack_is_as_it_says(section: Section) -> None:
    """The picture of the architecture, and a protocol of one's own."""
    LOOKED_AT[section.key](*section.blocks)


def test_who_waits_for_a_stack_that_fails_does_not_wait_for_ever(tmp_path: Path) -> None:
    """The second line of the first answer, after a job that ended without the file."""
    (first,) = [each for each in _SECTIONS if each.key == ("README.md", "The first answer")]
    wait = first.blocks[0].text.splitlines()[1]
    assert "stack.json" in wait
    command = ["/usr/bin/env", "bash", "-c", f"false &\n{wait}"]
    subprocess.run(command, cwd=tmp_path, check=True, stderr=subprocess.DEVNULL, timeout=20)  # noqa: S603


def test_an_output_that_does_not_come_is_found() -> None:
    """Numbers may differ; words, order and lines between may not."""
    assert_shows("a 1 ms\n…\nc", "first\na  25.5 ms\nb\nc\n")
    for shown in ("a 1 s", "c\n…\na 1 ms", "a 1 ms\nc"):
        with pytest.raises(AssertionError, match="did not come"):
            assert_shows(shown, "a 2 ms\nb\nc")
