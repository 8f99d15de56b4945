"""Usage: audit records and runs summed up by provider, modality and day, and what could not be read."""

from dataclasses import asdict
from datetime import date
from typing import Any

import pytest

from tests.fakes.audit_store import InMemoryAuditStore
from tests.fakes.clock import FakeClock
from tests.fakes.cloud import LambdaContext
from tests.fakes.environment import FakeEnvironment
from tests.fakes.functions import body_of, sample
from tests.fakes.run_files import InMemoryRunFiles
from tests.fakes.run_store import InMemoryRunStore
from zarniwoop.contract.chat import ModelUsage
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.modality import SearchModality, SearchTier
from zarniwoop.entry.usage import usage
from zarniwoop.pipelines.usage import reader as module
from zarniwoop.pipelines.usage.reader import UsageReader
from zarniwoop.pipelines.usage.report import Cut, Span, Usage
from zarniwoop.stores.audit import CallRecord
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.run_files import RESULT
from zarniwoop.stores.runs import Run, Step, new_run_id
from zarniwoop.stores.state import ProjectKey

PROJECT = ProjectKey(tenant_id="acme", project_id="demo")
FIRST = date(2027, 1, 15)
NOW = 1_800_000_000.0  # 2027-01-15T08:00:00Z
DAY = 86_400.0


class Books:
    """Stores in memory with a reader on them."""

    def __init__(self) -> None:
        self.clock = FakeClock(NOW)
        self.calls = InMemoryAuditStore()
        self.runs = InMemoryRunStore(self.clock)
        self.files = InMemoryRunFiles()
        self.reader = UsageReader(calls=self.calls, runs=self.runs, files=self.files, clock=self.clock)

    def record(self, instance_id: str = "serper-main", **changes: Any) -> None:
        usual = CallRecord(
            tenant_id="acme",
            project_id="demo",
            instance_id=instance_id,
            protocol="serper",
            modality=SearchModality.WEB,
            tier=SearchTier.NORMAL,
            query_hash="0" * 64,
            hit_count=10,
            ok=True,
            error_message=None,
            started_at=NOW,
            duration_ms=120,
            expires_at=NOW + 30 * DAY,
        )
        self.calls.write([usual._replace(**changes)], time_limit=1)

    def run(self, *survivors: dict[str, Any], at: float = NOW) -> str:
        run_id = new_run_id(at)
        self.runs.create(
            Run(
                run_id=run_id,
                project=PROJECT,
                tool="research_investigate",
                created_at=at,
                updated_at=at,
                deadline_at=at + 300,
                expires_at=at + 30 * DAY,
                execution_arn="arn",
            )
        )
        if survivors:
            self.files.put(PROJECT, run_id, RESULT, {"survivors": list(survivors)})
        return run_id

    def usage(self, *, days: int = 1, seconds: float = 20, **only: Any) -> Usage:
        span = Span(first=FIRST, last=date(2027, 1, 14 + days), **only)
        return self.reader.usage(PROJECT, span, Deadline.after(seconds, self.clock))


def survivor(*instances: str, modality: str = "WEB", unjudged: bool = False) -> dict[str, Any]:
    sources = [{"instance_id": instance_id} for instance_id in instances]
    return {"unjudged": unjudged, "hit": {"modality": modality}, "sources": sources}


@pytest.fixture
def books() -> Books:
    return Books()


def test_calls_and_costs_are_summed_by_provider_modality_and_day(books: Books) -> None:
    """Each view sums up to the whole; credits and dollars are never added to each other."""
    books.record(calls=3, credits=3.0)
    books.record(started_at=NOW + DAY, ok=False, error_message="rate_limited", hit_count=0, credits=1.0)
    books.record("tavily-main", modality=SearchModality.NEWS, usd=0.008, operation="load", hit_count=1)
    books.record(started_at=NOW - DAY, credits=100.0)
    told = books.usage(days=2)
    assert asdict(told.total) == {
        "asked": 3,
        "calls": 5,
        "failed": 1,
        "hits": 10,
        "credits": 4.0,
        "usd": 0.008,
        "kept_hits": 0,
        "credits_per_kept_hit": None,
        "usd_per_kept_hit": None,
    }
    assert {name: (row.calls, row.credits, row.usd) for name, row in told.providers.items()} == {
        "serper-main": (4, 4.0, 0.0),
        "tavily-main": (1, 0.0, 0.008),
    }
    assert {name: row.asked for name, row in told.modalities.items()} == {"NEWS": 1, "WEB": 2}
    assert {name: row.asked for name, row in told.days.items()} == {"2027-01-15": 2, "2027-01-16": 1}
    for view in (told.providers, told.modalities, told.days):
        assert sum(row.calls for row in view.values()) == told.total.calls
    assert (told.date_from, told.date_to, told.complete, told.cut) == ("2027-01-15", "2027-01-16", True, ())


