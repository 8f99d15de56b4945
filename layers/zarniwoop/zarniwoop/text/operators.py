"""Operators that users write into a query, for providers that take their meaning as parameters."""

import re
from dataclasses import dataclass

_SITE = re.compile(r'(?<!\S)(-?)site:"?([^\s"/]+)[^\s"]*"?(?!\S)', re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sites:
    """A query taken apart: its `words`, and the hosts of its `site:` and `-site:` operators."""

    words: str
    wanted: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()


def split_sites(query: str) -> Sites:
    """Take the `site:` operators out. A query of operators alone is left with the hosts as its words."""
    found = _SITE.findall(query)
    if not found:
        return Sites(words=query)
    wanted, unwanted = (tuple(host.lower() for minus, host in found if bool(minus) is no) for no in (False, True))
    words = " ".join(_SITE.sub(" ", query).split())
    return Sites(words=words or " ".join((*wanted, *unwanted)), wanted=wanted, unwanted=unwanted)
