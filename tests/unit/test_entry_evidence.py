"""`/v1/evidence…`: over REST and by invocation, by the project's own callers only, and nothing of it in a log."""

from typing import Any

import pytest

from tests.fakes.cloud import LambdaContext
from tests.fakes.environment import FakeEnvironment
from tests.fakes.evidence import DEMO, LAB, TEXT, FakePages, page, read
from tests.fakes.functions import body_of, sample
from zarniwoop.contract.evidence import Evidence
from zarniwoop.contract.page import FetcherFault, FetcherUnavailable
from zarniwoop.entry.evidence import evidence
from zarniwoop.evidence.ledger import EvidenceLedger
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.state import ProjectKey
from zarniwoop.stores.tokens import LEAVES_EVIDENCE
from zarniwoop.tools.untrusted import fenced

URL = "https://example.com/bells"


class Desk:
    """An environment with evidence and a web, and the handler over it."""

    def __init__(self) -> None:
        self.environment = FakeEnvironment()
        self.pages = self.environment.__dict__["page_fetcher"] = FakePages({URL: read(URL)})
        self.ledger = EvidenceLedger(store=self.environment.fake_evidence, clock=self.environment.clock)

    def keep(self, project: ProjectKey = DEMO, **more: Any) -> Evidence:
        return self.ledger.keep_page(project, read(URL), **more)

    def call(self, event: Any) -> Any:
        return evidence(lambda: self.environment)(event, LambdaContext())

    def over_rest(self, name: str, evidence_id: str | None = None, **changes: Any) -> Any:
        event = sample(name)
        if evidence_id is not None:
            event["pathParameters"] = {"evidence_id": evidence_id}
        if "body" in changes:
            event["body"] = changes.pop("body")
        if "query" in changes:
            event["queryStringParameters"] = changes.pop("query")
        event["requestContext"]["authorizer"] |= changes
        response = self.call(event)
        return {"status": response["statusCode"], **body_of(response)}

    def invoked(self, operation: str | None, project_id: str = "demo", **arguments: Any) -> Any:
        message = {"scope": {"tenant_id": "acme", "project_id": project_id}, "arguments": arguments}
        return self.call(message | ({"operation": operation} if operation else {}))


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_evidence_is_listed_the_newest_first(desk: Desk) -> None:
    """By task and by URL, page by page, the same by invocation."""
    first = desk.keep(task_id="task-1")
    desk.environment.hands.advance(1)
    second = desk.keep()
    answer = desk.over_rest("evidence", query=None)
    assert answer["status"] == 200
    assert [each["id"] for each in answer["data"]["evidence"]] == [second.id, first.id]
    assert answer["data"]["untrusted"] is True
    hrefs = [f"/v1/evidence/{each.id}?project_id=demo" for each in (second, first)]
    assert [each["href"] for each in answer["evidence"]] == hrefs
    assert [each["id"] for each in desk.over_rest("evidence")["data"]["evidence"]] == [first.id]
    assert len(desk.over_rest("evidence", query={"url": URL})["data"]["evidence"]) == 2
    token = desk.over_rest("evidence", query={"limit": "1"})["data"]["next_page_token"]
    rest = desk.over_rest("evidence", query={"limit": "1", "page_token": token})["data"]
    assert ([each["id"] for each in rest["evidence"]], rest["next_page_token"]) == ([first.id], None)
    again = desk.invoked(None)["data"]
    assert [each["id"] for each in again["evidence"]] == [second.id, first.id]
    for told in (again, answer["data"]):
        assert told["evidence"][0]["snippet"] == fenced(second.snippet, told["fence"])
    assert desk.invoked("list", task_id="task-1")["data"]["evidence"][0]["id"] == first.id


def test_evidence_is_read_with_its_text_by_offset(desk: Desk) -> None:
    """In characters, as its quotes count."""
    kept = desk.keep(quotes=["four tonnes"])
    start = kept.quotes[0].start
    data = desk.over_rest("evidence.get", kept.id, query={"offset": str(start), "text_chars": "11"})["data"]
    assert data["content"] == f"<<<UNTRUSTED {data['fence']}\nfour tonnes\nUNTRUSTED {data['fence']}>>>"
    assert (data["next_offset"], data["untrusted"]) == (start + 11, True)
    assert data["evidence"]["snippet"] == fenced(kept.snippet, data["fence"])
    assert data["evidence"]["quotes"] == [{"text": "four tonnes", "start": start, "end": start + 11}]
    data = desk.invoked("get", evidence_id=kept.id)["data"]
    assert data["content"] == fenced(TEXT, data["fence"])
    assert desk.invoked(None, evidence_id=kept.id)["ok"]


