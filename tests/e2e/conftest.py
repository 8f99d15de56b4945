"""One deployed stack for all end-to-end tests: the template itself, on the emulator, with IAM enforced."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from stack.running import Stack, running_stack
from tests.e2e.fleet import Fleet
from tests.e2e.investigations import BEDROCK_MODEL_ARN
from tests.e2e.left_behind import SeenAnswers
from tests.e2e.provider_journal import Providers


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What was left behind is looked at when everybody else is done."""
    items.sort(key=lambda item: item.path.name == "test_secrets.py")


@pytest.fixture(scope="session", autouse=True)
def answers() -> Iterator[SeenAnswers]:
    """Whoever asks, and with whatever client of httpx."""
    seen = SeenAnswers()
    send = httpx.Client.send

    def noted(client: httpx.Client, *arguments: Any, **options: Any) -> httpx.Response:
        answer = send(client, *arguments, **options)
        if answer.is_closed:
            seen.bodies.append(answer.text)
        return answer

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(httpx.Client, "send", noted)
        yield seen


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    """The stack, its endpoints pointing at the provider simulator, its Bedrock at the scripted model."""
    never = "at(2099-01-01T00:00:00)"  # the schedule is there, and fires when a test says so
    parameters = {
        "BedrockModelArns": BEDROCK_MODEL_ARN,
        "StandingQuerySchedule": never,
        "PublicUrl": "https://zarniwoop.example",
    }
    with running_stack("test", simulator=True, model=True, parameters=parameters) as running:
        yield running


@pytest.fixture
def api(stack: Stack) -> Iterator[httpx.Client]:
    """A caller with a token for the project `demo` of the tenant `local`."""
    with httpx.Client(
        base_url=stack.api_url, headers={"Authorization": f"Bearer {stack.token}"}, timeout=40, trust_env=False
    ) as client:
        yield client


@pytest.fixture
def providers(stack: Stack) -> Iterator[Providers]:
    """The simulated providers, with an empty journal before and no faults after."""
    assert stack.simulator_url is not None
    with httpx.Client(base_url=stack.simulator_url, trust_env=False) as control:
        simulated = Providers(control)
        simulated.forget()
        yield simulated
        simulated.heal()


@pytest.fixture(scope="session")
def processes(stack: Stack) -> Iterator[Fleet]:
    """They are kept for the next test that needs some."""
    fleet = Fleet(stack)
    yield fleet
    fleet.end()


@pytest.fixture
def fleet(processes: Fleet) -> Iterator[Fleet]:
    """Processes that search at once; what a test leaves at work is ended."""
    yield processes
    processes.end_those_at_work()
