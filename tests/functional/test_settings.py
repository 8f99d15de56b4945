"""The settings API on the template's data plane: round trips, cascade, masks, bad input, and writes that break off."""

import json
import logging
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.fakes.aws import refuse
from tests.fakes.clock import FakeClock
from tests.fakes.cloud import LambdaContext
from tests.fakes.functions import body_of, posted, sample
from tests.fakes.settings import Editor
from tests.functional.deployed import CANARY, Deployed, deployed, with_canary
from tests.simulator import Simulator
from zarniwoop.entry.settings import ROUTES, settings
from zarniwoop.settings.levels import Place
from zarniwoop.settings.masking import MASK
from zarniwoop.settings.names import LONGEST_VALUE
from zarniwoop.tools.registry import TOOLS

KEY = "tvly-Key/7=0123456789-planted"
SERPER = "research.endpoint.serper-main"
ASKED = {"query": "cathedral bells", "modality": "WEB", "max_results": 2}


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with Simulator() as running:
        yield running


@pytest.fixture
def stack(simulator: Simulator, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployed]:
    wanted = with_canary(simulator, "serper-main", "hackernews-main", "openlibrary-main")
    with deployed(simulator, monkeypatch, wanted) as made:
        yield made


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def editor(stack: Deployed, clock: FakeClock) -> Iterator[Editor]:
    """An environment of its own, as that of another function than those that search."""
    own = stack.cloud.environment(clock=clock)
    yield Editor(own)
    transport = own.__dict__.get("_transport")
    if transport is not None:
        transport.close()


def _writes(editor: Editor) -> Any:
    return editor.environment._settings_writer._client  # type: ignore[attr-defined]


def _asked_instances(stack: Deployed) -> list[str]:
    data = stack.envelope("research_search", posted(ASKED))["data"]
    return [each["instance_id"] for each in data["attempts"] if each["outcome"] != "skipped"]


def test_what_is_saved_is_in_force_with_its_level_and_the_innermost_wins(editor: Editor) -> None:
    """Tenant, then project over it, then the tenant's again."""
    key = f"{SERPER}.priority"
    editor.save({key: 5})
    assert editor.rows()[key] | {"key": key} == {
        "key": key,
        "value": "5",
        "level": "tenant",
        "secret": False,
        "preview": None,
        "key_count": None,
    }
    editor.save({key: "7"}, level="project")
    assert (editor.rows()[key]["value"], editor.rows()[key]["level"]) == ("7", "project")
    assert editor.rows(project_id="lab")[key]["value"] == "5"
    deleted = editor.ok("delete", {"name": key, "level": "project", "project_id": "demo", "version": "*"})
    assert (deleted["saved"], deleted["level"]) == ([key], "project")
    assert (editor.rows()[key]["value"], editor.rows()[key]["level"]) == ("5", "tenant")


