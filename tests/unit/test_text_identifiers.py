"""Identifiers in their bare form."""

import pytest

from zarniwoop.text.identifiers import (
    asked_doi,
    asked_orcid,
    bare_arxiv_id,
    bare_doi,
    bare_pmcid,
    bare_pmid,
    held_doi,
    in_a_path,
    is_orcid,
    work_identifiers,
)
from zarniwoop.text.inverted_index import in_reading_order


@pytest.mark.parametrize(
    ("value", "doi"),
    [
        ("10.1000/XYZ", "10.1000/xyz"),
        ("https://doi.org/10.1016/s0021-9258(19)52451-6", "10.1016/s0021-9258(19)52451-6"),
        ("doi:10.1000/a.b.", "10.1000/a.b"),
        ("see 10.1000/a;", "10.1000/a"),
        ("10.1/too-short", None),
        ("no doi", None),
        ("", None),
        (None, None),
    ],
)
def test_a_doi_is_bare_and_in_lower_case(value: str | None, doi: str | None) -> None:
    """Out of a URL, a prefix or a sentence."""
    assert bare_doi(value) == doi


@pytest.mark.parametrize(
    ("value", "arxiv_id"),
    [
        ("2301.00001", "2301.00001"),
        ("arXiv:2301.00001v3", "2301.00001"),
        ("http://arxiv.org/abs/2301.00001v1", "2301.00001"),
        ("https://arxiv.org/pdf/2301.00001v2.pdf", "2301.00001"),
        ("http://arxiv.org/abs/hep-th/9901001v2", "hep-th/9901001"),
        ("https://arxiv.org/abs/math.GT/0309136", "math.GT/0309136"),
        ("https://doi.org/10.5555/2301.00001", None),
        ("", None),
        (None, None),
    ],
)
def test_an_arxiv_id_is_bare_and_without_its_version(value: str | None, arxiv_id: str | None) -> None:
    """New and old numbering."""
    assert bare_arxiv_id(value) == arxiv_id


@pytest.mark.parametrize(
    ("value", "pmid"),
    [
        ("38799228", "38799228"),
        ("https://pubmed.ncbi.nlm.nih.gov/38799228/", "38799228"),
        ("https://www.ncbi.nlm.nih.gov/pubmed/38799228", "38799228"),
        ("PMC11116106", None),
        ("1234567890", None),
        ("", None),
        (None, None),
    ],
)
def test_a_pubmed_id_is_bare(value: str | None, pmid: str | None) -> None:
    """Out of an id or its address."""
    assert bare_pmid(value) == pmid


@pytest.mark.parametrize(
    ("value", "pmcid"),
    [
        ("PMC11116106", "PMC11116106"),
        ("pmc11116106", "PMC11116106"),
        ("11116106", "PMC11116106"),
        ("https://pmc.ncbi.nlm.nih.gov/articles/PMC11116106/", "PMC11116106"),
        ("https://www.ncbi.nlm.nih.gov/pmc/articles/11116106", "PMC11116106"),
        ("PMC", None),
        ("", None),
        (None, None),
    ],
)
def test_an_id_of_pubmed_central_has_its_letters(value: str | None, pmcid: str | None) -> None:
    """Some providers leave them out."""
    assert bare_pmcid(value) == pmcid


@pytest.mark.parametrize(
    ("query", "doi"),
    [
        ("10.1000/XYZ", "10.1000/xyz"),
        (" doi: 10.1000/xyz ", "10.1000/xyz"),
        ("http://dx.doi.org/10.1000/xyz", "10.1000/xyz"),
        ("what says 10.1000/xyz", None),
        ("10.1000/a,b", None),
        ("10.1000/a|b", None),
        ("", None),
    ],
)
def test_a_query_is_a_doi_when_it_is_nothing_else(query: str, doi: str | None) -> None:
    """A comma or a bar would add a filter of the caller's own."""
    assert asked_doi(query) == doi


