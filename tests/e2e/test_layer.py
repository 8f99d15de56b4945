"""The layer is complete, small and compiled: looked at as `sam build` made it for this machine."""

import ast
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from stack import places
from stack.build import build

pytestmark = pytest.mark.e2e

_COMES_WITH_THE_RUNTIME = ("boto3", "botocore", "s3transfer", "jmespath", "dateutil", "six.py", "urllib3")
_IMPORT = """
import importlib, json, sys
for name in json.loads(sys.argv[1]):
    importlib.import_module(name)
"""


@pytest.fixture(scope="module")
def layer() -> Path:
    """What Lambda sees as /opt/python."""
    build()
    return places.BUILD / "ZarniwoopLayer" / "python"


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with boto3 and what it needs, and nothing else."""
    folder = tmp_path_factory.mktemp("runtime")
    packages = next((places.ROOT / ".venv" / "lib").glob("python3.*/site-packages"))
    for name in _COMES_WITH_THE_RUNTIME:
        (folder / name).symlink_to(packages / name)
    return folder


@pytest.mark.parametrize("function", sorted(path.parent.name for path in places.FUNCTIONS.glob("*/app.py")))
def test_a_function_needs_nothing_but_its_folder_the_layer_and_boto3(layer: Path, runtime: Path, function: str) -> None:
    """Every app.py imports with only those three on the path."""
    _import_alone(["app"], [places.FUNCTIONS / function, layer, runtime])


def test_every_import_in_the_layer_is_satisfied_by_the_layer(layer: Path, runtime: Path) -> None:
    """Also the imports inside functions, which no import of an app.py would reach."""
    modules = sorted({name for path in (layer / "zarniwoop").rglob("*.py") for name in _imported(path)})

    assert "aws_xray_sdk.core" in modules
    _import_alone(modules, [layer, runtime])


def test_the_layer_leaves_out_what_the_runtime_brings(layer: Path) -> None:
    """boto3 and what it needs come with Lambda's Python."""
    assert not [name for name in _COMES_WITH_THE_RUNTIME if (layer / name).exists()]


def test_the_layer_is_at_most_60_megabytes(layer: Path) -> None:
    """Unzipped; Lambda would take 250."""
    size = sum(path.stat().st_size for path in layer.rglob("*") if path.is_file())

    assert size <= 60_000_000


def test_the_layer_ships_bytecode_that_is_never_checked(layer: Path) -> None:
    """Every module is compiled, by hash, so that no date of unpacking makes it stale."""
    sources = list(layer.rglob("*.py"))
    compiled = [next((path.parent / "__pycache__").glob(f"{path.stem}.cpython-*.pyc"), None) for path in sources]

    assert sources
    assert None not in compiled
    flags = {path.read_bytes()[4] for path in compiled if path is not None}
    assert flags == {0b01}  # by hash, unchecked: PEP 552


def test_the_layer_holds_no_tests_and_nothing_of_the_build(layer: Path) -> None:
    """What ships is what runs."""
    assert not [path for path in layer.rglob("*") if path.name in {"tests", "Makefile", "requirements.txt", "RECORD"}]


def _import_alone(modules: list[str], folders: list[Path]) -> None:
    """Import in a Python that has its standard library and these folders, and no site-packages."""
    code = f"import sys; sys.path[:0] = {[str(folder) for folder in folders]!r}\n{_IMPORT}"
    command = [str(places.STACK_PYTHON), "-I", "-S", "-B", "-c", code, json.dumps(modules)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={"PATH": os.defpath})  # noqa: S603

    assert done.returncode == 0, done.stderr


def _imported(path: Path) -> Iterator[str]:
    """Names of the modules that a file imports when it runs, wherever in it."""
    for node in _running(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def _running(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node but those under `if TYPE_CHECKING:`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        yield node
        yield from _running(node)
