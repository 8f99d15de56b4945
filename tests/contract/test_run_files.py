"""What every `RunFiles` promises, put to the one in memory and to the one on S3 alike; and S3 when it says no."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import parse_qs, urlsplit

import boto3
import pytest
from botocore.exceptions import EndpointConnectionError

from tests.contract.test_run_store import OTHERS, PROJECT, run_id
from tests.fakes.aws import REGION, aws_in_process
from tests.fakes.run_files import InMemoryRunFiles
from zarniwoop.stores.clients import s3_client
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.run_files import INPUT, RESULT, RunFile, RunFiles, S3RunFiles, read_json

BUCKET = "content"


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with aws_in_process(monkeypatch):
        client = s3_client()
        boto3.client("s3", region_name=REGION).create_bucket(Bucket=BUCKET)
        yield client


@pytest.fixture(params=["memory", "s3"])
def files(request: pytest.FixtureRequest) -> RunFiles:
    return InMemoryRunFiles() if request.param == "memory" else S3RunFiles(request.getfixturevalue("s3"), BUCKET)


def test_a_file_is_read_back_as_it_was_written(files: RunFiles) -> None:
    """Bytes as bytes, everything else as JSON; a second writing replaces the first."""
    files.put(PROJECT, run_id(), INPUT, {"question": "Wie läuten Glocken?"})
    files.put(PROJECT, run_id(), "searches/0.bin", b"\x00\xff")
    assert read_json(files, PROJECT, run_id(), INPUT) == {"question": "Wie läuten Glocken?"}
    assert files.get(PROJECT, run_id(), "searches/0.bin") == b"\x00\xff"
    files.put(PROJECT, run_id(), INPUT, [1])
    assert files.get(PROJECT, run_id(), INPUT) == b"[1]"


def test_what_is_not_there_or_not_json_is_none(files: RunFiles) -> None:
    """A reader asks, and does not have to know how far the run is."""
    files.put(PROJECT, run_id(), "broken.json", b"{")
    assert files.get(PROJECT, run_id(), RESULT) is None
    assert read_json(files, PROJECT, run_id(), RESULT) is None
    assert read_json(files, PROJECT, run_id(), "broken.json") is None


def test_files_belong_to_one_run_of_one_project(files: RunFiles) -> None:
    """Neither another project nor another run sees them."""
    files.put(PROJECT, run_id(), INPUT, {})
    for project, which in [(other, run_id()) for other in OTHERS] + [(PROJECT, run_id(1))]:
        assert files.get(project, which, INPUT) is None
        assert files.names(project, which) == ()


def test_files_are_listed_by_name_with_their_sizes(files: RunFiles) -> None:
    """Folders within a run are part of the name."""
    for name, body in (("searches/1.json", b"12"), (INPUT, b"123"), ("searches/0.json", b"1")):
        files.put(PROJECT, run_id(), name, body)
    assert files.names(PROJECT, run_id()) == (
        RunFile(name=INPUT, size=3),
        RunFile(name="searches/0.json", size=1),
        RunFile(name="searches/1.json", size=2),
    )


def test_a_link_leads_to_the_file_for_a_while(files: RunFiles) -> None:
    """To this file of this run, and nowhere else."""
    link = urlsplit(files.presigned(PROJECT, run_id(), RESULT, 60))
    assert link.scheme == "https"
    assert link.path.endswith(f"acme/demo/runs/{run_id()}/{RESULT}")
    assert parse_qs(link.query)["X-Amz-Expires"] == ["60"]


@pytest.mark.parametrize(
    "name",
    ["", "/a", "a/", "a//b", "../input.json", "a/../b", "a/./b", "a b", "A.json", "a\\b", "a#b", "a" * 201, ".json"],
)
def test_no_name_leads_out_of_the_run(files: RunFiles, name: str) -> None:
    """Parts of plain characters, one mark between them."""
    for act in (
        lambda: files.put(PROJECT, run_id(), name, b""),
        lambda: files.get(PROJECT, run_id(), name),
        lambda: files.presigned(PROJECT, run_id(), name, 60),
    ):
        with pytest.raises(ValueError, match="name consists"):
            act()
    with pytest.raises(ValueError, match="run's id"):
        files.names(PROJECT, str(PurePosixPath(run_id()).parent / ".."))


def test_a_link_is_signed_the_new_way_and_is_a_download(s3: Any) -> None:
    """Signature version 4, and a file that no browser shows as a page of the bucket's host."""
    asked = parse_qs(urlsplit(S3RunFiles(s3, BUCKET).presigned(PROJECT, run_id(), RESULT, 60)).query)
    assert asked["X-Amz-Algorithm"] == ["AWS4-HMAC-SHA256"]
    assert asked["response-content-disposition"] == ["attachment"]


def test_a_refusal_of_s3_is_ours(s3: Any) -> None:
    """Denied is not missing: whoever reads a denied file must not take it for one that is not there yet."""
    files = S3RunFiles(s3, "not-a-bucket-of-ours")
    for act in (
        lambda: files.put(PROJECT, run_id(), INPUT, b""),
        lambda: files.get(PROJECT, run_id(), INPUT),
        lambda: files.names(PROJECT, run_id()),
    ):
        with pytest.raises(StoreUnavailable, match="S3 refused a call: NoSuchBucket"):
            act()


def test_a_bucket_out_of_reach_is_unavailable(s3: Any) -> None:
    """The kind of trouble is told, and nothing of where."""

    def break_off(**_rest: Any) -> None:
        raise EndpointConnectionError(endpoint_url="https://secret.example")

    s3.meta.events.register_first("before-send", break_off)
    with pytest.raises(StoreUnavailable, match=r"^S3 could not be asked: EndpointConnectionError$"):
        S3RunFiles(s3, BUCKET).get(PROJECT, run_id(), INPUT)
