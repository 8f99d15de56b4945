"""The examples of answers in the API's document are what the deployed functions answer."""

import json
import re
from collections.abc import Iterator

import pytest

from tests.fakes.openapi import DOCUMENT, response_of, validator
from tests.functional import examples
from zarniwoop.entry.routes import ROUTES

MOST_CHARS = 3_100
"""The form is the longest; the others have less than 2,000."""


def test_every_operation_shows_an_answer_that_fits_its_schema() -> None:
    """But those that have a reason; each is of the size of an example."""
    shown = set()
    for name, path, method, status in _successes():
        content = response_of(method, path, int(status)).get("content", {})
        for media in content.values():
            for example in media.get("examples", {}).values():
                validator(media["schema"]).validate(example["value"])
                assert len(json.dumps(example["value"], separators=(",", ":"))) < MOST_CHARS, name
                shown.add(name)
    assert {route.name for route in ROUTES} - shown == set(examples.WITHOUT)


def _successes() -> Iterator[tuple[str, str, str, str]]:
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            for status in operation["responses"]:
                if status.startswith("2"):
                    yield operation["operationId"], path, method, status


def test_the_examples_are_what_the_functions_answer_today(capsys: pytest.CaptureFixture[str]) -> None:
    """Recorded anew they read the same, to the letter; `make docs` writes them. Nothing of the machine is in them."""
    made = examples.written(examples.recorded())
    assert made == examples.PAGE.read_text(encoding="utf-8")
    assert not re.search(r"127\.0\.0\.1|localhost|canary", made)
    capsys.readouterr()
