"""Every kind of answer of every tool fits the schema that is given out for it (MCP's `outputSchema`, OpenAPI)."""

import copy
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from jsonschema import Draft202012Validator, ValidationError

from tests.fakes.answer_schemas import closed_validator
from tests.fakes.functions import posted, sample
from tests.functional.deployed import PROJECT, SAMPLE_HANDLE, SAMPLE_RUN, Deployed, deployed
from tests.simulator import Simulator
from zarniwoop.stores.run_files import RESULT
from zarniwoop.stores.runs import Ending, RunState
from zarniwoop.tools.registry import TOOLS
from zarniwoop.tools.schemas import output_schema

NAMES = [tool.name for tool in TOOLS]
BOUNDED = [tool.name for tool in TOOLS if "max_chars" in tool.arguments.model_fields]
SEARCHING = ["research_search", "research_search_expert", "research_rich", "web_search", "geo_resolve"]


@pytest.fixture(scope="module")
def stack() -> Iterator[Deployed]:
    """One for all: nothing here changes what another test sees, but the last, after which providers cool down."""
    with Simulator() as simulator, pytest.MonkeyPatch.context() as patch, deployed(simulator, patch) as made:
        made.leave_behind()
        made.cloud.set("research.endpoint.gone-main.protocol", "serper")
        made.cloud.set("research.budget.project.usd", "5")
        yield made


def _asked(stack: Deployed, name: str, **changes: Any) -> Any:
    """The sample's request, changed."""
    arguments = orjson.loads(sample(name)["body"]) | changes
    return stack.envelope(name, posted(arguments, tool=name))


def _assert_fits(name: str, answer: Any) -> None:
    closed_validator(name).validate(answer)
    tool = next(tool for tool in TOOLS if tool.name == name)
    Draft202012Validator(output_schema(tool)).validate(answer)


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_fits(stack: Deployed, name: str) -> None:
    """That of the sample request."""
    answer = _asked(stack, name)
    assert answer["ok"], answer
    _assert_fits(name, answer)


@pytest.mark.parametrize("name", NAMES)
def test_a_refusal_fits(stack: Deployed, name: str) -> None:
    """No data, and a problem."""
    answer = _asked(stack, name, nonsense=True)
    assert (answer["ok"], answer["data"], answer["error"]["status"]) == (False, None, 400)
    _assert_fits(name, answer)


@pytest.mark.parametrize("name", NAMES)
def test_a_dry_run_fits(stack: Deployed, name: str) -> None:
    """A plan in the place of the answer."""
    answer = _asked(stack, name, dry_run=True)
    assert answer["data"]["dry_run"] is True
    _assert_fits(name, answer)


@pytest.mark.parametrize("name", BOUNDED)
def test_a_bounded_answer_fits(stack: Deployed, name: str) -> None:
    """With the account of its size, where it is one that can be cut."""
    _assert_fits(name, _asked(stack, name, max_chars=2_000))


def test_what_a_search_leaves_over_fits_page_by_page(stack: Deployed) -> None:
    """Of single searches, of rich ones and of the list of providers, whose pages are shaped differently."""
    asked: dict[str, dict[str, Any]] = {
        "research_search": {"modality": "BOOK", "query": "cathedral", "max_results": 20, "max_chars": 2_000},
        "research_rich": {"query": "cathedral", "max_results": 20, "max_chars": 6_000},
        "research_providers": {"detail": True, "max_chars": 9_000},
    }
    for name, arguments in asked.items():
        size = stack.envelope(name, posted(arguments, tool=name))["data"]["size"]
        assert size["handle"], name
        page = _asked(stack, "result_read", handle=size["handle"], max_chars=9_000)
        assert page["data"]["tool"] == name
        assert page["data"]["size"]["hits"] > 0
        _assert_fits("result_read", page)


def test_a_run_with_a_result_fits(stack: Deployed) -> None:
    """Whole, and as much of it as fits."""
    hits = [{"title": f"Hit {rank}", "url": f"https://example.org/{rank}", "snippet": "b" * 300} for rank in range(20)]
    document = {"mode": "builtin", "survivors": hits, "dropped": hits[:2], "searches": ["b" * 3_000]}
    stack.environment.run_files.put(PROJECT, SAMPLE_RUN, RESULT, orjson.dumps(document))
    stack.environment.runs.finish(PROJECT, SAMPLE_RUN, Ending(state=RunState.SUCCEEDED, outcome="success"))
    whole, part = _asked(stack, "run_status"), _asked(stack, "run_status", max_chars=4_000)
    assert (len(whole["data"]["results"]["hits"]), whole["data"]["results"]["truncated"]) == (20, [])
    assert 0 < len(part["data"]["results"]["hits"]) < 20
    assert part["data"]["results"]["truncated"] == ["searches"]
    for answer in (whole, part):
        _assert_fits("run_status", answer)
    page = _asked(stack, "result_read", handle=part["data"]["size"]["handle"])
    assert page["data"]["results"]["hits"]
    _assert_fits("result_read", page)


def test_what_evidence_can_be_asked_for_fits(stack: Deployed) -> None:
    """Listed, read and cited."""
    kept = _asked(stack, "web_fetch")["evidence"][0]["id"]
    for arguments in ({"action": "list"}, {"action": "get", "ids": [kept]}, {"action": "cite", "ids": [kept]}):
        answer = stack.envelope("evidence_store", posted(arguments, tool="evidence_store"))
        assert answer["ok"], answer
        _assert_fits("evidence_store", answer)


def test_the_schemas_tell_what_is_missing_and_what_they_do_not_know(stack: Deployed) -> None:
    """Or an answer of any shape fitted."""
    answer = _asked(stack, "result_read", handle=SAMPLE_HANDLE)
    for name in answer:
        with pytest.raises(ValidationError):
            closed_validator("result_read").validate({key: each for key, each in answer.items() if key != name})
    changes: tuple[dict[str, Any], ...] = ({"tool": 7}, {"size": None}, {"hits": {}}, {"unheard_of": 1})
    for change in changes:
        changed = copy.deepcopy(answer)
        changed["data"] |= change
        with pytest.raises(ValidationError):
            closed_validator("result_read").validate(changed)


@pytest.mark.parametrize("name", SEARCHING)
def test_an_answer_of_providers_that_are_all_down_fits(stack: Deployed, name: str) -> None:
    """The problem, and beside it the data with who was asked."""
    stack.simulator.fault("/", "503")
    try:
        answer = _asked(stack, name, query="what nobody has asked yet")
    finally:
        stack.simulator.reset()
    assert not answer["ok"]
    assert answer["data"]
    _assert_fits(name, answer)