def test_evidence_is_looked_at_again(desk: Desk) -> None:
    """Unchanged, then drifted quote by quote, then gone; the evidence stays as it was."""
    kept = desk.keep(quotes=["four tonnes", "the lathe"])
    data = desk.over_rest("evidence.verify", kept.id)["data"]
    assert (data["verdict"], [each["verdict"] for each in data["quotes"]]) == ("unchanged", ["stands", "stands"])
    desk.pages.answers[URL] = read(URL, page(TEXT.replace("four", "five")))
    data = desk.over_rest("evidence.verify", kept.id)["data"]
    assert (data["verdict"], [each["verdict"] for each in data["quotes"]]) == ("drifted", ["gone", "stands"])
    del desk.pages.answers[URL]
    data = desk.invoked("verify", evidence_id=kept.id)["data"]
    assert (data["verdict"], [each["verdict"] for each in data["quotes"]]) == ("gone", ["gone", "gone"])
    assert desk.environment.fake_evidence.get(DEMO, kept.id) == kept
    assert [(question.url, question.etag, question.honour_robots) for question in desk.pages.asked] == [
        (URL, None, True)
    ] * 3


def test_a_fetcher_that_cannot_be_asked_is_told_as_such(desk: Desk) -> None:
    """503: of the page nothing is known."""
    kept = desk.keep()
    desk.pages.answers[URL] = FetcherUnavailable(FetcherFault.THROTTLED)
    answer = desk.over_rest("evidence.verify", kept.id)
    assert (answer["status"], answer["error"]["type"]) == (503, "urn:zarniwoop:problem:fetcher-unavailable")
    assert "fetcher_throttled" in answer["error"]["detail"]


@pytest.mark.parametrize("forged", ["ev-" + "0" * 32, "ev-1", "../x", "EV#ev-" + "0" * 32, "é", "%2e%2e"])
@pytest.mark.parametrize("name", ["evidence.get", "evidence.verify"])
def test_an_id_that_is_none_is_unknown(desk: Desk, name: str, forged: str) -> None:
    """As unknown as any other, and nobody is asked for it."""
    answer = desk.over_rest(name, forged, query=None)
    assert (answer["status"], answer["error"]["type"]) == (404, "urn:zarniwoop:problem:unknown-evidence")
    assert desk.pages.asked == []


def test_another_projects_evidence_is_unknown(desk: Desk) -> None:
    """To read, to verify and to list."""
    theirs = desk.keep(LAB)
    assert desk.over_rest("evidence.get", theirs.id)["status"] == 404
    assert desk.over_rest("evidence.verify", theirs.id)["status"] == 404
    assert desk.over_rest("evidence", query=None)["data"]["evidence"] == []
    assert desk.over_rest("evidence.get", theirs.id, projects="lab")["status"] == 200
    assert desk.over_rest("evidence.get", theirs.id, query={"project_id": "lab"})["status"] == 403
    assert desk.over_rest("evidence.get", theirs.id, tenant_id="other", projects="lab")["status"] == 404


def test_a_page_token_of_another_project_is_refused(desk: Desk) -> None:
    """400, by its field."""
    desk.keep()
    desk.environment.hands.advance(1)
    desk.keep(task_id="task-1")
    token = desk.over_rest("evidence", query={"limit": "1"})["data"]["next_page_token"]
    answer = desk.over_rest("evidence", query={"page_token": token}, projects="lab")
    assert (answer["status"], answer["error"]["field"]) == (400, "page_token")


def test_a_token_that_lists_no_tool_with_evidence_is_refused(desk: Desk) -> None:
    """Nobody can have given it a link."""
    kept = desk.keep()
    for name in ("evidence", "evidence.get", "evidence.verify"):
        assert desk.over_rest(name, kept.id, tools="research_providers")["status"] == 403
        assert desk.over_rest(name, kept.id, level="0")["status"] == 403


