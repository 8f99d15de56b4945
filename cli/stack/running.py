"""A whole local stack for the length of a `with`: emulator, template, settings and token, and nothing left after it."""

import os
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import boto3

from stack import places
from stack.build import build
from stack.deploy import deploy
from stack.documents import put_samples, wait_for_index
from stack.processes import Process, is_running, record, recorded, stop, this_process
from stack.seeding import PROJECT, TENANT, seed
from stack.services import LOOPBACK, start_emulator, start_model, start_simulator
from stack.target import LOCAL_STACK, Target
from stack.token import Wanted, issue

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """A stack that is up. `token` is good for the project `project_id` of `tenant_id`."""

    target: Target
    api_url: str
    token: str
    outputs: Mapping[str, str]
    simulator_url: str | None
    model_url: str | None
    folder: Path
    tenant_id: str = TENANT
    project_id: str = PROJECT

    @property
    def endpoint_url(self) -> str:
        """Where the emulator answers for AWS: `stack.session().client("ssm", endpoint_url=stack.endpoint_url)`."""
        return self.target.endpoint_url or ""

    def session(self) -> boto3.Session:
        return self.target.session()

    def processes(self) -> list[Process]:
        return recorded(self.folder)


class AlreadyRunningError(Exception):
    """Another process keeps a stack of this purpose."""


def _silent(_step: str) -> None:
    """Nobody wants to hear."""


@contextmanager
def running_stack(
    purpose: str,
    *,
    simulator: bool,
    model: bool = False,
    parameters: Mapping[str, str] | None = None,
    tell: Callable[[str], None] = _silent,
) -> Iterator[Stack]:
    """Start everything, yield it, stop everything, whichever way the `with` is left. SIGTERM and SIGHUP leave it too.

    `model` adds the scripted model, which no setting names yet; the emulator's Bedrock asks it too.
    Raises AlreadyRunningError while another process keeps a stack of this purpose.
    """
    folder = _fresh_folder(purpose)
    with _on_signals(_interrupt):
        try:
            yield _start(folder, simulator=simulator, model=model, parameters=parameters or {}, tell=tell)
        finally:
            with _on_signals(signal.SIG_IGN):  # a second Ctrl-C must not leave half of it running
                stop_folder(folder)


def stop_folder(folder: Path) -> None:
    """Stop what a folder records, the last started first, and remove what it left behind but its logs."""
    for process in reversed(recorded(folder)):
        if process.name != "keeper":
            stop(process)
    record(folder, [])
    shutil.rmtree(folder / "tmp", ignore_errors=True)


def _start(
    folder: Path, *, simulator: bool, model: bool, parameters: Mapping[str, str], tell: Callable[[str], None]
) -> Stack:
    simulator_url = model_url = None
    if model:
        tell("starting the scripted model")
        _, model_url = start_model(folder)
    tell("starting the AWS emulator")
    _, endpoint_url = start_emulator(folder, model_url)
    if simulator:
        tell("starting the provider simulator")
        _, simulator_url = start_simulator(folder)
    tell("building the layer")
    build()
    tell("deploying template.yaml")
    target = Target(stack_name=LOCAL_STACK, endpoint_url=endpoint_url)
    # Simulator and scripted model are the only private servers that the functions may reach; pages, only the former's.
    networks = {"AllowedPrivateNetworks": f"{LOOPBACK}/32"} if simulator or model else {}
    if simulator_url is not None:
        networks["FetchAllowedNetworks"] = simulator_url.removeprefix("http://")
    outputs = deploy(target, {**networks, **parameters})
    if simulator:
        tell("putting sample documents")
        samples = put_samples(target, outputs["DocumentsBucketName"], TENANT, PROJECT)
    tell("saving settings and issuing a token")
    seed(target, outputs["SettingsRoot"], simulator_url, os.environ)
    token = issue(target, Wanted(tenant_id=TENANT, projects=(PROJECT,), label="local"))
    if simulator:
        wait_for_index(target, outputs["DocumentsBucketName"], TENANT, PROJECT, samples)
    return Stack(
        target=target,
        api_url=f"{endpoint_url}/_aws/execute-api/{outputs['ApiId']}/live",
        token=token,
        outputs=outputs,
        simulator_url=simulator_url,
        model_url=model_url,
        folder=folder,
    )


def _fresh_folder(purpose: str) -> Path:
    folder = places.run_folder(purpose)
    keepers = [process for process in recorded(folder) if process.name == "keeper"]
    if any(map(is_running, keepers)):
        raise AlreadyRunningError(f"a stack for {purpose} is up (process {keepers[0].pid}); `make stop` ends it")
    if folder.exists():
        stop_folder(folder)  # what a killed keeper left running
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    record(folder, [this_process("keeper")])
    return folder


@contextmanager
def _on_signals(handler: "signal.Handlers | Callable[[int, FrameType | None], None]") -> Iterator[None]:
    """Handle what ends a process in this way; only a main thread may."""
    kept = {}
    with suppress(ValueError):
        kept = {number: signal.signal(number, handler) for number in _ENDING}
    try:
        yield
    finally:
        for number, before in kept.items():
            signal.signal(number, before)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    """SIGTERM and SIGHUP end a `with` as Ctrl-C does; and Ctrl-C does in a job that a shell started with `&`, too."""
    raise KeyboardInterrupt
