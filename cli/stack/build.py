"""`sam build` for this machine: the layer for the Python that the emulator runs, and only when something changed."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from stack import places, sam


def build() -> bool:
    """Build the layer and the template; returns whether there was anything to do."""
    version = stack_python_version()
    for cache in places.FUNCTIONS.glob("*/__pycache__"):
        shutil.rmtree(cache)  # a function's folder is uploaded as it is
    key = _key(version)
    if places.BUILT_TEMPLATE.exists() and places.BUILD_KEY.exists() and places.BUILD_KEY.read_text() == key:
        return False
    places.BUILD_KEY.unlink(missing_ok=True)
    sam.run(["build", "--build-dir", str(places.BUILD)], {**os.environ, **_layer_variables(version)})
    places.LOCAL.mkdir(exist_ok=True)
    places.BUILD_KEY.write_text(key)
    return True


def stack_python_version() -> str:
    """`3.11`: of the Python that runs the emulator and with it the functions."""
    command = [str(places.STACK_PYTHON), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip()


def _layer_variables(version: str) -> Mapping[str, str]:
    return {
        "LAYER_PYTHON": version,
        "LAYER_PLATFORM": "host",
        "LAYER_COMPILER": str(places.STACK_PYTHON),
        "UV": str(places.UV),
    }


def _key(version: str) -> str:
    digest = hashlib.sha256(version.encode())
    for path in (places.TEMPLATE, *_files(places.LAYER)):
        digest.update(f"\0{path.relative_to(places.ROOT)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and "__pycache__" not in path.parts)
