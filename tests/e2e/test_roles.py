"""Every function's role may do what its function does, and nothing else: tried out under the emulator's enforcement.

A probe function is given the very role of a deployed function and reports, for each action, whether AWS let it.
"""

import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

import pytest

from stack.running import Stack
from tests.e2e.investigations import BEDROCK_MODEL

pytestmark = pytest.mark.e2e

_PROBE = """
import functools
import boto3
from botocore.exceptions import ClientError

client = functools.cache(boto3.client)

def handler(event, context):
    outcome = {}
    for name, (service, operation, arguments) in event.items():
        try:
            getattr(client(service), operation)(**arguments)
            outcome[name] = "allowed"
        except ClientError as error:
            denied = error.response["Error"]["Code"] in ("AccessDenied", "AccessDeniedException")
            outcome[name] = "denied" if denied else "allowed"
    return outcome
"""

_SETTINGS = {"read settings", "read secret"}
_ANSWERING = {"publish", "set a failed event aside"}
_SEARCHING = _SETTINGS | {"read state", "write state", "keep quota", "write calls", "keep answer"}
_RUN_FILES = {"list content", "read run file"}
_INDEX = {"list documents", "read index"}
_SEARCHING |= _INDEX | {"ask for an index", "read large answer", "write large answer", "put hits aside"}
_READING_EVIDENCE = {"read evidence", "read several evidences", "list evidence", "list texts", "read text"}
_KEEPING_EVIDENCE = {"read evidence", "make evidence", "see evidence again", "write text"}
ALLOWED = {
    "Authorizer": {"read token"},
    "Tools": set(),
    "ResearchSearch": _SEARCHING | _ANSWERING | _KEEPING_EVIDENCE,
    "ResearchSearchExpert": _SEARCHING | _ANSWERING | _KEEPING_EVIDENCE,
    "ResearchRich": _SEARCHING | _ANSWERING | _KEEPING_EVIDENCE,
    "WebSearch": _SEARCHING | _ANSWERING | _KEEPING_EVIDENCE,
    "WebFetch": _SETTINGS
    | _ANSWERING
    | _READING_EVIDENCE
    | _KEEPING_EVIDENCE
    | {"read state", "write state", "keep quota", "write calls", "keep answer", "put hits aside"}
    | {"ask the page fetcher"},
    "GeoResolve": _SEARCHING | _ANSWERING | _KEEPING_EVIDENCE,
    "ResearchProviders": _SETTINGS
    | _ANSWERING
    | _INDEX
    | {"read state", "keep quota", "count calls", "put hits aside"},
    "ResearchInvestigate": _ANSWERING
    | _RUN_FILES
    | _SETTINGS
    | {"read state", "list recipes", "read recipe"}
    | {"read run", "create run", "write run", "write run file", "start execution", "put hits aside"},
    "InvestigateSteps": _SEARCHING
    | _RUN_FILES
    | _KEEPING_EVIDENCE
    | {"read run", "write run", "write run file", "find content", "read body", "write body"}
    | {"read insights", "write insights", "read hits put aside", "read answered part", "write answered part"}
    | {"list recipes", "read recipe", "ask model"},
    "Runs": _RUN_FILES
    | {"read secret", "read run", "list runs", "write run", "find content", "read body", "read insights"}
    | {"read large answer", "put hits aside", "read hits put aside", "read answered part"},
    "Settings": _SEARCHING | {"write tenant setting", "write project setting", "delete setting", "record a change"},
    "IndexDocuments": _INDEX | {"read document", "write index", "delete index", "ask for an index"},
    "AnswerQuestions": _SEARCHING
    | _KEEPING_EVIDENCE
    | {"list inbox", "read questions", "read answers", "write answers", "list content"}
    | {"read answered part", "write answered part", "send questions on"},
    "StandingQuery": _SEARCHING | _ANSWERING,
    "Evidence": _SETTINGS | _READING_EVIDENCE | {"read state", "write state", "ask the page fetcher"},
    "EvidenceStore": _ANSWERING | _READING_EVIDENCE | {"read secret", "put hits aside"},
    "RunStatus": _ANSWERING | _RUN_FILES | {"read run", "put hits aside"},
    "ResultRead": _ANSWERING | {"list content", "read hits put aside"},
    "PageFetcher": set(),
    "Mcp": {"ask a tool"},
    "Documents": _INDEX,
    "Usage": _RUN_FILES | {"count calls", "list runs"},
    "Results": {"list content", "read hits put aside"},
    "ReconcileRuns": _RUN_FILES
    | {"list open runs", "list untold runs", "read run", "write run", "write run file"}
    | {"look at execution", "stop execution", "read secret"},
    "ProjectStop": _RUN_FILES
    | {"set a failed event aside", "list state", "write state", "delete content", "delete insights"}
    | {"list runs", "read run", "write run", "write run file", "stop execution"}
    | {"list content", "list documents", "delete index"}
    | {"list all evidence", "make evidence", "delete evidence", "list texts", "delete text"},
    "UnknownTool": _ANSWERING,
}


