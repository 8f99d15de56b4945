"""What is known of a source before it is read: by the search that found it, and by older evidence of its URL."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from zarniwoop.contract.evidence import Evidence
from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.modality import SearchModality


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFacts:
    """What was told of a source by others than itself."""

    modality: SearchModality | None = None
    identifiers: Mapping[str, str] = field(default_factory=dict)
    authors: tuple[str, ...] = ()
    retracted: bool = False
    independent: int = 1

    @classmethod
    def of_hit(cls, hit: SearchHit) -> "SourceFacts":
        """Contributors on one index count as one."""
        return cls(
            modality=hit.modality,
            identifiers=hit.identifiers,
            authors=hit.authors,
            retracted=hit.extras.get("is_retracted") is True,
            independent=max(1, len({each.index_family for each in hit.contributors})),
        )


NOTHING_KNOWN = SourceFacts()


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSource:
    """What the evidence of a URL tells of it: our last `reading`, and the `facts` that hold whatever it says now."""

    reading: Evidence | None = None
    facts: SourceFacts = NOTHING_KNOWN


def facts_of(seen: Sequence[Evidence]) -> SourceFacts:
    """Of the newest first: which identifiers were named, and whether anybody marked it as retracted."""
    identifiers: dict[str, str] = {}
    for each in reversed(seen):
        identifiers |= each.identifiers
    return SourceFacts(identifiers=identifiers, retracted=any(each.retracted for each in seen))
