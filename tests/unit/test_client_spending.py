"""What may spend is sent again only where it is not paid twice: the caller's ceilings hold for the call."""

from typing import Any

import httpx
import pytest

from tests.fakes.client_api import Driven, FakeApi, Scripted, found, refused
from tests.fakes.clock import FakeClock
from zarniwoop_client import Temporary, Unanswered, Unreachable

THROTTLED = refused("throttled", 429, retryable=True, wait_seconds=1)
NEVER_ARRIVED = [
    *(httpx.ConnectError("no"), httpx.ConnectTimeout("no"), httpx.PoolTimeout("no"), httpx.ProxyError("no")),
]
MAYBE_ARRIVED = [
    *(httpx.ReadTimeout("no"), httpx.ReadError("no"), httpx.WriteError("no"), httpx.RemoteProtocolError("no")),
]


MAYBE_PAID: dict[str, Scripted] = {
    **{type(each).__name__: each for each in MAYBE_ARRIVED},
    "gateway 502": httpx.Response(502, text="<html>"),
    "gateway 504": httpx.Response(504, text="<html>"),
}
SURELY_NOT_PAID: dict[str, Scripted] = {
    **{type(each).__name__: each for each in NEVER_ARRIVED},
    "throttled": THROTTLED,
    "gateway 503": httpx.Response(503, text="<html>"),
    "unready": refused("unready", 503, retryable=True, wait_seconds=1),
}
ANSWERED = {
    "all failed": refused("all-failed", 200, data=found(), retryable=True, wait_seconds=1),
    "internal": refused("internal", 500, retryable=True),
    "out of time": refused("out-of-time", 504, retryable=True, wait_seconds=1),
}
SPENDING: list[tuple[str, str, dict[str, Any]]] = [
    *(("search", "bells", {}), ("search_expert", "bells", {}), ("rich", "bells", {}), ("web_search", "bells", {})),
    ("geo", "Cologne", {}),
]
BOUNDED: list[tuple[str, str, dict[str, Any]]] = [
    ("search", "bells", {"cache": "no-store"}),
    ("search_expert", "bells", {"max_cost": 0.01}),
    ("web_search", "bells", {"max_calls": 1}),
    ("fetch", "https://example.org", {}),
]


def _named(each: object) -> str:
    return each if isinstance(each, str) else ""


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.mark.parametrize("trouble", MAYBE_PAID)
@pytest.mark.parametrize(("method", "asked", "options"), SPENDING, ids=_named)
def test_what_may_have_been_paid_for_is_not_sent_again_without_a_key(
    clock: FakeClock, method: str, asked: str, options: dict[str, Any], trouble: str
) -> None:
    """The caller knows best whether another answer is worth its price."""
    api = FakeApi(MAYBE_PAID[trouble])
    with pytest.raises(Unreachable):
        Driven("blocking", api, clock)(method, asked, **options)
    assert [each.headers.get("idempotency-key") for each in api.requests] == [None]


@pytest.mark.parametrize("trouble", MAYBE_PAID)
@pytest.mark.parametrize(("method", "asked", "options"), BOUNDED, ids=_named)
def test_with_a_ceiling_it_is_sent_again_under_the_same_key(
    clock: FakeClock, method: str, asked: str, options: dict[str, Any], trouble: str
) -> None:
    """So that the ceiling holds for all requests together; while the first is under way the next is told to wait."""
    under_way = refused("conflict", 409, retryable=True, wait_seconds=1)
    api = FakeApi(MAYBE_PAID[trouble], under_way, THROTTLED, refused("all-failed", 200, data={}))
    with pytest.raises(Unanswered):
        Driven("blocking", api, clock)(method, asked, **options)
    keys = {each.headers["idempotency-key"] for each in api.requests}
    assert (len(api.requests), len(keys)) == (4, 1)


@pytest.mark.parametrize("trouble", ANSWERED)
@pytest.mark.parametrize(("method", "asked", "options"), [SPENDING[0], *BOUNDED], ids=_named)
def test_a_failure_that_a_spending_tool_told_is_raised_at_once(
    clock: FakeClock, method: str, asked: str, options: dict[str, Any], trouble: str
) -> None:
    """Providers may have been paid for it, and its key is free again."""
    api = FakeApi(ANSWERED[trouble])
    with pytest.raises(Temporary):
        Driven("blocking", api, clock)(method, asked, **options)
    assert (len(api.requests), clock.slept) == (1, [])


@pytest.mark.parametrize("trouble", SURELY_NOT_PAID)
@pytest.mark.parametrize(("method", "asked", "options"), [SPENDING[0], *BOUNDED], ids=_named)
def test_what_was_surely_not_carried_out_is_sent_again(
    clock: FakeClock, method: str, asked: str, options: dict[str, Any], trouble: str
) -> None:
    """With a key or without."""
    api = FakeApi(SURELY_NOT_PAID[trouble])
    with pytest.raises(Temporary):
        Driven("blocking", api, clock)(method, asked, **options)
    assert len(api.requests) == 4