def test_a_kept_hit_costs_what_the_runs_own_calls_cost(books: Books) -> None:
    """A search outside of runs is judged by nobody: it is in the sums and not in the ratio."""
    run_id = books.run(survivor("serper-main", "tavily-main"), survivor("tavily-main"), survivor("x", unjudged=True))
    books.record(request_id=run_id, usd=0.02)
    books.record("tavily-main", request_id=run_id, usd=0.01)
    books.record(usd=5.0)
    told = books.usage()
    assert (told.runs, told.total.usd, told.total.kept_hits, told.total.usd_per_kept_hit) == (1, 5.03, 2, 0.015)
    rows = {name: (row.kept_hits, row.usd_per_kept_hit) for name, row in told.providers.items()}
    assert rows == {"serper-main": (1, 0.02), "tavily-main": (2, 0.005)}
    assert told.modalities["WEB"].kept_hits == told.days["2027-01-15"].kept_hits == 2


def test_a_span_may_be_narrowed_to_an_instance_or_a_kind_of_source(books: Books) -> None:
    """Then nothing else is in any of the views."""
    books.run(survivor("serper-main", "tavily-main"), survivor("tavily-main", modality="NEWS"))
    books.record()
    books.record("tavily-main", modality=SearchModality.NEWS)
    one = books.usage(instance_id="tavily-main")
    assert (list(one.providers), one.total.asked, one.total.kept_hits) == (["tavily-main"], 1, 2)
    news = books.usage(modality=SearchModality.NEWS)
    assert (list(news.modalities), news.total.asked, news.total.kept_hits) == (["NEWS"], 1, 1)


def test_what_models_took_is_told_beside_the_providers(books: Books) -> None:
    """Out of the runs themselves."""
    run_id = books.run()
    spent = ModelUsage(input_tokens=1000, output_tokens=50, cost=0.003, calls=2)
    books.runs.update_progress(PROJECT, run_id, Step(node="plan", item="1", usage=spent))
    assert asdict(books.usage().models) == {"calls": 2, "input_tokens": 1000, "output_tokens": 50, "usd": 0.003}


