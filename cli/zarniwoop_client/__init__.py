"""The Python client of a Zarniwoop stack: typed, blocking or asynchronous, over HTTP alone.

    with Zarniwoop(url, token) as zarniwoop:
        for hit in zarniwoop.search("graphene", "ACADEMIC").data.hits:
            print(hit.title, hit.url)

Every method returns an `Answer` or raises a `ZarniwoopError`; what the API calls retryable is retried within the time
that the caller gave. It needs httpx and pydantic, and nothing of the stack's own code.
"""

from zarniwoop_client.answer import Answer, EvidenceLink
from zarniwoop_client.api import VERSION
from zarniwoop_client.asynchronous import AsyncZarniwoop
from zarniwoop_client.blocking import Zarniwoop
from zarniwoop_client.problems import (
    Conflicting,
    InvalidRequest,
    NotAuthorized,
    NotFound,
    OutOfTime,
    ServerFault,
    Temporary,
    Unanswered,
    Unreachable,
    ZarniwoopError,
)
from zarniwoop_client.results.problem import Problem

__all__ = [
    "VERSION",
    "Answer",
    "AsyncZarniwoop",
    "Conflicting",
    "EvidenceLink",
    "InvalidRequest",
    "NotAuthorized",
    "NotFound",
    "OutOfTime",
    "Problem",
    "ServerFault",
    "Temporary",
    "Unanswered",
    "Unreachable",
    "Zarniwoop",
    "ZarniwoopError",
]
