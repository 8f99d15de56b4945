"""What every test stands on: credentials that open nothing, and no surprises from the machine's own environment."""

import functools
import logging
import os

import botocore.session
import hypothesis
import pytest

_AWS = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_SESSION_TOKEN": "testing",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "POWERTOOLS_DEV": "false",
}
_loader = functools.cache(botocore.session.create_loader)

hypothesis.settings.register_profile("machines differ", deadline=None)
hypothesis.settings.load_profile("machines differ")


_GO_OVER_IT_AGAIN = frozenset(
    f"test_{name}.py"
    for name in (
        *("answer_schemas", "answers_for_models", "browser", "deadlines_of_pages", "fetch_leaks", "injection"),
        *("many_fetches", "other_pythons", "verify_fetched", "web_corpus", "web_fetch_corpus"),
    )
)
"""Tests that send many things one way, whose lines other tests cover."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whoever runs the same lines hundreds of times is not traced: that would take most of its time.

    Tests that draw examples do so; single tests are marked `no_cover` where they stand.
    """
    for item in items:
        draws = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
        if draws or item.path.name in _GO_OVER_IT_AGAIN:
            item.add_marker(pytest.mark.no_cover)


@pytest.fixture(autouse=True)
def _no_real_account(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing in a test may reach an AWS account, whatever the machine is logged in to."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in _AWS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(autouse=True)
def _one_loader(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading the descriptions of AWS's services again for each test would take most of its time."""
    monkeypatch.setattr(botocore.session, "create_loader", _loader)


@pytest.fixture(autouse=True)
def _log_of_its_own() -> None:
    """Powertools keeps the first logger of a name, with the redactor and the stream that it had."""
    log = logging.getLogger("zarniwoop")
    log.handlers.clear()
    for remembered in ("init", "powertools_handler"):
        log.__dict__.pop(remembered, None)