@pytest.mark.parametrize(
    ("query", "doi"),
    [
        ("10.1000/XYZ", "10.1000/xyz"),
        ("where can I read https://doi.org/10.1000/xyz?", "10.1000/xyz"),
        ("(see 10.1000/xyz).", "10.1000/xyz"),
        ("“10.1000/xyz”, please", "10.1000/xyz"),
        ("10.1016/s0169-5347(97)89918-1", "10.1016/s0169-5347(97)89918-1"),
        ("(10.47205/jdss.2021(2-iv)74, 10.1000/b)", "10.47205/jdss.2021(2-iv)74"),
        ("10.1002/(sici)1<1::aid>3.0;2-#", "10.1002/(sici)1<1::aid>3.0;2-#"),
        ("chapter 10.12 of the book", None),
        ("10.1000/?)", None),
        ("", None),
    ],
)
def test_a_query_may_hold_a_doi_in_a_sentence(query: str, doi: str | None) -> None:
    """The marks around it are no part of it; brackets of its own are."""
    assert held_doi(query) == doi


@pytest.mark.parametrize(
    ("query", "orcid"),
    [
        ("0000-0002-1825-0097", "0000-0002-1825-0097"),
        (" https://orcid.org/0000-0002-1694-233x/ ", "0000-0002-1694-233X"),
        ("orcid.org/0000-0002-1825-0097", "0000-0002-1825-0097"),
        ("ORCID: 0000-0002-1825-0097", "0000-0002-1825-0097"),
        ("who is 0000-0002-1825-0097", None),
        ("0000-0002-1825-009", None),
        ("adfafadf", None),
    ],
)
def test_a_query_is_an_orcid_id_when_it_is_nothing_else(query: str, orcid: str | None) -> None:
    assert asked_orcid(query) == orcid


@pytest.mark.parametrize(
    ("value", "valid"),
    [
        ("0000-0002-1825-0097", True),
        ("0000-0002-1694-233X", True),
        ("0000-0003-1415-9269", True),
        ("0000-0002-1825-0098", False),
        ("0000-0002-1694-2330", False),
        ("0000-0002-1825-00９7", False),
        ("0000000218250097", False),
        ("../0000-0002-1825-0097", False),
        ("", False),
    ],
)
def test_the_last_character_of_an_orcid_id_checks_the_others(value: str, valid: bool) -> None:
    """A slip of the hand is no person; other digits than those of ASCII are none."""
    assert is_orcid(value) is valid


def test_a_doi_in_a_path_keeps_its_slashes_and_hides_what_ends_a_path() -> None:
    assert in_a_path("10.1002/(sici)1<1::aid>3.0;2-#?%") == "10.1002/(sici)1%3C1::aid%3E3.0;2-%23%3F%25"


def test_identifiers_of_a_work_are_bare_and_only_those_that_are_there() -> None:
    """Whatever form a provider has them in, works of several indexes meet under them."""
    assert work_identifiers(doi="https://doi.org/10.1000/XYZ", pmid="1", pmcid="17", isbn=None, dblp="x/y") == {
        "dblp": "x/y",
        "doi": "10.1000/xyz",
        "pmid": "1",
        "pmcid": "PMC17",
    }
    assert work_identifiers() == {}


def test_a_doi_of_arxiv_holds_the_arxiv_id() -> None:
    """An id that is stated as such comes first."""
    assert work_identifiers(doi="10.48550/arXiv.2109.01234v2")["arxiv_id"] == "2109.01234"
    assert work_identifiers(doi="10.48550/arXiv.hep-th/9901001")["arxiv_id"] == "hep-th/9901001"
    assert work_identifiers(doi="10.48550/arXiv.2109.01234", arxiv_id="arXiv:2001.00001")["arxiv_id"] == "2001.00001"


def test_an_inverted_index_is_read_in_the_order_of_its_positions() -> None:
    """Gaps close up, and of two words at one position the first counts."""
    assert in_reading_order({"ring": [1], "Bells": [0, 7], "loudly": [3], "late": [1]}) == "Bells ring loudly Bells"


@pytest.mark.parametrize(
    "index", [None, [], "text", {}, {"a": None}, {"a": "0"}, {"a": [None, "1", 1.0, True, -1, 10**18]}, {"a": [[0]]}]
)
def test_what_is_no_position_is_passed_over(index: object) -> None:
    """A null, a number of another kind, a negative or an absurd one."""
    assert in_reading_order(index) == ""


def test_a_hostile_index_stays_small() -> None:
    """A long word at every position would multiply."""
    assert len(in_reading_order({"x" * 1_000_000: list(range(100_000))})) <= 5000 * 101
