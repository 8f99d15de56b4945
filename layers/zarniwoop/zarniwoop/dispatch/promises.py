"""What a result promises, whoever made it: kept here, since an add-on may not."""

from dataclasses import replace

from zarniwoop.contract.failure import ProviderUnavailable
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.result import SearchResult
from zarniwoop.text.urls import http_url


def tidied(result: SearchResult, request: SearchRequest) -> SearchResult:
    """The result within its promises, whoever made it: real titles, http(s) links, no more hits than asked for.

    Raises ProviderUnavailable for an empty answer that the provider itself calls degraded.
    """
    if result.degraded and not result.hits:
        failure = ProviderUnavailable(f"the answer is empty because of the provider's own trouble: {result.degraded}")
        failure.calls = result.calls
        raise failure
    sound = [hit for hit in result.hits if hit.title and not hit.title.isspace() and http_url(hit.url)]
    hits = tuple(sound[: request.max_results])
    if len(hits) == len(result.hits) == result.returned_count:
        return result
    dropped = result.dropped_count + len(result.hits) - len(hits)
    return replace(result, hits=hits, returned_count=len(hits), dropped_count=dropped)