def _attempts(outputs: Mapping[str, str]) -> dict[str, tuple[str, str, dict[str, Any]]]:
    key = {"pk": {"S": "T#probe#P#probe"}, "sk": {"S": "probe"}}
    state, calls, tokens = (outputs[f"{table}TableName"] for table in ("State", "Calls", "Tokens"))
    root, bucket = outputs["SettingsRoot"], outputs["ContentBucketName"]
    documents = {"Bucket": outputs["DocumentsBucketName"]}
    index, document = {**documents, "Key": "_index/p/p/probe"}, {**documents, "Key": "p/p/documents/probe"}
    large = {"Bucket": bucket, "Key": "p/p/content/answers/probe"}
    aside = {"Bucket": bucket, "Key": "p/p/content/results/probe"}
    one = {"KeyConditionExpression": "pk = :pk", "ExpressionAttributeValues": {":pk": key["pk"]}}
    level = {"Path": f"{root}/local/_tenant", "Recursive": True}
    event = {"EventBusName": outputs["EventBusName"], "Source": "probe", "DetailType": "Probe", "Detail": "{}"}
    return (
        _attempts_of_runs(outputs, key, one)
        | _attempts_of_evidence(outputs, key, one)
        | _attempts_of_the_inbox(outputs)
        | {
            "list documents": ("s3", "list_objects_v2", {**documents, "Prefix": "p/p/"}),
            "read document": ("s3", "get_object", document),
            "write document": ("s3", "put_object", {**document, "Body": "probe"}),
            "delete document": ("s3", "delete_object", document),
            "delete a document called index": (
                "s3",
                "delete_object",
                {**documents, "Key": "p/p/documents/index/probe"},
            ),
            "read index": ("s3", "get_object", index),
            "write index": ("s3", "put_object", {**index, "Body": "probe"}),
            "delete index": ("s3", "delete_object", index),
            "ask for an index": (
                "sqs",
                "send_message",
                {"QueueUrl": outputs["DocumentsQueueUrl"], "MessageBody": '{"detail": {"object": {"key": "probe"}}}'},
            ),
            "read state": ("dynamodb", "batch_get_item", {"RequestItems": {state: {"Keys": [key]}}}),
            "list state": ("dynamodb", "query", {"TableName": state, **one}),
            "write state": ("dynamodb", "update_item", {"TableName": state, "Key": key}),
            "keep quota": ("dynamodb", "put_item", {"TableName": state, "Item": key}),
            "scan state": ("dynamodb", "scan", {"TableName": state}),
            "write calls": ("dynamodb", "batch_write_item", {"RequestItems": {calls: [{"PutRequest": {"Item": key}}]}}),
            "count calls": ("dynamodb", "query", {"TableName": calls, **one}),
            "delete call": ("dynamodb", "delete_item", {"TableName": calls, "Key": key}),
            "read token": ("dynamodb", "get_item", {"TableName": tokens, "Key": {"token_hash": {"S": "x"}}}),
            "write token": ("dynamodb", "put_item", {"TableName": tokens, "Item": {"token_hash": {"S": "x"}}}),
            "keep answer": (
                "dynamodb",
                "put_item",
                {"TableName": outputs["IdempotencyTableName"], "Item": {"id": {"S": "probe"}}},
            ),
            "read large answer": ("s3", "get_object", large),
            "write large answer": ("s3", "put_object", {**large, "Body": "probe"}),
            "read hits put aside": ("s3", "get_object", aside),
            "put hits aside": ("s3", "put_object", {**aside, "Body": "probe"}),
            "read settings": ("ssm", "get_parameters_by_path", level),
            "read all settings": ("ssm", "get_parameters_by_path", {"Path": "/", "Recursive": True}),
            "read secret": ("ssm", "get_parameter", {"Name": f"{root}/_stack/queryHashKey", "WithDecryption": True}),
            "read several settings": ("ssm", "get_parameters", {"Names": [f"{root}/_stack/queryHashKey"]}),
            "read foreign secret": ("ssm", "get_parameter", {"Name": "/another/secret", "WithDecryption": True}),
            **_attempts_of_settings(root),
            "record a change": ("dynamodb", "put_item", {"TableName": calls, "Item": key}),
            "list content": ("s3", "list_objects_v2", {"Bucket": bucket}),
            "delete content": ("s3", "delete_object", {"Bucket": bucket, "Key": "probe/probe/content/x"}),
            "delete run file": ("s3", "delete_object", {"Bucket": bucket, "Key": "probe/probe/runs/x/input.json"}),
            "read content": ("s3", "get_object", {"Bucket": bucket, "Key": "probe/probe/x"}),
            "publish": ("events", "put_events", {"Entries": [event]}),
            "queue a search": ("sqs", "send_message", {"QueueUrl": outputs["SearchQueueUrl"], "MessageBody": "{}"}),
            "set a failed event aside": (
                "sqs",
                "send_message",
                {"QueueUrl": outputs["FailedEventsQueueUrl"], "MessageBody": "{}"},
            ),
            "list functions": ("lambda", "list_functions", {}),
        }
    )


