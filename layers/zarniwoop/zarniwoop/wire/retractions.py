"""Retracted works said aloud: a flag among the extras is easily overlooked, a sentence beside the hits is not."""

from collections.abc import Iterable

from zarniwoop.contract.hit import SearchHit

_MOST_NAMED = 5
_LONGEST_NAME = 100


def retraction_note(provider: str, hits: Iterable[SearchHit]) -> str | None:
    """Which of the hits the provider marks as retracted (`is_retracted` among their extras), or None."""
    retracted = [_name_of(hit) for hit in hits if hit.extras.get("is_retracted") is True]
    if not retracted:
        return None
    more = len(retracted) - _MOST_NAMED
    return f"{provider} marks as retracted: {', '.join(retracted[:_MOST_NAMED])}" + (
        f" and {more} more" if more > 0 else ""
    )


def _name_of(hit: SearchHit) -> str:
    name = hit.identifiers.get("doi") or hit.identifiers.get("pmid") or hit.url
    return name if len(name) <= _LONGEST_NAME else "one with a very long name"
