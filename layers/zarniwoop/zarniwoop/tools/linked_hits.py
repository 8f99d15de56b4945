"""Evidence of an answer that has a bound: it links to what the answer shows; a hit that is put aside takes its own.

So `evidence` is as long as what is shown, of which it repeats URL and title, and not as all that was found. A link that
belongs to no hit of the answer, such as a page's, stays.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from zarniwoop.stores.continuations import Entry
from zarniwoop.text.as_json import as_json

Link = Mapping[str, Any]
_NAMED = ("id", "href")
_LONGEST_URL = 8_192
"""As the ledger clips it."""


def with_links(entries: Sequence[Entry], links: Sequence[Link]) -> tuple[Entry, ...]:
    """Hits as they are put aside: each with the ids of its evidence, and where that is read."""
    if not links:
        return tuple(entries)
    return tuple((path, _with_own(hit, _url(path, hit), links)) for path, hit in entries)


def links_to_shown(links: Sequence[Link], whole: Sequence[Entry], shown: Sequence[Entry]) -> tuple[Link, ...]:
    """Without those of hits that are put aside."""
    if not links or len(shown) == len(whole):
        return tuple(links)
    left = {_url(*entry) for entry in whole} - {_url(*entry) for entry in shown}
    return tuple(link for link in links if link["url"] not in left)


def _with_own(hit: Any, url: str | None, links: Sequence[Link]) -> Any:
    own = [{name: link[name] for name in _NAMED} for link in links if url is not None and link["url"] == url]
    return {**orjson.loads(as_json(hit)), "evidence": own} if own else hit


def _url(path: str, hit: Any) -> str | None:
    """As evidence spells it; None for what is no hit. Those of a run stand beside what was made of them."""
    from zarniwoop.stores.evidence import evidence_url

    if path.rpartition("/")[2] != "hits":
        return None
    url = hit.get("hit", hit)["url"] if isinstance(hit, Mapping) else hit.url
    return evidence_url(str(url))[:_LONGEST_URL]
