"""What every `SettingsEdits` promises, put to the one in memory and to the one on DynamoDB alike."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.fakes.aws import AUDIT_TABLE, STATE_TABLE, aws_in_process, create_table
from tests.fakes.settings_edits import InMemorySettingsEdits
from zarniwoop.stores.clients import dynamodb_client
from zarniwoop.stores.dynamodb_editing import DynamoDbSettingsEdits
from zarniwoop.stores.editing import SettingsAction, SettingsEdits, SettingsEvent

NOW = 1_800_000_000.0


@pytest.fixture(params=["memory", "dynamodb"])
def edits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[SettingsEdits]:
    if request.param == "memory":
        yield InMemorySettingsEdits()
        return
    with aws_in_process(monkeypatch):
        create_table(STATE_TABLE, "pk", "sk")
        create_table(AUDIT_TABLE, "pk", "sk")
        yield DynamoDbSettingsEdits(dynamodb_client(), state_table=STATE_TABLE, calls_table=AUDIT_TABLE)


def begin(edits: SettingsEdits, holder: str, *, tenant_id: str = "acme", now: float = NOW) -> bool:
    return edits.begin(tenant_id, holder, now=now, seconds=40)


def test_one_editor_at_a_time_changes_a_tenants_settings(edits: SettingsEdits) -> None:
    """The other waits until the first has ended; another tenant's editor does not."""
    assert begin(edits, "a")
    assert not begin(edits, "b")
    assert begin(edits, "b", tenant_id="other")
    edits.end("acme", "a")
    assert begin(edits, "b")


def test_of_many_at_once_exactly_one_begins(edits: SettingsEdits) -> None:
    """Whoever they are."""
    with ThreadPoolExecutor(max_workers=8) as pool:
        begun = list(pool.map(lambda number: begin(edits, f"editor-{number}"), range(8)))
    assert begun.count(True) == 1


def test_an_editor_who_died_is_out_when_its_time_is_over(edits: SettingsEdits) -> None:
    """And when it ends after all, it does not throw out who came after it."""
    assert begin(edits, "a")
    assert begin(edits, "b", now=NOW + 40)
    edits.end("acme", "a")
    assert not begin(edits, "c", now=NOW + 41)


def test_a_beginning_that_is_repeated_is_the_same_one(edits: SettingsEdits) -> None:
    """The client repeats a call whose answer was lost."""
    assert begin(edits, "a")
    assert begin(edits, "a")


@pytest.mark.parametrize("project_id", [None, "demo"])
def test_what_was_done_is_recorded(edits: SettingsEdits, project_id: str | None) -> None:
    """To a project's settings or to the tenant's."""
    edits.record(
        SettingsEvent(
            tenant_id="acme",
            project_id=project_id,
            action=SettingsAction.SAVE,
            keys=("research.default.web",),
            actor="0123456789abcdef",
            request_id="request-1",
            at=NOW,
            expires_at=NOW + 86_400,
        )
    )
    edits.end("acme", "nobody")
