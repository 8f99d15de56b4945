"""The stack's data plane on moto, made from the deployed template, and an environment wired to it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import boto3

from tests.fakes.aws import REGION, moto_account
from tests.fakes.clock import FakeClock
from tests.fakes.template import resources
from zarniwoop.contract.transport import Transport
from zarniwoop.settings.levels import Place
from zarniwoop.settings.writer import SsmSettingsWriter
from zarniwoop.wiring import Environment

TABLES = {
    "STATE_TABLE": "StateTable",
    "CALLS_TABLE": "CallsTable",
    "TOKENS_TABLE": "TokensTable",
    "RUNS_TABLE": "RunsTable",
    "EVIDENCE_TABLE": "EvidenceTable",
    "IDEMPOTENCY_TABLE": "IdempotencyTable",
}
SETTINGS_ROOT = "/zarniwoop/test"


@dataclass
class LambdaContext:
    """The parts of Lambda's context that the entry and Powertools read."""

    remaining_ms: int = 25_000
    aws_request_id: str = "request-1"
    function_name: str = "function"
    memory_limit_in_mb: int = 1024
    invoked_function_arn: str = "arn:aws:lambda:us-east-1:123456789012:function:function"

    def get_remaining_time_in_millis(self) -> int:
        return self.remaining_ms


@dataclass
class Cloud:
    """Clients and variables of the mocked account."""

    variables: dict[str, str] = field(default_factory=dict)
    _clients: dict[str, Any] = field(default_factory=dict)

    def client(self, service: str) -> Any:
        if service not in self._clients:
            self._clients[service] = boto3.client(service, region_name=REGION)  # type: ignore[call-overload]
        return self._clients[service]

    def set(self, key: str, value: str, *, project_id: str | None = None, secure: bool = False) -> None:
        """Save a setting of tenant `acme`, or of one of its projects."""
        place = Place(tenant_id="acme", project_id=project_id)
        SsmSettingsWriter(self.client("ssm"), SETTINGS_ROOT).put(place, key, value, secure=secure)

    def set_all(self, settings: Mapping[str, str]) -> None:
        """Save settings of tenant `acme`."""
        writer = SsmSettingsWriter(self.client("ssm"), SETTINGS_ROOT)
        for key, value in settings.items():
            writer.put(Place(tenant_id="acme"), key, value)

    def environment(self, *, transport: Transport | None = None, clock: FakeClock | None = None) -> Environment:
        return Environment(self.variables, transport=transport, clock=clock)

    def items(self, table: str) -> list[dict[str, Any]]:
        """Every item of a table, named by its variable."""
        found: list[dict[str, Any]] = self.client("dynamodb").scan(TableName=self.variables[table])["Items"]
        return found


def _state_machine(client: Any) -> str:
    """One that accepts executions; moto carries them out only for those who ask it to (`fakes.state_machine`)."""
    arn: str = client.create_state_machine(
        name="investigate",
        definition='{"StartAt": "Done", "States": {"Done": {"Type": "Succeed"}}}',
        roleArn="arn:aws:iam::123456789012:role/states",
    )["stateMachineArn"]
    return arn


@contextmanager
def cloud() -> Iterator[Cloud]:
    """Tables as the template declares them, buckets, a bus, a state machine, and the stack's hash key."""
    with moto_account():
        made = Cloud(
            variables={
                **{variable: variable.lower() for variable in TABLES},
                "CONTENT_BUCKET": "content",
                "EVIDENCE_BUCKET": "evidence",
                "RECIPES_BUCKET": "recipes",
                "DOCUMENTS_BUCKET": "documents",
                "INBOX_BUCKET": "inbox",
                "EVENT_BUS": "default",
                "SETTINGS_ROOT": SETTINGS_ROOT,
                "ALLOWED_PRIVATE_NETWORKS": "127.0.0.1/32",
                "CONTACT": "tests@example.com",
            }
        )
        declared = resources("AWS::DynamoDB::Table")
        for variable, logical_id in TABLES.items():
            properties = declared[logical_id]
            made.client("dynamodb").create_table(
                TableName=variable.lower(),
                KeySchema=properties["KeySchema"],
                AttributeDefinitions=properties["AttributeDefinitions"],
                BillingMode="PAY_PER_REQUEST",
                **{name: properties[name] for name in ("GlobalSecondaryIndexes",) if name in properties},
            )
        for bucket in ("content", "evidence", "recipes", "documents", "inbox"):
            made.client("s3").create_bucket(Bucket=bucket)
        for queue in ("documents", "questions"):
            url = made.client("sqs").create_queue(QueueName=queue)["QueueUrl"]
            made.variables[f"{queue.upper()}_QUEUE_URL"] = url
        made.variables["INVESTIGATE_STATE_MACHINE"] = _state_machine(made.client("stepfunctions"))
        made.client("ssm").put_parameter(
            Name=f"{SETTINGS_ROOT}/_stack/queryHashKey", Value="h" * 64, Type="SecureString"
        )
        yield made
