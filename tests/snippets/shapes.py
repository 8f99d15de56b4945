"""Whether what a page shows is what came: the same lines, whatever the numbers."""

import re

_CUT = "…"


def shape(line: str) -> str:
    """Without what is another one each time: numbers, and how far things stand apart."""
    return re.sub(r"\s+", " ", re.sub(r"\d+(?:\.\d+)?", "0", line)).strip()


def assert_shows(shown: str, real: str) -> None:
    """Every line that is shown came, in that order; `…` stands for lines that are left out, and nothing else is."""
    came = [shape(line) for line in real.splitlines() if line.strip()]
    place = 0
    for run in re.split(rf"^{_CUT}$", shown, flags=re.MULTILINE):
        wanted = [shape(line) for line in run.splitlines() if line.strip()]
        there = [at for at in range(place, len(came) + 1 - len(wanted)) if came[at : at + len(wanted)] == wanted]
        assert there, f"this did not come:\n{run.strip()}\nbut this did:\n{real}"
        place = there[0] + len(wanted)
