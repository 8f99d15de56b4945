"""The part of the composition root that standing queries and files of questions need; made when it is first needed."""

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from zarniwoop.contract.deadline import Clock
    from zarniwoop.stores.leased import LeasedMemory
    from zarniwoop.stores.question_files import QuestionFiles
    from zarniwoop.stores.queue import MessageQueue

_PATIENT_SECONDS = 30.0
"""S3 answers a PUT of all the answers when it has them all."""


class TriggerWiring:
    """What `wiring.Environment` is made of for what nobody waits for."""

    _variables: Mapping[str, str]
    clock: "Clock"

    if TYPE_CHECKING:  # declared for the type checker; the root makes it

        def dynamodb(self) -> DynamoDBClient: ...

    @cached_property
    def leased_memory(self) -> "LeasedMemory":
        from zarniwoop.stores.dynamodb_leased import DynamoDbLeasedMemory

        return DynamoDbLeasedMemory(self.dynamodb(), self._variables["STATE_TABLE"], self.clock)

    @cached_property
    def question_files(self) -> "QuestionFiles":
        from zarniwoop.stores.clients import s3_client
        from zarniwoop.stores.question_files import S3QuestionFiles

        return S3QuestionFiles(
            s3_client(_PATIENT_SECONDS), self._variables["INBOX_BUCKET"], self._variables["CONTENT_BUCKET"]
        )

    @cached_property
    def questions_queue(self) -> "MessageQueue":
        from zarniwoop.stores.clients import sqs_client
        from zarniwoop.stores.queue import SqsMessageQueue

        return SqsMessageQueue(sqs_client(), self._variables["QUESTIONS_QUEUE_URL"])