def test_of_a_busy_instance_the_newest_records_are_read_and_the_gap_is_told(
    books: Books, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An equal share for each, so that the busy one hides nobody."""
    monkeypatch.setattr(module, "MOST_RECORDS", 4)
    monkeypatch.setattr(module, "FEWEST_RECORDS_EACH", 2)
    for second in range(5):
        books.record("busy", started_at=NOW + second)
    books.record("quiet")
    told = books.usage()
    assert {name: row.asked for name, row in told.providers.items()} == {"busy": 2, "quiet": 1}
    assert (told.complete, told.cut) == (False, (Cut(what="records", instance_id="busy", whole_since=NOW + 3),))


def test_more_instances_and_runs_than_are_read_are_told_of(books: Books, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest runs are read."""
    monkeypatch.setattr(module, "MOST_INSTANCES", 1)
    monkeypatch.setattr(module, "MOST_RUNS", 1)
    books.run(survivor("a"), at=NOW)
    books.run(survivor("a"), survivor("a"), at=NOW + 60)
    for name in ("a", "b"):
        books.record(name)
    told = books.usage()
    assert (told.runs, told.total.kept_hits, told.total.asked) == (1, 2, 1)
    assert told.cut == (Cut(what="runs", whole_since=NOW + 60), Cut(what="instances"))


def test_what_there_is_no_time_for_is_left_out_and_told(books: Books) -> None:
    """The answer comes in time in any case."""
    books.run(survivor("a"))
    books.record("a")
    told = books.usage(seconds=1)
    assert (told.total.asked, told.total.kept_hits, told.complete) == (0, 0, False)
    assert told.cut == (Cut(what="results"), Cut(what="records", instance_id="a"))


def test_a_run_over_midnight_has_its_cost_on_the_day_on_which_it_began(books: Books) -> None:
    """Where its kept hits are; what was spent on a day is told there all the same."""
    run_id = books.run(survivor("a"), at=NOW)
    books.record("a", request_id=run_id, started_at=NOW + DAY, usd=0.5)
    days = books.usage(days=2).days
    assert {day: (row.usd, row.kept_hits, row.usd_per_kept_hit) for day, row in days.items()} == {
        "2027-01-15": (0.0, 1, 0.5),
        "2027-01-16": (0.5, 0, None),
    }


def test_results_that_there_was_no_time_for_are_told_with_where_the_gap_begins(
    books: Books, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest runs are read first, so what is kept of them is whole."""
    monkeypatch.setattr(module, "_AT_ONCE", 1)
    books.run(survivor("a"), at=NOW)
    books.run(survivor("a"), at=NOW + 60)
    read = books.files.get

    def slowly(*asked: Any) -> bytes | None:
        books.clock.advance(17.5)
        return read(*asked)

    monkeypatch.setattr(books.files, "get", slowly)
    told = books.usage(seconds=19)
    assert (told.runs, told.total.kept_hits, told.cut[0]) == (2, 1, Cut(what="results", whole_since=NOW + 60))


def test_days_whose_records_have_lapsed_are_told_of(books: Books) -> None:
    """They are kept for as long as the setting said when they were written."""
    books.record(expires_at=NOW + 2 * DAY)
    books.clock.advance(3 * DAY)
    told = books.usage(days=4)
    assert (told.complete, told.cut) == (False, (Cut(what="retention", whole_since=NOW + DAY),))


@pytest.mark.parametrize("result", [None, [], {"survivors": {}}, {"survivors": [{}, "x", survivor("a")]}])
def test_a_result_that_is_missing_or_of_another_form_keeps_nothing_from_being_told(books: Books, result: Any) -> None:
    """Runs of an older version, and runs that ended without one."""
    run_id = books.run()
    if result is not None:
        books.files.put(PROJECT, run_id, RESULT, result)
    assert books.usage().total.kept_hits == (
        1 if isinstance(result, dict) and isinstance(result["survivors"], list) else 0
    )


def _asked(environment: FakeEnvironment, **parameters: str) -> dict[str, Any]:
    event = sample("usage") | {"queryStringParameters": parameters or None}
    return usage(environment=lambda: environment)(event, LambdaContext())


def test_without_days_the_last_seven_are_told() -> None:
    """Today is the last of them, in UTC; an instance that was never asked is no error."""
    told = body_of(_asked(FakeEnvironment(), instance_id="nobody"))["data"]
    assert (told["date_from"], told["date_to"], told["total"]["asked"]) == ("2027-01-09", "2027-01-15", 0)


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({"date_from": "2027-02-01"}, "date_from"),
        ({"date_from": "2026-01-01"}, "date_from"),
        ({"date_from": "2027-01-15", "date_to": "2027-01-14"}, "date_from"),
        ({"date_to": "yesterday"}, "date_to"),
        ({"date_to": "2027-01-17"}, "date_to"),
        ({"date_to": "9999-12-31"}, "date_to"),
        ({"date_to": "0001-01-02"}, "date_to"),
        ({"modality": "SMELL"}, "modality"),
        ({"week": "3"}, "week"),
    ],
)
def test_days_that_are_none_too_many_or_ahead_are_refused(parameters: dict[str, str], field: str) -> None:
    """By name, with the way out."""
    response = _asked(FakeEnvironment(), **parameters)
    error = body_of(response)["error"]
    assert (response["statusCode"], error["field"]) == (400, field)
    assert error["suggested_action"]


def test_days_in_the_wrong_order_are_to_be_turned_round() -> None:
    """Fewer days would not help."""
    error = body_of(_asked(FakeEnvironment(), date_from="2027-01-15", date_to="2027-01-14"))["error"]
    assert error["detail"] == "'date_from' lies after 'date_to'"
    assert error["suggested_action"].startswith("put date_from before date_to")


def test_a_token_for_other_tools_does_not_see_what_is_spent() -> None:
    """Whoever may see the providers may see their cost, and nobody else."""
    event = sample("usage")
    event["requestContext"]["authorizer"]["tools"] = "research_search"
    response = usage(environment=FakeEnvironment)(event, LambdaContext())
    assert response["statusCode"] == 403


def test_a_table_that_is_away_comes_back() -> None:
    """So the caller is told to ask again."""
    environment = FakeEnvironment()
    environment.fake_runs.fail_with = StoreUnavailable("down")
    response = _asked(environment)
    assert (response["statusCode"], response["headers"]["retry-after"]) == (503, "1")


def test_an_invocation_names_its_scope() -> None:
    """And gets the same envelope."""
    told = usage(environment=FakeEnvironment)(sample("usage.invoke"), LambdaContext())
    assert (told["ok"], told["data"]["complete"]) == (True, True)
