"""What a result promises, whoever made it: kept here, since an add-on may not."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from zarniwoop.contract.failure import ProviderUnavailable
from zarniwoop.contract.hit import ContentReference, SearchHit
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.contract.result import FilterHandling, SearchResult
from zarniwoop.dispatch.candidates.selection import Candidate
from zarniwoop.text.urls import http_url, is_on_site
from zarniwoop.wire.filters import is_broken

Told = TypeVar("Told")


def most_calls(candidate: Candidate, request: SearchRequest) -> int:
    """How many requests this search may send at most, for as many hits as the endpoint's settings allow."""
    most = candidate.endpoint.max_results
    fewer = most is not None and most < request.max_results
    return max(1, candidate.instance.most_calls(replace(request, max_results=most) if fewer and most else request))


def most_load_calls(candidate: Candidate, reference: ContentReference) -> int:
    """How many requests the load of a body may send at most."""
    return max(1, candidate.instance.most_load_calls(reference))


def foretold(tell: Callable[[], Told], otherwise: Told) -> Told:
    """What an instance tells, for a look ahead; where it raises what it must not, whoever asks it will hear of that."""
    try:
        return tell()
    except Exception:  # noqa: BLE001 - the SPI's boundary: an add-on's bug must not end the cascade
        return otherwise


def searched(candidate: Candidate, request: SearchRequest, scope: SearchScope) -> SearchResult:
    """One search for no more hits than the endpoint's settings allow, and told so. Raises what the instance does."""
    most = candidate.endpoint.max_results
    if most is None or most >= request.max_results:
        return _tidied(candidate.instance.search(request, scope), request)
    fewer = replace(request, max_results=most)
    result = _tidied(candidate.instance.search(fewer, scope), fewer)
    note = f"{candidate.endpoint.id} brings at most {most} results by its settings"
    return replace(result, note=f"{result.note}; {note}" if result.note else note)


def _tidied(result: SearchResult, request: SearchRequest) -> SearchResult:
    """The result within its promises, whoever made it: real titles, http(s) links where the caller wants them, no
    more hits than asked for.

    Raises ProviderUnavailable for an empty answer that the provider itself calls degraded.
    """
    if result.degraded and not result.hits:
        failure = ProviderUnavailable(f"the answer is empty because of the provider's own trouble: {result.degraded}")
        failure.calls = result.calls
        raise failure
    held = _held(result, request)
    sound = [hit for hit in result.hits if _is_sound(hit, request, held)]
    hits = tuple(sound[: request.max_results])
    if len(hits) == len(result.hits) == result.returned_count:
        return result
    dropped = result.dropped_count + len(result.hits) - len(hits)
    return replace(result, hits=hits, returned_count=len(hits), dropped_count=dropped)


def _held(result: SearchResult, request: SearchRequest) -> tuple[tuple[str, str], ...]:
    """The places of the request, by filter, that the result says it keeps to."""
    expert = request.expert_params
    if not expert.site and not expert.domain:
        return ()
    told = {each.name for each in result.applied if each.handling is not FilterHandling.IGNORED}
    return tuple((name, value) for name, value in expert.given() if name in ("site", "domain") and name in told)


def _is_sound(hit: SearchHit, request: SearchRequest, held: tuple[tuple[str, str], ...]) -> bool:
    if not hit.title or hit.title.isspace() or not http_url(hit.url):
        return False
    if any(is_broken(name, value, hit) for name, value in held):
        return False
    return not request.sites or any(is_on_site(hit.url, site) for site in request.sites)
