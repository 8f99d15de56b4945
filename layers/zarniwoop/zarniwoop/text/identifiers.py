"""Identifiers of works and people in their bare form; works of several indexes are merged under these names."""

import re
from urllib.parse import quote

_DOI = re.compile(r"10\.\d{4,9}/\S+")
_ARXIV = re.compile(
    r"(?:arxiv\.org/(?:abs|pdf)/|^arxiv:|^)((?:\d{4}\.\d{4,5})|(?:[a-z-]+(?:\.[A-Z]{2})?/\d{7}))(v\d+)?", re.IGNORECASE
)
_ONLY_A_DOI = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|doi:\s*)?(10\.\d{4,9}/[^\s,|]+)", re.IGNORECASE)
_CLOSING = re.compile(r"""[.,;:?!"'»”’>\]}…]+$""")
_ORCID = re.compile(r"(?:\d{4}-){3}\d{3}[\dX]", re.ASCII)
_ONLY_AN_ORCID = re.compile(
    r"(?:(?:https?://)?(?:www\.)?orcid\.org/|orcid:\s*)?((?:\d{4}-){3}\d{3}[\dX])/?", re.IGNORECASE | re.ASCII
)
_ARXIV_DOI = "10.48550/arxiv."
_PMID = re.compile(r"(?:^|pubmed\.ncbi\.nlm\.nih\.gov/|/pubmed/)(\d{1,9})/?$", re.ASCII)
_PMCID = re.compile(r"(?:^|/)(?:PMC)?(\d{1,9})/?$", re.IGNORECASE | re.ASCII)
_PLAIN_IN_A_PATH = "!$&'()*+,/:;=@"


def bare_doi(value: str | None) -> str | None:
    """`10.1000/xyz` in lower case out of a DOI or its URL, or None."""
    found = _DOI.search(value or "")
    return found.group().rstrip(".,;").lower() if found else None


def bare_arxiv_id(value: str | None) -> str | None:
    """`2301.00001` or `hep-th/9901001` without version, out of an id or URL, or None."""
    found = _ARXIV.search(value or "")
    return found.group(1) if found else None


def bare_pmid(value: str | None) -> str | None:
    """`38799228` out of a PubMed id or its address, or None."""
    found = _PMID.search(value or "")
    return found.group(1) if found else None


def bare_pmcid(value: str | None) -> str | None:
    """`PMC11116106` out of an id with or without its letters, or its address, or None."""
    found = _PMCID.search(value or "")
    return f"PMC{found.group(1)}" if found else None


def asked_doi(query: str) -> str | None:
    """The DOI when the query is one, or its URL, and nothing else; without a mark that would divide filters."""
    found = _ONLY_A_DOI.fullmatch(query.strip())
    return found.group(1).lower() if found else None


def held_doi(query: str) -> str | None:
    """The first DOI in a query, without the marks of the sentence that it stands in; its own brackets stay."""
    found = _DOI.search(query)
    doi = _CLOSING.sub("", found.group()) if found else ""
    while doi.endswith(")") and doi.count(")") > doi.count("("):
        doi = _CLOSING.sub("", doi[:-1])
    return doi.lower() if _DOI.fullmatch(doi) else None


def asked_orcid(query: str) -> str | None:
    """The ORCID iD when the query is one, or its URL, and nothing else; whether it can exist says `is_orcid`."""
    found = _ONLY_AN_ORCID.fullmatch(query.strip())
    return found.group(1).upper() if found else None


def is_orcid(value: str) -> bool:
    """Whether this is a bare ORCID iD whose last character checks the others (ISO 7064, mod 11-2)."""
    if _ORCID.fullmatch(value) is None:
        return False
    digits, total = value.replace("-", ""), 0
    for digit in digits[:-1]:
        total = (total + int(digit)) * 2
    return "0123456789X"[(12 - total % 11) % 11] == digits[-1]


def in_a_path(doi: str) -> str:
    """The DOI as it stands in the path of an address: old ones hold `<`, `[` and `#`."""
    return quote(doi, safe=_PLAIN_IN_A_PATH)


def work_identifiers(
    *,
    doi: str | None = None,
    arxiv_id: str | None = None,
    pmid: str | None = None,
    pmcid: str | None = None,
    **own: str | None,
) -> dict[str, str]:
    """The identifiers that are there, each in its bare form; `own` are the provider's, taken as they are.

    A DOI that arXiv gave holds the arXiv id.
    """
    bare = bare_doi(doi)
    by_arxiv = bare.removeprefix(_ARXIV_DOI) if bare and bare.startswith(_ARXIV_DOI) else None
    found = {
        **own,
        "doi": bare,
        "arxiv_id": bare_arxiv_id(arxiv_id) or bare_arxiv_id(by_arxiv),
        "pmid": bare_pmid(pmid),
        "pmcid": bare_pmcid(pmcid),
    }
    return {name: value for name, value in found.items() if value}
