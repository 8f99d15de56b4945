"""One real model for all tests in here, one deployed stack that asks it, and what was measured of both."""

from collections.abc import Iterator

import pytest

from stack.running import Stack, running_stack
from tests.model.serving import LocalModel, local_model

_FIGURES = pytest.StashKey[list[str]]()


@pytest.fixture(scope="session")
def model() -> Iterator[LocalModel]:
    with local_model() as running:
        yield running


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    """The stack as it is deployed, its endpoints pointing at the provider simulator."""
    with running_stack("test-model", simulator=True) as running:
        yield running


@pytest.fixture(scope="session")
def figures(pytestconfig: pytest.Config) -> list[str]:
    """Lines for the end of the report: how fast the model was, and what of its answers was wrong."""
    return pytestconfig.stash.setdefault(_FIGURES, [])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    lines = config.stash.get(_FIGURES, [])
    if lines:
        terminalreporter.section("what the model did")
        for line in lines:
            terminalreporter.write_line(line)
