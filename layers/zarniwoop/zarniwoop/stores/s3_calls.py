"""The one place where calls to S3 are made, and botocore's errors become ours.

Quirk: a role that may not list the bucket is told "AccessDenied" of an object that is not there.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from zarniwoop.stores.failure import StoreError, StoreUnavailable

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_MISSING = frozenset(("NoSuchKey", "404", "NotFound"))
_CHANGED = frozenset(("PreconditionFailed", "ConditionalRequestConflict", "412", "409"))
_DENIED = frozenset(("AccessDenied", "AllAccessDisabled", "InvalidObjectState", "403"))
"""And all that begins with `KMS.`: its key is disabled, deleted or gone."""

Returned = TypeVar("Returned")


class ObjectMissing(StoreUnavailable):
    """There is no object of this key."""


class ObjectDenied(StoreUnavailable):
    """The object's key, policy or storage class forbids it; asking again does not help until somebody mends that."""


class ObjectChanged(StoreError):  # noqa: N818 - named by its consequence
    """The object is not as the call's condition wants it."""


def call(operation: Callable[[], Returned]) -> Returned:
    """One call, its body read inside. Raises ObjectMissing, ObjectDenied, or StoreUnavailable for what else goes wrong.

    A call with a condition also raises ObjectChanged.
    """
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        return operation()
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "unknown")
        if code in _MISSING:
            raise ObjectMissing("there is no such object") from error
        if code in _CHANGED:
            raise ObjectChanged("the object is not as the condition wants it") from error
        if code in _DENIED or code.startswith("KMS."):
            raise ObjectDenied(f"S3 denied a call: {code}") from error
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
