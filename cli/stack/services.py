"""The servers of a local stack, all on 127.0.0.1 only: the AWS emulator, the provider simulator, a scripted model."""

import json
import os
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path

from stack import places
from stack.processes import Process, is_running, start
from stack.target import LOCAL_REGION

LOOPBACK = "127.0.0.1"
_PATIENCE = 60.0
_POLL = 0.1


class ServerFailedError(Exception):
    """A server ended, or did not answer in time; its log says why."""


def start_emulator(folder: Path, bedrock_url: str | None = None) -> tuple[Process, str]:
    """MiniStack with IAM enforced; returns its process and URL.

    Its Bedrock puts questions to the OpenAI-compatible server at `bedrock_url` (without `/v1`), if there is one.
    """
    port = free_port()
    process = start(
        "emulator",
        [places.STACK_PYTHON, "-P", Path(__file__).with_name("emulator.py")],
        environment=_emulator_environment(folder, port, bedrock_url),
        folder=folder,
    )
    url = f"http://{LOOPBACK}:{port}"
    _wait_for(process, folder, lambda: _answers(f"{url}/_ministack/health"))
    return process, url


def start_simulator(folder: Path) -> tuple[Process, str]:
    """The provider simulator of the tests; returns its process and URL."""
    return _start_of_tests("simulator", "tests.simulator", folder)


def start_model(folder: Path) -> tuple[Process, str]:
    """The scripted model of the tests; returns its process and URL, without `/v1`."""
    return _start_of_tests("model", "tests.simulator.model_server", folder)


def _start_of_tests(name: str, module: str, folder: Path) -> tuple[Process, str]:
    ready = folder / f"{name}.json"
    process = start(
        name,
        [places.PROJECT_PYTHON, "-m", module, "--port", "0", "--ready-file", ready],
        environment={**os.environ, "PYTHONPATH": str(places.ROOT)},
        folder=folder,
    )
    _wait_for(process, folder, ready.exists)
    return process, json.loads(ready.read_text())["url"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


def _emulator_environment(folder: Path, port: int, bedrock_url: str | None) -> Mapping[str, str]:
    """Nothing of ours but this: the functions inherit it."""
    temporary = folder / "tmp"
    temporary.mkdir()
    return {
        "PATH": os.defpath,
        "HOME": str(temporary),
        "TMPDIR": str(temporary),
        "BIND_HOST": LOOPBACK,
        "GATEWAY_PORT": str(port),
        "AUTH": "true",
        "PERSIST_STATE": "0",
        "MINISTACK_REGION": LOCAL_REGION,
        # Listeners that we do not use and that would open ports of their own.
        "SFTP_ENABLED": "0",
        "IOT_MTLS_ENABLED": "0",
        **({"MINISTACK_BEDROCK_PROXY_URL": bedrock_url} if bedrock_url else {}),
    }


def _wait_for(process: Process, folder: Path, ready: Callable[[], bool]) -> None:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        if ready():
            return
        if not is_running(process):
            break
        time.sleep(_POLL)
    raise ServerFailedError(f"the {process.name} did not start; see {folder / process.name}.log")


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=1):  # noqa: S310 - our own loopback address
            return True
    except (urllib.error.URLError, OSError):
        return False
