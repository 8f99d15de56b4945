"""What the stack puts on its bus, as a subscriber of AWS hears it."""

import json
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from stack.running import Stack
from tests.e2e.investigations import aws

Heard = Callable[[int], list[dict[str, Any]]]

_WITHIN_SECONDS = 40.0


@contextmanager
def heard(stack: Stack) -> Iterator[Heard]:
    """Wait for so many events of ours on the bus; their details with their type."""
    sqs, bus_of, bus = aws(stack, "sqs"), aws(stack, "events"), stack.outputs["EventBusName"]
    name = f"listener-{uuid.uuid4().hex[:8]}"
    url = sqs.create_queue(QueueName=name)["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    bus_of.put_rule(Name=name, EventBusName=bus, EventPattern=json.dumps({"source": ["zarniwoop"]}))
    bus_of.put_targets(Rule=name, EventBusName=bus, Targets=[{"Id": "queue", "Arn": arn}])

    def wait(count: int) -> list[dict[str, Any]]:
        told: list[dict[str, Any]] = []
        end = time.monotonic() + _WITHIN_SECONDS
        while len(told) < count and time.monotonic() < end:
            received = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, WaitTimeSeconds=1)
            for message in received.get("Messages", ()):
                event = json.loads(message["Body"])
                told.append({"type": event["detail-type"], **event["detail"]})
                sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return told

    yield wait
    bus_of.remove_targets(Rule=name, EventBusName=bus, Ids=["queue"])
    bus_of.delete_rule(Name=name, EventBusName=bus)
    sqs.delete_queue(QueueUrl=url)
