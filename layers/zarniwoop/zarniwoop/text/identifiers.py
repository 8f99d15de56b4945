"""Identifiers of works in their bare form."""

import re

_DOI = re.compile(r"10\.\d{4,9}/\S+")
_ARXIV = re.compile(
    r"(?:arxiv\.org/(?:abs|pdf)/|^arxiv:|^)((?:\d{4}\.\d{4,5})|(?:[a-z-]+(?:\.[A-Z]{2})?/\d{7}))(v\d+)?", re.IGNORECASE
)


def bare_doi(value: str | None) -> str | None:
    """`10.1000/xyz` in lower case out of a DOI or its URL, or None."""
    found = _DOI.search(value or "")
    return found.group().rstrip(".,;").lower() if found else None


def bare_arxiv_id(value: str | None) -> str | None:
    """`2301.00001` or `hep-th/9901001` without version, out of an id or URL, or None."""
    found = _ARXIV.search(value or "")
    return found.group(1) if found else None
