"""The deployed functions of evidence on the template's own table and bucket: what they answer, and ask of AWS."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

import pytest

from tests.fakes.evidence import DEMO, TEXT, FakePages, page, read
from tests.fakes.functions import body_of, event_names, sample
from tests.fakes.template import resources
from tests.functional.deployed import Deployed, deployed
from tests.simulator import Simulator
from zarniwoop.contract.evidence import Evidence

URL = "https://example.com/bells"


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with Simulator() as running:
        yield running


@pytest.fixture
def stack(simulator: Simulator, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployed]:
    with deployed(simulator, monkeypatch, {}) as made:
        made.environment.__dict__["page_fetcher"] = FakePages({URL: read(URL)})
        yield made


def keep(stack: Deployed, **more: Any) -> Evidence:
    kept = stack.environment.ledger.keep_page(DEMO, read(URL), **more)
    stack.forget_calls()
    return kept


def of(name: str, evidence_id: str) -> Any:
    """The sample of that name, for this evidence."""
    event = sample(name)
    if "pathParameters" in event:
        return event | {"pathParameters": {"evidence_id": evidence_id}, "queryStringParameters": None}
    return event | {"arguments": {"evidence_id": evidence_id}}


def allowed(role: str) -> set[str]:
    """What the statements of a role and its policies allow, as `dynamodb:GetItem`."""
    made = resources("AWS::IAM::Role")[role]
    documents = [each["PolicyDocument"] for each in made.get("Policies", ())]
    policies = resources("AWS::IAM::ManagedPolicy")
    documents += [policies[each["Ref"]]["PolicyDocument"] for each in made["ManagedPolicyArns"]]
    statements = [each["If"][1] if "If" in each else each for document in documents for each in document["Statement"]]
    return {
        action
        for each in statements
        for action in (each["Action"] if isinstance(each["Action"], list) else [each["Action"]])
    }


@pytest.mark.parametrize("name", [name for name in event_names() if name.partition(".")[0] == "evidence"])
def test_every_sample_of_evidence_is_answered(stack: Deployed, name: str) -> None:
    """Over REST and by invocation: listed, read, looked at again."""
    kept = keep(stack, task_id="task-1", quotes=["four tonnes"])
    event = sample(name) if name in ("evidence", "evidence.invoke") else of(name, kept.id)
    answer = stack.call("evidence", event)
    envelope = body_of(answer) if "body" in answer else answer
    assert (envelope["ok"], envelope["error"]) == (True, None)
    assert envelope["evidence"][0]["id"] == kept.id
    assert envelope["data"]["untrusted"] is True


def test_nothing_is_asked_of_aws_that_the_roles_do_not_allow(stack: Deployed) -> None:
    """Listing, reading, verifying, citing; and reading writes nothing."""
    kept = keep(stack)
    for name in ("evidence", "evidence.get", "evidence.verify"):
        stack.freeze()
        stack.environment.__dict__["page_fetcher"] = FakePages({URL: read(URL, page(TEXT + "More."))})
        stack.forget_calls()
        event = sample(name) if name == "evidence" else of(name, kept.id)
        assert stack.envelope("evidence", event)["ok"]
        assert _asked(stack) <= allowed("EvidenceRole"), name
        assert (name == "evidence.verify") == bool(stack.writes())
    stack.forget_calls()
    for arguments in ({"action": "list"}, {"action": "get", "ids": [kept.id]}, {"action": "cite", "ids": [kept.id]}):
        assert stack.call("evidence_store", sample("evidence_store.invoke") | {"arguments": arguments})["ok"]
    assert _asked(stack) <= allowed("EvidenceStoreRole")
    assert stack.writes() == []


def test_a_fetch_after_another_costs_one_write(stack: Deployed) -> None:
    """On the stack's own table: the same page again."""
    keep(stack)
    stack.environment.ledger.keep_page(DEMO, read(URL))
    assert stack.aws_calls == [("dynamodb", "UpdateItem")]


def test_a_cited_page_links_to_its_evidence(stack: Deployed) -> None:
    """Through the deployed tool, in each format."""
    kept = keep(stack)
    for form in ("csl-json", "bibtex", "markdown"):
        asked = {"arguments": {"action": "cite", "ids": [kept.id], "format": form}}
        answer = stack.call("evidence_store", sample("evidence_store.invoke") | asked)
        assert answer["data"]["format"] == form
        assert answer["evidence"][0]["href"] == f"/v1/evidence/{kept.id}?project_id=demo"


def test_evidence_lives_in_a_bucket_that_keeps_it_as_long_as_the_table() -> None:
    """One parameter for both; the bucket of temporary content has another."""
    rules = resources("AWS::S3::Bucket")["EvidenceBucket"]["LifecycleConfiguration"]["Rules"]
    assert [rule["ExpirationInDays"] for rule in rules] == [{"Ref": "EvidenceRetentionDays"}]
    table = resources("AWS::DynamoDB::Table")["EvidenceTable"]
    assert table["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}
    assert {index["Projection"]["ProjectionType"] for index in table["GlobalSecondaryIndexes"]} == {"KEYS_ONLY"}


def test_only_a_projects_stop_may_delete_texts_and_only_texts() -> None:
    """What is called so below tenant and project, in the one bucket."""
    patterns = [
        (name, str(resource["Sub"]))
        for name, role in resources("AWS::IAM::Role").items()
        for policy in role.get("Policies", ())
        for each in policy["PolicyDocument"]["Statement"]
        if "s3:DeleteObject" in str(each.get("Action"))
        for resource in (each["Resource"] if isinstance(each["Resource"], list) else [each["Resource"]])
        if "Sub" in resource
    ]
    text = "${EvidenceBucket.Arn}/acme/demo/evidence/" + "0" * 64
    assert [name for name, pattern in patterns if fnmatchcase(text, pattern)] == ["ProjectStopRole"]


def _asked(stack: Deployed) -> set[str]:
    prefixes = {"dynamodb": "dynamodb", "s3": "s3", "ssm": "ssm"}
    return {f"{prefixes[service]}:{operation}" for service, operation in stack.aws_calls}
