"""The structured log: Powertools' Logger behind the redactor, and the chatty libraries silenced.

A query's text, a hit or a key never goes in: callers log closed words and ids.
"""

import logging
from typing import Any

import orjson
from aws_lambda_powertools import Logger

from zarniwoop.observe.redaction import Redactor

_CHATTY = ("httpx", "httpcore", "urllib3", "botocore", "boto3")
_DIRECTION = dict.fromkeys((*range(8234, 8239), *range(8294, 8298), 8232, 8233))
_LONGEST = 32_000


def make_logger(redactor: Redactor, service: str = "zarniwoop") -> Logger:
    """A JSON logger whose every line passes the redactor, without direction marks and at most 32 kB long."""
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)

    def line(record: dict[str, Any]) -> str:
        text = orjson.dumps(record, default=str).decode()
        return redactor.redact(text).translate(_DIRECTION)[:_LONGEST]

    return Logger(service=service, json_serializer=line, utc=True)
