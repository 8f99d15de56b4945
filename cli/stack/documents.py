"""Sample documents for a local stack whose providers are simulated: something for INTERNAL_DOC and RAG to find."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import orjson
from botocore.exceptions import ClientError

from stack.places import SAMPLES
from stack.target import Target

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_INDEXED_WITHIN_SECONDS = 90.0
_LOOK_AGAIN_SECONDS = 0.5


class NotIndexedError(Exception):
    """The documents were put and no index came of them."""


def put_samples(target: Target, bucket: str, tenant_id: str, project_id: str) -> int:
    """Put them as their owner would; S3's events do the rest. Returns how many."""
    client = _client(target)
    samples = sorted(path for path in SAMPLES.iterdir() if path.is_file())
    for path in samples:
        key = f"{tenant_id}/{project_id}/documents/{path.name}"
        client.put_object(Bucket=bucket, Key=key, Body=path.read_bytes())
    return len(samples)


def wait_for_index(
    target: Target,
    bucket: str,
    tenant_id: str,
    project_id: str,
    documents: int,
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Until so many documents are indexed. Raises NotIndexedError."""
    client = _client(target)
    until = time.monotonic() + _INDEXED_WITHIN_SECONDS
    while time.monotonic() < until:
        try:
            manifest = client.get_object(Bucket=bucket, Key=f"_index/{tenant_id}/{project_id}/manifest.json")
        except ClientError as error:
            if error.response["Error"]["Code"] != "NoSuchKey":
                raise
        else:
            if orjson.loads(manifest["Body"].read())["documents"] >= documents:
                return
        sleep(_LOOK_AGAIN_SECONDS)
    raise NotIndexedError(f"{documents} documents were not indexed within {_INDEXED_WITHIN_SECONDS:.0f} s")


def _client(target: Target) -> "S3Client":
    return target.session().client("s3", endpoint_url=target.endpoint_url)
