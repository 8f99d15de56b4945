"""Names of settings: one spelling, and the same in every table."""

from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zarniwoop.contract.modality import SearchModality
from zarniwoop.settings.levels import Level, Place, is_key, key_of, parameter_name
from zarniwoop.settings.names import (
    ENDPOINT_SUFFIXES,
    KNOBS,
    cooldown_subject,
    default_for,
    endpoint_setting,
    fallback_for,
    is_secret,
    split_endpoint_setting,
)
from zarniwoop.settings.routing import Knobs

IDS = st.from_regex(r"[a-z0-9][a-z0-9_-]{0,20}", fullmatch=True)
KEYS = st.from_regex(r"[A-Za-z0-9_-]{1,9}(\.[A-Za-z0-9_-]{1,9}){0,4}", fullmatch=True)
PLACES = st.one_of(
    st.builds(Place, tenant_id=IDS),
    st.builds(Place, tenant_id=IDS, project_id=IDS),
    st.builds(Place, tenant_id=IDS, project_id=IDS, process_id=IDS),
)
ROOT = "/zarniwoop/test"


def test_names_are_spelt_as_in_the_seed() -> None:
    assert endpoint_setting("serper-main", "apiKey") == "research.endpoint.serper-main.apiKey"
    assert default_for(SearchModality.INTERNAL_DOC) == "research.default.internal_doc"
    assert fallback_for(SearchModality.ACADEMIC) == "research.fallback.academic"
    assert cooldown_subject("serper-main", SearchModality.IMAGE) == "research:serper-main:IMAGE"


@pytest.mark.parametrize(
    ("key", "split"),
    [
        ("research.endpoint.serper-main.protocol", ("serper-main", "protocol")),
        ("research.endpoint.serper-main.header.name", ("serper-main", "header.name")),
        ("research.endpoint.serper-main", None),
        ("research.endpoint.serper-main.", None),
        ("research.default.web", None),
    ],
)
def test_a_key_of_an_endpoint_splits_into_id_and_suffix(key: str, split: tuple[str, str] | None) -> None:
    assert split_endpoint_setting(key) == split


def test_the_table_of_knobs_and_the_knobs_agree() -> None:
    """Every row is an attribute with the same default, within its own bounds, and is described."""
    assert {knob.attribute: knob.default for knob in KNOBS} == asdict(Knobs())
    assert all(knob.least <= knob.default <= knob.most and knob.documentation for knob in KNOBS)


def test_every_suffix_is_described_and_only_the_key_is_secret() -> None:
    assert all(suffix.documentation and suffix.expects for suffix in ENDPOINT_SUFFIXES)
    assert [suffix.name for suffix in ENDPOINT_SUFFIXES if is_secret(endpoint_setting("a", suffix.name))] == ["apiKey"]


@given(place=PLACES, key=KEYS)
def test_a_parameter_name_reads_back_as_its_key(place: Place, key: str) -> None:
    assert key_of(ROOT, place, parameter_name(ROOT, place, key)) == key


@given(one=st.tuples(PLACES, KEYS), other=st.tuples(PLACES, KEYS))
def test_two_settings_never_share_a_parameter(one: tuple[Place, str], other: tuple[Place, str]) -> None:
    """Whatever tenant, project, process and key they belong to."""
    assert (parameter_name(ROOT, *one) == parameter_name(ROOT, *other)) is (one == other)


@pytest.mark.parametrize(
    "name",
    [
        "/zarniwoop/test/acme/_tenant",
        "/zarniwoop/test/acme/_tenant/",
        "/zarniwoop/test/acme/_tenant/research.endpoint/a",
        "/zarniwoop/test/acme/_tenant/a//b",
        "/zarniwoop/test/acme/demo/_project/a",
        "/other/acme/_tenant/a",
    ],
)
def test_a_foreign_parameter_is_no_setting(name: str) -> None:
    """A dot in the name would make two parameters one key."""
    assert key_of(ROOT, Place(tenant_id="acme"), name) is None


@pytest.mark.parametrize("key", ["", ".", "a.", "a..b", "a/b", "ä", "a b", "a" * 513])
def test_what_is_no_key_has_no_parameter(key: str) -> None:
    assert not is_key(key)
    with pytest.raises(ValueError, match="a key consists of"):
        parameter_name(ROOT, Place(tenant_id="acme"), key)


@pytest.mark.parametrize(
    "ids",
    [
        {"tenant_id": ""},
        {"tenant_id": "acme/demo"},
        {"tenant_id": "acme", "project_id": "_tenant"},
        {"tenant_id": "acme", "process_id": "run"},
        {"tenant_id": "acme", "project_id": "demo", "process_id": ".."},
    ],
)
def test_a_place_cannot_lead_out_of_its_tenant(ids: dict[str, str]) -> None:
    """No slash, no reserved name, no process without a project."""
    with pytest.raises(ValueError, match="settings are saved for"):
        Place(**ids)


def test_levels_are_trusted_from_the_tenant_down_to_the_process() -> None:
    order = [Level.TENANT, Level.PROJECT, Level.PROCESS]
    for number, level in enumerate(order):
        assert [other.is_less_trusted_than(level) for other in order] == [rank > number for rank in range(3)]
