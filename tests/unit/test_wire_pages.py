"""Pages that came along with a hit, or are to be had on demand."""

import pytest

from zarniwoop.contract.failure import QueryRejected
from zarniwoop.contract.hit import ContentInline, ContentReference
from zarniwoop.wire.pages import page_asked, page_of, page_read

_URL = "https://bells.example/casting"


def _reference(to: str | None) -> ContentReference:
    return ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference=to)


def test_a_page_that_came_along_is_embedded_also_where_pages_are_offered() -> None:
    for on_demand in (False, True):
        page = page_of("# Casting", _URL, on_demand=on_demand)
        assert page is not None
        assert (page.inline, page.media_type, page.text) == (ContentInline.EMBED_TEXT, "text/markdown", "# Casting")


@pytest.mark.parametrize("text", [None, "", " \n"])
def test_without_a_text_there_is_a_reference_where_pages_are_offered(text: str | None) -> None:
    assert page_of(text, _URL, on_demand=False) is None
    page = page_of(text, _URL, on_demand=True)
    assert page is not None
    assert (page.inline, page.reference) == (ContentInline.STASH_ON_DEMAND, _URL)


def test_only_an_address_is_asked_for() -> None:
    assert page_asked(_reference(_URL)) == _URL
    for other in (None, "", "bells", "javascript:alert(1)", "file:///etc/passwd"):
        with pytest.raises(QueryRejected):
            page_asked(_reference(other))


def test_a_page_is_of_the_address_that_it_had_in_the_end() -> None:
    """Or of the one that was asked for where the other is none."""
    assert page_read("Bronze.", f"{_URL}/", _URL, reader="Reader").source_url == f"{_URL}/"
    for source in (None, 7, ["x"], "javascript:alert(1)"):
        assert page_read("Bronze.", source, _URL, reader="Reader").source_url == _URL


@pytest.mark.parametrize("text", [None, "", " \n"])
def test_a_page_without_text_is_rejected(text: str | None) -> None:
    with pytest.raises(QueryRejected, match="Reader cannot read this page"):
        page_read(text, _URL, _URL, reader="Reader")
