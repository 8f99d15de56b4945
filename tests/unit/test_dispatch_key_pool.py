"""Several keys of one endpoint: they take turns, and what befalls one leaves the others alone."""

import pytest

from tests.fakes.providers import Step, found
from tests.fakes.research import PROJECT, Research
from zarniwoop.contract.failure import (
    CredentialsRejected,
    ProviderUnavailable,
    QuotaExhausted,
    RateLimited,
)
from zarniwoop.contract.provider import Pacing
from zarniwoop.contract.quota import QuotaSource, QuotaStatus
from zarniwoop.contract.result import Outcome
from zarniwoop.contract.transport import keys_in

KEY = "/research.endpoint.pooled.apiKey"


def pooled(keys: int = 3, step: Step | None = None, **more: list[Step]) -> Research:
    """An endpoint with so many keys, first in line."""
    settings = {"research.endpoint.pooled.apiKey": "hidden", "research.default.web": "pooled"}
    research = Research({"pooled": [step or found(1)], **more}, settings=settings)
    research.keys.pools[KEY] = keys
    return research


def indexes(research: Research, searches: int) -> list[int | None]:
    """With which keys so many searches were answered."""
    return [research.search().attempts[-1].key_index for _ in range(searches)]


def test_keys_take_turns() -> None:
    """Six searches ask twice with each of three keys, and the attempt says with which."""
    research = pooled()
    used = indexes(research, 6)
    assert sorted(used[:3], key=str) == [1, 2, 3]
    assert used[3:] == used[:3] == research.protocol.keys_used[:3]


@pytest.mark.parametrize("error", [CredentialsRejected("401"), RateLimited("429"), QuotaExhausted("used up")])
def test_the_next_key_takes_over_from_one_that_fails(error: Exception) -> None:
    """In the same search; afterwards the failing one is left alone, and others are asked as before."""
    research = pooled()
    research.protocol.fails_with = {2: error}
    results = [research.search() for _ in range(6)]
    assert all(result.hits for result in results)
    assert research.protocol.keys_used.count(2) == 1
    (twice,) = [result.attempts for result in results if len(result.attempts) == 2]
    assert [(each.outcome, each.instance_id) for each in twice] == [
        (Outcome.FAILURE, "pooled"),
        (Outcome.SUCCESS, "pooled"),
    ]
    assert (twice[0].key_index, twice[1].key_index) == (2, 3)


def test_a_refused_key_returns_with_a_change_of_its_setting_and_not_before() -> None:
    """Not after a month: the fingerprint of the endpoint's settings is part of what is kept of the key."""
    research = pooled()
    research.protocol.fails_with = {2: CredentialsRejected("401")}
    indexes(research, 3)
    research.protocol.fails_with = {}
    research.clock.advance(29 * 86_400)
    assert 2 not in indexes(research, 3)
    research.settings["research.endpoint.pooled.costPerCall"] = "0.001"
    research.state.bump_generation(PROJECT)
    assert 2 in indexes(research, 3)


def test_a_stated_wait_of_a_key_is_its_own_and_is_kept_to_the_end() -> None:
    """Two hours for the second key; then one probe brings it back."""
    research = pooled()
    research.protocol.fails_with = {2: RateLimited("429", retry_after=7200.0)}
    indexes(research, 3)
    research.protocol.fails_with = {}
    research.clock.advance(7199)
    assert 2 not in indexes(research, 3)
    research.clock.advance(1)
    assert 2 in indexes(research, 3)
    assert research.state.calls["claim_probe"] == 1


def test_with_no_key_left_the_next_provider_is_asked_and_nobody_asks_in_vain() -> None:
    """The skip says why, and when the first of them returns."""
    research = pooled(2, spare=[found(2)])
    research.settings["research.fallback.web"] = "spare"
    research.protocol.fails_with = {1: RateLimited("429", retry_after=60.0), 2: RateLimited("429", retry_after=30.0)}
    now = research.clock.now()
    assert len(research.search().attempts) == 3
    first, second = research.search().attempts
    assert (first.outcome, first.reason, first.detail, first.retry_at) == (
        Outcome.SKIPPED,
        "cooldown",
        "rate_limited",
        now + 30,
    )
    assert (second.instance_id, research.protocol.keys_used) == (
        "spare",
        [*research.protocol.keys_used[:2], None, None],
    )


def test_an_outage_is_the_providers_and_not_the_keys() -> None:
    """No other key is tried, and the endpoint as a whole cools down."""
    research = pooled()
    research.protocol.fails_with = dict.fromkeys((1, 2, 3), ProviderUnavailable("503"))
    assert len(research.search().attempts) == 1
    (cooldown,) = research.state.cooldowns_of(PROJECT)
    assert not cooldown.fingerprint[-3:].startswith("-k")
    assert research.search().attempts[0].reason == "cooldown"


def test_what_an_answer_says_is_left_is_said_of_its_key() -> None:
    """A key that just gave its last answer rests; the endpoint's quota is not touched."""
    nothing = QuotaStatus(source=QuotaSource.HEADERS, unit="calls", remaining=0, resets_at=2_000_000_000)
    research = pooled(2, found(1, quota=nothing))
    first, second = indexes(research, 2)
    assert {first, second} == {1, 2}
    assert research.state.calls["save_quota"] == 0
    (attempt,) = research.search().attempts
    assert (attempt.detail, attempt.retry_at) == ("quota_exhausted", 2_000_000_000)


def test_each_key_has_the_published_rate_for_itself() -> None:
    """Where the provider counts by key; nobody waits for a turn as long as another key has one."""
    research = pooled(3)
    research.protocol.pacing = {"pooled": Pacing(subject=f"p@host:{KEY}", requests=1, seconds=9.0, spread=0.0)}
    indexes(research, 3)
    assert research.clock.slept == []
    indexes(research, 1)
    assert research.clock.slept == [9.0]


def test_a_single_key_costs_nothing_more() -> None:
    """One read besides the first look at the project, and no word of a key."""
    research = pooled(1)
    assert research.search().attempts[0].key_index is None
    assert (research.state.calls["snapshot"], research.protocol.keys_used) == (2, [None])


def test_several_keys_come_with_the_one_read() -> None:
    """Once the environment has read them; until then it cannot know that there are several, and looks again."""
    research = pooled()
    indexes(research, 1)
    assert research.state.calls["snapshot"] == 3
    indexes(research, 4)
    assert research.state.calls["snapshot"] == 7


def test_a_new_environment_does_not_ask_with_a_key_that_another_found_refused() -> None:
    """Although it reads the keys only now."""
    research = pooled()
    research.protocol.fails_with = {2: CredentialsRejected("401")}
    indexes(research, 3)
    research.keys.asked.clear()
    _, _, dispatcher = research.environment()
    for _ in range(3):
        assert dispatcher.search(research.request(), research.scope()).hits
    assert research.protocol.keys_used.count(2) == 1


@pytest.mark.parametrize(
    ("saved", "keys"),
    [
        ("key-0001\nkey-0002\r\n", ["key-0001", "key-0002"]),
        ("key-0001,key-0002, key-0003 key-0001", ["key-0001", "key-0002", "key-0003"]),
        ("user:pass,word", ["user:pass,word"]),
        ("user:one, user:two", ["user:one", "user:two"]),
        (" \n, ", []),
    ],
)
def test_keys_stand_on_lines_or_between_blanks_or_commas(saved: str, keys: list[str]) -> None:
    assert keys_in(saved) == keys
