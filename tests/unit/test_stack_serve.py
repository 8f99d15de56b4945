"""`make serve` says where the stack is, as its clients take it."""

import re
from pathlib import Path

import pytest

from stack.running import Stack
from stack.serve import EXPORT, announce
from stack.target import Target
from tests.fakes.template import ROOT
from zarniwoop_cli.configuration import configure


def test_the_url_that_it_prints_is_the_one_that_clients_take(capsys: pytest.CaptureFixture[str]) -> None:
    """Together with the line that sets it, which README has too; the token is not printed."""
    url, token = "http://127.0.0.1:5/_aws/execute-api/a/live", "zw_a-token-for-nobody"
    announce(
        Stack(
            target=Target(stack_name="local"),
            api_url=url,
            token=token,
            outputs={},
            simulator_url=None,
            model_url=None,
            folder=Path(),
        )
    )
    told = capsys.readouterr().out
    (printed,) = re.findall(r"https?://\S+", told)
    assert configure(printed, token, None, {}).url == url
    assert EXPORT in told
    assert EXPORT in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert token not in told
