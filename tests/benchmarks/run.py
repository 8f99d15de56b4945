"""`python -m tests.benchmarks.run [--layer PATH]`: measures, prints one JSON object and writes .local/bench.json.

Ends with 1 when bytes or a count miss their target, or a timed ratio does by more than 15 % in a valid run; a run is
valid when the base itself was steady. Without `--layer` (a folder with `python/` in it) the layer is built for this
machine.
"""

import argparse
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import orjson

from tests.benchmarks import abuses, database, deployed, documents, extraction, sides
from tests.benchmarks.figures import FIGURES, WILDEST_SPREAD, Runs, spread
from tests.benchmarks.layer import ROOT, built_layer, megabytes, runtime

ROUNDS = 10
PAIRS = (
    ("httpx_post", "dispatch", "transport_post"),
    ("httpx_two_gets", "pubmed"),
    ("import_boto3", "import_function", "import_mcp"),
)
RUNS_ALONE = {
    "rich": 5,
    "fan_out": 5,
    "hedge": 1,
    "memory": 5,
    "bomb": 5,
    "fetch_bombs": 5,
    "read_bombs": 1,
    "abuses": 5,
    "counts": 1,
    "documents": 1,
    "database": 1,
    "extraction": 1,
}

_PROGRAMS = {
    "abuses": abuses.__name__,
    "documents": documents.__name__,
    "database": database.__name__,
    "extraction": extraction.__name__,
}
"""Sides that are programs of their own."""


class Bench:
    """Runs sides in fresh processes against one origin."""

    def __init__(self, port: int, layer: Path) -> None:
        self._port = port
        self._layer_path = os.pathsep.join(map(str, (ROOT / "functions/research_search", layer / "python", runtime())))
        self._project_path = os.pathsep.join(map(str, (ROOT / "layers/zarniwoop", ROOT)))

    def run(self, name: str) -> Mapping[str, float]:
        """What one fresh process of the side prints."""
        if name in sides.SIDES:
            command, path = ["-m", "tests.benchmarks.sides"], self._project_path
        elif name in _PROGRAMS:
            return dict(orjson.loads(self._output(["-m", _PROGRAMS[name]], self._project_path)))
        else:
            command, path = ["-S", "-P", deployed.__file__], self._layer_path
        figures: dict[str, float] = orjson.loads(self._output([*command, name, str(self._port)], path))
        return figures

    def _output(self, arguments: list[str], path: str) -> bytes:
        environment = {"PATH": os.defpath, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(  # noqa: S603 - our own interpreter and scripts
            [sys.executable, *arguments], env=environment, cwd=ROOT, capture_output=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{arguments} ended with {done.returncode}:\n{done.stderr.decode()[-3000:]}")
        return done.stdout


def measure(bench: Bench) -> dict[str, list[Mapping[str, float]]]:
    """All runs of all sides. The first round of a pair is thrown away: it warms the page cache and the machine."""
    runs: defaultdict[str, list[Mapping[str, float]]] = defaultdict(list)
    for pair in PAIRS:
        for name in pair:
            bench.run(name)
        for number in range(ROUNDS):
            for name in pair if number % 2 == 0 else reversed(pair):
                runs[name].append(bench.run(name))
    for name, times in RUNS_ALONE.items():
        runs[name] = [bench.run(name) for _ in range(times)]
    return runs


@contextmanager
def origin() -> Iterator[int]:
    """The origin's port. It gets a core of its own where there are two, and we and our children the other."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_setaffinity") else []
    if len(cores) > 1:
        os.sched_setaffinity(0, cores[1:])
    environment = {"PATH": os.defpath, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.benchmarks.origin"]
    with subprocess.Popen(  # noqa: S603 - our own interpreter and script
        command, env=environment, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        if len(cores) > 1:
            os.sched_setaffinity(0, cores[:1])
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the origin has no pipes")
        yield int(process.stdout.readline())
        process.stdin.close()
        if len(cores) > 1:
            os.sched_setaffinity(0, cores)


def report(runs: Runs) -> tuple[dict[str, object], bool]:
    """The JSON object, and whether the run fails."""
    unsteady = {name: spread([run["cpu_us"] for run in runs[name]]) for name in ("httpx_post", "httpx_two_gets")}
    valid = max(unsteady.values()) <= WILDEST_SPREAD
    figures = {figure.name: figure.out_of(runs) for figure in FIGURES}
    failed = [figure.name for figure in FIGURES if (valid or not figure.timed) and figure.fails(figures[figure.name])]
    told = {"valid": valid, "base_spread": unsteady, "failed": failed, "figures": figures}
    tables = {name: dict(runs[name][0]) for name in ("documents", "database")}
    return {**told, **tables, "extraction": extraction.table(runs["extraction"][0])}, bool(failed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layer", type=Path, help="a built layer for this Python; its modules lie in PATH/python")
    layer = parser.parse_args().layer or built_layer()
    with origin() as port:
        runs: Runs = {**measure(Bench(port, layer)), "layer": [{"megabytes": megabytes(layer)}]}
    found, failed = report(runs)
    text = orjson.dumps(found, option=orjson.OPT_INDENT_2)
    (ROOT / ".local" / "bench.json").write_bytes(text)
    sys.stdout.buffer.write(text + b"\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
