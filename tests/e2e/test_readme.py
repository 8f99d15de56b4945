"""The README's own snippets, run as they are printed, against the deployed stack."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from stack import places
from stack.running import Stack
from stack.serve import write_stack_file

pytestmark = pytest.mark.e2e

README = (places.ROOT / "README.md").read_text(encoding="utf-8")
SECTION = re.split(r"^## ", README.partition("\n## Use it\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
BASH = re.findall(r"^```bash\n(.*?)^```", SECTION, re.DOTALL | re.MULTILINE)
PYTHON = re.findall(r"^```python\n(.*?)^```", SECTION, re.DOTALL | re.MULTILINE)


@pytest.fixture
def project(stack: Stack, tmp_path: Path) -> Path:
    """A folder with `.local/stack.json` in it, as `make serve` writes it."""
    (tmp_path / ".local").mkdir()
    write_stack_file(tmp_path / ".local" / "stack.json", stack)
    return tmp_path


def _ran(*command: str, folder: Path, **variables: str) -> str:
    known = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "NO_PROXY": "*", **variables}
    done = subprocess.run(  # noqa: S603
        command, cwd=folder, env=known, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_shell_snippets_find_the_stack_search_and_investigate(project: Path) -> None:
    """Two variables out of the file, one search with curl and hits in its answer, one run."""
    if shutil.which("curl") is None:
        pytest.skip("curl is not on this machine")
    variables, search, investigation = BASH
    found = orjson.loads(_ran("bash", "-e", "-u", "-c", f"{variables}\n{search}", folder=project))
    assert found["ok"] is True
    assert 1 <= len(found["data"]["hits"]) <= 3
    begun = orjson.loads(_ran("bash", "-e", "-u", "-c", f"{variables}\n{investigation}", folder=project))
    assert begun["ok"] is True
    assert begun["data"]["status_url"].startswith(f"/v1/runs/{begun['data']['run_id']}?")


def test_the_python_snippets_search_and_hand_the_tools_to_a_model(stack: Stack, tmp_path: Path) -> None:
    """In the order in which they stand; what a model then asks for is run by the last of them."""
    assert len(PYTHON) == 2, "one that searches, one with the tools"
    asked = """
print([tool["function"]["name"] for tool in tools])
print(run("research_providers", {})["ok"])
"""
    code = "\n".join([*PYTHON, asked])
    printed = _ran(
        sys.executable, "-c", code, folder=tmp_path, ZARNIWOOP_URL=stack.api_url, ZARNIWOOP_TOKEN=stack.token
    ).splitlines()
    *hits, names, ok = printed
    assert hits
    assert all(" http" in hit for hit in hits)
    assert "'research_search'" in names
    assert ok == "True"
