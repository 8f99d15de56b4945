"""The layer for this machine's Python, and beside it boto3 with what it needs, as Lambda has them."""

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORKPLACE = ROOT / ".local" / "bench"
_COMES_WITH_THE_RUNTIME = ("boto3", "botocore", "s3transfer", "jmespath", "dateutil", "six", "urllib3")


def built_layer() -> Path:
    """The layer, built anew by its own Makefile, bytecode included."""
    folder = WORKPLACE / "layer"
    shutil.rmtree(folder, ignore_errors=True)
    variables = {
        "ARTIFACTS_DIR": folder,
        "LAYER_PYTHON": "{}.{}".format(*sys.version_info[:2]),
        "LAYER_PLATFORM": "host",
        "LAYER_COMPILER": sys.executable,
        "UV": ROOT / ".venv" / "bin" / "uv",
    }
    command = ["make", "--directory", str(ROOT / "layers" / "zarniwoop"), "build-ZarniwoopLayer"]
    settings = [f"{name}={value}" for name, value in variables.items()]
    subprocess.run([*command, *settings], check=True, stdout=sys.stderr)  # noqa: S603 - our own Makefile
    return folder


def runtime() -> Path:
    """A folder with links to boto3 and what it needs, compiled, and nothing else."""
    folder = WORKPLACE / "runtime"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in _COMES_WITH_THE_RUNTIME:
        found = find_spec(name)
        if found is None or found.origin is None:
            raise LookupError(f"{name} is not installed")
        source = Path(found.origin)
        source = source.parent if source.name == "__init__.py" else source
        (folder / source.name).symlink_to(source)
        subprocess.run([sys.executable, "-m", "compileall", "-q", source], check=True)  # noqa: S603 - our own Python
    return folder


def megabytes(layer: Path) -> float:
    """Unzipped."""
    return sum(path.stat().st_size for path in layer.rglob("*") if path.is_file()) / 1e6
