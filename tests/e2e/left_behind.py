"""Everything that a stack leaves behind: log lines, items, messages, files, histories, what processes printed."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from stack.running import Stack
from tests.e2e.investigations import aws

Place = tuple[str, str]
"""Where a text lies, and the text."""


@dataclass(slots=True)
class SeenAnswers:
    """The body of every HTTP answer that a test got."""

    bodies: list[str] = field(default_factory=list)


def lines_and_items(stack: Stack) -> Iterator[Place]:
    """Logs, metrics among them, and every item of every table: no query and no key belongs there."""
    logs, dynamodb = aws(stack, "logs"), aws(stack, "dynamodb")
    for group in _pages(logs, "describe_log_groups", "logGroups"):
        name = group["logGroupName"]
        for event in _pages(logs, "filter_log_events", "events", logGroupName=name):
            yield f"log {name}", event["message"]
    for table in _pages(dynamodb, "list_tables", "TableNames"):
        for item in _pages(dynamodb, "scan", "Items", TableName=table):
            yield f"table {table}", json.dumps(item, default=str)


def everything_else(stack: Stack) -> Iterator[Place]:
    """What may name a caller's question, and no key: files, messages, executions, and what processes printed."""
    yield from _objects(stack)
    yield from _executions(stack)
    yield from _messages(stack)
    for path in sorted(stack.folder.rglob("*.log")):
        yield f"output {path.name}", path.read_text(encoding="utf-8", errors="replace")


def _objects(stack: Stack) -> Iterator[Place]:
    s3 = aws(stack, "s3")
    for output, bucket in stack.outputs.items():
        if output.endswith("BucketName"):
            for found in _pages(s3, "list_objects_v2", "Contents", Bucket=bucket):
                body = s3.get_object(Bucket=bucket, Key=found["Key"])["Body"].read()
                yield f"object {found['Key']}", body.decode("utf-8", errors="replace")


def _executions(stack: Stack) -> Iterator[Place]:
    states = aws(stack, "stepfunctions")
    machine = stack.outputs["InvestigateStateMachineArn"]
    for execution in _pages(states, "list_executions", "executions", stateMachineArn=machine):
        arn = execution["executionArn"]
        yield f"execution {execution['name']}", json.dumps(states.describe_execution(executionArn=arn), default=str)
        for event in _pages(states, "get_execution_history", "events", executionArn=arn):
            yield f"history {execution['name']}", json.dumps(event, default=str)


def _messages(stack: Stack) -> Iterator[Place]:
    sqs = aws(stack, "sqs")
    for output, url in stack.outputs.items():
        if output.endswith("QueueUrl"):
            asked = {"QueueUrl": url, "MaxNumberOfMessages": 10, "VisibilityTimeout": 0, "WaitTimeSeconds": 0}
            for message in sqs.receive_message(**asked).get("Messages", []):
                yield f"message {output}", message["Body"]


def _pages(client: Any, operation: str, items: str, **asked: Any) -> Iterator[Any]:
    for page in client.get_paginator(operation).paginate(**asked):
        yield from page.get(items, [])
