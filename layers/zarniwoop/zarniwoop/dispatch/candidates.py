"""Which instances may answer a request, in which order (seed 1, section 8.2)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.problem import InvalidArgument, UnknownThing
from zarniwoop.contract.provider import SearchProviderInstance
from zarniwoop.contract.request import SearchRequest
from zarniwoop.settings.endpoints import EndpointSettings, ResearchSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An instance and the endpoint settings it was made of."""

    instance: SearchProviderInstance
    endpoint: EndpointSettings

    @property
    def fingerprint(self) -> str:
        return self.endpoint.fingerprint


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineup:
    """Candidates in order, and what was wrong with the routing settings on the way."""

    candidates: tuple[Candidate, ...]
    note: str | None = None


def line_up(request: SearchRequest, available: Mapping[str, Candidate], settings: ResearchSettings) -> Lineup:
    """The pinned instance alone; else default, then fallbacks; else all by priority, then id. Each at most once.

    Raises UnknownThing or InvalidArgument for a pinned instance that does not exist or does not serve the modality.
    """
    if request.pinned_provider_id:
        return Lineup(candidates=(_pinned(request, available),))
    named = _named(request.modality, settings)
    if not named:
        serving = [candidate for candidate in available.values() if _serves(candidate, request)]
        return Lineup(candidates=tuple(sorted(serving, key=lambda each: (each.endpoint.priority, each.endpoint.id))))
    chosen = [available[name] for name in named if name in available and _serves(available[name], request)]
    ignored = [name for name in named if name not in available or not _serves(available[name], request)]
    note = f"routing names {_listed(ignored)}, which cannot serve {request.modality}" if ignored else None
    return Lineup(candidates=tuple(chosen), note=note)


def _named(modality: SearchModality, settings: ResearchSettings) -> list[str]:
    default = settings.defaults.get(modality)
    return list(dict.fromkeys([*([default] if default else []), *settings.fallbacks.get(modality, ())]))


def _serves(candidate: Candidate, request: SearchRequest) -> bool:
    return request.modality in candidate.instance.modalities() and request.tier in candidate.instance.tiers()


def _pinned(request: SearchRequest, available: Mapping[str, Candidate]) -> Candidate:
    name = request.pinned_provider_id or ""
    if name not in available:
        raise UnknownThing(
            f"there is no provider instance '{name}' in this project",
            field="pinned_provider_id",
            suggested_action=f"pin one of {_listed(available)}, or leave it out",
        )
    if not _serves(available[name], request):
        serving = [each for each, candidate in available.items() if _serves(candidate, request)]
        raise InvalidArgument(
            f"'{name}' does not serve {request.modality}",
            field="pinned_provider_id",
            suggested_action=f"pin one of {_listed(serving)}, or leave it out",
        )
    return available[name]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in sorted(names)) or "none (no endpoint is configured for it)"
