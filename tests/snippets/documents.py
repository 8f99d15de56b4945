"""How each snippet of `docs/` is run against the deployed stack, and what must come of it; that is taken back."""

import hashlib
import hmac
import json
import re
import shutil
from typing import Any

import httpx

from stack import places
from tests.snippets.blocks import Block
from tests.snippets.world import World
from zarniwoop.entry.standing_query import StandingQuery

_KEY = "k" * 32
_PAGE = "https://www.rfc-editor.org/rfc/rfc9309.html"
_BOUND = '"max_chars": 20000'
_FETCH = 'curl -s "$ZARNIWOOP_URL/v1/tools/web_fetch" -H "Authorization: Bearer $ZARNIWOOP_TOKEN" --json'


def _aws(world: World, service: str) -> Any:
    return world.stack.session().client(service, endpoint_url=world.stack.endpoint_url)  # type: ignore[call-overload]


def _taken_back(world: World, bucket: str, key: str) -> None:
    """The object is there, and then no more."""
    objects = _aws(world, "s3")
    objects.head_object(Bucket=bucket, Key=key)
    objects.delete_object(Bucket=bucket, Key=key)


def _answers(told: str) -> tuple[list[dict[str, Any]], str]:
    """The envelopes that were written one after the other, all of them `ok`, and what came behind."""
    decoder, answers = json.JSONDecoder(), []
    while told.startswith("{"):
        answer, end = decoder.raw_decode(told)
        answers.append(answer)
        told = told[end:].lstrip()
    assert all(each["ok"] for each in answers), answers
    return answers, told


def _fetched(world: World, code: str) -> dict[str, Any]:
    """`data`, of a page of the simulator's web in place of the one that the document names."""
    here = f"{world.stack.simulator_url}/web/mills/history"
    assert _PAGE in code
    (answer,), _ = _answers(world.bash(code.replace(_PAGE, here)))
    data: dict[str, Any] = answer["data"]
    assert data["pages"][0]["outcome"] in ("ok", "not_modified"), data
    return data


def an_investigation(world: World, code: Block) -> None:
    """Done within its wait, or to be watched."""
    begun = json.loads(world.bash(code.text))
    assert begun["ok"] is True
    assert begun["data"]["status_url"].startswith(f"/v1/runs/{begun['data']['run_id']}?")


def settings(world: World, calls: Block, command: Block) -> None:
    """An endpoint comes and goes; the command shows the tenant's."""
    (saved, deleted), told = _answers(world.bash(calls.text + command.text))
    assert "research.endpoint.wiki-fr.protocol" in json.dumps(saved["data"])
    assert deleted["ok"]
    assert "serper-main" in told


def the_document(world: World, code: Block) -> None:
    """Of one route that needs no token; nothing was found."""
    assert "No issues found" in world.bash(code.text)


def a_schedule(world: World, code: Block) -> None:
    """It is there, with the input that the function reads."""
    scheduler = _aws(world, "scheduler")
    function = f"arn:aws:lambda:us-east-1:000000000000:function:{world.stack.outputs['StandingQueryFunctionName']}"
    world.bash(code.text, FUNCTION_ARN=function, ROLE_ARN="arn:aws:iam::000000000000:role/schedules")
    try:
        made = scheduler.get_schedule(Name="bells")
    finally:
        scheduler.delete_schedule(Name="bells")
    asked = json.loads(made["Target"]["Input"])
    assert made["Target"]["Arn"] == function
    assert StandingQuery.model_validate(asked).name == "bells"


def a_file_of_questions(world: World, code: Block) -> None:
    """It lies where the function is told of it; `test_triggers` reads such answers."""
    bucket = world.stack.outputs["InboxBucketName"]
    world.bash(code.text, INBOX_BUCKET=bucket)
    _taken_back(world, bucket, "local/demo/monday.questions.jsonl")


def a_model(world: World, code: Block) -> None:
    """Three parameters of the tenant."""
    world.bash(code.text)
    parameters = _aws(world, "ssm")
    found = parameters.get_parameters_by_path(Path="/zarniwoop/zarniwoop/acme/_tenant/llm/primary")["Parameters"]
    assert {each["Name"].rpartition("/")[2] for each in found} == {"protocol", "baseUrl", "model"}
    parameters.delete_parameters(Names=[each["Name"] for each in found])


def the_secret_of_webhooks(world: World, code: Block) -> None:
    """What `pipelines/webhook` derives, too."""
    secret = hmac.new(_KEY.encode(), b"zarniwoop-webhook-v1:acme", hashlib.sha256).hexdigest()
    assert world.bash(code.text, KEY=_KEY).split()[-1] == secret


def documents(world: World, in_aws: Block, local: Block) -> None:
    """Both put it where the index looks; the list of refused ones is answered."""
    shutil.copy(places.SAMPLES / "bell-alloys.pdf", world.folder / "handbook.pdf")
    bucket = world.stack.outputs["DocumentsBucketName"]
    assert json.loads(world.bash(in_aws.text, DOCUMENTS_BUCKET=bucket))["ok"] is True
    world.bash(local.text)
    _taken_back(world, bucket, "acme/demo/documents/handbook.pdf")
    _taken_back(world, bucket, "local/demo/documents/handbook.pdf")


def deployments(world: World, code: Block) -> None:
    """What make would do."""
    world.bash(code.text)


def a_page(world: World, code: Block) -> None:
    """Its beginning, as much as the bound lets through (a small one: the simulator has no long pages), and the rest."""
    fetch, read_on = re.split(r"\n(?=curl)", code.text)
    assert _BOUND in fetch
    data = _fetched(world, fetch.replace(_BOUND, '"max_chars": 2000'))
    assert data["pages"][0]["quotes"][0]["stands"] is False
    (rest,), _ = _answers(world.bash(read_on, HANDLE=data["size"]["handle"]))
    assert rest["data"]["parts"], rest


def evidence(world: World, code: Block) -> None:
    """The stored text of a page that was read, and the same page once more."""
    kept = _fetched(world, f'{_FETCH} \'{{"urls": ["{_PAGE}"]}}\'')["pages"][0]["evidence_id"]
    (read, verified), _ = _answers(world.bash(code.text, EVIDENCE_ID=kept))
    assert read["data"]["evidence"]["id"] == kept
    assert 0 < len(read["data"]["content"]) <= 2_200
    assert verified["data"]["verdict"] == "unchanged"


def faults(world: World, code: Block) -> None:
    """The simulator has both rules; then they are taken back."""
    url = world.stack.simulator_url or ""
    world.bash(code.text, SIMULATOR=url)
    with httpx.Client(base_url=url, trust_env=False) as simulator:
        rules = simulator.get("/_control/faults").raise_for_status().text
        simulator.delete("/_control/faults").raise_for_status()
    assert "hang" in rules
    assert "429" in rules