def _attempts_of_evidence(
    outputs: Mapping[str, str], key: dict[str, Any], one: dict[str, Any]
) -> dict[str, tuple[str, str, dict[str, Any]]]:
    table, bucket = outputs["EvidenceTableName"], outputs["EvidenceBucketName"]
    text, other = ({"Bucket": bucket, "Key": f"probe/probe/{folder}/probe"} for folder in ("evidence", "content"))
    requests = {table: [{"DeleteRequest": {"Key": key}}]}
    asked = {"FunctionName": outputs["PageFetcherFunctionName"], "Payload": "{}"}
    return {
        "read evidence": ("dynamodb", "get_item", {"TableName": table, "Key": key}),
        "read several evidences": ("dynamodb", "batch_get_item", {"RequestItems": {table: {"Keys": [key]}}}),
        "list evidence": ("dynamodb", "query", {"TableName": table, "IndexName": "newest", **one}),
        "list all evidence": ("dynamodb", "query", {"TableName": table, **one}),
        "scan evidence": ("dynamodb", "scan", {"TableName": table}),
        "make evidence": ("dynamodb", "put_item", {"TableName": table, "Item": key}),
        "see evidence again": ("dynamodb", "update_item", {"TableName": table, "Key": key}),
        "delete evidence": ("dynamodb", "batch_write_item", {"RequestItems": requests}),
        "list texts": ("s3", "list_objects_v2", {"Bucket": bucket}),
        "read text": ("s3", "get_object", text),
        "write text": ("s3", "put_object", {**text, "Body": "x"}),
        "delete text": ("s3", "delete_object", text),
        "read what is no text": ("s3", "get_object", other),
        "ask the page fetcher": ("lambda", "invoke", asked),
        "ask a tool": ("lambda", "invoke", {"FunctionName": outputs["ResearchRichFunctionName"], "Payload": "{}"}),
    }


