"""Who is calling: identity comes from the authorizer or from IAM, never from a body."""

from typing import Any

import pytest

from tests.fakes.clock import FakeClock
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.problem import CallerError, InvalidArgument, NotAllowed
from zarniwoop.dispatch.candidates.factory import ProjectScopeMissing
from zarniwoop.entry.callers import Caller, caller_of_api_event, caller_of_message
from zarniwoop.tools.arguments import ToolArguments, parse_arguments
from zarniwoop.tools.research_search import RESEARCH_SEARCH

DEADLINE = Deadline.after(20.0, FakeClock())
SCOPE = {"tenant_id": "acme", "project_id": "demo"}


def _caller(*projects: str, level: int = 1, tools: tuple[str, ...] = ()) -> Caller:
    return Caller(tenant_id="acme", projects=projects, level=level, tools=tools)


def test_the_authorizers_strings_become_a_caller() -> None:
    """API Gateway's context knows no lists."""
    context = {"tenant_id": "acme", "projects": "a,b", "level": "2", "tools": "research_search"}
    assert caller_of_api_event({"requestContext": {"authorizer": context}}) == Caller(
        tenant_id="acme", projects=("a", "b"), level=2, tools=("research_search",)
    )


@pytest.mark.parametrize("event", [{}, {"requestContext": None}, {"requestContext": {"authorizer": None}}])
def test_a_request_without_an_authorizer_is_nobodys(event: dict[str, Any]) -> None:
    """A route that was deployed without one answers 401, not somebody's data."""
    with pytest.raises(NotAllowed) as refused:
        caller_of_api_event(event)
    assert refused.value.status == 401


@pytest.mark.parametrize(
    ("caller", "may"),
    [
        (_caller("demo"), True),
        (_caller("demo", level=0), False),
        (_caller("demo", tools=("research_search",)), True),
        (_caller("demo", tools=("research_rich",)), False),
    ],
)
def test_a_tool_takes_its_level_and_a_place_on_the_list(caller: Caller, may: bool) -> None:
    """An empty list means every tool of the level."""
    assert caller.may_use(RESEARCH_SEARCH) is may
    if not may:
        with pytest.raises(NotAllowed, match="research_search"):
            caller.check(RESEARCH_SEARCH)


def test_a_token_of_one_project_need_not_name_it() -> None:
    """And the scope carries process, deadline and request along."""
    scope = _caller("demo").scope(ToolArguments(process_id="crawl"), DEADLINE, "request-1")
    assert (scope.project_id, scope.process_id, scope.request_id) == ("demo", "crawl", "request-1")
    assert scope.deadline is DEADLINE


def test_a_token_of_several_projects_must_name_one() -> None:
    """Nobody guesses whose keys to use."""
    for caller in (_caller("a", "b"), _caller("*")):
        with pytest.raises(ProjectScopeMissing):
            caller.scope(ToolArguments(), DEADLINE, "request-1")
        assert caller.scope(ToolArguments(project_id="a"), DEADLINE, "request-1").project_id == "a"


def test_a_project_of_others_is_refused() -> None:
    """With the field, and the way out."""
    with pytest.raises(NotAllowed) as refused:
        _caller("demo").scope(ToolArguments(project_id="theirs"), DEADLINE, "request-1")
    assert (refused.value.field, refused.value.status) == ("project_id", 403)


def test_a_message_names_its_own_scope() -> None:
    """IAM has let the sender through; it may do everything in that one project."""
    caller, arguments = caller_of_message({"scope": {**SCOPE, "processId": "crawl"}, "arguments": {"query": "bells"}})
    assert (caller.tenant_id, caller.projects, caller.level) == ("acme", ("demo",), 4)
    assert arguments == {"process_id": "crawl", "query": "bells"}


@pytest.mark.parametrize("level", range(5))
def test_a_message_has_no_more_than_the_level_of_its_scope(level: int) -> None:
    """Whoever passes a call on says what its own caller has, and arguments say nothing of it."""
    caller, arguments = caller_of_message({"scope": {**SCOPE, "level": level}, "arguments": {"level": 4}})
    assert (caller.level, caller.may_use(RESEARCH_SEARCH)) == (level, level >= RESEARCH_SEARCH.level)
    assert caller.scope(ToolArguments(), DEADLINE, "request-1").level == level
    assert caller.scope(ToolArguments(), DEADLINE, "request-1").until(DEADLINE).level == level
    with pytest.raises(InvalidArgument):
        parse_arguments(RESEARCH_SEARCH.arguments, {"query": "bells", "modality": "WEB", **arguments})


def test_a_process_may_be_named_with_the_arguments_too() -> None:
    """Once, in either spelling."""
    assert caller_of_message({"scope": SCOPE, "arguments": {"processId": "crawl"}})[1] == {"processId": "crawl"}


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ({}, "scope"),
        ("text", "scope"),
        ([], "scope"),
        ({"scope": "acme"}, "scope"),
        ({"scope": SCOPE, "arguments": ["query"]}, "arguments"),
        ({"scope": {"project_id": "demo"}}, "tenant_id"),
        ({"scope": {**SCOPE, "tenant_id": "Acme#P#x"}}, "tenant_id"),
        ({"scope": {**SCOPE, "level": 5}}, "level"),
        ({"scope": {**SCOPE, "level": -1}}, "level"),
        ({"scope": {**SCOPE, "level": "4"}}, "level"),
        ({"scope": {**SCOPE, "level": True}}, "level"),
        ({"scope": SCOPE | {"user_id": "acme"}}, "user_id"),
        ({"scope": {"tenant_id": "acme"}}, "project_id"),
    ],
)
def test_a_message_without_a_sound_scope_is_refused(message: Any, field: str) -> None:
    """The refusal names the part that is missing or wrong."""
    with pytest.raises(CallerError) as refused:
        caller_of_message(message)
    assert refused.value.field == field
    assert isinstance(refused.value, InvalidArgument | ProjectScopeMissing)
