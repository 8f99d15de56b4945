"""Where things lie in the project: what is built, what a running stack leaves behind, whose Python runs what."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAYER = ROOT / "layers" / "zarniwoop"
FUNCTIONS = ROOT / "functions"
TEMPLATE = ROOT / "template.yaml"
SAM_CONFIGURATION = ROOT / "samconfig.toml"
SAMPLES = Path(__file__).resolve().parent / "samples"

PROJECT_PYTHON = ROOT / ".venv" / "bin" / "python"
STACK_PYTHON = ROOT / ".stack-venv" / "bin" / "python"
SAM = ROOT / ".stack-venv" / "bin" / "sam"
UV = ROOT / ".venv" / "bin" / "uv"

LOCAL = ROOT / ".local"
STACK_FILE = LOCAL / "stack.json"
BUILD = LOCAL / "build"
"""What `sam build` makes for the emulator; its own folder, `.aws-sam`, is left to what goes to AWS."""
BUILT_TEMPLATE = BUILD / "template.yaml"
BUILD_KEY = LOCAL / "build.key"
SAM_HOME = LOCAL / "sam"


def run_folder(purpose: str) -> Path:
    """Logs, process ids and temporary files of the stack that serves this purpose: serve, demo or test."""
    return LOCAL / "stacks" / purpose
