"""Turns at a published rate: each request takes one, wherever in a call it stands."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from tests.contract.fixtures import RecordedTransport, answers_for
from tests.fakes.clock import FakeClock
from tests.fakes.instances import instance, request, scope
from tests.fakes.providers import found
from tests.fakes.research import PROJECT, Research
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.adapters import gitlab, orcid, pubmed
from zarniwoop.contract.hit import ContentInline, ContentReference, LoadedContent
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import Pacing
from zarniwoop.contract.request import SearchScope
from zarniwoop.contract.result import DispatchFailure, Outcome
from zarniwoop.dispatch.calls.asked import Asked
from zarniwoop.dispatch.calls.bodies import Body
from zarniwoop.dispatch.candidates.credit import credit_period
from zarniwoop.dispatch.fleet.turns import GOOD_FOR_SECONDS
from zarniwoop.settings.endpoints import CreditKind
from zarniwoop.stores.ledger import Account

NCBI = Pacing(subject="pubmed@host", requests=3, seconds=1.0, calls=2, separate=True)
PAGE = LoadedContent(body=b"Bells ring.", media_type="text/plain", source_url="https://a.test/7", calls=2)
REFERENCE = ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference="7")


def of_two_requests(settings: dict[str, str] | None = None, **scripts: object) -> Research:
    """`a` sends two requests for each search and each load, at three a second."""
    research = Research({"a": [found(1, calls=2)], **scripts}, dict(settings or {}))  # type: ignore[dict-item]
    research.protocol.pacing["a"] = NCBI
    research.protocol.requests_each["a"] = 2
    research.protocol.bodies["a"] = [PAGE]
    return research


def load(research: Research, seconds: float = 8.0) -> Asked:
    asker = research.scope(seconds)
    survey = research.dispatcher.survey(asker)
    body = Body(candidate=survey.assembly.candidates["a"], modality=SearchModality.WEB, reference=REFERENCE)
    return research.dispatcher.loading(survey, asker)(body)


def test_each_request_of_a_search_takes_a_turn_of_its_own() -> None:
    """However long the first one's answer took: two that hang must not be joined by the next search's."""
    research = of_two_requests()
    for _ in range(3):
        assert research.search().hits
    sent = research.protocol.sent_at
    assert [round(later - earlier, 3) for earlier, later in pairwise(sent)] == [0.5] * 5
    assert research.state.calls["take_turn"] == 6


def test_a_further_turn_that_does_not_come_in_time_ends_the_call_and_cools_nobody_down() -> None:
    """The provider did nothing wrong; the next candidate is asked, and the one request that was made is paid for."""
    paid = {"research.endpoint.a.costPerCall": "0.5", "research.endpoint.a.autoAllow": "true"}
    research = of_two_requests(paid, b=[found(2)])
    research.protocol.pacing["a"] = replace(NCBI, seconds=60.0)
    research.settings["research.default.web"] = "a,b"
    result = research.search()
    first, second = result.attempts
    assert (first.outcome, first.reason, first.cost) == (Outcome.FAILURE, "throttled", 0.5)
    assert first.retry_at == pytest.approx(research.clock.now() + 60.5 / 3)
    assert (second.instance_id, len(result.hits)) == ("b", 2)
    assert research.state.cooldowns_of(PROJECT) == []


def test_where_nobody_else_is_there_it_is_told_when_to_come_again() -> None:
    """As of any turn that comes too late, and not as a failure of the provider."""
    research = of_two_requests()
    research.protocol.pacing["a"] = replace(NCBI, seconds=60.0)
    result = research.search()
    assert result.failure is DispatchFailure.ALL_COOLING
    assert result.retry_at == pytest.approx(research.clock.now() + 60.5 / 3)


def test_the_first_of_several_turns_is_waited_for_with_the_others_in_mind() -> None:
    """Eight of ten seconds would be enough for one, and not for two; so nobody is asked in vain."""
    research = of_two_requests()
    research.state.take_turn(replace(NCBI, seconds=17.5), now=research.clock.now(), latest=research.clock.now())
    result = research.search(seconds=10.0)
    assert [(each.outcome, each.reason) for each in result.attempts] == [(Outcome.SKIPPED, "throttled")]
    assert research.protocol.sent_at == []


def test_each_request_of_a_load_takes_a_turn_and_counts() -> None:
    """As many as the instance says that a load may take are held beforehand."""
    research = of_two_requests({"research.budget.project.calls": "5"})
    for _ in range(2):
        assert load(research).content is not None
    assert [round(later - earlier, 3) for earlier, later in pairwise(research.protocol.sent_at)] == [0.5] * 3
    refused = load(research)
    assert (refused.attempt.outcome, refused.attempt.reason) == (Outcome.SKIPPED, "budget")
    month = credit_period(CreditKind.MONTHLY, research.clock.now())
    balance = research.state.standing(Account.of_budget("project", PROJECT, month.name))
    assert (balance.used.calls, balance.committed.calls) == (4, 4)


def test_an_instance_that_sends_several_at_once_takes_one_turn_for_them_all() -> None:
    """And is told of no further turns; so it is with add-ons that know nothing of them."""
    research = of_two_requests()
    research.protocol.pacing["a"] = replace(NCBI, separate=False)
    research.search()
    research.search()
    assert research.state.calls["take_turn"] == 2
    first, _, second, _ = research.protocol.sent_at
    assert second - first == pytest.approx(1.5)


class _Late(FakeClock):
    """Whoever sleeps wakes too late, the first few times."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        if self.times:
            self.times -= 1
            self.advance(GOOD_FOR_SECONDS + 0.1)


