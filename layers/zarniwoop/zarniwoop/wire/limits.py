"""What a vendor does not take: a request is cut to what it takes at most, or declined, and the answer tells so."""

from dataclasses import replace

from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.result import SearchResult
from zarniwoop.text.plain import clip
from zarniwoop.wire.format import WireFormat


def within_vendor_limits(request: SearchRequest, declared: WireFormat) -> tuple[SearchRequest, list[str]]:
    """The request as it may be put, and a note of each cut."""
    notes: list[str] = []
    if len(request.query) > declared.max_query_chars:
        notes.append(f"query shortened to {declared.max_query_chars} characters for {declared.protocol_id}")
        request = replace(request, query=clip(request.query, declared.max_query_chars).rstrip("…").rstrip())
    if request.max_results > declared.max_results:
        notes.append(f"{declared.protocol_id} gives at most {declared.max_results} results")
        request = replace(request, max_results=declared.max_results)
    return request, notes


def declined(instance_id: str, request: SearchRequest, message: str) -> SearchResult:
    """The soft failure of a request that is put to nobody."""
    return SearchResult(
        query=request.query,
        modality=request.modality,
        provider_instance_id=instance_id,
        tier=request.tier,
        error_message=message,
        calls=0,
    )