def _attempts_of_the_inbox(outputs: Mapping[str, str]) -> dict[str, tuple[str, str, dict[str, Any]]]:
    inbox = {"Bucket": outputs["InboxBucketName"]}
    questions, answers = ({**inbox, "Key": f"p/p/probe.{what}.jsonl"} for what in ("questions", "answers"))
    part = {"Bucket": outputs["ContentBucketName"], "Key": "p/p/content/questions/probe/000000.jsonl"}
    again = {"QueueUrl": outputs["QuestionsQueueUrl"], "MessageBody": '{"detail": {"object": {"key": "", "etag": ""}}}'}
    return {
        "list inbox": ("s3", "list_objects_v2", inbox),
        "read questions": ("s3", "get_object", questions),
        "write questions": ("s3", "put_object", {**questions, "Body": ""}),
        "delete questions": ("s3", "delete_object", questions),
        "read answers": ("s3", "get_object", answers),
        "write answers": ("s3", "put_object", {**answers, "Body": ""}),
        "delete answers": ("s3", "delete_object", answers),
        "read answered part": ("s3", "get_object", part),
        "write answered part": ("s3", "put_object", {**part, "Body": ""}),
        "send questions on": ("sqs", "send_message", again),
    }


def _attempts_of_settings(root: str) -> dict[str, tuple[str, str, dict[str, Any]]]:
    """What a tenant's or project's settings take, and what nobody may: the stack's own."""
    value = {"Value": "x", "Type": "String", "Overwrite": True}
    return {
        "write setting": ("ssm", "put_parameter", {"Name": f"{root}/probe", **value}),
        "write hash key": ("ssm", "put_parameter", {"Name": f"{root}/_stack/queryHashKey", **value}),
        "write tenant setting": ("ssm", "put_parameter", {"Name": f"{root}/probe/_tenant/probe", **value}),
        "write project setting": ("ssm", "put_parameter", {"Name": f"{root}/probe/probe/_project/probe", **value}),
        "write process setting": ("ssm", "put_parameter", {"Name": f"{root}/probe/probe/night/probe", **value}),
        "delete setting": ("ssm", "delete_parameter", {"Name": f"{root}/probe/_tenant/none"}),
        "delete hash key": ("ssm", "delete_parameter", {"Name": f"{root}/_stack/none"}),
    }


def _attempts_of_runs(
    outputs: Mapping[str, str], key: dict[str, Any], one: dict[str, Any]
) -> dict[str, tuple[str, str, dict[str, Any]]]:
    runs, bucket, machine = (
        outputs[name] for name in ("RunsTableName", "ContentBucketName", "InvestigateStateMachineArn")
    )
    execution = f"{machine.replace(':stateMachine:', ':execution:')}:probe"
    still_open, untold = (
        {
            "IndexName": index,
            "KeyConditionExpression": "#key = :key",
            "ExpressionAttributeNames": {"#key": index},
            "ExpressionAttributeValues": {":key": {"S": index.upper()}},
        }
        for index in ("open", "untold")
    )
    file = {"Bucket": bucket, "Key": "probe/probe/runs/probe/input.json"}
    body = {"Bucket": bucket, "Key": "probe/probe/content/probe"}
    insights = {"Bucket": bucket, "Key": "probe/probe/insights/graph.json"}
    asked = {"messages": [{"role": "user", "content": [{"text": "Who is there?"}]}]}
    return {
        "read run": ("dynamodb", "get_item", {"TableName": runs, "Key": key}),
        "create run": ("dynamodb", "put_item", {"TableName": runs, "Item": key}),
        "write run": ("dynamodb", "update_item", {"TableName": runs, "Key": key}),
        "list runs": ("dynamodb", "query", {"TableName": runs, **one}),
        "list open runs": ("dynamodb", "query", {"TableName": runs, **still_open}),
        "list untold runs": ("dynamodb", "query", {"TableName": runs, **untold}),
        "scan runs": ("dynamodb", "scan", {"TableName": runs}),
        "find content": ("dynamodb", "get_item", {"TableName": outputs["StateTableName"], "Key": key}),
        "read run file": ("s3", "get_object", file),
        "write run file": ("s3", "put_object", {**file, "Body": "{}"}),
        "read body": ("s3", "get_object", body),
        "write body": ("s3", "put_object", {**body, "Body": "x"}),
        "read insights": ("s3", "get_object", insights),
        "write insights": ("s3", "put_object", {**insights, "Body": "{}"}),
        "delete insights": ("s3", "delete_object", insights),
        "delete a run's insights": ("s3", "delete_object", {**file, "Key": "probe/probe/runs/x/insights/000.json"}),
        "list recipes": ("s3", "list_objects_v2", {"Bucket": outputs["RecipesBucketName"]}),
        "read recipe": ("s3", "get_object", {"Bucket": outputs["RecipesBucketName"], "Key": "probe/_recipes/x.md"}),
        "write recipe": (
            "s3",
            "put_object",
            {"Bucket": outputs["RecipesBucketName"], "Key": "probe/_recipes/x.md", "Body": "x"},
        ),
        "start execution": ("stepfunctions", "start_execution", {"stateMachineArn": machine, "input": "{}"}),
        "look at execution": ("stepfunctions", "describe_execution", {"executionArn": execution}),
        "stop execution": ("stepfunctions", "stop_execution", {"executionArn": execution}),
        "ask model": ("bedrock-runtime", "converse", {"modelId": BEDROCK_MODEL, **asked}),
        "ask another model": ("bedrock-runtime", "converse", {"modelId": "amazon.titan-text-lite-v1", **asked}),
    }


