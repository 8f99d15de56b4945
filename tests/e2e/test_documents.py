"""Documents on the deployed template: put into the bucket, they are found; S3's own events carry them there."""

import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from stack.running import Stack

pytestmark = pytest.mark.e2e

_PREFIX = "local/demo/documents/"
_WITHIN_SECONDS = 60.0


def until(found: Callable[[], Any]) -> Any:
    """What is found, as soon as it is."""
    end = time.monotonic() + _WITHIN_SECONDS
    while time.monotonic() < end:
        if answer := found():
            return answer
        time.sleep(0.5)
    return found()


def hits(api: httpx.Client, query: str, modality: str = "RAG") -> list[dict[str, Any]]:
    asked = {"project_id": "demo", "query": query, "modality": modality}
    data: dict[str, Any] = api.post("/v1/tools/research_search", json=asked).json()["data"]
    assert data["attempts"][-1]["instance_id"] == "local-index" or data["hits"] == []
    return [hit for hit in data["hits"] if hit["extras"].get("document")]


def test_sample_documents_are_there_from_the_start(api: httpx.Client) -> None:
    """Without a setting: passages with their place, and documents."""
    passage = hits(api, "notice period of the lease")[0]
    assert passage["extras"]["document"] == "lease.txt"
    assert "three months" in passage["content"]["text"]
    alloys = hits(api, "copper and tin")[0]
    assert (alloys["extras"]["document"], alloys["extras"]["page"]) == ("bell-alloys.pdf", 1)


def test_a_document_that_is_put_is_found_and_one_that_is_deleted_is_not(stack: Stack, api: httpx.Client) -> None:
    """And one that is refused is listed with its reason, over the API."""
    objects = stack.session().client("s3", endpoint_url=stack.endpoint_url)
    bucket = stack.outputs["DocumentsBucketName"]
    objects.put_object(Bucket=bucket, Key=f"{_PREFIX}e2e/marzipan.md", Body=b"# Marzipan\n\nAlmonds and sugar.")
    objects.put_object(Bucket=bucket, Key=f"{_PREFIX}e2e/empty.txt", Body=b"")
    (found,) = until(lambda: hits(api, "almonds"))
    assert (found["title"], found["extras"]["document"]) == ("Marzipan", "e2e/marzipan.md")
    listed = api.get("/v1/documents", params={"project_id": "demo", "status": "refused"}).json()["data"]["documents"]
    assert [(each["name"], each["reason"]) for each in listed] == [("e2e/empty.txt", "empty")]
    for name in ("marzipan.md", "empty.txt"):
        objects.delete_object(Bucket=bucket, Key=f"{_PREFIX}e2e/{name}")
    assert until(lambda: hits(api, "almonds") == [])
