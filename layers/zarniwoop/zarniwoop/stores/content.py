"""The temporary content of projects in S3, under `<tenant>/<project>/`; a project's stop removes all of it.

https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html: at most 1,000 keys a call.
"""

from typing import TYPE_CHECKING, Protocol

from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.state import ProjectKey

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


class ContentStore(Protocol):
    def delete_project(self, project: ProjectKey) -> int:
        """Delete every object of the project; return how many. Raises StoreUnavailable."""
        ...


class S3ContentStore:
    """`ContentStore` on one bucket."""

    def __init__(self, client: "S3Client", bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def delete_project(self, project: ProjectKey) -> int:
        from botocore.exceptions import BotoCoreError, ClientError

        prefix = f"{project.tenant_id}/{project.project_id}/"
        deleted = 0
        try:
            for page in self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=prefix):
                keys = [found["Key"] for found in page.get("Contents", ())]
                if not keys:
                    continue
                answer = self._client.delete_objects(
                    Bucket=self._bucket, Delete={"Objects": [{"Key": key} for key in keys], "Quiet": True}
                )
                if answer.get("Errors"):
                    raise StoreUnavailable("not every object of the project could be deleted")
                deleted += len(keys)
        except (BotoCoreError, ClientError) as error:
            raise StoreUnavailable("the content bucket does not answer") from error
        return deleted
