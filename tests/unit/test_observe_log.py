"""The log: one JSON object a line, redacted, bounded, and quiet about libraries."""

import logging

import orjson
import pytest

from zarniwoop.contract.transport import Secret
from zarniwoop.observe.log import make_logger
from zarniwoop.observe.redaction import Redactor

KEY = 'canary/Key+7="quoted"&0123456789'


def test_a_line_is_json_with_a_level_and_the_keys_of_the_call(capsys: pytest.CaptureFixture[str]) -> None:
    """What a query in CloudWatch Logs Insights looks for."""
    log = make_logger(Redactor())
    log.append_keys(request_id="request-1")
    log.warning("table unavailable", extra={"tool": "research_search"})
    line = orjson.loads(capsys.readouterr().out)
    assert (line["level"], line["message"], line["request_id"], line["tool"], line["service"]) == (
        "WARNING",
        "table unavailable",
        "request-1",
        "research_search",
        "zarniwoop",
    )


def test_a_revealed_secret_is_masked_wherever_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    """In a message, in an extra value, and inside what only becomes text here."""
    redactor = Redactor()
    redactor.learn(Secret(KEY))
    log = make_logger(redactor)
    log.error(f"failed with {KEY}", extra={"header": {"x": KEY}, "odd": ValueError(KEY)})
    out = capsys.readouterr().out
    assert "canary/Key" not in out
    assert out.count("[redacted]") >= 3
    orjson.loads(out)


def test_direction_marks_and_line_separators_do_not_reach_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """A log that reads differently from what it holds is no log."""
    make_logger(Redactor()).info("a\u202eb\u2028c\u2066d")
    assert orjson.loads(capsys.readouterr().out)["message"] == "abcd"


def test_a_line_has_an_end(capsys: pytest.CaptureFixture[str]) -> None:
    """CloudWatch cuts at 256 KB and charges for all of it."""
    make_logger(Redactor()).info("x" * 100_000)
    assert len(capsys.readouterr().out) <= 32_001


def test_libraries_that_log_urls_are_silenced_below_a_warning() -> None:
    """botocore and httpcore would write down whole requests."""
    logging.getLogger("botocore").setLevel(logging.DEBUG)
    make_logger(Redactor())
    assert {logging.getLogger(name).level for name in ("httpx", "httpcore", "urllib3", "botocore", "boto3")} == {
        logging.WARNING
    }
