"""The key ring: one key at a time, as seldom as possible, and never one that could leak from a header."""

import pytest

from tests.fakes.clock import FakeClock
from tests.fakes.parameter_store import InMemoryParameterStore
from zarniwoop.contract.failure import ConfigurationUnavailable
from zarniwoop.contract.transport import MOST_IN_A_POOL, KeyRing, Secret
from zarniwoop.settings.credentials import ENVIRONMENT
from zarniwoop.settings.key_ring import SettingsKeyRing
from zarniwoop.settings.levels import Place, parameter_name

TENANT = Place(tenant_id="acme")
SETTING = "research.endpoint.serper-main.apiKey"
NAME = parameter_name("/zarniwoop/test", TENANT, SETTING)
KEY = Secret("key-0123456789")
OTHER = Secret("key-9876543210")


class Ring:
    """A ring over parameters in memory, and the secrets that it told of."""

    def __init__(self) -> None:
        self.parameters = InMemoryParameterStore()
        self.clock = FakeClock()
        self.told: list[Secret] = []
        environment = {"SERPER_API_KEY": "key-of-the-operator", "EMPTY": ""}
        self.ring: KeyRing = SettingsKeyRing(self.parameters, self.clock, environment, self.told.append)

    def save(self, secret: Secret) -> None:
        self.parameters.put(TENANT, SETTING, secret.reveal())

    def reveals(self) -> int:
        return self.parameters.calls["reveal"]


@pytest.fixture
def rig() -> Ring:
    made = Ring()
    made.save(KEY)
    return made


def test_a_key_is_revealed_once_in_five_minutes(rig: Ring) -> None:
    assert rig.ring.secret(NAME) == rig.ring.secret(NAME) == KEY
    rig.clock.advance(299)
    rig.ring.secret(NAME)
    assert rig.reveals() == 1
    rig.save(OTHER)
    rig.clock.advance(1)
    assert rig.ring.secret(NAME) == OTHER
    assert rig.reveals() == 2


def test_keys_that_are_forgotten_are_read_anew_and_the_others_kept(rig: Ring) -> None:
    """They may have been replaced, and belong to another address now."""
    rig.ring.secret(NAME)
    rig.save(OTHER)
    ring = rig.ring
    assert isinstance(ring, SettingsKeyRing)
    ring.forget("/zarniwoop/test/another/")
    assert rig.ring.secret(NAME) == KEY
    ring.forget("/zarniwoop/test/acme/")
    assert rig.ring.secret(NAME) == OTHER


def test_a_fresh_look_bypasses_the_cache_and_renews_it(rig: Ring) -> None:
    """A provider said that the key is wrong: perhaps it was rotated a minute ago."""
    rig.ring.secret(NAME)
    rig.save(OTHER)
    assert rig.ring.secret(NAME) == KEY
    assert rig.ring.secret(NAME, fresh=True) == OTHER
    assert rig.ring.secret(NAME) == OTHER


def test_a_clock_that_runs_backwards_does_not_keep_a_key_for_ever(rig: Ring) -> None:
    rig.ring.secret(NAME)
    rig.clock.advance(-86_400)
    rig.ring.secret(NAME)
    assert rig.reveals() == 2


def test_every_revealed_secret_is_told_of(rig: Ring) -> None:
    """So that the redaction knows it before the first request leaves."""
    rig.ring.secret(NAME)
    rig.ring.secret("env:SERPER_API_KEY")
    assert rig.told == [KEY, Secret("key-of-the-operator")]


def test_the_operators_key_comes_from_the_environment(rig: Ring) -> None:
    """Without asking Parameter Store."""
    assert rig.ring.secret("env:SERPER_API_KEY") == Secret("key-of-the-operator")
    assert rig.ring.secret("env:EMPTY") is None
    assert rig.ring.secret("env:HOME") is None
    assert rig.reveals() == 0


def test_a_missing_key_works_as_soon_as_it_is_saved(rig: Ring) -> None:
    rig.parameters.delete(TENANT, SETTING)
    assert rig.ring.secret(NAME) is None
    rig.save(KEY)
    assert rig.ring.secret(NAME) == KEY