def test_a_key_is_shown_by_its_prefix_and_nowhere_whole(
    editor: Editor, stack: Deployed, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not in an answer, a log line or a record; and it is saved as a SecureString."""
    bodies = [editor.call("save", {"level": "tenant", "version": "*", "settings": {f"{SERPER}.apiKey": KEY}})["body"]]
    row = editor.rows()[f"{SERPER}.apiKey"]
    assert (row["value"], row["secret"], row["preview"]) == (None, True, "tvly-K" + MASK)
    endpoint = editor.endpoint("serper-main")
    assert (endpoint["badge"], endpoint["key_from"], endpoint["key_preview"]) == (
        "configured",
        "tenant",
        row["preview"],
    )
    bodies.append(editor.call("read", {"project_id": "demo"})["body"])
    saved = stack.cloud.client("ssm").get_parameter(
        Name="/zarniwoop/test/acme/_tenant/research/endpoint/serper-main/apiKey", WithDecryption=True
    )["Parameter"]
    assert (saved["Type"], saved["Value"]) == ("SecureString", KEY)
    capture = capsys.readouterr()
    kept = [str(stack.cloud.items(table)) for table in ("STATE_TABLE", "CALLS_TABLE")]
    for text in (*bodies, capture.out, capture.err, *kept):
        assert KEY not in text


def test_an_empty_key_keeps_what_is_saved(editor: Editor, stack: Deployed) -> None:
    """As a form sends it whose editor typed nothing; an emptied field of another kind is taken away."""
    editor.save({f"{SERPER}.apiKey": KEY, f"{SERPER}.contactEmail": "ops@example.org"})
    editor.save({f"{SERPER}.apiKey": "", f"{SERPER}.contactEmail": "", f"{SERPER}.priority": 3})
    rows = editor.rows()
    assert rows[f"{SERPER}.apiKey"]["preview"] == "tvly-K" + MASK
    assert f"{SERPER}.contactEmail" not in rows
    assert rows[f"{SERPER}.priority"]["value"] == "3"


@pytest.mark.parametrize("mask", ["tvly-K" + MASK, MASK, "tvly-****", "********", "sk-…abcd", "tvly-…", "•••• "])
def test_a_mask_is_no_key(editor: Editor, mask: str) -> None:
    """What a form shows must not come back as what it stands for."""
    error = editor.refused({f"{SERPER}.apiKey": mask})
    assert (error["status"], error["type"], error["field"]) == (
        400,
        "urn:zarniwoop:problem:masked-secret",
        f"{SERPER}.apiKey",
    )
    assert "empty" in error["suggested_action"]


def test_of_two_editors_who_saw_the_same_the_second_is_told(editor: Editor) -> None:
    """409, nothing is lost, and with the new version it works; the other level has a version of its own."""
    seen = editor.versions()
    first = editor.save({f"{SERPER}.priority": 1}, version=seen["tenant"])
    error = editor.refused({f"{SERPER}.priority": 2}, version=seen["tenant"])
    assert (error["status"], error["type"], error["field"], error["retryable"]) == (
        409,
        "urn:zarniwoop:problem:settings-changed",
        "version",
        False,
    )
    assert editor.rows()[f"{SERPER}.priority"]["value"] == "1"
    assert first["version"] == editor.versions()["tenant"] != seen["tenant"]
    editor.save({f"{SERPER}.priority": 3}, level="project", version=seen["project"])
    editor.save({f"{SERPER}.priority": 2}, version=first["version"])


def test_the_version_may_stand_in_the_header_and_may_not_be_missing(editor: Editor) -> None:
    """`If-Match`, quoted or not; without either nothing is saved."""
    changes = {"level": "tenant", "settings": {f"{SERPER}.priority": 1}}
    version = editor.versions()["tenant"]
    missing = editor.call("save", changes)
    assert (missing["statusCode"], body_of(missing)["error"]["field"]) == (428, "version")
    assert editor.call("save", changes, {"If-Match": f'"{version}"'})["statusCode"] == 200
    assert editor.call("save", changes, {"If-Match": f'W/"{version}"'})["statusCode"] == 409
    gone = {"name": f"{SERPER}.priority", "level": "tenant"}
    assert editor.call("delete", gone, {"If-Match": version})["statusCode"] == 409
    assert editor.call("delete", gone, {"If-Match": "*"})["statusCode"] == 200
    for told in (changes, {**changes, "version": "*"}):
        refused = editor.call("save", told, {"If-Match": "v" * 65})
        assert (refused["statusCode"], body_of(refused)["error"]["field"]) == (400, "If-Match")


def test_of_two_editors_at_once_one_is_saved_and_the_other_told(stack: Deployed) -> None:
    """Parameter Store has no conditional write: the lock makes the check and the writes one."""
    version = Editor(stack.environment).versions()["tenant"]
    editors = [Editor(stack.environment) for _ in range(4)]
    answers: list[Any] = []

    def save(number: int) -> None:
        changes = {f"{SERPER}.priority": number, "research.default.web": f"endpoint-{number}"}
        arguments = {"level": "tenant", "version": version, "settings": changes}
        answers.append((number, editors[number].call("save", arguments)["statusCode"]))

    threads = [threading.Thread(target=save, args=(number,)) for number in range(len(editors))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (winner,) = [number for number, status in answers if status == 200]
    assert sorted(status for _, status in answers) == [200, 409, 409, 409]
    rows = editors[0].rows()
    assert (rows[f"{SERPER}.priority"]["value"], rows["research.default.web"]["value"]) == (
        str(winner),
        f"endpoint-{winner}",
    )


def test_an_editor_who_never_ends_is_waited_for_and_then_told(editor: Editor, clock: FakeClock) -> None:
    """Five seconds, then 409 to come again; when its time is over nobody is kept out."""
    editor.environment._settings_edits.begin("acme", "somebody", now=clock.now(), seconds=40)
    error = editor.refused({f"{SERPER}.priority": 1})
    assert (error["status"], error["type"], error["retryable"]) == (409, "urn:zarniwoop:problem:settings-busy", True)
    assert 5 <= sum(clock.slept) < 6
    clock.advance(40)
    editor.save({f"{SERPER}.priority": 1})


NEW = "research.endpoint.new"
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown protocol": ({f"{NEW}.protocol": "altavista"}, f"{NEW}.protocol"),
    "no protocol": ({f"{NEW}.baseUrl": "https://api.example.org"}, f"{NEW}.protocol"),
    "no key where one is needed": ({f"{NEW}.protocol": "serper"}, f"{NEW}.apiKey"),
    "a base URL of another scheme": ({f"{SERPER}.baseUrl": "ftp://api.example.org"}, f"{SERPER}.baseUrl"),
    "a private base URL": ({f"{SERPER}.baseUrl": "https://10.1.2.3/api"}, f"{SERPER}.baseUrl"),
    "the metadata service": ({f"{SERPER}.baseUrl": "http://169.254.169.254/latest"}, f"{SERPER}.baseUrl"),
    "a base URL inside the house": ({f"{SERPER}.baseUrl": "https://search.internal"}, f"{SERPER}.baseUrl"),
    "a base URL in an odd spelling": ({f"{SERPER}.baseUrl": "https://0x7f.1"}, f"{SERPER}.baseUrl"),
    "a base URL without TLS": ({f"{SERPER}.baseUrl": "http://api.example.org"}, f"{SERPER}.baseUrl"),
    "a base URL on an odd port": ({f"{SERPER}.baseUrl": "https://api.example.org:22"}, f"{SERPER}.baseUrl"),
    "a base URL with credentials": ({f"{SERPER}.baseUrl": "https://me:planted@api.example.org"}, f"{SERPER}.baseUrl"),
    "a base URL with a query": ({f"{SERPER}.baseUrl": "https://api.example.org/?key=planted"}, f"{SERPER}.baseUrl"),
    "a model's private base URL": ({"llm.primary.baseUrl": "http://192.168.1.1/v1"}, "llm.primary.baseUrl"),
    "a key with a control character": ({f"{SERPER}.apiKey": "planted-key\x07-0123456"}, f"{SERPER}.apiKey"),
    "a key of two lines": ({f"{SERPER}.apiKey": "planted-key-01234\nX-Evil: 1"}, f"{SERPER}.apiKey"),
    "a key over 4 KB": ({f"{SERPER}.apiKey": "planted" * 700}, f"{SERPER}.apiKey"),
    "a key that is too short": ({f"{SERPER}.apiKey": "planted"}, f"{SERPER}.apiKey"),
    "a value over 4 KB": ({"research.fallback.web": "a," * LONGEST_VALUE}, "research.fallback.web"),
    "a value of two lines": ({f"{SERPER}.userAgent": "planted\nX-Evil: 1"}, f"{SERPER}.userAgent"),
    "a reference to another parameter": ({f"{SERPER}.userAgent": "{{ssm:planted}}"}, f"{SERPER}.userAgent"),
    "a number that is none": ({f"{SERPER}.priority": "planted"}, f"{SERPER}.priority"),
    "a field of another protocol": ({f"{SERPER}.abstracts": "planted"}, f"{SERPER}.abstracts"),
    "a field that is not written so": ({f"{SERPER}.contactEmail": "planted"}, f"{SERPER}.contactEmail"),
    "a modality that is none": ({"research.default.smell": "serper-main"}, "research.default.smell"),
    "an endpoint that is none in routing": ({"research.default.web": "Planted!"}, "research.default.web"),
    "a knob out of range": ({"research.log.retentionDays": 0}, "research.log.retentionDays"),
    "a time that is none": ({"research.cache.ttlSeconds.web": "ever"}, "research.cache.ttlSeconds.web"),
    "a recipe that is none": ({"research.rerank.recipe": "planted"}, "research.rerank.recipe"),
    "an unknown setting": ({"research.planted": "x"}, "research.planted"),
    "a setting of another kind": ({"aws.secret.planted": "x"}, "settings"),
    "a setting of the models that is none": ({"llm.primary.planted": "x"}, "llm.primary.planted"),
    "an id that is none": ({"research.endpoint.Bad Id.protocol": "wikipedia"}, "settings"),
    "an id in capitals": ({"research.endpoint.BAD.protocol": "wikipedia"}, "research.endpoint.BAD.protocol"),
    "a path for a key": ({"research.endpoint.a/../b.protocol": "wikipedia"}, "settings"),
    "our own mark": ({f"{SERPER}.enabled": "half-saved:planted:x"}, f"{SERPER}.enabled"),
    "an object for a value": ({f"{SERPER}.priority": {"planted": 1}}, f"{SERPER}.priority"),
    "nothing": ({}, "settings"),
    "too many": ({f"research.endpoint.e{number}.protocol": "wikipedia" for number in range(101)}, "settings"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_named_with_the_way_out_and_nothing_is_saved(
    editor: Editor, stack: Deployed, case: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The field, never its value: a key may have been pasted into it."""
    changes, field = WRONG[case]
    before = editor.versions()
    stack.forget_calls()
    error = editor.refused(changes)
    assert (error["status"], error["field"]) == (400, field), error
    assert error["suggested_action"]
    assert "planted" not in json.dumps(error).replace("planted'", "").replace(field, "")
    assert "planted-key" not in capsys.readouterr().out
    assert "PutParameter" not in stack.calls_of("ssm")
    assert editor.versions() == before


def test_a_wrong_setting_that_nobody_touches_is_in_nobodys_way(editor: Editor, stack: Deployed) -> None:
    """It is listed with its reason; its own endpoint can still be switched off, and mended."""
    stack.cloud.set("research.endpoint.hackernews-main.tags", "(story")
    editor.save({f"{SERPER}.priority": 1})
    row = editor.endpoint("hackernews-main")
    assert (row["badge"], [each["setting"] for each in row["problems"]]) == (
        "not_configured",
        ["research.endpoint.hackernews-main.tags"],
    )
    assert editor.refused({"research.endpoint.hackernews-main.priority": 1})["field"].endswith(".tags")
    editor.save({"research.endpoint.hackernews-main.enabled": False})
    editor.save({"research.endpoint.hackernews-main.tags": "story", "research.endpoint.hackernews-main.priority": 1})
    assert editor.endpoint("hackernews-main")["badge"] == "configured"


def test_a_key_needs_no_protocol_that_stands_at_an_outer_level_but_a_trusted_address(
    editor: Editor, stack: Deployed
) -> None:
    """A project may bring its own key; moving the tenant's key to the project's address is refused."""
    editor.save({f"{SERPER}.apiKey": KEY}, level="project")
    assert editor.endpoint("serper-main")["key_from"] == "project"
    editor.ok("delete", {"name": f"{SERPER}.apiKey", "level": "project", "project_id": "demo", "version": "*"})
    error = editor.refused({f"{SERPER}.baseUrl": "https://elsewhere.example.org"}, level="project")
    assert (error["status"], error["field"]) == (400, f"{SERPER}.apiKey")
    assert "is not sent where" in error["detail"]


@pytest.mark.parametrize("level", ["tenant", "project"])
def test_a_saved_key_does_not_go_to_a_new_address_unless_it_is_sent_along(
    editor: Editor, stack: Deployed, level: str
) -> None:
    """Whoever may change settings cannot read the key, and does not get it sent to himself either."""
    editor.save({f"{SERPER}.apiKey": KEY}, level=level)
    elsewhere = stack.simulator.url("serper") + "/mine"
    for change in ({"baseUrl": elsewhere}, {"protocol": "openalex"}, {"protocol": "openalex", "baseUrl": elsewhere}):
        changes = {f"{SERPER}.{suffix}": value for suffix, value in change.items()}
        for kept in ({}, {f"{SERPER}.apiKey": ""}):
            error = editor.refused({**changes, **kept}, level=level)
            if level == "project" and error["status"] == 400:
                continue
            assert (error["status"], error["type"]) == (409, "urn:zarniwoop:problem:key-needed")
            assert (error["field"], "send apiKey along" in error["suggested_action"]) == (f"{SERPER}.apiKey", True)
    same = {f"{SERPER}.protocol": "serper", f"{SERPER}.baseUrl": stack.simulator.url("serper") + "/"}
    editor.save(same, level=level)
    editor.save({f"{SERPER}.baseUrl": elsewhere, f"{SERPER}.apiKey": KEY}, level=level)
    away = {"name": f"{SERPER}.baseUrl", "level": level, "version": "*", "project_id": "demo"}
    refused = editor.call("delete", away)
    assert (refused["statusCode"], body_of(refused)["error"]["type"]) == (409, "urn:zarniwoop:problem:key-needed")
    editor.ok("delete", away | {"name": f"{SERPER}.protocol"})
    if level == "tenant":
        moved = {f"{SERPER}.protocol": "serper", f"{SERPER}.baseUrl": elsewhere + "/2"}
        assert editor.refused(moved, level=level)["type"] == "urn:zarniwoop:problem:key-needed"


def _move(simulator: Simulator) -> dict[str, Any]:
    return {f"{SERPER}.apiKey": KEY, f"{SERPER}.baseUrl": simulator.url("serper") + "/moved", f"{SERPER}.priority": 1}


@pytest.mark.parametrize("passed", [1, 2, 3, 4])
def test_a_move_that_is_throttled_half_way_is_told_harmless_and_can_be_sent_again(
    editor: Editor, stack: Deployed, clock: FakeClock, passed: int
) -> None:
    """Address and key do not go together yet, so nobody asks it; the same request with the new version ends it."""
    changes = _move(stack.simulator)
    refused = refuse(_writes(editor), "ThrottlingException", after=passed)
    response = editor.call("save", {"level": "tenant", "version": editor.versions()["tenant"], "settings": changes})
    envelope = body_of(response)
    assert (response["statusCode"], response["headers"]["retry-after"], envelope["ok"]) == (503, "5", False)
    error, data = envelope["error"], envelope["data"]
    assert (error["type"], error["retryable"]) == ("urn:zarniwoop:problem:half-saved", True)
    assert set(data["saved"]) | set(data["left"]) == {*changes, f"{SERPER}.enabled"}
    assert data["left"]
    assert data["left"][0] == error["field"]
    assert len(refused) > 3
    assert 5 < sum(clock.slept) < 25
    assert _asked_instances(stack) == ["hackernews-main"]
    row = editor.endpoint("serper-main")
    assert (row["enabled"], row["badge"]) == (False, "not_configured")
    assert "broken off" in row["problems"][0]["reason"]
    _mend(editor)
    ended = editor.save(changes, version=data["version"])
    assert ended["left"] == []
    rows = editor.rows()
    assert f"{SERPER}.enabled" not in rows
    assert rows[f"{SERPER}.baseUrl"]["value"] == changes[f"{SERPER}.baseUrl"]
    assert (rows[f"{SERPER}.apiKey"]["preview"], rows[f"{SERPER}.priority"]["value"]) == ("tvly-K" + MASK, "1")
    assert editor.endpoint("serper-main")["badge"] == "configured"


def _mend(editor: Editor) -> None:
    """Parameter Store takes writes again."""
    for made in ("_settings_writer", "settings_desk"):
        editor.environment.__dict__.pop(made)


def test_no_project_can_switch_on_what_its_tenant_has_half_moved(editor: Editor, stack: Deployed) -> None:
    """Not even one that had it switched on before."""
    editor.save({f"{SERPER}.enabled": True}, level="project")
    refuse(_writes(editor), "ThrottlingException", after=2)
    editor.refused(_move(stack.simulator))
    assert _asked_instances(stack) == ["hackernews-main"]
    _mend(editor)
    assert editor.refused({f"{SERPER}.priority": 1}, level="project")["field"] == f"{SERPER}.enabled"
    editor.save(_move(stack.simulator))
    assert editor.endpoint("serper-main")["enabled"]


def test_a_broken_off_move_is_ended_by_all_of_it_or_not_at_all(editor: Editor, stack: Deployed) -> None:
    """Switching it on, or sending half of it, would let the old key meet the new address."""
    editor.save({f"{SERPER}.enabled": True})
    changes = _move(stack.simulator)
    refuse(_writes(editor), "ThrottlingException", after=2)
    editor.refused(changes)
    _mend(editor)
    for half in ({f"{SERPER}.enabled": True}, {f"{SERPER}.baseUrl": changes[f"{SERPER}.baseUrl"]}):
        error = editor.refused(half)
        assert (error["status"], error["type"]) == (409, "urn:zarniwoop:problem:half-saved")
        assert f"{SERPER}.apiKey" in error["suggested_action"]
    for draft in ({}, {"enabled": True}, {"baseUrl": changes[f"{SERPER}.baseUrl"]}):
        asked = {"endpoint_id": "serper-main", "level": "tenant", "project_id": "demo", "settings": draft}
        refused = editor.call("test", asked)
        assert (refused["statusCode"], body_of(refused)["error"]["type"]) == (409, "urn:zarniwoop:problem:half-saved")
    assert stack.simulator.requests() == []
    whole = {"endpoint_id": "serper-main", "level": "tenant", "project_id": "demo", "settings": changes}
    assert editor.call("test", whole)["statusCode"] == 200
    for name in (f"{SERPER}.enabled", f"{SERPER}.baseUrl"):
        refused = editor.call("delete", {"name": name, "level": "tenant", "version": "*"})
        assert (refused["statusCode"], body_of(refused)["error"]["type"]) == (409, "urn:zarniwoop:problem:half-saved")
    editor.save(changes)
    assert editor.rows()[f"{SERPER}.enabled"]["value"] == "true"


def test_throttling_that_passes_is_waited_for(editor: Editor, stack: Deployed, clock: FakeClock) -> None:
    """Three writes a second is what Parameter Store takes; a longer form is slower, and whole."""
    refuse(_writes(editor), "ThrottlingException", after=2, times=3)
    saved = editor.save(_move(stack.simulator))
    assert (saved["left"], clock.slept) == ([], [0.25, 0.5, 1.0])


def test_a_new_endpoint_that_is_throttled_half_way_is_not_there_yet(editor: Editor) -> None:
    """Its protocol comes last; sent again, it is there."""
    changes = {f"{NEW}.protocol": "wikipedia", f"{NEW}.language": "fr", f"{NEW}.priority": 3}
    refuse(_writes(editor), "ThrottlingException", after=1)
    error = editor.refused(changes)
    assert (error["status"], error["type"]) == (503, "urn:zarniwoop:problem:half-saved")
    row = editor.endpoint("new")
    assert (row["protocol"], row["badge"]) == (None, "not_configured")
    _mend(editor)
    assert editor.save(changes)["left"] == []
    assert editor.endpoint("new")["badge"] == "configured"


def test_when_not_even_the_first_write_goes_through_nothing_is_said_to_be_saved(editor: Editor) -> None:
    """503 like any other call while Parameter Store is away."""
    refuse(_writes(editor), "InternalServerError", status=500)
    error = editor.refused({f"{SERPER}.priority": 1})
    assert (error["status"], error["type"]) == (503, "urn:zarniwoop:problem:config-unavailable")


@pytest.mark.parametrize(("passed", "slug"), [(0, "parameter-limit-reached"), (1, "half-saved")])
def test_a_full_parameter_store_is_told_with_the_way_out(editor: Editor, passed: int, slug: str) -> None:
    """10,000 parameters in an account and region; waiting does not help, and is not done."""
    refuse(_writes(editor), "ParameterLimitExceeded", after=passed)
    error = editor.refused({f"{NEW}.protocol": "wikipedia", f"{NEW}.language": "fr"})
    assert (error["status"], error["type"], error["retryable"]) == (507, f"urn:zarniwoop:problem:{slug}", False)
    assert "delete settings that nobody uses" in error["suggested_action"]


def test_a_level_that_would_get_too_long_to_be_read_is_refused(editor: Editor, stack: Deployed) -> None:
    """Every search under it would stop; what is there already can still be changed and taken away."""
    for number in range(390):
        stack.cloud.set(f"research.endpoint.e{number}.protocol", "wikipedia")
    error = editor.refused({f"research.endpoint.x{number}.protocol": "wikipedia" for number in range(20)})
    assert (error["status"], error["type"]) == (400, "urn:zarniwoop:problem:level-full")
    editor.save({f"{SERPER}.apiKey": KEY, "research.endpoint.e1.protocol": None})


def test_an_endpoint_is_gone_with_the_first_write_and_its_rest_with_the_second_try(
    editor: Editor, stack: Deployed
) -> None:
    """Its routing that is left is named; what is not there cannot be deleted."""
    editor.save({"research.default.web": "serper-main", "research.fallback.web": ["serper-main", "hackernews-main"]})
    refuse(_writes(editor), "ThrottlingException", after=1)
    gone = {"name": "serper-main", "level": "tenant", "version": "*"}
    assert editor.call("delete", gone)["statusCode"] == 503
    assert _asked_instances(stack) == ["hackernews-main"]
    _mend(editor)
    deleted = editor.ok("delete", gone)
    assert (deleted["left"], deleted["named_by"]) == ([], ["research.default.web", "research.fallback.web"])
    assert not [key for key in editor.rows() if key.startswith(SERPER)]
    missing = editor.call("delete", gone)
    assert (missing["statusCode"], body_of(missing)["error"]["field"]) == (404, "name")


def test_switching_an_endpoint_off_is_one_write_that_every_warm_search_sees_at_once(
    editor: Editor, stack: Deployed
) -> None:
    """Also where routing names it alone, and though an environment keeps its endpoints for five minutes."""
    stack.cloud.set("research.default.web", "serper-main")
    assert _asked_instances(stack) == ["serper-main"]
    stack.forget_calls()
    saved = editor.save({f"{SERPER}.enabled": False})
    assert (saved["takes_effect"], stack.calls_of("ssm").count("PutParameter")) == ("at once", 1)
    assert _asked_instances(stack) == ["hackernews-main"]
    editor.save({f"{SERPER}.enabled": True}, level="project")
    assert _asked_instances(stack) == ["serper-main"]


def test_a_key_that_is_replaced_is_what_the_next_search_sends(editor: Editor, stack: Deployed) -> None:
    """No warm environment goes on with the old one, which may belong to another address."""
    stack.cloud.set("research.default.web", "serper-main")
    assert stack.envelope("research_search", posted(ASKED))["ok"]
    editor.save({f"{SERPER}.apiKey": "bad-key-0123456789"})
    (attempt,) = stack.envelope("research_search", posted(ASKED))["data"]["attempts"]
    assert attempt["reason"] == "credentials_rejected"


def test_with_the_state_table_down_nothing_is_saved(editor: Editor, stack: Deployed) -> None:
    """Without the lock two editors would overwrite each other."""
    stack.cloud.client("dynamodb").delete_table(TableName=stack.cloud.variables["STATE_TABLE"])
    before = editor.versions()
    error = editor.refused({f"{SERPER}.priority": 1})
    assert (error["status"], error["type"], error["retryable"]) == (503, "urn:zarniwoop:problem:unready", True)
    assert editor.versions() == before


def test_when_the_change_cannot_be_announced_it_says_so(editor: Editor) -> None:
    """It is saved, and takes effect when the factory's time is over."""
    refuse(editor.environment.state._client, "InternalServerError", status=500)  # type: ignore[attr-defined]
    editor.environment.__dict__.pop("_dynamodb")
    saved = editor.save({f"{SERPER}.priority": 1})
    assert "research.factory.cache.ttlMinutes" in saved["takes_effect"]
    assert editor.rows()[f"{SERPER}.priority"]["value"] == "1"


def test_who_changed_what_is_on_record_without_a_value(editor: Editor, stack: Deployed) -> None:
    """Beside the audit trail, for ninety days."""
    editor.save({f"{SERPER}.apiKey": KEY, f"{SERPER}.priority": 1})
    editor.ok("delete", {"name": f"{SERPER}.priority", "level": "tenant", "version": "*"})
    deleted, saved = sorted(stack.cloud.items("CALLS_TABLE"), key=lambda item: str(item["action"]))
    assert saved["pk"]["S"] == "T#acme#P#_tenant"
    assert (saved["action"]["S"], deleted["action"]["S"]) == ("save", "delete")
    assert saved["actor"]["S"] == "0123456789abcdef"
    assert [key["S"] for key in deleted["keys"]["L"]] == [f"{SERPER}.priority"]


@pytest.mark.parametrize("operation", ["read", "form", "save", "delete", "test", "reveal"])
@pytest.mark.parametrize(
    "identity", [{"level": "1"}, {"level": "3"}, {"tools": "research_search"}, {"level": "0", "tools": "settings"}]
)
def test_only_a_token_of_level_4_that_may_edit_settings_gets_in(
    editor: Editor, operation: str, identity: dict[str, str]
) -> None:
    """To read them too: they name addresses inside the house."""
    arguments = {"name": "x", "endpoint_id": "x", "key": "x"}
    editor.identity = identity
    response = editor.call(operation, arguments)
    assert (response["statusCode"], body_of(response)["error"]["type"]) == (403, "urn:zarniwoop:problem:not-allowed")


def test_a_token_of_some_projects_changes_those_and_not_the_tenants(editor: Editor) -> None:
    """What is in force in every project is for tokens of every project."""
    editor.identity = {"projects": "demo", "tools": "settings"}
    assert editor.read()["writable"] == ["project"]
    editor.save({f"{SERPER}.priority": 1}, level="project")
    for arguments, field in (({"level": "tenant"}, "level"), ({"level": "project", "project_id": "lab"}, "project_id")):
        error = editor.refused({f"{SERPER}.priority": 2}, **arguments)
        assert (error["status"], error["field"]) == (403, field)
    hidden = editor.call("reveal", {"level": "tenant", "key": f"{SERPER}.apiKey"})
    assert hidden["statusCode"] == 403


def test_without_a_project_the_tenants_own_settings_are_shown(editor: Editor) -> None:
    """To a token of all projects; defaults that nobody saved stand beside them."""
    data = editor.ok("read", {})
    assert (data["project_id"], data["writable"], list(data["versions"])) == (None, ["tenant"], ["tenant"])
    knob = next(row for row in data["settings"] if row["key"] == "research.factory.cache.ttlMinutes")
    assert (knob["value"], knob["level"]) == ("5", "default")
    fetching = {row["key"]: row["value"] for row in data["settings"] if row["key"].startswith("fetch.")}
    assert fetching == {"fetch.robots": "true", "fetch.site.intervalMs": "1000", "fetch.archive.enabled": "false"}
    assert (data["protocols"]["serper"], data["protocols"]["pubmed"]) == ("configured", "not_configured")


def test_an_endpoint_that_is_there_without_a_setting_is_shown_tested_and_switched_off(
    editor: Editor, stack: Deployed
) -> None:
    """The project's own documents: switching them off takes saying what they are."""
    row = editor.endpoint("local-index")
    assert (row["protocol"], row["badge"], row["enabled"]) == ("local-index", "configured", True)
    tested = body_of(editor.call("test", {"endpoint_id": "local-index", "level": "tenant", "project_id": "demo"}))
    assert tested["data"]["protocol"] == "local-index"
    off = {"research.endpoint.local-index.enabled": False}
    assert editor.refused(off)["field"] == "research.endpoint.local-index.protocol"
    editor.save({**off, "research.endpoint.local-index.protocol": "local-index"})
    assert editor.endpoint("local-index")["enabled"] is False


def test_a_process_is_shown_with_what_it_overrides(editor: Editor, stack: Deployed) -> None:
    """It is read here and changed elsewhere."""
    place = Place(tenant_id="acme", project_id="demo", process_id="night-run")
    editor.environment._settings_writer.put(place, f"{SERPER}.priority", "9")
    data = editor.read(process_id="night-run")
    row = next(row for row in data["settings"] if row["key"] == f"{SERPER}.priority")
    assert (row["value"], row["level"], data["writable"]) == ("9", "process", ["tenant", "project"])


def test_keys_that_cannot_be_read_are_shown_without_a_prefix(editor: Editor) -> None:
    """The list is there all the same."""
    editor.versions()
    refuse(editor.environment._parameters._client, "ThrottlingException", after=2)  # type: ignore[attr-defined]
    assert editor.rows()[f"{SERPER}.apiKey"]["preview"] == MASK


def test_a_saved_key_is_shown_whole_only_where_the_operator_lets_it_and_on_record(
    editor: Editor, stack: Deployed, capsys: pytest.CaptureFixture[str]
) -> None:
    """Off by default; never without the record; a value that is no secret is not asked for here."""
    asked = {"level": "tenant", "key": f"{SERPER}.apiKey"}
    off = editor.call("reveal", asked)
    assert (off["statusCode"], body_of(off)["error"]["type"]) == (403, "urn:zarniwoop:problem:reveal-off")
    assert stack.cloud.items("CALLS_TABLE") == []
    stack.cloud.variables["ALLOW_SECRET_REVEAL"] = "true"
    assert editor.ok("reveal", asked) == {"key": asked["key"], "level": "tenant", "value": CANARY}
    (record,) = stack.cloud.items("CALLS_TABLE")
    assert (record["action"]["S"], record["keys"]["L"]) == ("reveal", [{"S": asked["key"]}])
    assert editor.call("reveal", asked | {"key": f"{SERPER}.protocol"})["statusCode"] == 400
    assert editor.call("reveal", asked | {"key": f"{SERPER}.nothing"})["statusCode"] == 404
    assert editor.call("reveal", asked | {"level": "project", "project_id": "demo"})["statusCode"] == 404
    stack.cloud.client("dynamodb").delete_table(TableName=stack.cloud.variables["CALLS_TABLE"])
    unrecorded = editor.call("reveal", asked)
    assert unrecorded["statusCode"] == 503
    assert CANARY not in unrecorded["body"]
    assert CANARY not in capsys.readouterr().out


@pytest.mark.parametrize("name", ["settings", "settings.form", "settings.save", "settings.delete", "settings.test"])
def test_a_sample_request_is_answered(stack: Deployed, name: str) -> None:
    """Each route has one."""
    response = stack.call("settings", sample(name))
    assert (response["statusCode"], body_of(response)["ok"]) == (200, True), response["body"]


def test_the_samples_cover_every_route() -> None:
    """And what they are sent as is what the template routes."""
    names = ("settings", *(f"settings.{each}" for each in ("form", "save", "delete", "test", "reveal")))
    assert {(sample(name)["httpMethod"], sample(name)["resource"]) for name in names} == set(ROUTES)


def test_it_is_invoked_directly_too_and_told_what_it_does_not_know(stack: Deployed) -> None:
    """IAM vouches for the sender, for the whole tenant."""
    assert stack.call("settings", sample("settings.invoke"))["data"]["level"] == "tenant"
    read = stack.call("settings", sample("settings.invoke") | {"operation": "read", "arguments": {}})
    assert read["data"]["project_id"] == "demo"
    unknown = stack.call("settings", sample("settings.invoke") | {"operation": "explode"})
    assert unknown["error"]["field"] == "operation"
    lost = stack.call("settings", sample("settings") | {"resource": "/v1/settings/other"})
    assert body_of(lost)["error"]["type"] == "urn:zarniwoop:problem:unknown-route"


def test_no_model_is_given_the_settings_as_a_tool(stack: Deployed) -> None:
    """What changes the stack is a human's: it stands in no catalogue."""
    assert "settings" not in {tool.name for tool in TOOLS}


def test_a_fault_of_ours_tells_nothing_of_what_was_sent(
    stack: Deployed, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The log names where it happened; the key that was being saved is in neither."""

    def broken(*_arguments: Any) -> None:
        raise RuntimeError(KEY)

    monkeypatch.setattr("zarniwoop.entry.settings_operations.read_changes", broken)
    event = sample("settings.save")
    event["body"] = json.dumps({"level": "tenant", "version": "*", "settings": {f"{SERPER}.apiKey": KEY}})
    response = settings(lambda: stack.environment)(event, LambdaContext())
    assert response["statusCode"] == 500
    assert KEY not in response["body"] + capsys.readouterr().out
    logging.getLogger("zarniwoop").handlers.clear()


def test_only_endpoints_that_read_pages_are_named_as_hosted_readers(editor: Editor, stack: Deployed) -> None:
    """A protocol's name is no id, and not every endpoint reads pages; the refusal names those that do."""
    for order in ("firecrawl", "serper-main", ["reader", "nobody"]):
        error = editor.refused({"fetch.hosted.order": order})
        assert (error["status"], error["field"]) == (400, "fetch.hosted.order")
        assert "none yet" in error["detail"]
    reader = "research.endpoint.reader"
    editor.save({f"{reader}.protocol": "firecrawl", f"{reader}.apiKey": KEY, "fetch.hosted.order": "reader"})
    assert editor.read()["problems"] == []
    assert "there are: reader" in editor.refused({"fetch.hosted.order": "reader,firecrawl"})["detail"]
    editor.ok("delete", {"name": "reader", "level": "tenant", "version": "*"})
    (problem,) = editor.read()["problems"]
    assert problem["setting"] == "fetch.hosted.order"
    stack.freeze()
    told = stack.envelope("research_providers", posted({}, tool="research_providers"))["data"]["misconfigured"]
    assert [(row["id"], row["setting"]) for row in told] == [("", "fetch.hosted.order")]


def test_domains_for_a_browser_that_is_not_there_are_a_problem(editor: Editor, stack: Deployed) -> None:
    """Also where they were saved while there was one."""
    stack.cloud.set("fetch.browser.domains", "app.example.com")
    (problem,) = editor.read()["problems"]
    assert (problem["setting"], "no browser" in problem["reason"]) == ("fetch.browser.domains", True)
    error = editor.refused({"fetch.browser.domains": "www.example.com"})
    assert (error["field"], "Browser" in error["suggested_action"]) == ("fetch.browser.domains", True)
    editor.environment._variables = {**editor.environment._variables, "BROWSER": "chromium"}
    editor.save({"fetch.browser.domains": "www.example.com"})
    assert editor.read()["problems"] == []
