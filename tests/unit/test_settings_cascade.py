"""The cascade of levels, and what happens to it when Parameter Store is away."""

import pytest

from tests.fakes.clock import FakeClock
from tests.fakes.parameter_store import InMemoryParameterStore
from zarniwoop.contract.failure import ConfigurationUnavailable
from zarniwoop.settings.budgets import BudgetPeriod, read_budgets
from zarniwoop.settings.cascade import SettingsReader
from zarniwoop.settings.levels import Level, Place
from zarniwoop.settings.routing import factory_seconds

TENANT = Place(tenant_id="acme")
PROJECT = Place(tenant_id="acme", project_id="demo")
PROCESS = Place(tenant_id="acme", project_id="demo", process_id="night-run")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def store() -> InMemoryParameterStore:
    return InMemoryParameterStore()


@pytest.fixture
def reader(store: InMemoryParameterStore, clock: FakeClock) -> SettingsReader:
    return SettingsReader(store, clock, factory_seconds)


def away(store: InMemoryParameterStore) -> None:
    store.fail_with = ConfigurationUnavailable("Parameter Store refused a call: ThrottlingException")


def test_the_innermost_level_wins_for_each_key(store: InMemoryParameterStore, reader: SettingsReader) -> None:
    """A process overrides a project, a project its tenant, key by key, and each setting says where it is from."""
    for place, keys in ((TENANT, "abc"), (PROJECT, "bc"), (PROCESS, "c")):
        for key in keys:
            store.put(place, key, place.level)
    found = reader.read("acme", "demo", "night-run").values
    assert {key: setting.value for key, setting in found.items()} == {"a": "tenant", "b": "project", "c": "process"}
    assert {key: setting.level for key, setting in found.items()} == {
        "a": Level.TENANT,
        "b": Level.PROJECT,
        "c": Level.PROCESS,
    }
    assert reader.read("acme", "demo").values["c"].value == "project"
    assert reader.read("acme", "other").values["c"].value == "tenant"
    assert reader.read("rival", "demo").values == {}


def test_of_a_budget_the_outermost_level_counts(store: InMemoryParameterStore, reader: SettingsReader) -> None:
    """A project cannot raise what its tenant set; where the tenant set nothing, it may bound itself."""
    store.put(TENANT, "research.budget.project.calls", "10")
    for place, calls in ((PROJECT, "1000"), (PROCESS, "9999")):
        store.put(place, "research.budget.project.calls", calls)
        store.put(place, "research.budget.project.usd", calls)
    found = reader.read("acme", "demo", "night-run").values
    assert found["research.budget.project.calls"].value == "10"
    assert found["research.budget.project.usd"].value == "1000"


@pytest.mark.parametrize("budget", ["project", "tenant"])
@pytest.mark.parametrize("set_before", ["calls", "usd", "period"])
def test_whoever_sets_a_budget_says_after_what_time_it_begins_anew(
    store: InMemoryParameterStore, reader: SettingsReader, budget: str, set_before: str
) -> None:
    """A project that made a month's budget a day's would have thirty times as much; where it alone sets one, it may."""
    period = f"research.budget.{budget}.period"
    store.put(PROJECT, period, "day")
    store.put(PROJECT, f"research.budget.{budget}.calls", "10")
    assert reader.read("acme", "demo").values[period].value == "day"
    store.put(TENANT, f"research.budget.{budget}.{set_before}", "month" if set_before == "period" else "10")
    reader.forget("acme", "demo")
    budgets, faults = read_budgets(reader.read("acme", "demo").values)
    assert (budgets.period(budget), faults) == (BudgetPeriod.MONTH, [])


def test_each_budget_has_a_period_of_its_own(store: InMemoryParameterStore, reader: SettingsReader) -> None:
    """The tenant's says nothing of the project's, nor does the project's of the tenant's."""
    store.put(TENANT, "research.budget.tenant.calls", "1000")
    store.put(PROJECT, "research.budget.project.calls", "10")
    store.put(PROJECT, "research.budget.project.period", "day")
    budgets, _ = read_budgets(reader.read("acme", "demo").values)
    assert (budgets.project_period, budgets.tenant_period) == (BudgetPeriod.DAY, BudgetPeriod.MONTH)


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("project.calls", "must be a whole number of at least 0; until it is, it allows no call"),
        ("tenant.usd", "must be a number of at least 0; until it is, it allows no call that costs dollars"),
        ("tenant.period", "must be month or day"),
    ],
)
def test_a_budget_that_is_not_written_as_it_must_be_is_told_of_with_what_it_allows_until_then(
    store: InMemoryParameterStore, reader: SettingsReader, key: str, reason: str
) -> None:
    store.put(TENANT, f"research.budget.{key}", "a lot")
    _, faults = read_budgets(reader.read("acme", "demo").values)
    assert [(fault.setting, fault.reason) for fault in faults] == [(f"research.budget.{key}", reason)]


