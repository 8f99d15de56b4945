"""Changing settings, as laws: what is saved comes back, secrets do not, and no broken-off change sends a key astray."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.clock import FakeClock
from tests.fakes.environment import FakeEnvironment
from tests.fakes.parameter_store import InMemoryParameterStore
from tests.fakes.settings import Editor
from tests.fakes.settings_edits import InMemorySettingsEdits
from tests.fakes.state_store import InMemoryStateStore
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import ConfigurationUnavailable
from zarniwoop.contract.problem import CallerError, InvalidArgument
from zarniwoop.net.address import AllowedNetworks
from zarniwoop.observe.metrics import MetricsBuffer
from zarniwoop.settings.cascade import EffectiveSettings
from zarniwoop.settings.changes import read_changes
from zarniwoop.settings.credentials import KnownProtocol
from zarniwoop.settings.desk import Editor as DeskEditor
from zarniwoop.settings.desk import SettingsDesk, in_force
from zarniwoop.settings.endpoints import research_settings
from zarniwoop.settings.levels import Place
from zarniwoop.settings.masking import MASK, is_masked, masked
from zarniwoop.settings.ssm_calls import ParameterStoreUnavailable

E = "research.endpoint.e1"
TENANT = Place(tenant_id="acme")
SECRETS = st.text(
    st.characters(min_codepoint=0x21, max_codepoint=0x7E, exclude_characters=","), min_size=8, max_size=512
)
"""One key: a comma would part it in two."""
NAMES = st.from_regex(r"[a-z][a-z0-9]{0,8}", fullmatch=True)
VALUES = st.text(
    st.characters(min_codepoint=0x20, max_codepoint=0x17F, categories=("L", "N", "P", "S", "Zs")), max_size=40
)


@given(SECRETS)
def test_a_mask_tells_at_most_a_quarter_and_is_told_from_every_key(secret: str) -> None:
    """Nor how long the key is; a key is only taken for a mask when it has four asterisks in a row."""
    shown = masked(secret).removesuffix(MASK)
    assert secret.startswith(shown)
    assert len(shown) <= min(6, len(secret) // 4)
    assert len(shown) == 0 or len(secret) >= 16
    assert is_masked(masked(secret))
    assert "****" in secret or not is_masked(secret)


def _without_a_key() -> str:
    """What is read where no key was saved: `project_` may be one, and is in every answer."""
    return str(Editor(FakeEnvironment({"e1": []})).call("read", {"project_id": "demo"})["body"])


@given(st.dictionaries(NAMES, VALUES, max_size=6), SECRETS)
def test_what_is_saved_comes_back_and_the_key_does_not(extras: dict[str, str], secret: str) -> None:
    """Whatever the fields are called: each value as it was sent but for white space around it."""
    if (
        "****" in secret
        or "{{" in secret
        or any("{{" in value or not value.strip().isprintable() for value in extras.values())
    ):
        return
    environment = FakeEnvironment({"e1": []})
    editor = Editor(environment)
    changes = {f"{E}.x{name}": value for name, value in extras.items()}
    editor.save({**changes, f"{E}.apiKey": secret})
    answer = editor.call("read", {"project_id": "demo"})["body"]
    rows = editor.rows()
    assert secret not in answer or any(secret in value for value in extras.values()) or secret in _without_a_key()
    assert rows[f"{E}.apiKey"]["preview"] == masked(secret)
    assert {key: rows[key]["value"] for key in changes if key in rows} == {
        key: value.strip() for key, value in changes.items() if value.strip()
    }
    editor.save({f"{E}.apiKey": ""} | dict.fromkeys(changes))
    left = editor.rows()
    assert not set(changes) & set(left)
    assert environment.reveal_setting("/zarniwoop/test/acme/_tenant/research/endpoint/e1/apiKey") == secret


@given(st.dictionaries(st.text(max_size=30), st.none() | st.booleans() | st.floats() | st.text() | st.lists(st.text())))
def test_whatever_is_sent_is_read_or_refused_with_a_field(sent: dict[str, Any]) -> None:
    """Nothing else comes of it."""
    try:
        changes = read_changes(sent, AllowedNetworks)
    except InvalidArgument as error:
        assert error.field
        assert error.suggested_action
    else:
        assert set(changes) <= set(sent)


class _Breaking(InMemoryParameterStore):
    """Takes so many writes, and no more until it is mended."""

    def __init__(self) -> None:
        super().__init__()
        self.takes: int | None = None

    def put(self, place: Place, key: str, value: str, *, secure: bool = False) -> None:
        self._take()
        super().put(place, key, value, secure=secure)

    def delete(self, place: Place, key: str) -> bool:
        self._take()
        return super().delete(place, key)

    def _take(self) -> None:
        if self.takes == 0:
            raise ParameterStoreUnavailable("no more", passing=False)
        self.takes = None if self.takes is None else self.takes - 1


PROTOCOLS = {
    name: KnownProtocol(default_base_url=f"https://{name}.example.org", key_required=True) for name in ("one", "two")
}


@dataclass
class _Saved:
    """A desk on a store that breaks off, and what a search would make of what is there."""

    store: _Breaking
    desk: SettingsDesk

    def address(self) -> tuple[str, str | None, str] | None:
        """Protocol, base URL and key of the endpoint that would be asked; None when none would."""
        settings = research_settings(EffectiveSettings(values=in_force(self.desk.levels(TENANT))), PROTOCOLS, {})
        usable = [endpoint for endpoint in settings.endpoints if endpoint.enabled]
        if not usable or usable[0].credential_key is None:
            return None
        return usable[0].protocol, usable[0].base_url, self.store.reveal(usable[0].credential_key) or ""

    def values(self) -> dict[str, str | None]:
        return {key: self.store.reveal(each.name) for key, each in self.store.read_level(TENANT).items()}

    def change(self, changes: Mapping[str, str | None]) -> bool:
        """Whether all of it was saved."""
        clock = self.desk.clock
        editor = DeskEditor(actor="me", request_id="r", deadline=Deadline.after(24.0, clock))
        return self.desk.save(TENANT, changes, "*", editor).failure is None


def _saved() -> _Saved:
    store, clock = _Breaking(), FakeClock()

    def inspect(effective: EffectiveSettings) -> Any:
        return research_settings(effective, PROTOCOLS, {}).misconfigured

    desk = SettingsDesk(
        parameters=store,
        writer=store,
        edits=InMemorySettingsEdits(),
        state=InMemoryStateStore(clock),
        inspect=inspect,
        clock=clock,
        metrics=MetricsBuffer(),
        protocols=PROTOCOLS,
    )
    return _Saved(store, desk)


STATES = st.fixed_dictionaries(
    {f"{E}.protocol": st.sampled_from(["one", "two"]), f"{E}.apiKey": st.sampled_from(["key-1111", "key-2222"])},
    optional={
        f"{E}.baseUrl": st.sampled_from(["https://a.example.org", "https://b.example.org"]),
        f"{E}.enabled": st.sampled_from(["true", "false"]),
        f"{E}.priority": st.sampled_from(["1", "2"]),
        "research.default.web": st.just("e1"),
    },
)


@given(before=STATES, after=STATES, writes=st.integers(min_value=0, max_value=8))
def test_a_change_that_is_broken_off_anywhere_sends_no_key_astray_and_can_be_ended(
    before: dict[str, str], after: dict[str, str], writes: int
) -> None:
    """Whoever is asked meanwhile has the old address with the old key, or the new with the new; sent again, it is all
    as if nothing had happened."""
    saved = _saved()
    assert saved.change(before)
    old = saved.address()
    changes: dict[str, str | None] = {key: after.get(key) for key in {*before, *after}}
    reference = _saved()
    reference.change(before)
    assert reference.change(changes)
    saved.store.takes = writes
    try:
        whole = saved.change(changes)
    except ConfigurationUnavailable:
        whole = False
        assert saved.values() == before
    assert saved.address() in (None, old, reference.address())
    saved.store.takes = None
    if not whole:
        assert saved.change(changes)
    assert saved.values() == reference.values() == after


@given(before=STATES, half=STATES, writes=st.integers(min_value=1, max_value=4), other=STATES)
def test_after_a_broken_off_change_another_one_mixes_nothing(
    before: dict[str, str], half: dict[str, str], writes: int, other: dict[str, str]
) -> None:
    """It is refused until it says all that was left open, and then it counts alone."""
    saved = _saved()
    saved.change(before)
    saved.store.takes = writes
    saved.change({key: half.get(key) for key in {*before, *half}})
    saved.store.takes = None
    told = saved.address()
    pairs = {(each.get(f"{E}.baseUrl"), each[f"{E}.protocol"], each[f"{E}.apiKey"]) for each in (before, half)}
    assert told is None or (told[1], told[0], told[2]) in pairs
    try:
        saved.change({f"{E}.priority": "7", f"{E}.enabled": "true"})
    except CallerError as refused:
        assert refused.status in (400, 409)
        assert saved.address() is None
    now = saved.address()
    assert now is None or (now[1], now[0], now[2]) in pairs
    every = {*before, *half, *other, f"{E}.priority", f"{E}.enabled"}
    saved.change({key: other.get(key) for key in every})
    assert saved.values() == other


@pytest.mark.parametrize("secret", ["sk-proj-0123456789abcdef", "short-key", "x" * 15])
def test_short_keys_show_nothing(secret: str) -> None:
    """A quarter of fifteen characters would be too much."""
    assert masked(secret) == (secret[:6] if len(secret) >= 24 else "") + MASK


@pytest.mark.parametrize(("seconds", "revealed"), [(24.0, 3), (3.8, 2), (1.0, 0)])
def test_keys_that_there_is_no_time_to_read_are_shown_by_the_bare_mask(seconds: float, revealed: int) -> None:
    """A slow Parameter Store costs previews and not the view."""
    environment, clock = FakeEnvironment(), FakeClock()
    for number in range(3):
        environment.fake_parameters.put(
            TENANT, f"research.endpoint.e{number}.apiKey", "key-" + "0123456789" * 3, secure=True
        )

    def slowly(name: str) -> str | None:
        clock.advance(0.5)
        return environment.reveal_setting(name)

    viewer = replace(environment.settings_viewer, reveal=slowly)
    levels = environment.settings_desk.levels(TENANT)
    view = viewer.view(levels, [], Deadline.after(seconds, clock))
    previews = [row.preview for row in view.settings if row.secret]
    assert (len(previews), sum(preview != MASK for preview in previews)) == (3, revealed)


def test_of_a_pool_the_first_keys_prefix_is_shown_and_how_many_there_are() -> None:
    """No letter of the others; nor more of a short first key than were it alone."""
    editor = Editor(FakeEnvironment({"e1": []}))
    editor.save({f"{E}.apiKey": "first-key-0123456789-0123456789, second-key-0123456789-0123456789"})
    row, endpoint = editor.rows()[f"{E}.apiKey"], editor.endpoint("e1")
    assert (row["preview"], row["key_count"]) == ("first-" + MASK, 2)
    assert (endpoint["key_preview"], endpoint["key_count"]) == ("first-" + MASK, 2)
    editor.save({f"{E}.apiKey": "short-1a short-2b short-3c short-4d"})
    row = editor.rows()[f"{E}.apiKey"]
    assert (row["preview"], row["key_count"]) == (MASK, 4)


def test_more_keys_than_a_pool_holds_are_counted_to_whoever_saves_them() -> None:
    """The keys as such are good."""
    editor = Editor(FakeEnvironment({"e1": []}))
    error = editor.refused({f"{E}.apiKey": "\n".join(f"key-{number:010}" for number in range(17))})
    assert error["detail"] == f"'{E}.apiKey' may hold at most 16 keys, and these are 17"
    assert (error["field"], "leave out 1" in error["suggested_action"]) == (f"{E}.apiKey", True)


MODEL = {
    "llm.primary.protocol": "openai",
    "llm.primary.baseUrl": "https://a.example.org/v1",
    "llm.primary.apiKey": "key-11111111",
}
ELSEWHERE = "https://b.example.org/v1"


@pytest.mark.parametrize(
    ("given", "change"),
    [
        ({}, {"llm.primary.baseUrl": ELSEWHERE}),
        ({}, {"llm.primary.baseUrl": None}),
        ({}, {"llm.primary.protocol": "anthropic"}),
        (
            {"llm.harvest.apiKey": "key-22222222"},
            {"llm.primary.baseUrl": ELSEWHERE, "llm.primary.apiKey": "key-33333333"},
        ),
        (
            {"llm.harvest.apiKey": "key-22222222"},
            {"llm.harvest.protocol": "openai", "llm.harvest.baseUrl": ELSEWHERE},
        ),
    ],
)
def test_a_models_key_goes_nowhere_else_unless_it_is_sent_along(
    given: dict[str, str], change: dict[str, str | None]
) -> None:
    """Of a model that inherits its address, too."""
    saved = _saved()
    assert saved.change({**MODEL, **given})
    with pytest.raises(InvalidArgument) as refused:
        saved.change(change)
    assert (refused.value.slug, refused.value.status) == ("key-needed", 409)
    assert saved.change({**change, **dict.fromkeys(given), "llm.primary.apiKey": "key-44444444"})


def test_a_models_old_key_does_not_meet_its_new_address_when_saving_breaks_off() -> None:
    saved = _saved()
    assert saved.change(MODEL)
    saved.store.takes = 1
    assert not saved.change({"llm.primary.baseUrl": ELSEWHERE, "llm.primary.apiKey": "key-22222222"})
    assert saved.values() == {**MODEL, "llm.primary.apiKey": "key-22222222"}