@pytest.mark.parametrize("function", ALLOWED)
def test_a_role_allows_what_its_function_needs_and_nothing_else(stack: Stack, function: str) -> None:
    """Of all the attempts, exactly the ones that this function is there for go through."""
    outcome = _probe(stack, function)

    assert {name for name, result in outcome.items() if result == "allowed"} == ALLOWED[function]


def _probe(stack: Stack, function: str) -> Mapping[str, str]:
    functions = stack.session().client("lambda", endpoint_url=stack.endpoint_url)
    deployed = functions.get_function(FunctionName=stack.outputs[f"{function}FunctionName"])["Configuration"]
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as code:
        code.writestr("probe.py", _PROBE)
    name = f"probe-{function}"
    functions.create_function(
        FunctionName=name,
        Runtime=deployed["Runtime"],
        Role=deployed["Role"],
        Handler="probe.handler",
        Code={"ZipFile": archive.getvalue()},
        Timeout=20,
    )
    try:
        answer = functions.invoke(FunctionName=name, Payload=json.dumps(_attempts(stack.outputs)))
        outcome: dict[str, str] = json.load(answer["Payload"])
        return outcome
    finally:
        functions.delete_function(FunctionName=name)


def test_no_two_functions_share_a_role_and_no_policy_has_a_wildcard_resource(stack: Stack) -> None:
    """The only `*` is X-Ray's, which knows no other resource."""
    identities = stack.session().client("iam", endpoint_url=stack.endpoint_url)
    functions = stack.session().client("lambda", endpoint_url=stack.endpoint_url)
    roles = [
        functions.get_function(FunctionName=stack.outputs[f"{name}FunctionName"])["Configuration"]["Role"]
        for name in ALLOWED
    ]
    statements = [statement for role in roles for statement in _statements(identities, role.rpartition("/")[2])]

    assert len(set(roles)) == len(roles)
    wild = [statement for statement in statements if statement["Resource"] == "*"]
    assert {action for statement in wild for action in statement["Action"]} == {
        "xray:PutTraceSegments",
        "xray:PutTelemetryRecords",
    }
    assert not [statement for statement in statements if "*" in str(statement["Action"])]


def _statements(identities: Any, role: str) -> list[dict[str, Any]]:
    documents = [
        identities.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]
        for name in identities.list_role_policies(RoleName=role)["PolicyNames"]
    ]
    for attached in identities.list_attached_role_policies(RoleName=role)["AttachedPolicies"]:
        arn = attached["PolicyArn"]
        version = identities.get_policy(PolicyArn=arn)["Policy"]["DefaultVersionId"]
        documents.append(identities.get_policy_version(PolicyArn=arn, VersionId=version)["PolicyVersion"]["Document"])
    parsed = [json.loads(unquote(each)) if isinstance(each, str) else each for each in documents]
    return [statement for document in parsed for statement in document["Statement"]]
