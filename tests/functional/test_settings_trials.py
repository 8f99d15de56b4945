"""Drafts of endpoints tried out before they are saved: what they are told, what they spend, and where keys never go."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.fakes.aws import refuse
from tests.fakes.clock import FakeClock
from tests.fakes.functions import body_of
from tests.fakes.settings import Editor
from tests.functional.deployed import CANARY, Deployed, deployed, with_canary
from tests.simulator import Simulator
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import Pacing

SERPER = "research.endpoint.serper-main"
KEY = "serper-Key/7=0123456789-planted"


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with Simulator() as running:
        yield running


@pytest.fixture
def stack(simulator: Simulator, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployed]:
    with deployed(simulator, monkeypatch, with_canary(simulator, "serper-main", "hackernews-main")) as made:
        yield made


@pytest.fixture
def editor(stack: Deployed) -> Iterator[Editor]:
    own = stack.cloud.environment(clock=FakeClock())
    yield Editor(own)
    transport = own.__dict__.get("_transport")
    if transport is not None:
        transport.close()


def tried(editor: Editor, endpoint_id: str, /, **more: Any) -> Any:
    """The envelope of a test, which must be an answer."""
    arguments = {"endpoint_id": endpoint_id, "level": "tenant", "project_id": "demo", **more}
    response = editor.call("test", arguments)
    assert response["statusCode"] == 200, response["body"]
    return body_of(response)


def refusal(editor: Editor, endpoint_id: str, /, **more: Any) -> Any:
    arguments = {"endpoint_id": endpoint_id, "level": "tenant", "project_id": "demo", **more}
    response = editor.call("test", arguments)
    envelope = body_of(response)
    assert (envelope["ok"], envelope["data"]) == (False, None), envelope
    return envelope["error"]


def paths(stack: Deployed) -> list[str]:
    return [seen.path for seen in stack.simulator.requests()]


def test_a_saved_endpoint_is_tested_with_its_saved_key_by_the_cheapest_call(editor: Editor, stack: Deployed) -> None:
    """A provider that tells its quota for free is not made to search."""
    envelope = tried(editor, "serper-main")
    data = envelope["data"]
    assert (envelope["ok"], data["asked"], data["outcome"], data["cost"]) == (True, "quota", "success", 0)
    assert data["quota"]["unit"] == "credits"
    assert paths(stack) == ["/serper/account"]


def test_a_draft_is_tested_before_anything_of_it_is_saved(editor: Editor, stack: Deployed) -> None:
    """Protocol, address, key and all; afterwards there is still nothing."""
    before = editor.versions()
    draft = {"protocol": "serper", "baseUrl": stack.simulator.url("serper"), "apiKey": KEY, "costPerCall": 0.5}
    envelope = tried(editor, "serper-new", settings=draft, query="graphene", modality="NEWS")
    data = envelope["data"]
    assert (envelope["ok"], data["asked"], data["modality"], data["outcome"]) == (True, "search", "NEWS", "success")
    assert (data["hit_count"], data["cost"]) == (1, 0.5)
    assert editor.versions() == before
    whole = {f"research.endpoint.hackernews-main.{name}": value for name, value in (("tags", "comment"),)}
    assert tried(editor, "hackernews-main", settings=whole)["data"]["asked"] == "search"


def test_a_test_changes_nothing_but_the_record_of_it(
    editor: Editor, stack: Deployed, capsys: pytest.CaptureFixture[str]
) -> None:
    """No cooldown, no quota, no curated metric: a failed draft does not take the saved endpoint out."""
    tried(editor, "serper-main", settings={"apiKey": "bad-key-0123456789"})
    tried(editor, "hackernews-main", query="bells")
    assert [item["sk"]["S"] for item in stack.cloud.items("STATE_TABLE")] == []
    records = sorted(stack.cloud.items("CALLS_TABLE"), key=lambda item: str(item["sk"]))
    assert [(item["instance_id"]["S"], item["ok"]["BOOL"], item["diagnostics"]["BOOL"]) for item in records] == [
        ("hackernews-main", True, True),
        ("serper-main", False, True),
    ]
    out = capsys.readouterr().out
    assert out.count('"vance.research.diagnostics":[1.0]') == 2
    for curated in ("dispatch", "provider.calls", "provider.duration", "quota.lookups"):
        assert f"vance.research.{curated}" not in out
    assert "bells" not in out + str(records)


@pytest.mark.parametrize(
    ("draft", "field", "words"),
    [
        ({"apiKey": "bad-key-0123456789"}, "apiKey", "the key is refused (HTTP 403)"),
        ({"apiKey": "empty-key-0123456789"}, None, None),
    ],
)
def test_a_refused_key_is_told_in_the_providers_name_without_the_key(
    editor: Editor, draft: dict[str, str], field: str | None, words: str | None
) -> None:
    """Which field to look at, and where the provider says more; an account that is empty is no wrong key."""
    envelope = tried(editor, "serper-main", settings=draft)
    assert draft["apiKey"] not in json.dumps(envelope)
    if field is None:
        assert envelope["data"]["quota"]["remaining"] == 0
        return
    error = envelope["error"]
    assert not envelope["ok"]
    assert error["detail"].startswith(f"Serper (Google): {words}")
    assert (error["type"], error["field"]) == ("urn:zarniwoop:problem:credentials-rejected", f"{SERPER}.{field}")
    assert "https://serper.dev" in error["suggested_action"]


@pytest.mark.parametrize(
    ("fault", "slug", "field", "retryable"),
    [
        ("503", "provider-unavailable", "baseUrl", True),
        ("429", "rate-limited", None, True),
        ("402", "credentials-rejected", "apiKey", False),
        ("500", "provider-unavailable", "baseUrl", True),
        ("html", "malformed-answer", "baseUrl", False),
        ("truncated-json", "malformed-answer", "baseUrl", False),
        ("404", "query-rejected", "baseUrl", False),
    ],
)
def test_each_failure_names_the_field_to_look_at(
    editor: Editor, stack: Deployed, fault: str, slug: str, field: str | None, retryable: bool
) -> None:
    """And whether time may heal it."""
    stack.simulator.fault("/serper", fault)
    envelope = tried(editor, "serper-main", query="bells")
    stack.simulator.reset()
    error = envelope["error"]
    assert (error["type"], error["retryable"]) == (f"urn:zarniwoop:problem:{slug}", retryable), error
    assert error["field"] == (f"{SERPER}.{field}" if field else None)
    assert CANARY not in json.dumps(envelope)
    assert envelope["data"]["message"] == error["detail"]


def test_a_draft_that_nobody_answers_names_its_address(editor: Editor) -> None:
    """A port of this machine on which nobody listens."""
    error = tried(editor, "hackernews-main", settings={"baseUrl": "http://127.0.0.1:1/api"})["error"]
    assert (error["field"], error["retryable"]) == ("research.endpoint.hackernews-main.baseUrl", True)
    assert error["detail"].startswith("Hacker News")


@pytest.mark.parametrize(
    "moved",
    [
        {"baseUrl": "SIMULATOR/elsewhere"},
        {"protocol": "openalex"},
        {"protocol": "openalex", "baseUrl": "SIMULATOR/serper"},
    ],
    ids=["another address", "another protocol", "another protocol at the same address"],
)
def test_the_saved_key_goes_to_the_saved_address_and_protocol_only(
    editor: Editor, stack: Deployed, moved: dict[str, str]
) -> None:
    """Whoever may test drafts could otherwise have it sent to himself: it is asked for, or the test goes without."""
    here = f"http://127.0.0.1:{stack.simulator.port}"
    draft = {name: value.replace("SIMULATOR", here) for name, value in moved.items()}
    if draft.get("protocol") == "openalex":
        draft.setdefault("baseUrl", stack.simulator.url("openalex"))
        envelope = tried(editor, "serper-main", settings=draft)
        assert "asked without a key" in envelope["data"]["note"]
        assert all("api_key" not in seen.query for seen in stack.simulator.requests())
        assert all("x-api-key" not in seen.header_names for seen in stack.simulator.requests())
        return
    error = refusal(editor, "serper-main", settings=draft)
    assert (error["type"], error["field"]) == ("urn:zarniwoop:problem:saved-key-kept-back", f"{SERPER}.apiKey")
    assert stack.simulator.requests() == []
    assert tried(editor, "serper-main", settings={**draft, "apiKey": KEY})["data"]["outcome"] == "failure"


def test_the_same_address_in_another_spelling_is_the_same(editor: Editor, stack: Deployed) -> None:
    """A slash at its end, and the saved protocol said again, move nothing."""
    draft = {"baseUrl": stack.simulator.url("serper") + "/", "protocol": "serper", "apiKey": ""}
    assert tried(editor, "serper-main", settings=draft)["ok"]


def test_a_projects_draft_does_not_get_the_tenants_key_at_its_own_address(editor: Editor, stack: Deployed) -> None:
    """The rule of the cascade holds for drafts too."""
    editor.identity = {"projects": "demo"}
    draft = {"baseUrl": stack.simulator.url("serper") + "/mine"}
    error = refusal(editor, "serper-main", level="project", settings=draft)
    assert error["field"] == f"{SERPER}.apiKey"
    assert stack.simulator.requests() == []


@pytest.mark.parametrize(
    ("endpoint_id", "more", "field"),
    [
        ("nobody", {}, "research.endpoint.nobody.protocol"),
        ("serper-main", {"settings": {"protocol": "altavista"}}, f"{SERPER}.protocol"),
        ("serper-main", {"settings": {"baseUrl": "https://10.0.0.1"}}, f"{SERPER}.baseUrl"),
        ("serper-main", {"settings": {"apiKey": "serper-••••••••"}}, f"{SERPER}.apiKey"),
        ("serper-main", {"settings": {"research.default.web": "x"}}, "settings"),
        ("serper-main", {"settings": {"research.endpoint.other.protocol": "wikipedia"}}, "settings"),
        ("hackernews-main", {"settings": {"tags": "(story"}}, "research.endpoint.hackernews-main.tags"),
        ("hackernews-main", {"modality": "BOOK"}, "modality"),
        ("hackernews-main", {"query": " "}, "query"),
        ("Bad", {}, "endpoint_id"),
    ],
)
def test_what_no_endpoint_can_be_made_of_is_refused_before_anybody_is_asked(
    editor: Editor, stack: Deployed, endpoint_id: str, more: dict[str, Any], field: str
) -> None:
    """With the field and the way out, as when it is saved."""
    error = refusal(editor, endpoint_id, **more)
    assert (error["status"], error["field"]) == (400, field)
    assert error["suggested_action"]
    assert stack.simulator.requests() == []


def test_a_test_belongs_to_a_project(editor: Editor) -> None:
    """Whose record it is in, also when the tenant's settings are tested."""
    response = editor.call("test", {"endpoint_id": "serper-main", "level": "tenant"})
    assert (response["statusCode"], body_of(response)["error"]["field"]) == (400, "project_id")


