"""Template, functions, events and tools are in step, and no role may do more than its function does."""

import json
import re
from fnmatch import fnmatchcase
from typing import Any

import pytest

from tests.fakes.template import ROOT, resources, template
from zarniwoop.tools.registry import TOOLS

FUNCTIONS = resources("AWS::Serverless::Function")
FOLDERS = sorted(path.name for path in (ROOT / "functions").iterdir() if path.is_dir() and (path / "app.py").exists())


def folder_of(properties: dict[str, Any]) -> str:
    return str(properties["CodeUri"]).removeprefix("functions/").rstrip("/")


def statements() -> list[tuple[str, dict[str, Any]]]:
    """Every policy statement of the template with the logical id of its policy or role."""
    found: list[tuple[str, dict[str, Any]]] = []
    for name, policy in resources("AWS::IAM::ManagedPolicy").items():
        found += [(name, each) for each in policy["PolicyDocument"]["Statement"]]
    for name, role in resources("AWS::IAM::Role").items():
        for policy in role.get("Policies", ()):
            found += [(name, each) for each in policy["PolicyDocument"]["Statement"]]
    return [(name, each["If"][1] if "If" in each else each) for name, each in found]


def test_every_function_folder_is_deployed_and_every_function_has_a_folder() -> None:
    """No dead folder, no function without code, and no handler that is deployed twice or not at all."""
    handlers = [(folder_of(properties), properties.get("Handler", "app.handler")) for properties in FUNCTIONS.values()]
    modules = [(path.parent.name, f"{path.stem}.handler") for path in (ROOT / "functions").glob("*/*.py")]
    assert sorted(handlers) == sorted(modules)
    assert sorted({folder for folder, _ in handlers}) == FOLDERS


def test_every_tool_has_a_function_and_a_route() -> None:
    """`POST /v1/tools/<tool>` for each tool of the registry."""
    routes = {
        event["Properties"]["Path"]
        for properties in FUNCTIONS.values()
        for event in properties.get("Events", {}).values()
        if event["Type"] == "Api" and event["Properties"]["Path"].startswith("/v1/tools/")
    }
    assert routes == {f"/v1/tools/{tool.name}" for tool in TOOLS}
    assert {tool.name for tool in TOOLS} <= set(FOLDERS)


def asked_by_event(tool: str) -> list[Any]:
    """The tools that an event may name to reach this tool's function."""
    (properties,) = [each for each in FUNCTIONS.values() if folder_of(each) == tool and "Handler" not in each]
    rules = [each["Properties"] for each in properties["Events"].values() if each["Type"] == "EventBridgeRule"]
    return [name for rule in rules for name in rule["Pattern"]["detail"]["tool"]]


@pytest.mark.parametrize("tool", [each.name for each in TOOLS])
def test_every_tool_has_a_rule_for_events_that_name_it(tool: str) -> None:
    """By its name."""
    assert tool in asked_by_event(tool)


@pytest.mark.parametrize("tool", [*(each.name for each in TOOLS), "unknown_tool"])
def test_whoever_answers_events_may_and_sets_aside_what_fails(tool: str) -> None:
    """It may put its answer on the bus, and an event that fails is set aside; else a search were spent for nothing."""
    (properties,) = [each for each in FUNCTIONS.values() if folder_of(each) == tool and "Handler" not in each]
    aside = {"GetAtt": "FailedEventsQueue.Arn"}
    assert properties["EventInvokeConfig"]["DestinationConfig"]["OnFailure"]["Destination"] == aside
    role = properties["Role"]["GetAtt"].removesuffix(".Arn")
    may = [(each["Action"], each["Resource"]) for name, each in statements() if name == role]
    assert ("events:PutEvents", {"GetAtt": "EventBus.Arn"}) in may
    assert ("sqs:SendMessage", aside) in may


def test_one_tool_answers_events_that_name_none() -> None:
    """Exactly one, or they were answered twice."""
    assert [tool.name for tool in TOOLS if {"exists": False} in asked_by_event(tool.name)] == ["research_search"]


def test_events_that_name_any_other_tool_are_refused() -> None:
    """The rule for unknown names leaves out the registry's and no others, or an event were lost or answered twice."""
    assert asked_by_event("unknown_tool") == [{"anything-but": [tool.name for tool in TOOLS]}]


@pytest.mark.parametrize("tool", [*(each.name for each in TOOLS), "unknown_tool"])
def test_rules_for_requests_ask_for_the_same_kind_of_event(tool: str) -> None:
    """From any source, of one type, by the name alone: so that for every event there is exactly one."""
    (properties,) = [each for each in FUNCTIONS.values() if folder_of(each) == tool and "Handler" not in each]
    rules = [each["Properties"] for each in properties["Events"].values() if each["Type"] == "EventBridgeRule"]
    assert [(set(rule["Pattern"]), rule["Pattern"]["detail-type"]) for rule in rules] == [
        ({"detail-type", "detail"}, ["ResearchRequested"])
    ]
    assert [(rule["EventBusName"], set(rule["Pattern"]["detail"])) for rule in rules] == [
        ({"Ref": "EventBus"}, {"tool"})
    ]


