"""Where lines belong, and how long things may grow."""

import ast
import functools
import re
import subprocess
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
    "imaplib",
    "poplib",
    "telnetlib",
    "xmlrpc",
    "socketserver",
    "h11",
    "websocket",
    "websockets",
}
FETCHING = {
    "urllib.request",
    "urllib.robotparser",
    "trafilatura.downloads",
    "trafilatura.spider",
    "trafilatura.sitemaps",
}
"""Modules that open connections although their packages do more than that."""
CALLS_OF_ONE_MODULE = {
    "getaddrinfo": "lookup.py",
    "gethostbyname": "lookup.py",
    "gethostbyname_ex": "lookup.py",
    "gethostbyaddr": "lookup.py",
    "create_connection": "dialler.py",
    "connect_ex": "dialler.py",
    "urlopen": "nowhere",
    "fetch_url": "nowhere",
    "fetch_response": "nowhere",
    "load_html": "nowhere",
    "import_module": "nowhere",
    "__import__": "nowhere",
}
"""What looks names up, opens connections or hides an import, and the one module of `net` that may call it."""
ALLOWED_HTTP_URLS = re.compile(r"http://(?:127\.0\.0\.1|localhost|www\.w3\.org|arxiv\.org|a9\.com)")


@functools.cache
def modules(folder: Path) -> tuple[tuple[Path, ast.Module], ...]:
    """Each is parsed once for all rules."""
    return tuple((path, ast.parse(path.read_text(encoding="utf-8"))) for path in sorted(folder.rglob("*.py")))


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
        found |= imported(tree) & FETCHING
        assert not found, f"{path.relative_to(ROOT)} imports {found}"


def called(tree: ast.Module) -> set[str]:
    """The names that are called or handed on, whatever they belong to."""
    names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return names | {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def test_names_are_looked_up_and_connections_made_in_one_place_each() -> None:
    """A second look-up could have another answer, and a second dialler would not ask for the first one's check."""
    for path, tree in modules(PACKAGE):
        for name in called(tree) & CALLS_OF_ONE_MODULE.keys():
            where = (path.parent.name, path.name)
            assert where == ("net", CALLS_OF_ONE_MODULE[name]), f"{path.relative_to(ROOT)} has {name}"


def test_sockets_are_connected_in_the_dialler_alone() -> None:
    """What connects a socket outside of it would go round the check of addresses."""
    connecting = {
        path.name
        for path, tree in modules(PACKAGE / "net")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "connect"
        if ast.unparse(node.func.value) != "self._dialler"
    }
    assert connecting == {"dialler.py"}


def test_only_what_asks_strangers_is_made_of_sockets() -> None:
    """Whoever stands above `net` reaches it by the transport, the guard, or values that hold no socket."""
    reaching = {
        (path.parent.name, name)
        for path, tree in modules(PACKAGE)
        if path.parent.name != "net" and not path.name.startswith("wiring")
        for name in imported(tree)
        if name in ("zarniwoop.net.dialler", "zarniwoop.net.lookup", "zarniwoop.net.connection", "zarniwoop.net.pool")
    }
    assert not reaching


def test_environment_variables_are_read_in_the_wiring_alone() -> None:
    """`os.environ` has one reader; `os` itself is for pipes of the reader's process, too."""
    for path, tree in modules(PACKAGE):
        if path.name != "wiring.py":
            assert not called(tree) & {"environ", "environb", "getenv", "getenvb", "putenv"}, path.relative_to(ROOT)
            assert "os" not in imported(tree) or path.name == "worker.py", path.relative_to(ROOT)


def test_text_is_normalised_and_invisible_characters_are_listed_in_one_place_each() -> None:
    """A normal form of a stranger's text takes a bound first, and two lists of what nobody sees would differ."""
    normalising = re.compile(r"from unicodedata import .*\bnormalize\b|unicodedata\.normalize")
    for path, _ in modules(PACKAGE):
        source = path.read_text(encoding="utf-8")
        if path.name != "normal_form.py":
            assert not normalising.search(source), path.relative_to(ROOT)
        if path != PACKAGE / "text" / "invisible.py":
            assert "\\u200b" not in source, path.relative_to(ROOT)


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
