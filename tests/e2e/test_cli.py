"""The `zarniwoop` command against the deployed stack: what a person types, in a terminal and in a pipe."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping

import pexpect
import pytest

from stack import places
from stack.running import Stack
from tests.e2e.provider_journal import Providers
from tests.functional.command_line import heed_ctrl_c

pytestmark = pytest.mark.e2e

PATIENCE = 40
SLOW = ("investigate", "graphene", "-m", "encyclopedia", "--no-refine")


@pytest.fixture(scope="module")
def variables(stack: Stack) -> Mapping[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ZARNIWOOP_", "NO_COLOR"))}
    named = {"ZARNIWOOP_URL": stack.api_url, "ZARNIWOOP_TOKEN": stack.token, "ZARNIWOOP_PROJECT": stack.project_id}
    return {**kept, **named, "PYTHONPATH": str(places.ROOT / "cli"), "TERM": "xterm-256color"}


def _zarniwoop(variables: Mapping[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "zarniwoop_cli", *words]
    return subprocess.run(command, env=variables, capture_output=True, text=True, timeout=PATIENCE, check=False)  # noqa: S603


def test_a_search_is_answered_for_scripts(variables: Mapping[str, str]) -> None:
    """A hit a line; and with a token that is none, by the exit code of a refusal."""
    ended = _zarniwoop(variables, "search", "cathedral bells", "--modality", "web", "-n", "2", "--jsonl")
    assert (ended.returncode, ended.stderr) == (0, "")
    hits = [json.loads(line) for line in ended.stdout.splitlines()]
    assert len(hits) == 2
    assert all(hit["title"] and hit["url"] for hit in hits)

    refused = _zarniwoop(variables, "providers", "--token", "zw_nobody-has-this-token-here")
    assert refused.returncode == 3
    assert "→" in refused.stderr


def test_the_doctor_finds_the_stack_and_compares_the_clocks(variables: Mapping[str, str]) -> None:
    """What other tests have left cooling is told too, and no matter here."""
    told = _zarniwoop(variables, "doctor").stdout
    assert "✓ it is there, and it is Zarniwoop" in told
    assert re.search(r"✓ the token is valid, and good for \d+ tools", told)
    assert "✓ this clock agrees with the stack's" in told
    assert re.search(r"✓ \d+ providers serve 12 of 12 modalities", told)


def test_a_watched_run_survives_ctrl_c_and_is_read_to_its_end(
    variables: Mapping[str, str], providers: Providers
) -> None:
    """Live progress by node; then the same run is watched again, and one of its files written."""
    providers.fault("wikipedia", "slow", delay_ms=5000)
    child = pexpect.spawn(
        sys.executable,
        ["-m", "zarniwoop_cli", *SLOW, "--keep-on-interrupt"],
        env=dict(variables),
        encoding="utf-8",
        timeout=PATIENCE,
        preexec_fn=heed_ctrl_c,
    )
    child.expect(r"(\S+) running · ")
    child.expect(r"search .*?0/1")
    child.sendintr()
    child.expect(r"no longer watched: (\S+) goes on")
    assert isinstance(child.match, re.Match)
    run_id = str(child.match.group(1))
    child.expect_exact(f"zarniwoop runs stop {run_id}")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130

    watched = _zarniwoop(variables, "runs", "watch", run_id, "--json")
    assert watched.returncode == 0, watched.stderr
    assert json.loads(watched.stdout)["data"]["state"] == "succeeded"

    written = _zarniwoop(variables, "runs", "open", run_id, "result.json")
    assert written.returncode == 0, written.stderr
    assert json.loads(written.stdout)["run_id"] == run_id
