"""Every snippet of README and docs, run as it is printed, and `make demo`, against the deployed stack."""

import io
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from rich.console import Console

from stack.demo import SEARCHES, Demo
from stack.demo_pages import QUOTE
from stack.documents import put_samples, wait_for_index
from stack.running import Stack
from stack.token import Wanted, issue
from tests.simulator.model_server import ModelServer
from tests.snippets.blocks import Section, sections
from tests.snippets.how import RUN
from tests.snippets.world import World

pytestmark = pytest.mark.e2e

PROJECT = "snippets"
DEMO_PROJECT = "whole-demo"


@pytest.fixture(scope="module")
def world(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A project of their own, in which no other test has left a cooldown."""
    token = issue(stack.target, Wanted(tenant_id=stack.tenant_id, projects=(PROJECT,)))
    own = replace(stack, token=token, project_id=PROJECT)
    folder: Path = tmp_path_factory.mktemp("snippets")
    with ModelServer() as model:
        yield World.made(own, folder, model.url)


@pytest.mark.parametrize("section", [each for each in sections() if each.key in RUN], ids=str)
def test_what_is_printed_does_what_it_says(section: Section, world: World) -> None:
    """In a shell or by Python, with the variables that README sets; `tests/snippets` says what must come of it."""
    RUN[section.key](world, *section.blocks)


@pytest.fixture
def demo_stack(stack: Stack) -> Iterator[Stack]:
    """A project of its own with the sample documents, since the demo leaves a cooldown; the web is whole afterwards."""
    bucket = stack.outputs["DocumentsBucketName"]
    samples = put_samples(stack.target, bucket, stack.tenant_id, DEMO_PROJECT)
    token = issue(stack.target, Wanted(tenant_id=stack.tenant_id, projects=(DEMO_PROJECT,)))
    wait_for_index(stack.target, bucket, stack.tenant_id, DEMO_PROJECT, samples)
    yield replace(stack, token=token, project_id=DEMO_PROJECT)
    for what in ("pages", "faults"):
        httpx.delete(f"{stack.simulator_url}/_control/{what}", trust_env=False).raise_for_status()


def test_every_act_of_the_demo_succeeds(demo_stack: Stack) -> None:
    """To its end, where the failover is."""
    told = io.StringIO()
    with closing(Demo(demo_stack, Console(file=told, width=200))) as demo:
        demo.run()
    shown = told.getvalue()
    assert all(f"modality='{modality}'" in shown for modality, _ in SEARCHES)
    assert f"“{QUOTE}”" in shown
    assert "serper-main now answers 429" in shown
