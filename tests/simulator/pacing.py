"""Strict pacing: what arXiv, NCBI and others do to those who ask faster than they publish.

https://info.arxiv.org/help/api/tou.html, https://www.ncbi.nlm.nih.gov/books/NBK25497/,
https://www.semanticscholar.org/product/api,
https://www.crossref.org/documentation/retrieve-metadata/rest-api/access-and-authentication/,
https://doaj.org/api/v4/docs, https://dblp.org/faq/1474706.html, https://info.orcid.org/ufaqs/what-are-the-api-limits,
https://operations.osmfoundation.org/policies/nominatim/
"""

import threading
from collections import deque
from time import monotonic

from tests.simulator.messages import Request


class Pacer:
    """Remembers when each paced provider was last asked."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked: dict[str, deque[float]] = {}

    def refuses(self, provider: str, request: Request) -> bool:
        """Whether this request comes too early; a refused one does not count against the next."""
        rate = _rate(provider, request)
        if rate is None:
            return False
        requests, seconds = rate
        with self._lock:
            now = monotonic()
            asked = self._asked.setdefault(provider, deque())
            while asked and asked[0] <= now - seconds:
                asked.popleft()
            if len(asked) >= requests:
                return True
            asked.append(now)
            return False


def _rate(provider: str, request: Request) -> tuple[int, float] | None:
    if provider == "arxiv":
        return 1, 3.0
    if provider == "pubmed":
        return (10 if request.parameters.get("api_key") else 3), 1.0
    if provider == "semanticscholar":
        return 1, 1.0
    if provider == "crossref":
        return (3 if "mailto" in request.query else 1), 1.0
    return {"doaj": (2, 1.0), "dblp": (1, 1.0), "orcid": (12, 1.0), "nominatim": (1, 1.0)}.get(provider)
