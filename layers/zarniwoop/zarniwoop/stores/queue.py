"""Projects whose documents are to be looked at, as messages of an SQS queue: `{"project": {tenant_id, project_id}}`."""

from typing import TYPE_CHECKING, Protocol

import orjson

from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.state import ProjectKey

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


class ProjectQueue(Protocol):
    def send(self, project: ProjectKey) -> None:
        """Raises StoreUnavailable."""
        ...


class SqsProjectQueue:
    """`ProjectQueue` on one queue."""

    def __init__(self, client: "SQSClient", url: str) -> None:
        self._client = client
        self._url = url

    def send(self, project: ProjectKey) -> None:
        from botocore.exceptions import BotoCoreError, ClientError

        body = orjson.dumps({"project": project}).decode()
        try:
            self._client.send_message(QueueUrl=self._url, MessageBody=body)
        except (BotoCoreError, ClientError) as error:
            raise StoreUnavailable(f"SQS could not be asked: {type(error).__name__}") from error
