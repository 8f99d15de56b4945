"""What every `Continuations` promises, put to the one in memory and to the one on S3 alike."""

from collections.abc import Iterator
from dataclasses import replace

import boto3
import pytest

from tests.contract.test_run_store import OTHERS, PROJECT
from tests.fakes.aws import REGION, aws_in_process
from tests.fakes.clock import FakeClock
from tests.fakes.continuations import InMemoryContinuations
from zarniwoop.stores.clients import s3_client
from zarniwoop.stores.content import S3ContentStore
from zarniwoop.stores.continuations import KEPT_SECONDS, Continuations, Rest, S3Continuations, handle_of, read_handle
from zarniwoop.stores.project import ProjectKey

NOW = 1_800_000_000.0
BUCKET = "content"
REST = Rest(
    tool="research_search",
    max_chars=2_000,
    begun_at=NOW,
    expires_at=NOW + KEPT_SECONDS,
    entries=(("hits", {"title": "Glocken – 鐘"}), ("results/NEWS/hits", {"title": "News"})),
)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(NOW)


@pytest.fixture(params=["memory", "s3"])
def store(request: pytest.FixtureRequest, clock: FakeClock) -> Continuations:
    if request.param == "memory":
        return InMemoryContinuations(clock)
    request.getfixturevalue("bucket")
    return S3Continuations(s3_client(), BUCKET, clock)


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with aws_in_process(monkeypatch):
        boto3.client("s3", region_name=REGION).create_bucket(Bucket=BUCKET)
        yield


def test_what_is_put_aside_is_found_by_its_token(store: Continuations) -> None:
    """Every hit, in its order, in its own characters."""
    assert store.find(PROJECT, store.keep(PROJECT, REST)) == REST


def test_no_two_answers_share_a_token(store: Continuations) -> None:
    """And a token makes a handle that can be read back."""
    one, two = store.keep(PROJECT, REST), store.keep(PROJECT, REST)
    assert one != two
    assert read_handle(handle_of(one, 12)) == (one, 12)


@pytest.mark.parametrize("other", OTHERS)
def test_a_token_is_good_in_its_own_project_only(store: Continuations, other: ProjectKey) -> None:
    """Neither another tenant nor another project of the same one finds anything under it."""
    token = store.keep(PROJECT, REST)
    assert store.find(other, token) is None


def test_after_an_hour_it_is_gone(store: Continuations, clock: FakeClock) -> None:
    """Whether or not anybody has deleted it yet."""
    token = store.keep(PROJECT, REST)
    clock.advance(KEPT_SECONDS)
    assert store.find(PROJECT, token) is None


def test_what_was_begun_before_a_project_stop_is_found_no_more(store: Continuations, clock: FakeClock) -> None:
    """Also where the call put it aside after the stop; what is begun later is found."""
    before = store.keep(PROJECT, REST)
    store.stop(PROJECT, NOW + 1)
    during = store.keep(PROJECT, REST)
    after = store.keep(PROJECT, replace(REST, begun_at=NOW + 2))
    clock.advance(3)
    assert [store.find(PROJECT, token) is not None for token in (before, during, after)] == [False, False, True]


@pytest.mark.parametrize(
    "handle", ["", "0-0", "../x-0", f"{'a' * 32}", f"{'a' * 32}-x", f"{'A' * 32}-0", f"{'a' * 32}-0/"]
)
def test_what_is_no_handle_names_nothing(handle: str) -> None:
    """It never becomes part of a key."""
    assert read_handle(handle) is None


@pytest.mark.usefixtures("bucket")
def test_a_project_stop_takes_it_along(clock: FakeClock) -> None:
    """It lies among the project's content."""
    store = S3Continuations(s3_client(), BUCKET, clock)
    token = store.keep(PROJECT, REST)
    items = boto3.client("dynamodb", region_name=REGION)
    content = S3ContentStore(s3_client(), BUCKET, items=items, table_name="state", clock=clock, kept_seconds=60.0)
    assert content.delete_project(PROJECT) == 1
    assert store.find(PROJECT, token) is None
