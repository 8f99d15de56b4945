"""Where lines belong, and how long things may grow."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.fakes.template import ROOT

PACKAGE = ROOT / "layers" / "zarniwoop" / "zarniwoop"
SOCKETS = {
    "socket",
    "ssl",
    "http",
    "urllib3",
    "httpx",
    "httpcore",
    "requests",
    "aiohttp",
    "asyncio",
    "ftplib",
    "smtplib",
}
ALLOWED_HTTP_URLS = re.compile(r"http://(?:127\.0\.0\.1|localhost|www\.w3\.org|arxiv\.org|a9\.com)")


def modules(folder: Path) -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(folder.rglob("*.py")):
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def imported(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


def test_only_net_has_sockets() -> None:
    """One choke point: no other package may open a socket or import what does."""
    for path, tree in modules(PACKAGE):
        if path.parent.name == "net":
            continue
        found = {name for name in imported(tree) if name.partition(".")[0] in SOCKETS and name != "http.HTTPStatus"}
        assert not found, f"{path.relative_to(ROOT)} imports {found}"


def test_environment_variables_are_read_in_the_wiring_alone() -> None:
    """`os.environ` has one reader."""
    for path, tree in modules(PACKAGE):
        if path.name != "wiring.py":
            assert "os" not in imported(tree), path.relative_to(ROOT)


def test_nothing_grows_past_its_size() -> None:
    """Functions 40 lines, adapters 150, handlers 60, other modules 300."""
    for folder in (PACKAGE, ROOT / "functions", ROOT / "cli"):
        for path, tree in modules(folder):
            lines = path.read_text(encoding="utf-8").count("\n")
            most = 150 if path.parent.name == "adapters" else 60 if path.name == "app.py" else 300
            assert lines <= most, f"{path.relative_to(ROOT)} has {lines} lines"
            for node in ast.walk(tree):
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    size = (node.end_lineno or node.lineno) - node.lineno + 1
                    assert size <= 40, f"{path.relative_to(ROOT)}:{node.lineno} {node.name} has {size} lines"


def test_every_module_says_what_it_owns() -> None:
    """A docstring opens each module, except for empty packages of tests."""
    for folder in (PACKAGE, ROOT / "functions", ROOT / "cli", ROOT / "tests"):
        for path, tree in modules(folder):
            assert ast.get_docstring(tree) or not tree.body, path.relative_to(ROOT)


def test_a_function_folder_imports_nothing_but_the_layer() -> None:
    """An `app.py` is a name and a handler."""
    for path, tree in modules(ROOT / "functions"):
        assert {name.partition(".")[0] for name in imported(tree)} == {"zarniwoop"}, path.relative_to(ROOT)


def test_no_tracked_file_names_a_registry_or_a_path_of_somebodys_machine() -> None:
    """Lock files hold names, versions and hashes; nothing points at where it was made."""
    tracked = subprocess.run(
        ["git", "ls-files"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\n")
    folders = "|".join(re.escape(f"/{name}/") for name in ("simple", "root"))
    needles = re.compile(rf"--(?:extra-)?index-url http|{folders}|/home/\w|{re.escape(str(ROOT.parent))}/")
    for name in filter(None, tracked):
        path = ROOT / name
        if path.is_file() and path != Path(__file__):
            found = needles.search(path.read_text(encoding="utf-8", errors="replace"))
            assert found is None, f"{name}: {found.group() if found else ''}"
