"""Messages of an SQS queue; of projects whose documents are to be looked at, `{"project": {tenant_id, project_id}}`."""

from typing import TYPE_CHECKING, Protocol

import orjson

from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.state import ProjectKey

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


class MessageQueue(Protocol):
    def send(self, body: str) -> None:
        """Raises StoreUnavailable."""
        ...


class ProjectQueue(Protocol):
    def send(self, project: ProjectKey) -> None:
        """Raises StoreUnavailable."""
        ...


class SqsMessageQueue:
    """`MessageQueue` on one queue."""

    def __init__(self, client: "SQSClient", url: str) -> None:
        self._client = client
        self._url = url

    def send(self, body: str) -> None:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            self._client.send_message(QueueUrl=self._url, MessageBody=body)
        except (BotoCoreError, ClientError) as error:
            raise StoreUnavailable(f"SQS could not be asked: {type(error).__name__}") from error


class SqsProjectQueue:
    """`ProjectQueue` on one queue."""

    def __init__(self, client: "SQSClient", url: str) -> None:
        self._messages = SqsMessageQueue(client, url)

    def send(self, project: ProjectKey) -> None:
        self._messages.send(orjson.dumps({"project": project}).decode())