@pytest.mark.parametrize("tool", [each.name for each in TOOLS if each.name != "research_search"])
def test_the_sample_event_of_a_tool_names_it(tool: str) -> None:
    """As its rule asks for it."""
    assert json.loads((ROOT / "events" / f"{tool}.event.json").read_text())["detail"]["tool"] == tool


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_function_has_a_sample_event_and_a_role_of_its_own(folder: str) -> None:
    """A sample per function; no two functions share a role."""
    assert list((ROOT / "events").glob(f"{folder}.json")), folder
    for properties in (each for each in FUNCTIONS.values() if folder_of(each) == folder):
        assert [each["Role"] for each in FUNCTIONS.values()].count(properties["Role"]) == 1


def test_every_event_belongs_to_a_function() -> None:
    """`events/<function>[.<case>].json`, each of it JSON."""
    for path in (ROOT / "events").glob("*.json"):
        assert path.name.partition(".")[0] in FOLDERS, path.name
        assert isinstance(json.loads(path.read_text(encoding="utf-8")), dict)


def test_no_policy_has_a_wildcard_resource_or_action() -> None:
    """X-Ray knows no resource but `*`, and is the one exception."""
    for name, statement in statements():
        actions = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
        assert not any("*" in action for action in actions), name
        listed = statement["Resource"] if isinstance(statement["Resource"], list) else [statement["Resource"]]
        if "*" in listed:
            assert all(action.startswith("xray:") for action in actions), name


@pytest.mark.parametrize("name", ["input.json", "result.json", "insights/000.json", "insights.graphml"])
def test_nobody_may_delete_the_files_of_a_run(name: str) -> None:
    """To IAM a `*` spans slashes, so a folder's name in the middle of a pattern is one at any depth."""
    patterns = [
        each
        for _, statement in statements()
        if "s3:DeleteObject" in statement["Action"]
        for each in (statement["Resource"] if isinstance(statement["Resource"], list) else [statement["Resource"]])
    ]
    file = f"${{ContentBucket.Arn}}/acme/demo/runs/r-1/{name}"
    assert any("ContentBucket" in str(each) for each in patterns)
    assert not [each for each in patterns if fnmatchcase(file, each.get("Sub", ""))]


def test_the_authorizer_reads_tokens_and_nothing_else() -> None:
    """The function in front of everything holds the least."""
    (own,) = [statement for name, statement in statements() if name == "AuthorizerRole"]
    assert own["Action"] == "dynamodb:GetItem"
    assert own["Resource"] == {"GetAtt": "TokensTable.Arn"}


def test_every_table_expires_its_items_and_every_function_times_out_before_the_gateway() -> None:
    """TTL everywhere; 28 s is one second under REST's 29 s."""
    for name, table in resources("AWS::DynamoDB::Table").items():
        assert table["TimeToLiveSpecification"]["Enabled"] is True, name
    assert template()["Globals"]["Function"]["Timeout"] < 29
    routed = [each for each in FUNCTIONS.values() if any(on["Type"] == "Api" for on in each.get("Events", {}).values())]
    assert all(each.get("Timeout", 0) < 29 for each in routed)


def test_no_secret_is_a_parameter_a_variable_or_an_output() -> None:
    """Keys live in Parameter Store; the environment only names them."""
    text = json.dumps([template()["Parameters"], template()["Globals"], template()["Outputs"]], default=str)
    assert not re.search(r"(?i)(api_?key|token|secret)\"?: \"[A-Za-z0-9]{16,}", text)
    assert not any(re.search(r"(?i)apikey|password", name) for name in template()["Outputs"])


def test_only_the_indexing_may_touch_documents_and_only_read_them_whatever_they_are_called() -> None:
    """A `*` crosses slashes: a pattern that means the index must not mean a folder of documents called so."""
    reaching = {
        (name, action)
        for name, statement in statements()
        for resource in _listed(statement["Resource"])
        for action in _listed(statement["Action"])
        if "Sub" in resource
        and fnmatchcase("${DocumentsBucket.Arn}/acme/demo/documents/index/lease.pdf", str(resource["Sub"]))
    }
    assert reaching == {("IndexDocumentsRole", "s3:GetObject")}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


@pytest.mark.parametrize("mapping", ["SearchQueueMapping", "QuestionsQueueMapping"])
def test_what_may_take_a_functions_whole_time_comes_alone(mapping: str) -> None:
    """Of a batch the last message would be sent back unasked, and be a dead letter after some times."""
    assert resources("AWS::Lambda::EventSourceMapping")[mapping]["BatchSize"] == 1


def test_every_queue_waits_six_times_as_long_as_its_function_may_take_and_has_dead_letters() -> None:
    """As Lambda asks for; or a message that is being worked on were handed out again."""
    queues, functions = resources("AWS::SQS::Queue"), resources("AWS::Serverless::Function")
    for name, mapping in resources("AWS::Lambda::EventSourceMapping").items():
        queue = queues[mapping["EventSourceArn"]["GetAtt"].removesuffix(".Arn")]
        own = functions[mapping["FunctionName"]["Ref"]].get("Timeout", template()["Globals"]["Function"]["Timeout"])
        assert queue["VisibilityTimeout"] >= 6 * own, name
        assert queue["RedrivePolicy"]["maxReceiveCount"] >= 3, name
