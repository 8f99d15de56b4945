"""Which instances may answer a request, in which order (seed 1, section 8.2)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.problem import InvalidArgument, UnknownThing
from zarniwoop.contract.provider import SearchProviderInstance
from zarniwoop.contract.request import SearchRequest
from zarniwoop.dispatch.credit import credit_period
from zarniwoop.dispatch.language import in_language, wanted_languages, with_siblings
from zarniwoop.settings.endpoints import EndpointSettings, ResearchSettings
from zarniwoop.stores.state import Wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An instance and the endpoint settings it was made of. `language` is the only one that it searches."""

    instance: SearchProviderInstance
    endpoint: EndpointSettings
    language: str | None = None

    def wanted(self, modality: SearchModality, now: float) -> Wanted:
        """What of the shared state tells whether it may be asked."""
        counted = self.endpoint.credit_limit is not None
        return Wanted(
            subject=(self.endpoint.id, modality),
            fingerprint=self.endpoint.fingerprint,
            credit_period=credit_period(self.endpoint.credit_kind, now).name if counted else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineup:
    """Candidates in order, and what is to be said of the settings that led to it.

    `metered` names the endpoints that were left out because nobody chose to spend money on them.
    """

    candidates: tuple[Candidate, ...]
    note: str | None = None
    metered: tuple[str, ...] = ()


def line_up(request: SearchRequest, available: Mapping[str, Candidate], settings: ResearchSettings) -> Lineup:
    """The pinned instance alone; else default, then fallbacks; else all by priority, then id. Each at most once.

    Where nobody is named, or nobody who could serve and is enabled, all others follow; those of them that cost money
    only if their settings allow it.
    Of several instances that search one language each, those of another language than the request's come last; routing
    that names one of them stands for its siblings, too.
    Raises UnknownThing or InvalidArgument for a pinned instance that does not exist or does not serve the modality.
    """
    if request.pinned_provider_id:
        return Lineup(candidates=(_pinned(request, available),))
    named = _named(request.modality, settings)
    chosen = [available[name] for name in named if name in available and _serves(available[name], request)]
    ignored = [name for name in named if name not in available or not _serves(available[name], request)]
    note = f"routing names {_listed(ignored)}, which cannot serve {request.modality}" if ignored else None
    if not any(candidate.endpoint.enabled for candidate in chosen):
        serving = [each for each in available.values() if _serves(each, request) and each not in chosen]
        others = _by_priority(serving)
        return Lineup(
            candidates=(*chosen, *in_language(others.candidates, wanted_languages(request))),
            note=_joined(note, others.note),
            metered=others.metered,
        )
    languages = wanted_languages(request)
    if languages:
        unnamed = [each for each in available.values() if _serves(each, request) and each not in chosen]
        chosen = with_siblings(chosen, unnamed, languages)
    return Lineup(candidates=in_language(chosen, languages), note=note)


def _joined(*notes: str | None) -> str | None:
    return "; ".join(note for note in notes if note) or None


def _by_priority(serving: Iterable[Candidate]) -> Lineup:
    ordered = sorted(serving, key=lambda each: each.endpoint.rank)
    metered = tuple(each.endpoint.id for each in ordered if not each.endpoint.may_be_asked_unnamed)
    return Lineup(
        candidates=tuple(each for each in ordered if each.endpoint.may_be_asked_unnamed),
        note=f"left out, since they cost money and no routing names them: {_listed(metered)}" if metered else None,
        metered=metered,
    )


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