def test_a_deleted_key_is_forgotten_at_the_next_look(rig: Ring) -> None:
    rig.ring.secret(NAME)
    rig.parameters.delete(TENANT, SETTING)
    assert rig.ring.secret(NAME, fresh=True) is None
    assert rig.ring.secret(NAME) is None


@pytest.mark.parametrize("value", ["short", "key with spaces", "key-01234\r\nX-Evil: 1", "schlüssel-0123", "k" * 513])
def test_what_cannot_stand_in_a_header_is_no_key(rig: Ring, value: str) -> None:
    """An HTTP client would show it in its error."""
    rig.parameters.put(TENANT, SETTING, value)
    assert rig.ring.secret(NAME) is None
    assert rig.told == []


def test_a_line_break_that_was_pasted_along_does_no_harm(rig: Ring) -> None:
    rig.parameters.put(TENANT, SETTING, " key-0123456789\n")
    assert rig.ring.secret(NAME) == KEY


def test_a_known_key_is_used_on_while_parameter_store_is_away(rig: Ring) -> None:
    """Also when a fresh one was asked for; without a known one the failure is told."""
    rig.ring.secret(NAME)
    rig.parameters.fail_with = ConfigurationUnavailable("Parameter Store refused a call: ThrottlingException")
    rig.clock.advance(1000)
    assert rig.ring.secret(NAME) == KEY
    assert rig.ring.secret(NAME, fresh=True) == KEY
    with pytest.raises(ConfigurationUnavailable):
        rig.ring.secret(NAME + "2")


def test_keys_do_not_pile_up(rig: Ring) -> None:
    """An environment that served many tenants keeps the last 256."""
    for number in range(257):
        place = Place(tenant_id=f"tenant-{number}")
        rig.parameters.put(place, SETTING, KEY.reveal())
        rig.ring.secret(parameter_name("/zarniwoop/test", place, SETTING))
    rig.ring.secret(parameter_name("/zarniwoop/test", Place(tenant_id="tenant-1"), SETTING))
    assert rig.reveals() == 257
    rig.ring.secret(parameter_name("/zarniwoop/test", Place(tenant_id="tenant-0"), SETTING))
    assert rig.reveals() == 258


def test_a_setting_may_hold_several_keys(rig: Ring) -> None:
    """Each by its place; how many is known from the first look on, and all of them are masked in logs."""
    ring = SettingsKeyRing(rig.parameters, rig.clock, {"SERPER_API_KEY": "key-of-a1 key-of-a2"}, rig.told.append)
    rig.save(Secret("key-0123456789\nkey-9876543210"))
    assert ring.count(NAME) == 1
    assert [ring.secret(NAME), ring.secret(NAME, index=2), ring.secret(NAME, index=3)] == [KEY, OTHER, None]
    assert (ring.count(NAME), ring.count("env:SERPER_API_KEY")) == (2, 2)
    assert rig.reveals() == 1
    assert {KEY, OTHER} <= set(rig.told)


def test_a_pool_with_a_key_that_cannot_be_sent_is_none(rig: Ring) -> None:
    """What was pasted wrongly is not tried piece by piece."""
    rig.save(Secret("key-0123456789\nshort"))
    assert rig.ring.secret(NAME) is None


def test_how_many_keys_there_may_be_is_not_known_before_they_were_read(rig: Ring) -> None:
    """Those of the environment need no reading; forgotten ones are not known any more."""
    rig.save(Secret("key-0001 key-0002"))
    ring = rig.ring
    assert isinstance(ring, SettingsKeyRing)
    assert (ring.count(NAME), ring.most(NAME), ring.most(f"{ENVIRONMENT}SERPER_API_KEY")) == (1, MOST_IN_A_POOL, 1)
    ring.secret(NAME)
    assert (ring.count(NAME), ring.most(NAME)) == (2, 2)
    ring.forget(NAME)
    assert ring.most(NAME) == MOST_IN_A_POOL
