"""Every fault of the reliability notes as one row of one test, and what must hold after each of them."""

import base64
import logging
import time
from functools import partial
from urllib.parse import quote

import orjson
import pytest

from tests.fakes.aws import aws_in_process
from tests.functional.faults import cascade, cooldowns, data_plane, runtime, transport
from tests.functional.faults.scenario import CANARY, QUERY, Kind, Scenario, Stage

SCENARIOS: tuple[Scenario, ...] = (
    *transport.SCENARIOS,
    *cooldowns.SCENARIOS,
    *cascade.SCENARIOS,
    *data_plane.SCENARIOS,
    *runtime.SCENARIOS,
)
EXPECTED = {*range(1, 14), *range(15, 45), *range(47, 55)}
SPELLINGS = (
    CANARY,
    quote(CANARY, safe=""),
    base64.b64encode(CANARY.encode()).decode().rstrip("="),
    orjson.dumps(CANARY).decode()[1:-1],
)
GRACE_SECONDS = 0.1
LONGEST_ROW_SECONDS = 8.0


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A stage with a log of its own: Powertools keeps the first logger of a name, and the stream that it had."""
    log = logging.getLogger("zarniwoop")
    for handler in list(log.handlers):
        log.removeHandler(handler)
    log.__dict__.pop("init", None)
    log.__dict__.pop("powertools_handler", None)
    return Stage(aws=partial(aws_in_process, monkeypatch))


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: f"{scenario.number:02d}")
def test_a_fault_is_borne(
    scenario: Scenario, stage: Stage, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """The row's own assertions hold, and then what holds for all: no secret, no query text, in time, written down."""
    started = time.monotonic()
    try:
        scenario.run(stage)
    finally:
        stage.close()
    for text in (*capsys.readouterr(), caplog.text):
        stage.show(Kind.LOG, text)
    assert _leaks(stage) == []
    assert [timing for timing in stage.timings if timing.taken > timing.allowed + GRACE_SECONDS] == []
    assert time.monotonic() - started < LONGEST_ROW_SECONDS


def test_every_fault_has_its_row() -> None:
    """Each number once; 14, 45 and 46 belong to what is not built yet."""
    assert sorted(scenario.number for scenario in SCENARIOS) == sorted(EXPECTED)
    assert len({scenario.fault for scenario in SCENARIOS}) == len(SCENARIOS)


def _leaks(stage: Stage) -> list[tuple[Kind, str]]:
    """Where the canary is to be seen in any spelling, or the query's text where no query may be."""
    return [
        (kind, forbidden)
        for kind, texts in stage.outputs.items()
        for forbidden in (*SPELLINGS, *(() if kind is Kind.RESULT else (QUERY,)))
        if any(forbidden in text for text in texts)
    ]
