"""How this package reaches AWS: boto3 clients with explicit attempts and timeouts, made when first asked for.

The defaults of boto3 spend two to three seconds on one throttled write. `AWS_ENDPOINT_URL` is honoured by boto3 itself.
Quirk: importing boto3 costs a quarter of a second, so it happens in here and nowhere at import.
"""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Literal, ParamSpec, TypeVar

from zarniwoop.stores.recent import Recent

if TYPE_CHECKING:
    from botocore.config import Config
    from mypy_boto3_bedrock_runtime import BedrockRuntimeClient
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_ssm import SSMClient

Wanted = ParamSpec("Wanted")
Client = TypeVar("Client")

_CONNECTIONS = 10
_CONNECT_SECONDS = 1.0
PROVIDER_CONNECT_SECONDS = 1.0
_READ_SECONDS = 2.0
_STATE_READ_SECONDS = 0.75
"""A table that hangs must not eat the search's time: twice this, and the search goes on without it."""
SIDE_WRITE_SECONDS = 0.15
_SIDE_CONNECT_SECONDS = 0.5
"""The first write of a cold environment shakes hands over TLS; cut off sooner, every cold start loses its audit."""


def dynamodb_client() -> "DynamoDBClient":
    """For what a search waits for: two attempts, 50 ms apart. The `standard` mode would wait for up to a second."""
    import boto3

    config = _config(connect=_CONNECT_SECONDS, read=_STATE_READ_SECONDS, attempts=2, mode="legacy")
    return boto3.client("dynamodb", config=config)


def side_write_client() -> "DynamoDBClient":
    """For what no search waits for (audit): one attempt, over in 150 ms once connected."""
    import boto3

    config = _config(connect=_SIDE_CONNECT_SECONDS, read=SIDE_WRITE_SECONDS, attempts=1)
    return boto3.client("dynamodb", config=config)


def ssm_client() -> "SSMClient":
    """For settings: one attempt, because the parameter store tries again by itself and briefly."""
    import boto3

    return boto3.client("ssm", config=_config(connect=_CONNECT_SECONDS, read=_READ_SECONDS, attempts=1))


def _config(
    *,
    connect: float,
    read: float,
    attempts: int,
    mode: Literal["legacy", "standard"] = "standard",
    signature_version: str | None = None,
) -> "Config":
    from botocore.config import Config

    return Config(
        connect_timeout=connect,
        read_timeout=read,
        retries={"total_max_attempts": attempts, "mode": mode},
        tcp_keepalive=True,
        max_pool_connections=_CONNECTIONS,
        signature_version=signature_version,
    )


def s3_client(read_seconds: float = _READ_SECONDS) -> "S3Client":
    """For content and run files; deleting a project's objects may take several calls. An index takes longer to put.

    Left to itself, boto3 signs links in some regions the old way, which buckets with a KMS key do not accept, and for
    the global host, which redirects to the region's and so voids the signature.
    """
    import boto3
    from botocore.config import Config

    config = _config(connect=_CONNECT_SECONDS, read=read_seconds, attempts=2, signature_version="s3v4")
    client = boto3.client("s3", config=config)
    if ".amazonaws." not in client.meta.endpoint_url:
        return client
    return boto3.client("s3", config=config.merge(Config(s3={"addressing_style": "virtual"})))


def sqs_client() -> "SQSClient":
    """For asking that a project's documents be looked at; asked twice, they are looked at twice, which does no harm."""
    import boto3

    return boto3.client("sqs", config=_config(connect=_CONNECT_SECONDS, read=_READ_SECONDS, attempts=2))


def stepfunctions_client() -> Any:
    """For starting and looking at executions; a start is repeated safely, because executions have names."""
    import boto3

    return boto3.client("stepfunctions", config=_config(connect=_CONNECT_SECONDS, read=_READ_SECONDS, attempts=2))


def events_client() -> "EventBridgeClient":
    """For answers that go on the event bus."""
    import boto3

    return boto3.client("events", config=_config(connect=_CONNECT_SECONDS, read=_READ_SECONDS, attempts=2))


def lambda_client(read_seconds: float) -> "LambdaClient":
    """For asking another function of this stack: one attempt, because what it does is not done twice unseen."""
    import boto3

    return boto3.client("lambda", config=_config(connect=_CONNECT_SECONDS, read=read_seconds, attempts=1))


def bedrock_runtime_client(region: str | None, read_seconds: float) -> "BedrockRuntimeClient":
    """For a model's answer, which comes at once and late: one attempt, because a model is not asked twice unseen."""
    import boto3

    config = _config(connect=_CONNECT_SECONDS, read=read_seconds, attempts=1)
    return boto3.client("bedrock-runtime", region_name=region, config=config)


def provider_client(service: str, region: str | None, read_seconds: float) -> Any:
    """For a service that is asked as a provider: one attempt, because the cascade is the retry."""
    import boto3

    config = _config(connect=PROVIDER_CONNECT_SECONDS, read=read_seconds, attempts=1)
    return boto3.client(service, region_name=region, config=config)  # type: ignore[call-overload]


_MOST_CLIENTS = 16


class KeptClients(Generic[Wanted, Client]):
    """Clients that are made once for whatever they are made of; boto3 must not make two at a time.

    Regions come out of settings: so the ones that were used longest ago are let go of.
    """

    def __init__(self, make: Callable[Wanted, Client]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._kept: Recent[tuple[object, ...], Client] = Recent(_MOST_CLIENTS)

    def __call__(self, *wanted: Wanted.args, **named: Wanted.kwargs) -> Client:
        key = (*wanted, *sorted(named.items()))
        with self._lock:
            client = self._kept.get(key)
            if client is None:
                client = self._make(*wanted, **named)
                self._kept.put(key, client)
            return client
