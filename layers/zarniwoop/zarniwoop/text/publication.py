"""Authors, venue and year out of the one line that Google Scholar shows of a work, whoever resells it."""

import re

from zarniwoop.text.plain import clip, plain

# "A Vaswani, N Shazeer… - Advances in neural …, 2017 - proceedings.neurips.cc"
_PUBLICATION = re.compile(r"^(.*?)(?: - (.+?))??(?:(?: - |, )(\d{4}))?(?: - \S+)?$")
_LONGEST = 300


def read_publication(line: str | None) -> tuple[tuple[str, ...], str | None, str | None]:
    """Authors in their order, the venue and the year; empty or None for what the line does not say."""
    names, venue, year = _PUBLICATION.findall(clip(plain(line) or "", _LONGEST))[0]
    return tuple(name for part in names.split(",") if (name := part.strip(" …"))), venue or None, year or None
