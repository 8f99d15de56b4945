"""`GET /v1/insights`: the project's graph in three formats, whole or in stretches, and for nobody else."""

from typing import Any

import defusedxml.ElementTree as DefusedTree
import orjson
import pytest

from tests.fakes.cloud import LambdaContext
from tests.fakes.environment import FakeEnvironment
from tests.fakes.functions import body_of, sample
from tests.fakes.research import PROJECT
from tests.unit.test_investigate_insights_graph import add, found
from zarniwoop.entry.project_stop import project_stop
from zarniwoop.entry.runs import runs
from zarniwoop.pipelines.investigate.insights_graph import LIMITS
from zarniwoop.stores.state import ProjectKey

MANY = [f"鐘楼𠮷 {number}" for number in range(300)]


def environment(*names: str, project: ProjectKey = PROJECT) -> FakeEnvironment:
    made = FakeEnvironment()
    if names:
        add(found(1, *names), project, made.fake_insights, made.hands)
    return made


def ask(made: FakeEnvironment, *, identity: Any = None, **query: str) -> dict[str, Any]:
    event = sample("runs.insights")
    event["queryStringParameters"] = query or None
    event["requestContext"]["authorizer"] |= identity or {}
    return runs(environment=lambda: made)(event, LambdaContext())


def data(answer: dict[str, Any]) -> Any:
    assert answer["statusCode"] == 200, answer["body"]
    return body_of(answer)["data"]


def problem(answer: dict[str, Any]) -> tuple[int, str, str | None]:
    error = body_of(answer)["error"]
    assert error["suggested_action"]
    return answer["statusCode"], error["type"].rpartition(":")[2], error["field"]


def test_a_small_graph_is_given_whole() -> None:
    """As JSON where no format is named, with how much there is and may be."""
    told = data(ask(environment("bell", "tower")))
    assert (told["format"], told["media_type"]) == ("json", "application/json")
    assert (told["entities"], told["relations"], told["cut"], told["limits"]) == (2, 1, {}, dict(LIMITS))
    assert [each["name"] for each in told["document"]["entities"]] == ["bell", "tower"]
    (relation,) = told["document"]["relations"]
    assert (relation["subject"], relation["object"]) == ("bell", "tower")
    assert relation["evidence"][0]["span"] == "bells"
    assert (told["text"], told["next_offset"]) == (None, None)


def test_json_ld_is_given_as_json() -> None:
    """With its context."""
    told = data(ask(environment("bell", "tower"), format="jsonld"))
    assert told["media_type"] == "application/ld+json"
    assert {"@context", "@graph"} == set(told["document"])
    assert len(told["document"]["@graph"]) == 3


def test_graph_ml_is_given_as_text() -> None:
    """Whole, it is a document."""
    told = data(ask(environment("bell", "tower"), format="graphml"))
    assert (told["media_type"], told["document"], told["next_offset"]) == ("application/graphml+xml", None, None)
    assert len(DefusedTree.fromstring(told["text"])[3]) == 3


@pytest.mark.parametrize("wanted", ["json", "jsonld", "graphml"])
@pytest.mark.parametrize("max_chars", [5_000, 49_999])
def test_stretches_of_a_large_graph_are_the_graph(wanted: str, max_chars: int) -> None:
    """No character is cut, lost or given twice, and each answer names the version that it is of."""
    made = environment(*MANY)
    told = data(ask(made, format=wanted, max_chars=str(max_chars)))
    read, version = told["text"], told["version"]
    while told["next_offset"] is not None:
        offset = str(told["next_offset"])
        told = data(ask(made, format=wanted, offset=offset, max_chars=str(max_chars), version=version))
        assert len(told["text"]) <= max_chars
        read += told["text"]
    assert told["size"] == len(read.encode())
    if wanted == "graphml":
        assert len(DefusedTree.fromstring(read)[3]) == 599
    else:
        assert orjson.loads(read) == data(ask(made, format=wanted))["document"]


def test_a_stretch_of_another_version_is_refused() -> None:
    """A run has merged meanwhile: stretches of two graphs are none of either."""
    made = environment(*MANY)
    first = data(ask(made, max_chars="5000"))
    add(found(2, "rope"), PROJECT, made.fake_insights, made.hands)
    answer = ask(made, max_chars="5000", offset=str(first["next_offset"]), version=first["version"])
    assert problem(answer) == (409, "insights-changed", "version")
    assert body_of(answer)["error"]["retryable"] is True


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"format": "rdf"}, "format"),
        ({"format": ""}, "format"),
        ({"format": "JSON"}, "format"),
        ({"offset": "-1"}, "offset"),
        ({"offset": "999999"}, "offset"),
        ({"max_chars": "0"}, "max_chars"),
        ({"max_chars": "200001"}, "max_chars"),
        ({"version": "x" * 101}, "version"),
        ({"limit": "3"}, "limit"),
        ({"tenant_id": "other"}, "tenant_id"),
    ],
)
def test_wrong_parameters_are_refused(query: dict[str, str], field: str) -> None:
    """With the parameter's name, and what it may be."""
    answer = ask(environment("bell"), **query)
    assert problem(answer) == (400, "invalid-argument", field)
    if field == "format":
        assert "json" in body_of(answer)["error"]["suggested_action"]


def test_a_project_without_insights_says_so() -> None:
    """404, and how there come to be some."""
    answer = ask(environment())
    assert problem(answer) == (404, "no-insights", None)
    assert "insights: true" in body_of(answer)["error"]["suggested_action"]


def test_a_graph_that_cannot_be_read_says_so() -> None:
    """It is not shown as an empty one, and asking again does not help."""
    made = environment()
    made.fake_insights.write(PROJECT, b'{"entities": 3}', over=None)
    answer = ask(made)
    assert problem(answer) == (409, "insights-illegible", None)
    assert body_of(answer)["error"]["retryable"] is False


def test_a_foreign_project_is_nobodys() -> None:
    """Another tenant's graph is as good as none, and a project that a token has not is refused."""
    made = environment("bell", project=ProjectKey(tenant_id="other", project_id="demo"))
    assert problem(ask(made))[0] == 404
    made = environment("bell")
    assert problem(ask(made, identity={"projects": "lab"}))[:2] == (404, "no-insights")
    assert problem(ask(made, project_id="secret")) == (403, "not-allowed", "project_id")
    assert problem(ask(made, identity={"tools": "research_search"}))[0] == 403
    assert problem(ask(made, identity={"tenant_id": ""}))[0] == 401


def test_a_project_that_stops_has_none_any_more() -> None:
    """They go with its temporary content."""
    made = environment("bell")
    stop = {"detail": {"tenant_id": "acme", "project_id": "demo"}}
    project_stop(environment=lambda: made)(stop, LambdaContext(remaining_ms=300_000))
    assert problem(ask(made)) == (404, "no-insights", None)


def test_the_largest_graph_fits_into_every_answer() -> None:
    """In characters of four bytes, and of those that JSON escapes."""
    for span in ("𠮷" * 500, '"\\' * 250):
        made = FakeEnvironment()
        things = found(1, *(f"{span[:150]} {number}" for number in range(900)))
        add(things, PROJECT, made.fake_insights, made.hands)
        for wanted in ("json", "jsonld", "graphml"):
            answer = ask(made, format=wanted)
            assert data(answer)["next_offset"]
            assert len(orjson.dumps(answer)) < 3_000_000