def test_a_level_is_read_once_for_everybody_who_shares_it(
    store: InMemoryParameterStore, reader: SettingsReader
) -> None:
    """Two reads without a process; one more for each process that is named, whether or not there is one."""
    reader.read("acme", "demo")
    assert store.calls["read_level"] == 2
    for number in range(20):
        reader.read("acme", "demo", f"made-up-{number}")
    assert store.calls["read_level"] == 22
    reader.read("acme", "lab")
    assert store.calls["read_level"] == 23


@pytest.mark.parametrize(("minutes", "seconds"), [(None, 300), ("1", 60), ("0", 0)])
def test_a_level_is_kept_as_long_as_the_factory_keeps_what_was_made_of_it(
    store: InMemoryParameterStore, reader: SettingsReader, clock: FakeClock, minutes: str | None, seconds: int
) -> None:
    """Five minutes, or what the settings themselves say."""
    if minutes is not None:
        store.put(TENANT, "research.factory.cache.ttlMinutes", minutes)
    reader.read("acme", "demo")
    clock.advance(max(0.0, seconds - 0.5))
    reader.read("acme", "demo")
    assert store.calls["read_level"] == (2 if seconds else 4)
    clock.advance(0.5)
    reader.read("acme", "demo")
    assert store.calls["read_level"] == (4 if seconds else 6)


def test_the_last_good_copy_serves_for_an_hour(
    store: InMemoryParameterStore, reader: SettingsReader, clock: FakeClock
) -> None:
    """Marked as stale; and after the hour the failure is told."""
    store.put(TENANT, "a", "value")
    assert reader.read("acme", "demo").stale is False
    away(store)
    clock.advance(3600)
    served = reader.read("acme", "demo")
    assert (served.stale, served.values["a"].value) == (True, "value")
    clock.advance(1)
    with pytest.raises(ConfigurationUnavailable):
        reader.read("acme", "demo")


def test_a_copy_is_refreshed_as_soon_as_settings_can_be_read(
    store: InMemoryParameterStore, reader: SettingsReader, clock: FakeClock
) -> None:
    store.put(TENANT, "a", "old")
    reader.read("acme", "demo")
    away(store)
    clock.advance(300)
    assert reader.read("acme", "demo").stale is True
    store.fail_with = None
    store.put(TENANT, "a", "new")
    served = reader.read("acme", "demo")
    assert (served.stale, served.values["a"].value) == (False, "new")


def test_nobody_is_served_somebody_elses_copy(store: InMemoryParameterStore, reader: SettingsReader) -> None:
    """Not another project's, not another tenant's, not another process's."""
    reader.read("acme", "demo")
    away(store)
    for scope in (("acme", "other", None), ("rival", "demo", None), ("acme", "demo", "night-run")):
        with pytest.raises(ConfigurationUnavailable):
            reader.read(*scope)


def test_a_level_that_cannot_be_read_is_stale_alone(
    store: InMemoryParameterStore, reader: SettingsReader, clock: FakeClock
) -> None:
    """The tenant's level was read for another project a minute ago, and is fresh; the project's own is not."""
    reader.read("acme", "demo")
    clock.advance(240)
    reader.read("acme", "lab")
    clock.advance(60)
    reader.read("acme", "lab")
    away(store)
    assert reader.read("acme", "lab").stale is False
    assert reader.read("acme", "demo").stale is True


def test_levels_do_not_pile_up_and_those_in_use_stay(store: InMemoryParameterStore, reader: SettingsReader) -> None:
    """An environment that served many projects keeps 256 levels: the last, and the tenant's, which they share."""
    for number in range(257):
        reader.read("acme", f"project-{number}")
    assert store.calls["read_level"] == 258
    away(store)
    assert reader.read("acme", "project-256").stale is False
    with pytest.raises(ConfigurationUnavailable):
        reader.read("acme", "project-0")


def test_what_concerns_a_stopped_project_is_read_anew_and_others_keep_theirs(
    store: InMemoryParameterStore, reader: SettingsReader
) -> None:
    """A changed setting shows at once; while Parameter Store does not answer, the old copy serves on as stale."""
    store.put(PROJECT, "a", "old")
    reader.read("acme", "demo")
    reader.read("acme", "other")
    store.put(PROJECT, "a", "new")
    assert reader.read("acme", "demo").values["a"].value == "old"
    reader.forget("acme", "demo")
    away(store)
    stale = reader.read("acme", "demo")
    assert (stale.stale, stale.values["a"].value) == (True, "old")
    store.fail_with = None
    reads = store.calls["read_level"]
    assert reader.read("acme", "demo").values["a"].value == "new"
    reader.read("acme", "other")
    assert store.calls["read_level"] == reads + 2
