"""Keys of stored items: readable again, and never to be forged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zarniwoop.contract.modality import SearchModality
from zarniwoop.stores.keys import (
    budget_key,
    call_key,
    calls_since,
    cooldown_key,
    is_id,
    partition,
    project_of,
    quota_key,
    rate_key,
    read_budget_key,
    read_cooldown_key,
    read_quota_key,
    read_spent_key,
    spent_key,
)
from zarniwoop.stores.state import ProjectKey

IDS = st.from_regex(r"[a-z0-9][a-z0-9_-]{0,62}", fullmatch=True)
MODALITIES = st.sampled_from(SearchModality)
ANY_TEXT = st.one_of(st.text(max_size=80), st.text("ab#PT_-", max_size=12))


@given(tenant=IDS, project=IDS)
def test_a_partition_key_reads_back_as_its_project(tenant: str, project: str) -> None:
    """Encoding is injective because decoding finds exactly what was encoded."""
    key = ProjectKey(tenant_id=tenant, project_id=project)
    assert project_of(partition(key)) == key


@given(tenant=ANY_TEXT, project=ANY_TEXT)
def test_no_text_makes_a_key_of_somebody_else(tenant: str, project: str) -> None:
    """Whatever the ids hold, there is an error or a key that reads back as just these ids."""
    key = ProjectKey(tenant_id=tenant, project_id=project)
    try:
        written = partition(key)
    except ValueError:
        assert not (is_id(tenant) and is_id(project))
    else:
        assert project_of(written) == key


@given(instance=IDS, modality=MODALITIES, fingerprint=st.from_regex(r"[0-9a-f]{16}", fullmatch=True))
def test_a_sort_key_reads_back_as_what_it_is_about(instance: str, modality: SearchModality, fingerprint: str) -> None:
    """A cooldown is about a subject under certain settings, a quota about a subject, spent credit about an instance."""
    subject = (instance, modality)
    assert read_cooldown_key(cooldown_key(subject, fingerprint)) == (subject, fingerprint)
    assert read_quota_key(quota_key(subject)) == subject
    assert read_spent_key(spent_key(instance, "2027-01")) == instance
    assert read_budget_key(budget_key("project", "2027-01")) == "project"


@given(one=ANY_TEXT, other=ANY_TEXT)
def test_two_rate_subjects_never_share_a_key(one: str, other: str) -> None:
    """Also those that are too long or too strange to stand in a key as they are."""
    assert (rate_key(one) == rate_key(other)) is (one == other)
    assert len(rate_key(one * 100).encode()) <= 1024


@pytest.mark.parametrize("wrong", ["", "A", "_tenant", "-a", "a#b", "a/b", "a.b", "ä", "a\n", "a" * 64])
def test_an_id_is_refused_unless_it_is_short_plain_and_lower_case(wrong: str) -> None:
    """No upper case, no separators, no leading underscore, no line break at the end, at most 63 characters."""
    assert not is_id(wrong)
    with pytest.raises(ValueError, match="an id has"):
        partition(ProjectKey(tenant_id="acme", project_id=wrong))


@pytest.mark.parametrize("wrong", ["", "T#a", "X#a#P#b", "T#a#P#b#c", "FLEET"])
def test_what_is_no_partition_key_does_not_read_as_one(wrong: str) -> None:
    with pytest.raises(ValueError, match="not the partition key"):
        project_of(wrong)


@pytest.mark.parametrize("wrong", ["", "GEN", "CD#a", "AU#a#WEB", "CD#a#WEB", "CD#a#SMELL#f", "QU#a#SMELL", "US#A#all"])
def test_what_is_no_sort_key_of_its_kind_does_not_read_as_one(wrong: str) -> None:
    """Also a cooldown without its fingerprint, as earlier versions wrote them: it counts as absent."""
    for read in (read_cooldown_key, read_quota_key, read_spent_key, read_budget_key):
        with pytest.raises(ValueError, match=r"not a sort key|SMELL|an id has"):
            read(wrong)


def test_calls_sort_by_their_start() -> None:
    """The key of a call lies between the ends of every range that began before it, and outside of later ones."""
    key = call_key("serper-main", 1_800_000_000.1239, "ff00")
    assert key == "AU#serper-main#2027-01-15T08:00:00.123+00:00#ff00"
    first, last = calls_since("serper-main", 1_800_000_000)
    assert first < key < last
    assert calls_since("serper-main", 1_800_000_000.124)[0] > key
