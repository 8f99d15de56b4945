"""The one place where calls to S3 are made, and botocore's errors become ours.

Quirk: a role that may not list the bucket is told "AccessDenied" of an object that is not there.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from zarniwoop.stores.failure import StoreUnavailable

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_MISSING = frozenset(("NoSuchKey", "404", "NotFound"))
_CHANGED = frozenset(("PreconditionFailed", "412", "ConditionalRequestConflict"))

Returned = TypeVar("Returned")


class ObjectMissing(StoreUnavailable):
    """There is no object of this key."""


class ObjectChanged(StoreUnavailable):
    """A conditional write met another object than the one that it was made for."""


def call(operation: Callable[[], Returned]) -> Returned:
    """One call, its body read inside. Raises ObjectMissing, ObjectChanged, or StoreUnavailable for the rest."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        return operation()
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "unknown")
        if code in _MISSING:
            raise ObjectMissing("there is no such object") from error
        if code in _CHANGED:
            raise ObjectChanged("another object stands there") from error
        raise StoreUnavailable(f"S3 refused a call: {code}") from error
    except BotoCoreError as error:
        raise StoreUnavailable(f"S3 could not be asked: {type(error).__name__}") from error


def read_object(client: "S3Client", bucket: str, key: str, *, byte_range: tuple[int, int] | None = None) -> bytes:
    """The object, or its bytes from the first to the last of the range. Raises ObjectMissing, StoreUnavailable."""
    ranged: dict[str, Any] = {"Range": f"bytes={byte_range[0]}-{byte_range[1]}"} if byte_range else {}
    return call(lambda: client.get_object(Bucket=bucket, Key=key, **ranged)["Body"].read())


def presigned(client: "S3Client", bucket: str, key: str, seconds: int) -> str:
    """A link that anybody who has it may read the object by, as a download: it is never shown as a page."""
    return call(
        lambda: client.generate_presigned_url(
            "get_object",
            Params={"Bucket": bucket, "Key": key, "ResponseContentDisposition": "attachment"},
            ExpiresIn=seconds,
        )
    )