@pytest.mark.parametrize(("times", "turns"), [(0, 2), (1, 3), (9, 4)])
def test_whoever_comes_too_late_to_a_turn_takes_another(times: int, turns: int) -> None:
    """The place behind it begins soon; but not for ever, or a slow table would keep everybody out."""
    research = Research({"a": [found(1)]}, clock=_Late(times))
    research.protocol.pacing["a"] = Pacing(subject="a", requests=1, seconds=1.0)
    assert research.search().hits
    assert research.search().hits
    assert research.state.calls["take_turn"] == turns


class _Turns:
    """Counts who takes a further one."""

    def __init__(self) -> None:
        self.taken = 0

    def take(self) -> None:
        self.taken += 1

    @property
    def scope(self) -> SearchScope:
        return replace(scope(), next_turn=self.take)


@pytest.mark.parametrize("abstracts", [False, True])
def test_pubmed_takes_one_for_every_request_but_the_first(abstracts: bool) -> None:
    """Two, or three with abstracts."""
    turns = _Turns()
    transport: Any = RecordedTransport(*answers_for("pubmed", SearchModality.ACADEMIC))
    extras = {"abstracts": "true"} if abstracts else {}
    instance(pubmed.PROTOCOL, transport, extras=extras).search(
        request(modality=SearchModality.ACADEMIC, max_results=2), turns.scope
    )
    assert turns.taken == len(transport.sent) - 1 == (2 if abstracts else 1)


def test_orcid_s_load_takes_one_for_its_second_request() -> None:
    """Person and works are two requests of the twelve a second."""
    orcid_id = "0000-0002-1825-0097"
    record = [{"path": f"/{orcid_id}/person", "name": None}, {"path": f"/{orcid_id}/works", "group": []}]
    turns, one = _Turns(), instance(orcid.PROTOCOL, ScriptedTransport(*map(answer, record)))
    reference = ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference=orcid_id)
    assert one.load_content(reference, turns.scope).calls == one.most_load_calls(reference) == 2
    assert turns.taken == 1


def test_what_does_not_count_towards_the_rate_takes_none() -> None:
    """GitLab's 30 a minute are searches; the look-ups of projects have a limit of their own."""
    files = [{"filename": f"{number}.py", "data": "x", "ref": "main", "project_id": number} for number in range(1, 4)]
    homes = [answer({"path_with_namespace": f"a/{n}", "web_url": f"https://gitlab.com/a/{n}"}) for n in range(1, 4)]
    turns = _Turns()
    pages = [answer(files[:1], headers={"x-next-page": "2"}), answer(files[1:])]
    transport = ScriptedTransport(*pages, *homes)
    made = instance(gitlab.PROTOCOL, transport, key="glpat-key-of-gitlab", extras={"kind": "blobs"})
    made.search(request(modality=SearchModality.CODE), turns.scope)
    assert (len(transport.sent), turns.taken) == (5, 1)