@pytest.mark.parametrize("tool", LEAVES_EVIDENCE)
def test_whoever_may_use_a_tool_that_links_to_evidence_reads_it_and_no_list(desk: Desk, tool: str) -> None:
    """What others have read is listed for `evidence_store` alone."""
    kept = desk.keep()
    read_by_it = desk.over_rest("evidence.get", kept.id, tools=tool)
    assert (read_by_it["status"], read_by_it["evidence"][0]["id"]) == (200, kept.id)
    assert desk.over_rest("evidence", tools=tool)["status"] == 403
    verified = desk.over_rest("evidence.verify", kept.id, tools=tool)
    assert verified["status"] == (200 if tool == "web_fetch" else 403)


def test_looking_again_needs_the_right_to_fetch(desk: Desk) -> None:
    """It asks a stranger's host, as `web_fetch` does."""
    kept = desk.keep()
    assert desk.over_rest("evidence.get", kept.id, tools="evidence_store")["status"] == 200
    assert desk.over_rest("evidence.verify", kept.id, tools="evidence_store")["status"] == 403
    assert desk.pages.asked == []
    assert desk.over_rest("evidence.verify", kept.id, tools="evidence_store,web_fetch")["status"] == 200


def test_what_there_is_not_is_not_done(desk: Desk) -> None:
    """No such route, no such operation, no such argument."""
    event = sample("evidence.get") | {"httpMethod": "DELETE"}
    assert body_of(desk.call(event))["error"]["type"] == "urn:zarniwoop:problem:unknown-route"
    assert desk.invoked("forget")["error"]["field"] == "operation"
    assert desk.over_rest("evidence", query={"limit": "0"})["error"]["field"] == "limit"
    assert desk.over_rest("evidence", query={"query": "bells"})["error"]["field"] == "query"


def test_a_store_that_is_away_is_asked_again_later(desk: Desk) -> None:
    """503 with how long to wait, whatever was asked."""
    kept = desk.keep()
    desk.environment.fake_evidence.fail_with = StoreUnavailable("down")
    for name, evidence_id in (("evidence", None), ("evidence.get", kept.id), ("evidence.verify", kept.id)):
        answer = desk.over_rest(name, evidence_id, query=None)
        assert (answer["status"], answer["error"]["wait_seconds"]) == (503, 1.0)


def test_no_text_title_or_url_is_logged(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    """Not even when something breaks."""
    kept = desk.keep(quotes=["four tonnes"])
    for name, evidence_id in (("evidence", None), ("evidence.get", kept.id), ("evidence.verify", kept.id)):
        assert desk.over_rest(name, evidence_id, query=None)["status"] == 200
    desk.pages.answers[URL] = ValueError(f"{URL}?key=secret {TEXT}")
    assert desk.over_rest("evidence.verify", kept.id)["status"] == 500
    said = "".join(str(record.__dict__) for record in caplog.records)
    assert "ValueError" in said
    for words in ("four tonnes", "Bells", "example.com", "secret"):
        assert words not in said


def test_a_body_says_the_same_as_the_address(desk: Desk) -> None:
    """Its arguments are read, and what is none or contradicts the address is refused by its name."""
    kept = desk.keep(LAB)
    asked = {"projects": "demo,lab", "query": None}
    answer = desk.over_rest("evidence.verify", kept.id, body='{"project_id": "lab"}', **asked)
    assert (answer["status"], answer["data"]["verdict"]) == (200, "unchanged")
    same = f'{{"project_id": "lab", "evidence_id": "{kept.id}"}}'
    assert desk.over_rest("evidence.verify", kept.id, body=same, **asked)["status"] == 200
    for body, field in (
        ('{"dry_run": true}', "dry_run"),
        ('{"bogus": 1}', "bogus"),
        ('{"evidence_id": "ev-1"}', "evidence_id"),
        ('{"evidenceId": "ev-1"}', "evidence_id"),
        ("[]", "body"),
    ):
        answer = desk.over_rest("evidence.verify", kept.id, body=body, **asked)
        assert (answer["status"], answer["error"]["field"]) == (400, field)


def test_a_text_is_bounded_by_one_name_and_an_unknown_id_is_the_addresss(desk: Desk) -> None:
    """`text_chars`, as of `evidence_store`; that tool's list of ids is none of the route's."""
    kept = desk.keep()
    refused = desk.over_rest("evidence.get", kept.id, query={"max_chars": "11"})["error"]
    assert (refused["field"], "text_chars" in refused["suggested_action"]) == ("max_chars", True)
    for name in ("evidence.get", "evidence.verify"):
        assert desk.over_rest(name, "ev-1", query=None)["error"]["field"] == "evidence_id"
