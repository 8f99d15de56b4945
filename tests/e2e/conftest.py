"""One deployed stack for all end-to-end tests: the template itself, on the emulator, with IAM enforced."""

from collections.abc import Iterator

import httpx
import pytest

from stack.running import Stack, running_stack
from tests.e2e.investigations import BEDROCK_MODEL_ARN


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    """The stack, its endpoints pointing at the provider simulator, its Bedrock at the scripted model."""
    parameters = {"BedrockModelArns": BEDROCK_MODEL_ARN}
    with running_stack("test", simulator=True, model=True, parameters=parameters) as running:
        yield running


@pytest.fixture
def api(stack: Stack) -> Iterator[httpx.Client]:
    """A caller with a token for the project `demo` of the tenant `local`."""
    with httpx.Client(
        base_url=stack.api_url, headers={"Authorization": f"Bearer {stack.token}"}, timeout=40, trust_env=False
    ) as client:
        yield client
