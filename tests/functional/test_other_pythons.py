"""The attack corpus on the other Pythons of Lambda, as far as there are any on this machine.

The guard's own parts need nothing but a standard library: their answers are compared with those of this Python, row by
row. Where the other Python has what the project needs, the whole corpus goes through `web_fetch` on it.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.template import ROOT
from tests.functional.test_web_corpus import ROWS
from zarniwoop.contract.failure import ProviderUnavailable
from zarniwoop.net.address import AllowedNetworks, is_public
from zarniwoop.net.url import parse

VERSIONS = ("3.11", "3.12", "3.13")
_LAYER = str(ROOT / "layers" / "zarniwoop")
_ANSWERS = re.compile(r"[0-9a-f:.]+", re.IGNORECASE)
_BLOCKS = (
    "0",
    "9",
    "10",
    "100.64",
    "127",
    "168.63.129",
    "169.254",
    "172.16",
    "192.0",
    "192.168",
    "198.18",
    "224",
    "255",
)
_BLOCKS_6 = ("::", "64:ff9b::", "64:ff9b:1::", "100::", "2001::", "2001:db8::", "2002::", "2606::", "3fff::", "5f00::",
    "fc00::", "fd00:ec2::", "fe80::", "fec0::", "ff02::", "::ffff:0:0", "::ffff:8.8.8.8", "::8.8.8.8")  # fmt: skip
_READS = """
import json, sys
sys.path.insert(0, sys.argv[1])
from zarniwoop.contract.failure import ProviderUnavailable
from zarniwoop.net.address import AllowedNetworks, is_public
from zarniwoop.net.url import parse
given = json.load(sys.stdin)
def read(url):
    try:
        return parse(url, allowed=AllowedNetworks(), plain_http=True).url()
    except ProviderUnavailable:
        return None
json.dump([[read(url) for url in given["urls"]], [is_public(address) for address in given["addresses"]]], sys.stdout)
"""
_NEEDED = "import cryptography, h11, moto, orjson, protego, pydantic, pytest, readability, trafilatura, yaml"


@cache
def _python(version: str) -> str | None:
    """An interpreter of this version that runs: of the search path, or one that pyenv or uv knows of."""
    uv = Path(sys.executable).with_name("uv")
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    known = [shutil.which(f"python{version}"), *map(str, versions.glob(f"{version}.*/bin/python{version}"))]
    if uv.exists():
        command = [str(uv), "python", "find", version, "--no-python-downloads", "--offline", "--no-project"]
        known.append(_output(command))
    return next((path for path in known if path and _runs(path, version)), None)


def _runs(path: str, version: str) -> bool:
    return _output([path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]) == version


def _output(command: list[str]) -> str | None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - interpreters
    return done.stdout.strip() if done.returncode == 0 else None


def _others() -> list[str]:
    own = f"{sys.version_info[0]}.{sys.version_info[1]}"
    return [version for version in VERSIONS if version != own]


def _addresses() -> list[str]:
    """Those that the corpus resolves to, and the first and last of blocks that Pythons have fallen out over."""
    named = {each for row in ROWS for each in _ANSWERS.findall(row.resolver) if "." in each or "::" in each}
    fourth = [[*(block + ".0.0.0").split(".")[:3], last] for block in _BLOCKS for last in ("0", "1", "255")]
    return sorted(named) + [".".join(parts) for parts in fourth] + [f"{block}1" for block in _BLOCKS_6] + [*_BLOCKS_6]


def _read(url: str) -> str | None:
    try:
        return parse(url, allowed=AllowedNetworks(), plain_http=True).url()
    except ProviderUnavailable:
        return None


@pytest.mark.skipif(not ROWS, reason="no attack corpus beside the project")
@pytest.mark.parametrize("version", _others())
def test_every_python_reads_the_corpus_as_this_one_does(version: str) -> None:
    """What a URL names, and whether an address is public: no answer comes from a Python's own list."""
    python = _python(version)
    if python is None:
        pytest.skip(f"no Python {version} on this machine")
    given = {"urls": [row.url for row in ROWS], "addresses": _addresses()}
    done = subprocess.run(  # noqa: S603 - an interpreter
        [python, "-I", "-S", "-c", _READS, _LAYER], input=json.dumps(given), capture_output=True, text=True, check=True
    )
    urls, addresses = json.loads(done.stdout)
    told: list[Any] = [_read(row.url) for row in ROWS]
    assert [row for row, theirs, ours in zip(ROWS, urls, told, strict=True) if theirs != ours] == []
    ours = [is_public(address) for address in given["addresses"]]
    assert addresses == ours
    assert {True, False} == set(ours)


@pytest.mark.skipif(not ROWS, reason="no attack corpus beside the project")
@pytest.mark.parametrize("version", _others())
def test_the_corpus_goes_through_web_fetch_on_every_python_that_has_what_it_needs(version: str) -> None:
    """As `test_web_fetch_corpus` here."""
    python = _python(version)
    if python is None:
        pytest.skip(f"no Python {version} on this machine")
    if _output([python, "-c", _NEEDED]) is None:
        pytest.skip(f"the Python {version} of this machine has not what the project needs")
    command = [python, "-m", "pytest", "tests/functional/test_web_fetch_corpus.py", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stdout[-2_000:]
    assert int(re.findall(r"(\d+) passed", done.stdout)[0]) >= len(ROWS)