def test_a_test_keeps_to_the_published_rate_of_the_whole_fleet(editor: Editor, stack: Deployed) -> None:
    """arXiv takes one request in three seconds: the third of three in a row is told to come again."""
    draft = {"protocol": "arxiv", "baseUrl": stack.simulator.url("arxiv")}
    assert tried(editor, "arxiv-main", settings=draft)["ok"]
    assert tried(editor, "arxiv-main", settings=draft)["ok"]
    clock = editor.environment.clock
    assert isinstance(clock, FakeClock)
    assert sum(clock.slept) == pytest.approx(3.0)
    pace = Pacing(subject="arxiv@127.0.0.1", requests=1, seconds=3.0)
    for _ in range(3):
        editor.environment.state.take_turn(pace, now=clock.now(), latest=clock.now() + 60)
    error = refusal(editor, "arxiv-main", settings=draft)
    assert (error["status"], error["type"], error["retryable"]) == (503, "urn:zarniwoop:problem:throttled", True)
    assert error["wait_seconds"] > 5


def test_with_parameter_store_away_a_test_says_so(editor: Editor) -> None:
    """And asks nobody."""
    editor.versions()
    refuse(editor.environment._parameters._client, "InternalServerError", status=500)  # type: ignore[attr-defined]
    response = editor.call("test", {"endpoint_id": "serper-main", "level": "tenant", "project_id": "demo"})
    assert (response["statusCode"], body_of(response)["error"]["retryable"]) == (503, True)


def test_every_modality_of_the_enum_is_understood(editor: Editor) -> None:
    """In capitals, as everywhere."""
    assert refusal(editor, "hackernews-main", modality=SearchModality.MAP.value)["field"] == "modality"
    assert refusal(editor, "hackernews-main", modality="smell")["field"] == "modality"
